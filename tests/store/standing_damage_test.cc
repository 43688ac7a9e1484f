// What a standing refuses: members it cannot hold, and damaged nodes.
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/standing.h"
#include "store/standing_node.h"
#include "tests/store/standing_support.h"

namespace etl {
namespace {

using standing_node::Node;
using test::DigestOf;
using test::Listing;
using test::MapSpace;
using test::Member;
using test::Planted;
using testing::HasSubstr;

TEST(StandingTree, RefusesAMemberThatItCannotHold) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  std::vector<std::pair<const char*, StandingMember>> cases;
  const auto add = [&](const char* what, auto change) {
    auto member = Member(9, 1.0);
    change(member);
    cases.emplace_back(what, std::move(member));
  };
  add("finite", [&](StandingMember& m) { m.contender.value = nan; });
  add("finite", [&](StandingMember& m) { m.contender.value = -infinity; });
  add("finite", [&](StandingMember& m) { m.contender.low = nan; });
  add("finite", [&](StandingMember& m) { m.contender.high = infinity; });
  add("evidence", [](StandingMember& m) { m.contender.evidence = static_cast<EvidenceLevel>(4); });
  add("1024", [](StandingMember& m) { m.source.assign(1025, 's'); });
  add("1024", [](StandingMember& m) { m.external_id.assign(1025, 'e'); });
  MapSpace space;
  StandingTree tree(space, {});
  for (const auto& [what, member] : cases) {
    const Status status = tree.Insert(member);
    ASSERT_FALSE(status) << what;
    EXPECT_EQ(status.error().errc, Errc::kInvalid);
    EXPECT_EQ(status.error().code, "STANDING_MEMBER");
    EXPECT_EQ(status.error().where, DigestOf(9).Text());
    EXPECT_THAT(status.error().what, HasSubstr(what));
  }
  EXPECT_EQ(tree.count(), 0U);
  EXPECT_EQ(tree.Flush()->root, 0U);
}

TEST(StandingTree, RefusesAMemberBeyondWhatRanksCanCount) {
  MapSpace space;
  StandingTree tree(space, {.root = 1, .next_node = 2, .height = 1, .count = 0xffff'ffff, .distinct = 1});
  const Status status = tree.Insert(Member(1, 1.0));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errc, Errc::kInvalid);
  EXPECT_EQ(status.error().code, "STANDING_FULL");
  EXPECT_EQ(status.error().where, DigestOf(1).Text());
}

void ExpectDamage(const Status& status, const std::string& where, const std::string& what) {
  ASSERT_FALSE(status) << what;
  EXPECT_EQ(status.error().errc, Errc::kCorrupt);
  EXPECT_EQ(status.error().code, "STANDING_NODE");
  EXPECT_EQ(status.error().where, where);
  EXPECT_THAT(status.error().what, HasSubstr(what));
}

template <class T>
Status StatusOf(const Result<T>& result) {
  if (result) return {};
  return Fail(result.error());
}

TEST(StandingTree, NamesAMissingNodeInEveryOperation) {
  MapSpace space;
  const StandingRoot root = Planted(space, 300);
  ASSERT_EQ(root.height, 2U);
  const auto first = Member(0, 1.0);  // node 1 is the first leaf: splits give the right part a new number
  space.nodes.erase(1);
  const auto on = [&](auto act) { ExpectDamage(act(StandingTree(space, root)), "node 1", "missing"); };
  on([&](StandingTree&& tree) { return StatusOf(tree.Find(first.contender)); });
  on([&](StandingTree&& tree) { return StatusOf(tree.Page(0, 1)); });
  on([&](StandingTree&& tree) { return StatusOf(tree.Remove(first.contender)); });
  on([&](StandingTree&& tree) { return tree.Insert(first); });
  on([&](StandingTree&& tree) { return tree.Check(); });
  on([&](StandingTree&& tree) { return tree.ForEach([](const auto&) { return true; }); });
  space.nodes.erase(root.root);
  ExpectDamage(StatusOf(StandingTree(space, root).has_intervals()), "node " + std::to_string(root.root),
               "missing");
}

TEST(StandingTree, PassesOnAnErrorOfTheSpaceThatIsNotDamage) {
  MapSpace space;
  const StandingRoot root = Planted(space, 10);
  StandingTree tree(space, root);
  space.unavailable = true;
  const auto found = tree.Find(Member(0, 1.0).contender);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().errc, Errc::kUnavailable);
  space.unavailable = false;
  EXPECT_TRUE(*tree.Find(Member(0, 1.0).contender));
}

TEST(StandingTree, RefusesAGroupRecordThatDoesNotFitItsNodes) {
  MapSpace space;
  const StandingRoot good = Planted(space, 300);
  const auto with = [&](auto change) {
    StandingRoot root = good;
    change(root);
    return StandingTree(space, root).Check();
  };
  const std::string top = "node " + std::to_string(good.root);
  EXPECT_TRUE(with([](StandingRoot&) {}));
  ExpectDamage(with([](StandingRoot& r) { ++r.count; }), top, "members");
  ExpectDamage(with([](StandingRoot& r) { --r.distinct; }), top, "members");
  ExpectDamage(with([](StandingRoot& r) { r.height = 1; }), top, "another level");
  ExpectDamage(with([](StandingRoot& r) { r.height = 3; }), top, "another level");
  ExpectDamage(with([](StandingRoot& r) { r.height = 13; }), top, "out of range");
  ExpectDamage(with([](StandingRoot& r) { r.height = 0; }), top, "out of range");
  ExpectDamage(with([](StandingRoot& r) { r.next_node = r.root; }), top, "out of range");
  ExpectDamage(with([](StandingRoot& r) { r.next_node = 0; }), "node 0", "number 0");
  ExpectDamage(with([](StandingRoot& r) { r.root = 0; }), "node 0", "no root");
}

TEST(StandingTree, RefusesNodesThatDisagreeWithTheirParent) {
  MapSpace space;
  const StandingRoot root = Planted(space, 300);
  auto swapped = space;
  std::swap(swapped.nodes.at(1), swapped.nodes.at(2));
  ExpectDamage(StandingTree(swapped, root).Check(), "node 1", "not what its parent says");

  Node top;
  top.raw = space.nodes.at(root.root);
  ASSERT_TRUE(standing_node::DecodeNode(top, 2));
  top.children[1].id = top.children[0].id;
  space.nodes.at(root.root) = standing_node::EncodeNode(top);
  ExpectDamage(StandingTree(space, root).Check(), "node 1", "not what its parent says");
  top.children[1].id = root.root;
  space.nodes.at(root.root) = standing_node::EncodeNode(top);
  ExpectDamage(StandingTree(space, root).Check(), "node " + std::to_string(root.root), "named twice");
  top.children[1].id = root.next_node;
  space.nodes.at(root.root) = standing_node::EncodeNode(top);
  ExpectDamage(StandingTree(space, root).Check(), "node " + std::to_string(root.next_node),
               "never handed out");
}

TEST(StandingTree, NoticesEveryFlippedBitOfANode) {
  MapSpace space;
  const StandingRoot root = Planted(space, 100);
  ASSERT_EQ(root.height, 2U);
  StandingTree good(space, root);
  const auto listed = Listing(*good.Page(0, 1000));
  for (auto& [id, bytes] : space.nodes) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto flip = static_cast<char>(1U << (bit % 8));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
      StandingTree tree(space, root);
      EXPECT_TRUE(!tree.Check() || Listing(*tree.Page(0, 1000)) != listed) << "node " << id << " bit " << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
    }
  }
}

TEST(StandingNode, OrdersKeysLikeRanksBefore) {
  std::mt19937_64 random(3);
  const double values[] = {1, 1, 2, -3, 0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 1.0000000000000002};
  const std::int64_t times[] = {0,
                                -1,
                                1,
                                std::numeric_limits<std::int64_t>::min(),
                                std::numeric_limits<std::int64_t>::max(),
                                1'790'000'000'000};
  const auto draw = [&] {
    Contender c;
    c.value = values[random() % std::size(values)];
    c.evidence = static_cast<EvidenceLevel>(random() % 4);
    c.observed_at.ms = times[random() % std::size(times)];
    c.digest.bytes[random() % 32] = static_cast<std::uint8_t>(random() % 256);
    return c;
  };
  for (int i = 0; i < 20'000; ++i) {
    const Contender a = draw(), b = draw();
    const int order =
        standing_node::CompareKeys(standing_node::KeyOf(a).data(), standing_node::KeyOf(b).data());
    ASSERT_EQ(order < 0, RanksBefore(a, b));
    ASSERT_EQ(order > 0, RanksBefore(b, a));
  }
}

TEST(StandingNode, RefusesBytesThatItWouldNotHaveWritten) {
  std::string item;
  standing_node::EncodeMember(Member(1, 1.0), item);
  const std::string header{1, 1, 1, 0};
  const std::string plain = header + item;
  const auto with = [&](std::size_t at, char byte) {
    std::string bytes = plain;
    bytes[at] = byte;
    return bytes;
  };
  const std::size_t key = 4, flags = key + standing_node::kKeyBytes, since = flags + 1, source = since + 1;
  std::string overlong = with(since, static_cast<char>(0x81));
  overlong.insert(source, 1, '\0');
  std::string endless = plain;
  endless.replace(since, 1, std::string(10, static_cast<char>(0xff)));
  std::string many = header + item;
  many[3] = 5;  // 1281 items
  const std::vector<std::tuple<const char*, std::string, const char*>> cases = {
      {"nothing", "", "fewer bytes"},
      {"half a header", "\x01\x01", "fewer bytes"},
      {"another version", with(0, 2), "unknown version"},
      {"another level", with(1, 2), "another level"},
      {"no items", with(2, 0), "number of items"},
      {"too many items", many, "number of items"},
      {"more items than bytes", with(2, 2), "cut off"},
      {"a byte too few", plain.substr(0, plain.size() - 1), "cut off"},
      {"a byte too many", plain + "x", "followed by"},
      {"a value that is not a number", with(key, static_cast<char>(0xff)), "out of range"},
      {"an unknown evidence level", with(key + 8, 4), "out of range"},
      {"unknown flags", with(flags, 4), "out of range"},
      {"a bound that is cut off", with(flags, 3), "out of range"},
      {"a text longer than the node", with(source, 127), "cut off"},
      {"an overlong number", overlong, "out of range"},
      {"a number over 64 bits", endless, "out of range"},
      {"the same member twice", std::string{1, 1, 2, 0} + item + item, "not in order"},
  };
  for (const auto& [name, bytes, what] : cases) {
    SCOPED_TRACE(name);
    Node node;
    node.id = 7;
    node.raw = bytes;
    ExpectDamage(standing_node::DecodeNode(node, 1), "node 7", what);
  }
  Node node;
  node.raw = plain;
  EXPECT_TRUE(standing_node::DecodeNode(node, 1));
}

}  // namespace
}  // namespace etl
