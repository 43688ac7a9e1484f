#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace etl {

// Names in HTTP and in robots.txt: ASCII, and the same whatever their case (RFC 9110, section 5.1; RFC 9309,
// section 2.2.1). Other bytes are as they are.

constexpr char LowerAscii(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerAscii(x) == LowerAscii(y); });
}

// Without the blanks, tabs and ends of line around it.
constexpr std::string_view Trim(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

}  // namespace etl
