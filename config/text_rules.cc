#include "config/text_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <arpa/inet.h>

namespace etl::config {
namespace {

constexpr std::size_t kHostBytesMax = 253, kLabelBytesMax = 63;
constexpr int kPortMax = 65535;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool Starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool HasOnlyPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool IsIp(int family, std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(family, std::string(text).c_str(), address.data()) == 1;
}

bool IsAddress(std::string_view text) {
  return text.find('\0') == std::string_view::npos && (IsIp(AF_INET, text) || IsIp(AF_INET6, text));
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || (Starts(host, "127.") && IsIp(AF_INET, host));
}

bool IsUrlHost(std::string_view host) {
  if (!Starts(host, "[")) return IsHost(host);
  return host.size() > 2 && host.back() == ']' && IsIp(AF_INET6, host.substr(1, host.size() - 2));
}

bool IsPort(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && port >= 1 && port <= kPortMax;
}

constexpr std::string_view kBaseUrlRule =
    "https://HOST/PATH, or http:// for a loopback host, without user, query or fragment";

std::string_view BrokenBaseUrl(std::string_view url) {
  const bool secure = Starts(url, "https://");
  if (!secure && !Starts(url, "http://")) return kBaseUrlRule;
  const std::string_view rest = url.substr(secure ? 8 : 7);
  if (!HasOnlyPrintableAscii(rest) || rest.find_first_of("?#@\\\"<>^`{|}") != std::string_view::npos)
    return kBaseUrlRule;
  std::string_view host = rest.substr(0, rest.find('/'));
  // The last colon of [::1] is inside the brackets.
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    if (!IsPort(host.substr(colon + 1))) return kBaseUrlRule;
    host = host.substr(0, colon);
  }
  if (!IsUrlHost(host)) return kBaseUrlRule;
  return secure || IsLoopback(host) ? "" : kBaseUrlRule;
}

// Brackets and backslashes mean something in a User-Agent comment, control characters would end the line.
bool IsContact(std::string_view text) {
  if (!HasOnlyPrintableAscii(text) || text.find_first_of("()\\\"<>;,") != std::string_view::npos)
    return false;
  if (Starts(text, "https://")) return IsHost(text.substr(8, text.find('/', 8) - 8));
  const std::size_t at = text.find('@');
  return at != std::string_view::npos && at > 0 && IsHost(text.substr(at + 1));
}

bool IsGroup(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && ((text.front() >= 'a' && text.front() <= 'z') || text.front() == '_') &&
         std::all_of(text.begin(), text.end(), good);
}

}  // namespace

bool IsHost(std::string_view text) {
  if (text.empty() || text.size() > kHostBytesMax) return false;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > kLabelBytesMax || label.front() == '-' || label.back() == '-')
      return false;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return IsLetterOrDigit(c) || c == '-'; }))
      return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

std::string_view BrokenRule(const Key& key, std::string_view text) {
  switch (key.form) {
    case Form::kPath:
      return Starts(text, "/") && text.find('\0') == std::string_view::npos ? ""
                                                                            : "an absolute path, from / on";
    case Form::kContact:
      return IsContact(text) ? ""
                             : "an e-mail address or https URL, in ASCII without spaces, brackets or quotes";
    case Form::kBaseUrl:
      return BrokenBaseUrl(text);
    case Form::kAddress:
      return IsAddress(text) ? "" : "an IPv4 or IPv6 address, without a port";
    case Form::kGroup:
      return IsGroup(text) ? "" : "a group name of a-z, 0-9, _ and -, starting with a letter or _";
    case Form::kWord:
      return std::find(key.words.begin(), key.words.end(), text) != key.words.end() ? "" : "one of its words";
    case Form::kHosts:
      return IsHost(text) ? "" : "a host name without scheme or port";
    case Form::kBool:
    case Form::kWhole:
    case Form::kNumber:
      break;
  }
  return "";
}

}  // namespace etl::config
