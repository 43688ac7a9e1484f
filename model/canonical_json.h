#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/json.h"

namespace etl::json {

// Canonical JSON by RFC 8785 (JCS): members sorted by the UTF-16 code units of their names, no white space,
// strings with the shortest escapes, numbers as ECMAScript's Number::toString. All functions append to `out`,
// are thread-safe and, unless they say otherwise, cannot fail.

// The string with quotes and escapes. `text` must be valid UTF-8.
void AppendString(std::string& out, std::string_view text);

// A finite double: the shortest digits that read back to it; plain decimals for 1e-6 <= |x| < 1e21, otherwise
// exponent form; -0 is 0. NaN or infinity is a bug of ours (there is no text for it; the JSON reader refuses
// both).
void AppendNumber(std::string& out, double value);
void AppendNumber(std::string& out,
                  std::int64_t value);  // |value| <= 2^53, else it goes through double as JCS says

// How canonical numbers beyond the exact range of a double are written.
enum class Integers : std::uint8_t {
  kAsDouble,  // RFC 8785: every number is a double
  kExact,     // an integer text beyond 2^53 keeps its digits: for comparing upstream rows, whose ids may be
              // larger
};

// The whole value, canonical. Iterative over depth.
void AppendCanonical(std::string& out, Value value, Integers integers = Integers::kAsDouble);
std::string Canonical(Value value, Integers integers = Integers::kAsDouble);

// Parse, then Canonical. Errors: those of Document::Parse.
Result<std::string> Canonicalize(std::string_view text, const Limits& limits = {});

// True when `a` sorts before `b` by UTF-16 code units; both valid UTF-8. Differs from byte order only between
// supplementary characters and U+E000..U+FFFF.
bool Utf16Less(std::string_view a, std::string_view b) noexcept;

}  // namespace etl::json
