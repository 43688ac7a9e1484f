#include "fetch/address.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <arpa/inet.h>

namespace etl {
namespace {

struct Range4 {
  std::uint32_t base;
  int bits;
  const char* why;
};

constexpr std::uint32_t V4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

constexpr Range4 kForbidden4[] = {
    {V4(0, 0, 0, 0), 8, "this network"},
    {V4(10, 0, 0, 0), 8, "private"},
    {V4(100, 64, 0, 0), 10, "shared address space"},
    {V4(168, 63, 129, 16), 32, "a metadata service"},  // outside every registry, yet Azure's own
    {V4(169, 254, 0, 0), 16, "link-local"},
    {V4(172, 16, 0, 0), 12, "private"},
    {V4(192, 0, 0, 0), 24, "a protocol assignment"},
    {V4(192, 0, 2, 0), 24, "documentation"},
    {V4(192, 88, 99, 0), 24, "a 6to4 relay"},
    {V4(192, 168, 0, 0), 16, "private"},
    {V4(198, 18, 0, 0), 15, "benchmarking"},
    {V4(198, 51, 100, 0), 24, "documentation"},
    {V4(203, 0, 113, 0), 24, "documentation"},
    {V4(224, 0, 0, 0), 4, "multicast"},
    {V4(240, 0, 0, 0), 4, "reserved"},
};

struct Range6 {
  std::array<std::uint8_t, 16> base;
  int bits;
  const char* why;
};

constexpr Range6 kForbidden6[] = {
    {{0x20, 0x01}, 23, "a protocol assignment"},  // with Teredo and ORCHID
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    {{0x20, 0x02}, 16, "6to4"},
    {{0x3f, 0xff}, 20, "documentation"},
};

bool Inside(const in6_addr& address, const std::array<std::uint8_t, 16>& base, int bits) {
  for (std::size_t i = 0; bits > 0; ++i, bits -= 8) {
    const unsigned mask = bits >= 8 ? 0xFFU : (0xFFU << (8 - bits)) & 0xFFU;
    if ((address.s6_addr[i] & mask) != base[i]) return false;
  }
  return true;
}

constexpr std::array<std::uint8_t, 16> kLoopback6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::array<std::uint8_t, 16> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr std::array<std::uint8_t, 16> kNat64 = {0x00, 0x64, 0xff, 0x9b};
constexpr std::array<std::uint8_t, 16> kGlobal = {0x20};

}  // namespace

AddressVerdict ClassifyAddress(const in_addr& address) {
  const std::uint32_t value = ntohl(address.s_addr);
  if (value >> 24 == 127) return {AddressKind::kLoopback, "loopback"};
  for (const Range4& range : kForbidden4) {
    if ((value ^ range.base) >> (32 - range.bits) == 0) return {AddressKind::kForbidden, range.why};
  }
  return {AddressKind::kPublic, "public"};
}

AddressVerdict ClassifyAddress(const in6_addr& address) {
  if (Inside(address, kLoopback6, 128)) return {AddressKind::kLoopback, "loopback"};
  if (Inside(address, kMapped, 96)) return {AddressKind::kForbidden, "a mapped IPv4 address"};
  if (Inside(address, kNat64, 96)) {
    in_addr carried{};
    std::memcpy(&carried, address.s6_addr + 12, sizeof(carried));
    const AddressVerdict verdict = ClassifyAddress(carried);
    return verdict.kind == AddressKind::kPublic ? verdict
                                                : AddressVerdict{AddressKind::kForbidden, verdict.why};
  }
  if (address.s6_addr[0] == 0xFE && (address.s6_addr[1] & 0xC0) == 0x80)
    return {AddressKind::kForbidden, "link-local"};
  if ((address.s6_addr[0] & 0xFE) == 0xFC) return {AddressKind::kForbidden, "private"};
  if (address.s6_addr[0] == 0xFF) return {AddressKind::kForbidden, "multicast"};
  if (!Inside(address, kGlobal, 3)) return {AddressKind::kForbidden, "reserved"};
  for (const Range6& range : kForbidden6) {
    if (Inside(address, range.base, range.bits)) return {AddressKind::kForbidden, range.why};
  }
  return {AddressKind::kPublic, "public"};
}

AddressVerdict ClassifyAddress(const sockaddr* address, std::size_t size) {
  if (address != nullptr && size >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof(v4));
    return ClassifyAddress(v4.sin_addr);
  }
  if (address != nullptr && size >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof(v6));
    return ClassifyAddress(v6.sin6_addr);
  }
  return {AddressKind::kForbidden, "no Internet address"};
}

std::string AddressText(const sockaddr* address, std::size_t size) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address != nullptr && size >= sizeof(sockaddr_in) && address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof(v4));
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
  } else if (address != nullptr && size >= sizeof(sockaddr_in6) && address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof(v6));
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
  }
  return text;
}

bool IsLoopbackHost(std::string_view host) {
  const std::string text(host);
  if (text == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ClassifyAddress(v4).kind == AddressKind::kLoopback;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && ClassifyAddress(v6).kind == AddressKind::kLoopback;
}

}  // namespace etl
