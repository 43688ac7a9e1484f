#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <netinet/in.h>
#include <sys/socket.h>

namespace etl {

enum class AddressKind : std::uint8_t {
  kPublic,     // a host of the Internet
  kLoopback,   // 127.0.0.0/8, ::1
  kForbidden,  // everything else: a request must never be led there
};

struct AddressVerdict {
  AddressKind kind = AddressKind::kForbidden;
  const char* why = "";  // what the address is: "private"; never null
};

// What an address is, by the special-purpose registries of RFC 6890. Forbidden: this network, private,
// shared (CGNAT), link-local with the metadata addresses, protocol assignments, documentation, benchmarking,
// multicast, reserved, broadcast; of IPv6 everything outside 2000::/3, and there Teredo, ORCHID, 6to4 and
// documentation. An IPv4 address inside an IPv6 one: NAT64 (64:ff9b::/96) counts as the address it carries,
// loopback apart, which it forbids; v4-mapped is forbidden whatever it carries.
AddressVerdict ClassifyAddress(const in_addr& address);
AddressVerdict ClassifyAddress(const in6_addr& address);
// By family; forbidden when it is neither IPv4 nor IPv6 or too short.
AddressVerdict ClassifyAddress(const sockaddr* address, std::size_t size);

// "127.0.0.1", "::1": the address without port; "?" if it is none.
std::string AddressText(const sockaddr* address, std::size_t size);

// Whether a URL's host, without brackets, is "localhost" or a loopback address as a literal.
bool IsLoopbackHost(std::string_view host);

}  // namespace etl
