#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace etl {

// An http or https URL in parts: scheme and host in lower case, no user name, no fragment.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // without the brackets of an IPv6 literal
  int port = 0;
  std::string target;  // path and query as they are sent, beginning with "/"

  // "host:port", with brackets where the host is an IPv6 literal.
  std::string Authority() const;
  // "https://host:port"; the port is left out where it is the scheme's own.
  std::string Origin() const;
  std::string Text() const { return Origin() + target; }
  bool SameOrigin(const Url& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

// Reads an absolute URL (RFC 3986), removing dot segments. None when it is no such URL, its scheme is
// another, it has a user name, or is over 8,192 bytes. An IPv4 address written in an unusual way ("0x7f.1")
// becomes the usual one.
std::optional<Url> ParseUrl(std::string_view text);

// What a Location header means on a response of `base`: absolute or relative (RFC 9110, section 10.2.2).
// Spaces and bytes above 0x7F are percent-encoded. None as above.
std::optional<Url> ResolveLocation(const Url& base, std::string_view location);

// What may be shown and kept of a URL that a server gave: without user, query and fragment, where such a URL
// carries its secrets. Takes any text.
std::string ShownUrl(std::string_view text);

}  // namespace etl
