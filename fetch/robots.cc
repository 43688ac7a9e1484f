#include "fetch/robots.h"

#include <algorithm>
#include <utility>

#include "fetch/ascii.h"

namespace etl {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = LowerAscii(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool IsUnreserved(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void AppendEncoded(std::string& out, unsigned char c) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out += '%';
  out += kHex[c >> 4];
  out += kHex[c & 0xF];
}

// One spelling for every way to write the same path: unreserved characters bare, everything that is no URL
// character encoded, hex digits in upper case. Reserved characters stay as they are, encoded or not.
std::string Normalize(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    if (c == '%' && i + 2 < path.size() && HexDigit(path[i + 1]) >= 0 && HexDigit(path[i + 2]) >= 0) {
      const auto value = static_cast<unsigned char>(HexDigit(path[i + 1]) * 16 + HexDigit(path[i + 2]));
      if (IsUnreserved(value)) {
        out += static_cast<char>(value);
      } else {
        AppendEncoded(out, value);
      }
      i += 2;
    } else if (c <= 0x20 || c >= 0x7F) {
      AppendEncoded(out, c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

// Each part between stars is sought from where the one before ended: the leftmost place is as good as any,
// so no way is tried twice.
bool Matches(std::string_view pattern, std::string_view path) {
  const bool anchored = pattern.ends_with('$');
  if (anchored) pattern.remove_suffix(1);
  std::size_t star = pattern.find('*');
  const std::string_view first = pattern.substr(0, star);
  if (!path.starts_with(first)) return false;
  std::size_t at = first.size();
  if (star == std::string_view::npos) return !anchored || at == path.size();
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    if (star == std::string_view::npos) {
      if (!anchored) return path.find(part, at) != std::string_view::npos;
      return path.size() - at >= part.size() && path.ends_with(part);
    }
    at = path.find(part, at);
    if (at == std::string_view::npos) return false;
    at += part.size();
  }
}

struct Line {
  std::string_view name;
  std::string_view value;
};

// Takes the next line off the text: "name: value", without comment.
Line TakeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line = line.substr(0, line.find('#'));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return {Trim(line.substr(0, colon)), Trim(line.substr(colon + 1))};
}

// The product token of a user-agent line: "etld/1.0" names "etld".
std::string_view Product(std::string_view value) {
  const auto end = std::find_if_not(value.begin(), value.end(), [](char c) {
    return (LowerAscii(c) >= 'a' && LowerAscii(c) <= 'z') || c == '-' || c == '_';
  });
  return value.substr(0, static_cast<std::size_t>(end - value.begin()));
}

}  // namespace

RobotsRules RobotsRules::Parse(std::string_view text, std::string_view product) {
  text = text.substr(0, kBytesMax);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  RobotsRules mine, everyones;
  bool named = false;                    // some group is for this crawler
  bool for_me = false, for_all = false;  // the group being read
  bool naming = false;                   // its user-agent lines are still coming
  while (!text.empty()) {
    const Line line = TakeLine(text);
    if (SameName(line.name, "user-agent")) {
      if (!naming) for_me = for_all = false;
      naming = true;
      for_all = for_all || line.value == "*" || line.value.starts_with("* ");
      for_me = for_me || SameName(Product(line.value), product);
      named = named || for_me;
      continue;
    }
    const bool allow = SameName(line.name, "allow");
    if (!allow && !SameName(line.name, "disallow")) continue;
    naming = false;
    if (line.value.empty()) continue;
    if (!for_me && !for_all) continue;
    Rule rule{Normalize(line.value), allow};
    if (for_me) mine.rules_.push_back(rule);
    if (for_all) everyones.rules_.push_back(std::move(rule));
  }
  return named ? mine : everyones;
}

bool RobotsRules::Allows(std::string_view target) const {
  if (target == "/robots.txt") return true;
  const std::string path = Normalize(target);
  std::size_t longest = 0;
  bool allowed = true;
  for (const Rule& rule : rules_) {
    const std::size_t length = rule.pattern.size();
    if (length < longest || (length == longest && (allowed || !rule.allow))) continue;
    if (!Matches(rule.pattern, path)) continue;
    longest = length;
    allowed = rule.allow;
  }
  return allowed;
}

}  // namespace etl
