#include "model/text.h"

#include <algorithm>
#include <cstdint>

namespace etl {
namespace {

constexpr std::size_t kSlugMax = 100;
constexpr std::size_t kNameMax = 200;
constexpr std::size_t kUrlMax = 2000;
constexpr std::size_t kCommitDigits = 40;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsLowerOrDigit(char c) {
  return IsLower(c) || IsDigit(c);
}

char LowerChar(char c) {
  return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// The bytes of UTF-8 that do not begin a code point.
bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Whether `text` begins with what `first` likes, and goes on with what it or `rest` has.
template <class First>
bool Matches(std::string_view text, First first, std::string_view rest, std::size_t bytes_max) {
  if (text.empty() || text.size() > bytes_max || !first(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsLowerOrDigit(c) || rest.find(c) != std::string_view::npos; });
}

// The place of a character in collation, without regard to case.
std::uint32_t CollationRank(char c) {
  constexpr std::uint32_t kUnderscore = 0x100, kDigits = 0x200, kLetters = 0x300;
  if (c == '_') return kUnderscore;
  if (IsDigit(c)) return kDigits + static_cast<unsigned char>(c);
  if (IsLower(c) || IsUpper(c)) return kLetters + static_cast<unsigned char>(LowerChar(c));
  return static_cast<unsigned char>(c);
}

}  // namespace

std::string Kebab(std::string_view text) {
  std::string out;
  for (const char raw : text) {
    const char c = LowerChar(raw);
    if (IsLowerOrDigit(c))
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
    if (out.size() > kSlugMax) break;
  }
  if (out.size() > kSlugMax) out.resize(kSlugMax);
  if (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

bool IsToken(std::string_view text) {
  return Matches(text, IsLower, "_", text.size());
}

bool IsSlug(std::string_view text) {
  return Matches(text, IsLowerOrDigit, "-", kSlugMax);
}

bool IsName(std::string_view text) {
  return Matches(text, IsLowerOrDigit, "._-", kNameMax);
}

bool IsCommit(std::string_view text) {
  return text.size() == kCommitDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
}

bool IsHttpsUrl(std::string_view text) {
  constexpr std::string_view kScheme = "https://";
  if (!text.starts_with(kScheme) || text.size() > kUrlMax) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; })) return false;
  const std::string_view rest = text.substr(kScheme.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view host = authority.substr(authority.rfind('@') + 1);  // npos + 1 is 0
  return !host.empty() && (IsLowerOrDigit(LowerChar(host.front())) || host.front() == '[');
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), LowerChar);
  return out;
}

std::size_t CodePoints(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return !IsContinuation(c); }));
}

std::string CutTo(std::string_view utf8, std::size_t max) {
  if (utf8.size() <= max || CodePoints(utf8) <= max) return std::string(utf8);
  if (max == 0) return {};
  std::size_t bytes = 0;
  for (std::size_t kept = 0; bytes < utf8.size(); ++bytes)
    if (!IsContinuation(utf8[bytes]) && ++kept == max) break;
  return std::string(utf8.substr(0, bytes)) + "…";
}

std::string TokenFrom(std::string_view text) {
  std::string out;
  for (const char raw : text) {
    const char c = LowerChar(raw);
    if (IsLowerOrDigit(c))
      out += c;
    else if (!IsContinuation(c))
      out += '_';
  }
  if (out.empty() || !IsLower(out.front())) out.insert(0, "x_");
  return out;
}

bool CollatedLess(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i)
    if (const auto ra = CollationRank(a[i]), rb = CollationRank(b[i]); ra != rb) return ra < rb;
  if (a.size() != b.size()) return a.size() < b.size();
  // Equal but for case: the first difference decides, and a lower-case letter has the larger byte.
  return std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end());
}

}  // namespace etl
