#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "model/text.h"

// The rules that a manifest's values obey, as data: what manifest_fields.h says about each member, and what
// the reader, the checker and the writer each do in their own way. Private to the manifest code and its
// tests.
namespace etl::manifest {

inline constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();
// Whole numbers that a double holds exactly: what JSON tools everywhere agree on.
inline constexpr std::int64_t kIntegerMax = 9007199254740991;

// A text of at most `code_points_max` Unicode code points that matches `pattern`, when there is one; `shape`
// is the pattern in words for a person.
struct Text {
  std::size_t code_points_max = kUnbounded;
  bool (*pattern)(std::string_view) = nullptr;
  std::string_view shape = {};
};
constexpr Text TextUpTo(std::size_t code_points_max) {
  return {code_points_max, nullptr, {}};
}

// Axis expressions: what may occur in one; whether it evaluates is model/expression.h's question.
inline bool IsExpressionText(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_+-*%/() ") == std::string_view::npos;
}

inline constexpr Text kToken{kUnbounded, IsToken, "a lower-case letter, then letters, digits and _"};
inline constexpr Text kSlug{100, IsSlug, "lower-case letters, digits and -, not - first"};
inline constexpr Text kName{200, IsName, "lower-case letters, digits and . _ -, a letter or digit first"};
inline constexpr Text kCommit{kUnbounded, IsCommit, "the 40 lower-case hex digits of a commit"};
inline constexpr Text kUrl{2000, IsHttpsUrl, "an https:// address without spaces"};
inline constexpr Text kExpression{200, IsExpressionText,
                                  "axis names, whole numbers, + - * % // and parentheses"};

// One of these words.
struct OneOf {
  std::span<const std::string_view> words;
};

// A whole number in a range.
struct Whole {
  std::int64_t min = -kIntegerMax;
  std::int64_t max = kIntegerMax;
  bool nanoseconds = false;  // a duration, which a source may have written as a text with a unit
};
inline constexpr Whole kWhole{};
inline constexpr Whole kCount{0, kIntegerMax, false};
inline constexpr Whole kPositive{1, kIntegerMax, false};
inline constexpr Whole kNanoseconds{0, kIntegerMax, true};

// A finite number in a range.
struct Number {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  bool above_min = false;  // the minimum itself is not allowed
};
inline constexpr Number kNumber{};
inline constexpr Number kNotNegative{0, std::numeric_limits<double>::max(), false};
inline constexpr Number kAboveZero{0, std::numeric_limits<double>::max(), true};
inline constexpr Number kRatio{0, 1, false};

struct Flag {};         // true or false
struct Hash {};         // "sha256:" and 64 hex digits
struct Moment {};       // a canonical instant
struct DimensionOf {};  // one entry of a shape: a whole number from 0, or an axis name
struct Object {};       // a struct with its own Fields
inline constexpr Flag kFlag{};
inline constexpr Hash kHash{};
inline constexpr Moment kMoment{};
inline constexpr DimensionOf kDimension{};
inline constexpr Object kObject{};

// An array. A set is sorted by UTF-16 code unit without repeats; only texts make sets.
template <class Each>
struct List {
  Each each;
  std::size_t min = 0;
  std::size_t max = kUnbounded;
  bool set = false;
};
template <class Each>
constexpr List<Each> ListOf(Each each, std::size_t min = 0, std::size_t max = kUnbounded) {
  return {each, min, max, false};
}
constexpr List<Text> SetOf(Text each) {
  return {each, 0, kUnbounded, true};
}

// An object with free member names, all of one type.
template <class Each>
struct Keyed {
  Text key;
  Each each;
};
template <class Each>
constexpr Keyed<Each> KeyedBy(Text key, Each each) {
  return {key, each};
}

// An object with one required member, flattened in our structs.
template <class Inner>
struct Wrapped {
  std::string_view member;
  Inner inner;
};
template <class Inner>
constexpr Wrapped<Inner> WrappedIn(std::string_view member, Inner inner) {
  return {member, inner};
}

}  // namespace etl::manifest
