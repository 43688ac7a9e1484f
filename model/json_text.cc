#include "model/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace etl::json::internal {
namespace {

constexpr std::size_t kBlock = 16;  // bytes looked at in one step

unsigned char Byte(char c) {
  return static_cast<unsigned char>(c);
}

// The length of the well-formed UTF-8 sequence at `p`, 0 if there is none.
std::size_t SequenceBytes(const char* p, const char* end) {
  const auto left = static_cast<std::size_t>(end - p);
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return i < left && Byte(p[i]) >= low && Byte(p[i]) <= high;
  };
  const unsigned lead = Byte(*p);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return within(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;  // no surrogates
    return within(1, low, high) && within(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;  // at most U+10FFFF
    return within(1, low, high) && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

// Whether the block at `p` is all printable ASCII, and so needs no closer look.
bool IsPlainBlock(const char* p) {
#ifdef __SSE2__
  const __m128i s = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i control = _mm_set1_epi8(0x1f);  // as signed bytes, controls and everything above 7f are <= 1f
  return _mm_movemask_epi8(_mm_cmpgt_epi8(s, control)) == 0xffff;
#else
  for (std::size_t i = 0; i < kBlock; ++i)
    if (Byte(p[i]) < 0x20 || Byte(p[i]) >= 0x80) return false;
  return true;
#endif
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Whether a number that std::from_chars calls out of range is too large, rather than too small, for a double.
bool IsHuge(std::string_view number) {
  std::int64_t exponent = 0;
  if (const auto e = number.find_first_of("eE"); e != std::string_view::npos) {
    const bool negative = number[e + 1] == '-';
    const std::size_t first = e + 1 + (IsDigit(number[e + 1]) ? 0 : 1);
    const auto r = std::from_chars(number.data() + first, number.data() + number.size(), exponent);
    // Larger by far than any count of digits that fits a document.
    if (r.ec != std::errc()) exponent = std::int64_t{1} << 40;
    if (negative) exponent = -exponent;
    number = number.substr(0, e);
  }
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::size_t leading = number.find_first_not_of("-0.");
  if (leading == std::string_view::npos) return false;
  return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(leading) > 0;
}

}  // namespace

Error Fault::ToError(std::size_t bytes_before) const {
  return {Errc::kInvalid, std::string(code), "byte " + std::to_string(bytes_before + byte), what,
          std::string(fix)};
}

Fault NumberRangeFault(std::size_t byte) {
  return {"JSON_NUMBER_RANGE", byte, "the number is beyond the range of a double",
          "send a finite number below 1.8e308, or a string"};
}

// RapidJSON would check UTF-8 as well, at half the speed of all of its reading; of the control characters it
// lets some through, and a NUL would end its reading.
std::optional<Fault> CheckBytes(std::string_view text) {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    if (static_cast<std::size_t>(end - p) >= kBlock && IsPlainBlock(p)) {
      p += kBlock;
      continue;
    }
    const char* const stop = p + std::min<std::size_t>(kBlock, static_cast<std::size_t>(end - p));
    while (p < stop) {
      if (Byte(*p) < 0x20 && *p != '\t' && *p != '\n' && *p != '\r')
        return Fault{"JSON_SYNTAX", static_cast<std::size_t>(p - text.data()), "a raw control character",
                     "write it as an escape (\\u00xx) inside a string"};
      const std::size_t bytes = SequenceBytes(p, end);
      if (bytes == 0)
        return Fault{"JSON_INVALID_UTF8", static_cast<std::size_t>(p - text.data()),
                     "these bytes are not UTF-8", "encode the document as UTF-8"};
      p += bytes;
    }
  }
  return std::nullopt;
}

std::size_t NumberBytes(std::string_view text) {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : '\0'; };
  const auto digits = [&](std::size_t k) {
    while (IsDigit(at(k))) ++k;
    return k;
  };
  if (at(i) == '-') ++i;
  if (!IsDigit(at(i))) return 0;
  i = at(i) == '0' ? i + 1 : digits(i);
  if (at(i) == '.' && IsDigit(at(i + 1))) i = digits(i + 1);
  if (at(i) == 'e' || at(i) == 'E') {
    const std::size_t sign = at(i + 1) == '+' || at(i + 1) == '-' ? 1 : 0;
    if (IsDigit(at(i + 1 + sign))) i = digits(i + 1 + sign);
  }
  return i;
}

bool ReadDouble(std::string_view number, double& value) {
  const auto r = std::from_chars(number.data(), number.data() + number.size(), value);
  if (r.ec == std::errc()) return std::isfinite(value);
  if (IsHuge(number)) return false;
  value = number.front() == '-' ? -0.0 : 0.0;
  return true;
}

std::optional<Fault> BlankNumbers(std::string_view text, char* buffer) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
      continue;
    }
    const std::size_t bytes = text[i] == '-' || IsDigit(text[i]) ? NumberBytes(text.substr(i)) : 0;
    if (bytes == 0) continue;
    double ignored = 0;
    if (!ReadDouble(text.substr(i, bytes), ignored)) return NumberRangeFault(i);
    const std::size_t sign = text[i] == '-' ? 1 : 0;
    std::memset(buffer + i + sign, ' ', bytes - sign);
    buffer[i + sign] = '0';
    i += bytes - 1;
  }
  return std::nullopt;
}

}  // namespace etl::json::internal
