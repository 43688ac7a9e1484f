#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/json.h"

namespace etl::json::internal {

// What the JSON reader needs to know of bytes and of numbers. Not for use outside model/.

// Bytes behind the text of a document that belong to its buffer and may be read: scans need not look for the
// end. The first is zero, and every decoded string on the tape is followed by a zero.
inline constexpr std::size_t kBytesBehind = 17;

inline std::string_view Text(const Node& node) {
  return {node.text, node.text_bytes};
}

// The first 8 bytes of a string on the tape as a number that orders as they do; zeros stand in for what it
// lacks.
inline std::uint64_t FirstBytes(const Node& node) {
  std::uint64_t word = 0;
  std::memcpy(&word, node.text, sizeof(word));
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  if (node.text_bytes >= sizeof(word)) return word;
  return node.text_bytes == 0 ? 0 : word & (~std::uint64_t{0} << (64 - 8 * node.text_bytes));
}

// A refusal before it is an Error: `byte` counts in the text being read, which may lack a dropped byte order
// mark.
struct Fault {
  std::string_view code;
  std::size_t byte = 0;
  std::string what;
  std::string_view fix;

  Error ToError(std::size_t bytes_before) const;
};

Fault NumberRangeFault(std::size_t byte);

// Refuses invalid UTF-8 (JSON_INVALID_UTF8) and control characters that stand nowhere in JSON (JSON_SYNTAX).
// 16 bytes a step over printable ASCII, about 60 ns per KiB.
std::optional<Fault> CheckBytes(std::string_view text);

// The length of the JSON number at the start of `text`; 0 if there is none.
std::size_t NumberBytes(std::string_view text);

// The value of a JSON number, correctly rounded; false when it is beyond the largest double. What is at most
// half the smallest double reads as zero.
bool ReadDouble(std::string_view number, double& value);

// Overwrites the numbers in `buffer`, a copy of `text`, by a zero and blanks; the signs stay, so that nothing
// malformed becomes well-formed. JSON_NUMBER_RANGE for the first number that no double can hold.
std::optional<Fault> BlankNumbers(std::string_view text, char* buffer);

}  // namespace etl::json::internal
