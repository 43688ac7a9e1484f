#include "model/manifest_faults.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/canonical_json.h"
#include "model/text.h"

namespace etl::manifest {
namespace {

constexpr std::size_t kPathNameCodePoints = 100;
constexpr std::size_t kQuotedCodePoints = 60;
// Names longer than this are not compared with the known ones: no member is that long.
constexpr std::size_t kGuessBytesMax = 32;

bool IsIdentifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name[0]) && name.size() <= kPathNameCodePoints &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string QuotedUpTo(std::string_view text, std::size_t code_points) {
  if (!IsUtf8(text)) return "text that is not UTF-8";
  std::string out;
  json::AppendString(out, CutTo(text, code_points));
  return out;
}

// Levenshtein distance, letters without case; both at most kGuessBytesMax long.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kGuessBytesMax + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

// The word that `text` was probably meant to be, or empty.
template <class Words>
std::string_view Nearest(std::string_view text, const Words& words) {
  if (text.empty() || text.size() > kGuessBytesMax) return {};
  const std::string lowered = Lower(text);
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(2, text.size() / 3) + 1;
  for (const std::string_view word : words) {
    if (word.size() > kGuessBytesMax) continue;
    const std::size_t distance = EditDistance(lowered, Lower(word));
    if (distance < best_distance) {
      best = word;
      best_distance = distance;
    }
  }
  return best;
}

template <class Words>
std::string Joined(const Words& words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::string NumberText(double value) {
  std::string out;
  if (std::isfinite(value)) {
    json::AppendNumber(out, value);
  } else {
    out = std::isnan(value) ? "NaN" : "infinity";
  }
  return out;
}

// What is wrong with a text under a rule: a code and the reason, or an empty code.
struct TextFault {
  std::string_view code;
  std::string what, fix;
};
TextFault FaultOf(std::string_view text, const Text& rule, std::string_view subject) {
  // Code points are never more than bytes, so the count is needed only for a text that may be too long.
  if (text.size() > rule.code_points_max) {
    const std::size_t code_points = CodePoints(text);
    if (code_points > rule.code_points_max) {
      const std::string max = std::to_string(rule.code_points_max);
      return {"TOO_LONG", std::string(subject) + " has " + std::to_string(code_points) + " characters",
              "use at most " + max};
    }
  }
  if (rule.pattern != nullptr && !rule.pattern(text)) {
    return {"WRONG_PATTERN", std::string(subject) + " " + Quoted(text) + " has the wrong form",
            "write " + std::string(rule.shape)};
  }
  return {};
}

}  // namespace

void Path::AppendTo(std::string& out, bool with_indices) const {
  // Paths are as deep as the structs, under ten links.
  if (parent_ == nullptr) {
    out += name_;
    return;
  }
  parent_->AppendTo(out, with_indices);
  if (is_index_) {
    if (with_indices) out.append("[").append(std::to_string(index_)).append("]");
  } else if (IsIdentifier(name_)) {
    out.append(".").append(name_);
  } else {
    out.append("[").append(QuotedUpTo(name_, kPathNameCodePoints)).append("]");
  }
}

std::string Path::Text() const {
  std::string out;
  AppendTo(out, true);
  return out;
}

std::string Path::Member() const {
  std::string out;
  AppendTo(out, false);
  return out.size() > 2 ? out.substr(2) : std::string();
}

void Faults::Add(std::string_view code, const Path& path, std::string what, std::string fix) {
  if (Full()) return;
  list_.push_back(Error{Errc::kInvalid, std::string(code), path.Text(), std::move(what), std::move(fix)});
}

std::string Quoted(std::string_view text) {
  return QuotedUpTo(text, kQuotedCodePoints);
}

bool IsUtf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char lead = byte(i++);
    if (lead < 0x80) continue;
    if (lead < 0xC2 || lead > 0xF4) return false;
    // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF (Unicode,
    // table 3-7).
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (i >= text.size() || byte(i) < low || byte(i) > high) return false;
    ++i;
    for (int more = lead >= 0xF0 ? 2 : lead >= 0xE0 ? 1 : 0; more > 0; --more, ++i) {
      if (i >= text.size() || byte(i) < 0x80 || byte(i) > 0xBF) return false;
    }
  }
  return true;
}

void CheckText(std::string_view text, const Text& rule, const Path& path, Faults& faults) {
  TextFault fault = FaultOf(text, rule, "the text");
  if (!fault.code.empty()) faults.Add(fault.code, path, std::move(fault.what), std::move(fault.fix));
}

void CheckKey(std::string_view key, const Text& rule, const Path& path, Faults& faults) {
  TextFault fault = FaultOf(key, rule, "the member name");
  if (!fault.code.empty()) faults.Add(fault.code, path, std::move(fault.what), std::move(fault.fix));
}

void CheckWord(std::string_view text, const OneOf& rule, const Path& path, Faults& faults) {
  if (std::find(rule.words.begin(), rule.words.end(), text) != rule.words.end()) return;
  const std::string_view nearest = Nearest(text, rule.words);
  std::string fix = "write one of: " + Joined(rule.words);
  if (!nearest.empty()) fix = "did you mean " + Quoted(nearest) + "? " + fix;
  faults.Add("WRONG_VALUE", path, Quoted(text) + " is not one of the known words", std::move(fix));
}

void CheckWhole(std::int64_t value, const Whole& rule, const Path& path, Faults& faults) {
  if (value >= rule.min && value <= rule.max) return;
  faults.Add("OUT_OF_RANGE", path, std::to_string(value) + " is outside the range",
             "write a whole number from " + std::to_string(rule.min) + " to " + std::to_string(rule.max));
}

void CheckNumber(double value, const Number& rule, const Path& path, Faults& faults) {
  // Written so that NaN fails.
  const bool above = rule.above_min ? value > rule.min : value >= rule.min;
  if (above && value <= rule.max) return;
  constexpr double kLargest = std::numeric_limits<double>::max();
  std::string fix = "write a finite number";
  if (rule.min > -kLargest)
    fix = (rule.above_min ? "write a number above " : "write a number from ") + NumberText(rule.min);
  if (rule.max < kLargest) fix += " to " + NumberText(rule.max);
  faults.Add("OUT_OF_RANGE", path, NumberText(value) + " is outside the range", std::move(fix));
}

void CheckDimension(const Dimension& value, const Path& path, Faults& faults) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    CheckWhole(*number, kCount, path, faults);
  } else {
    CheckText(std::get<std::string>(value), kToken, path, faults);
  }
}

void CheckCount(std::size_t count, std::size_t min, std::size_t max, const Path& path, Faults& faults) {
  if (count >= min && count <= max) return;
  std::string fix = "write at least " + std::to_string(min);
  if (min == max) fix = "write exactly " + std::to_string(min);
  if (count > max && min != max) fix = "write at most " + std::to_string(max);
  faults.Add("OUT_OF_RANGE", path, "the list has " + std::to_string(count) + " elements", std::move(fix));
}

void CheckSet(const std::vector<std::string>& texts, const Path& path, Faults& faults) {
  for (std::size_t i = 1; i < texts.size(); ++i) {
    if (json::Utf16Less(texts[i - 1], texts[i])) continue;
    const bool repeated = texts[i - 1] == texts[i];
    faults.Add("NOT_A_SET", Path(path, i),
               Quoted(texts[i]) + (repeated ? " is repeated" : " sorts before " + Quoted(texts[i - 1])),
               repeated ? "list each value once" : "sort the values by UTF-16 code unit");
    return;
  }
}

void CheckExactlyOne(std::string_view name_a, bool has_a, std::string_view name_b, bool has_b,
                     const Path& path, Faults& faults) {
  if (has_a != has_b) return;
  const std::string both = std::string(name_a) + (has_a ? " and " : " nor ") + std::string(name_b);
  faults.Add("WRONG_VALUE", path, (has_a ? "has both " : "has neither ") + both,
             "write exactly one of " + std::string(name_a) + " and " + std::string(name_b));
}

void AddUnknownMember(std::string_view name, const std::vector<std::string_view>& known, const Path& object,
                      Faults& faults) {
  if (faults.Full()) return;
  const std::string inner = object.Member();
  std::string fix = "remove it; " + std::string(faults.kind()) + (inner.empty() ? "" : "." + inner) +
                    " has: " + Joined(known);
  const std::string_view nearest = Nearest(name, known);
  if (!nearest.empty()) fix = "did you mean " + Quoted(nearest) + "? Otherwise " + fix;
  faults.Add("UNKNOWN_MEMBER", Path(object, name), "there is no member " + Quoted(name) + " here",
             std::move(fix));
}

void AddMissingMember(std::string_view name, const Path& object, Faults& faults) {
  faults.Add("MISSING_MEMBER", Path(object, name), "the required member " + Quoted(name) + " is missing",
             "add it");
}

}  // namespace etl::manifest
