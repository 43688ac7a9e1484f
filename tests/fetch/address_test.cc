#include "fetch/address.h"

#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace etl::test {
namespace {

AddressKind KindOf(const std::string& text) {
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ClassifyAddress(v4).kind;
  in6_addr v6{};
  EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &v6), 1) << text;
  return ClassifyAddress(v6).kind;
}

TEST(Address, PublicOnesMayBeReached) {
  for (const char* text : {"8.8.8.8",         "1.1.1.1",         "9.255.255.255",
                           "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
                           "126.255.255.255", "128.0.0.0",       "169.253.255.255",
                           "169.255.0.0",     "172.15.255.255",  "172.32.0.0",
                           "192.167.255.255", "192.169.0.0",     "198.17.255.255",
                           "198.20.0.0",      "223.255.255.255", "168.63.129.15",
                           "2606:4700::1111", "2001:200::1",     "2001:4860:4860::8888",
                           "2a00::1",         "64:ff9b::808:808"}) {
    EXPECT_EQ(KindOf(text), AddressKind::kPublic) << text;
  }
}

TEST(Address, LoopbackIsToldApart) {
  for (const char* text : {"127.0.0.1", "127.0.0.0", "127.255.255.255", "::1"})
    EXPECT_EQ(KindOf(text), AddressKind::kLoopback) << text;
}

TEST(Address, EverythingElseIsForbidden) {
  for (const char* text : {"0.0.0.0",
                           "0.255.255.255",
                           "10.0.0.0",
                           "10.255.255.255",
                           "100.64.0.0",
                           "100.100.100.200",
                           "100.127.255.255",
                           "168.63.129.16",
                           "169.254.0.0",
                           "169.254.169.254",
                           "172.16.0.0",
                           "172.31.255.255",
                           "192.0.0.192",
                           "192.0.2.1",
                           "192.88.99.1",
                           "192.168.0.0",
                           "192.168.255.255",
                           "198.18.0.0",
                           "198.19.255.255",
                           "198.51.100.1",
                           "203.0.113.1",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::2",
                           "::7f00:1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::ffff:8.8.8.8",
                           "64:ff9b::7f00:1",
                           "64:ff9b::a00:1",
                           "64:ff9b::a9fe:a9fe",
                           "64:ff9b:1::1",
                           "100::1",
                           "2001::1",
                           "2001:10::1",
                           "2001:1ff:ffff::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "2002:808:808::1",
                           "3fff::1",
                           "4000::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "fdff::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "ff02::1"}) {
    EXPECT_EQ(KindOf(text), AddressKind::kForbidden) << text;
  }
}

TEST(Address, AnUnknownFamilyOrAShortOneIsForbidden) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0x08080808);
  const auto* const address = reinterpret_cast<const sockaddr*>(&v4);
  EXPECT_EQ(ClassifyAddress(address, sizeof v4).kind, AddressKind::kPublic);
  EXPECT_EQ(AddressText(address, sizeof v4), "8.8.8.8");
  EXPECT_EQ(ClassifyAddress(address, 4).kind, AddressKind::kForbidden);
  EXPECT_EQ(ClassifyAddress(nullptr, 0).kind, AddressKind::kForbidden);
  v4.sin_family = AF_UNIX;
  EXPECT_EQ(ClassifyAddress(address, sizeof v4).kind, AddressKind::kForbidden);
  EXPECT_EQ(AddressText(address, sizeof v4), "?");
}

TEST(Address, KnowsLoopbackHosts) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  for (const char* host : {"", "localhost.", "localhost.example", "127.0.0.1.example", "127.1", "10.0.0.1",
                           "::ffff:127.0.0.1", "example.org"}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

}  // namespace
}  // namespace etl::test
