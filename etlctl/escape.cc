#include "etlctl/escape.h"

#include <array>
#include <cstdint>

#include <spdlog/fmt/fmt.h>

namespace etl::ctl {
namespace {

constexpr char32_t kBad = 0xffffffff;

struct Decoded {
  char32_t code = kBad;  // kBad: the first byte begins no valid sequence
  std::size_t bytes = 1;
};

bool IsContinuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

Decoded Decode(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text, at + i)) return {};
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool In(char32_t code, const std::array<Range, N>& ranges) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

// Characters that change what is seen around them, or are not seen at all.
constexpr std::array<Range, 14> kInvisible{{{0xad, 0xad},
                                            {0x61c, 0x61c},
                                            {0x115f, 0x1160},
                                            {0x180b, 0x180f},
                                            {0x200b, 0x200f},
                                            {0x2028, 0x202e},
                                            {0x2060, 0x206f},
                                            {0x3164, 0x3164},
                                            {0xfeff, 0xfeff},
                                            {0xffa0, 0xffa0},
                                            {0xfff9, 0xfffb},
                                            {0xe000, 0xf8ff},
                                            {0xe0000, 0xe0fff},
                                            {0xf0000, 0x10ffff}}};

constexpr std::array<Range, 9> kCombining{{{0x300, 0x36f},
                                           {0x483, 0x489},
                                           {0x591, 0x5bd},
                                           {0x610, 0x61a},
                                           {0x64b, 0x65f},
                                           {0x1ab0, 0x1aff},
                                           {0x20d0, 0x20ff},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f}}};

constexpr std::array<Range, 13> kWide{{{0x1100, 0x115e},
                                       {0x231a, 0x231b},
                                       {0x2e80, 0x303e},
                                       {0x3041, 0x33ff},
                                       {0x3400, 0x4dbf},
                                       {0x4e00, 0x9fff},
                                       {0xa000, 0xa4cf},
                                       {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff},
                                       {0xfe30, 0xfe6f},
                                       {0xff00, 0xff60},
                                       {0x1f300, 0x1faff},
                                       {0x20000, 0x3fffd}}};

bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

std::size_t WidthOf(char32_t code) {
  if (code < 0x300) return 1;
  if (In(code, kCombining)) return 0;
  return In(code, kWide) ? 2 : 1;
}

void AppendEscaped(std::string& out, char32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto number = static_cast<std::uint32_t>(code);
  if (IsControl(code)) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", number);
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{{{:04x}}}", number);
  }
}

std::string Escape(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = Decode(text, at);
    if (next.code == kBad) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text[at]));
    } else if (keep_lines && (next.code == '\n' || next.code == '\t')) {
      out += text[at];
    } else if (IsControl(next.code) || In(next.code, kInvisible)) {
      AppendEscaped(out, next.code);
    } else {
      out.append(text, at, next.bytes);
    }
    at += next.bytes;
  }
  return out;
}

void AppendJsonEscape(std::string& out, char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  if (number < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", number);
    return;
  }
  const std::uint32_t rest = number - 0x10000;
  fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10),
                 0xdc00 + (rest & 0x3ff));
}

}  // namespace

std::string Safe(std::string_view text) {
  return Escape(text, false);
}
std::string SafeLines(std::string_view text) {
  return Escape(text, true);
}

std::string SafeJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const Decoded next = Decode(json, at);
    // Controls below 0x20 stand in JSON only as white space between values, or already escaped.
    const bool hidden =
        next.code != kBad && next.code >= 0x7f && (IsControl(next.code) || In(next.code, kInvisible));
    if (hidden) {
      AppendJsonEscape(out, next.code);
    } else {
      out.append(json, at, next.bytes);
    }
    at += next.bytes;
  }
  return out;
}

std::size_t DisplayWidth(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded next = Decode(utf8, at);
    width += WidthOf(next.code);
    at += next.bytes;
  }
  return width;
}

std::string CutToWidth(std::string_view utf8, std::size_t columns) {
  if (DisplayWidth(utf8) <= columns) return std::string(utf8);
  if (columns == 0) return {};
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < utf8.size()) {
    const Decoded next = Decode(utf8, at);
    if (width + WidthOf(next.code) > columns - 1) break;
    width += WidthOf(next.code);
    at += next.bytes;
  }
  return std::string(utf8.substr(0, at)) + "…";
}

bool IsUtf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded next = Decode(bytes, at);
    if (next.code == kBad) return false;
    at += next.bytes;
  }
  return true;
}

}  // namespace etl::ctl
