#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/standing.h"

// What the tests of standings share: a space in memory, members, and their comparison.
namespace etl::test {

class MapSpace : public NodeSpace {
 public:
  Result<std::string> GetNode(std::uint64_t node) override {
    ++gets;
    if (unavailable) return Fail(Errc::kUnavailable, "IO", "disk", "no answer", "try again");
    const auto it = nodes.find(node);
    if (it == nodes.end()) return Fail(Errc::kNotFound, "KEY", std::to_string(node), "no such key", "");
    return it->second;
  }
  void PutNode(std::uint64_t node, std::string bytes) override {
    ++puts[node];
    nodes[node] = std::move(bytes);
  }
  void DeleteNode(std::uint64_t node) override { EXPECT_EQ(nodes.erase(node), 1U) << "node " << node; }

  std::map<std::uint64_t, std::string> nodes;
  std::map<std::uint64_t, int> puts;
  std::size_t gets = 0;
  bool unavailable = false;
};

inline Digest DigestOf(std::uint64_t number) {
  Digest digest;
  for (std::size_t i = 0; i < 8; ++i) digest.bytes[31 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  digest.bytes[0] = static_cast<std::uint8_t>(number * 37);  // so that digest order is not insertion order
  return digest;
}

inline StandingMember Member(std::uint64_t id, double value) {
  StandingMember member;
  member.contender.value = value;
  member.contender.digest = DigestOf(id);
  member.contender.observed_at.ms = 1'790'000'000'000;
  member.source = "example";
  member.external_id = "submission/" + std::to_string(id);
  member.since = id;
  return member;
}

using Fields = std::tuple<double, int, std::int64_t, std::string, std::optional<double>,
                          std::optional<double>, std::string, std::string, std::uint64_t>;
inline Fields FieldsOf(const StandingMember& m) {
  const Contender& c = m.contender;
  return {c.value,
          static_cast<int>(c.evidence),
          c.observed_at.ms,
          c.digest.Hex(),
          c.low,
          c.high,
          m.source,
          m.external_id,
          m.since};
}

inline std::vector<std::pair<Fields, std::uint32_t>> Listing(
    const std::vector<StandingTree::Placed>& placed) {
  std::vector<std::pair<Fields, std::uint32_t>> out;
  out.reserve(placed.size());
  for (const auto& p : placed) out.emplace_back(FieldsOf(p.member), p.rank);
  return out;
}

// A flushed tree of `members` members, value = id / 3.
inline StandingRoot Planted(MapSpace& space, std::uint64_t members) {
  StandingTree tree(space, {});
  for (std::uint64_t i = 0; i < members; ++i)
    EXPECT_TRUE(tree.Insert(Member(i, 1.0 + static_cast<double>(i / 3))));
  auto root = tree.Flush();
  EXPECT_TRUE(root);
  space.puts.clear();
  space.gets = 0;
  return *root;
}

}  // namespace etl::test
