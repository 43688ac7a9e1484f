#include "store/standing.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/standing_node.h"
#include "tests/store/standing_support.h"

namespace etl {
namespace {

using standing_node::Node;
using test::FieldsOf;
using test::Listing;
using test::MapSpace;
using test::Member;
using test::Planted;

// The definition: a vector kept in RanksBefore order, and Rank() over it.
class Model {
 public:
  void Insert(const StandingMember& member) {
    const auto it = At(member.contender);
    if (it != members_.end() && !RanksBefore(member.contender, it->contender))
      *it = member;
    else
      members_.insert(it, member);
  }
  bool Remove(const Contender& key) {
    const auto it = At(key);
    if (it == members_.end() || RanksBefore(key, it->contender)) return false;
    members_.erase(it);
    return true;
  }
  std::vector<StandingTree::Placed> Listed() const {
    std::vector<Contender> contenders;
    for (const auto& member : members_) contenders.push_back(member.contender);
    std::vector<StandingTree::Placed> out;
    for (const Ranked& r : Rank(contenders)) out.push_back({members_[r.index], r.rank, out.size()});
    return out;
  }
  std::uint64_t Distinct() const {
    std::set<double> values;
    for (const auto& member : members_) values.insert(member.contender.value);
    return values.size();
  }
  const std::vector<StandingMember>& members() const { return members_; }

 private:
  std::vector<StandingMember>::iterator At(const Contender& key) {
    return std::lower_bound(
        members_.begin(), members_.end(), key,
        [](const StandingMember& m, const Contender& k) { return RanksBefore(m.contender, k); });
  }
  std::vector<StandingMember> members_;
};

void Reach(const MapSpace& space, std::uint64_t id, std::uint32_t level, std::set<std::uint64_t>& reached) {
  reached.insert(id);
  Node node;
  node.id = id;
  node.raw = space.nodes.at(id);
  ASSERT_TRUE(standing_node::DecodeNode(node, level));
  EXPECT_LE(node.raw.size(), standing_node::kNodeBytesMax + 64);
  for (const auto& child : node.children) Reach(space, child.id, level - 1, reached);
}

void ExpectNoStrayNodes(const MapSpace& space, const StandingRoot& root) {
  std::set<std::uint64_t> reached, kept;
  if (root.root != 0) Reach(space, root.root, root.height, reached);
  for (const auto& [id, bytes] : space.nodes) kept.insert(id);
  EXPECT_EQ(reached, kept);
}

void ExpectEqualsModel(StandingTree& tree, const Model& model, std::mt19937_64& random) {
  const auto listed = model.Listed();
  ASSERT_EQ(tree.count(), listed.size());
  ASSERT_EQ(tree.distinct(), model.Distinct());
  const auto check = tree.Check();
  ASSERT_TRUE(check) << check.error().Message();
  for (const auto& want : listed) {
    auto found = tree.Find(want.member.contender);
    ASSERT_TRUE(found && *found);
    ASSERT_EQ((*found)->rank, want.rank);
    ASSERT_EQ((*found)->position, want.position);
    ASSERT_EQ(FieldsOf((*found)->member), FieldsOf(want.member));
  }
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t offset = random() % (listed.size() + 3), limit = random() % 300;
    auto page = tree.Page(offset, limit);
    ASSERT_TRUE(page);
    const std::size_t begin = std::min<std::size_t>(offset, listed.size());
    const std::size_t end = std::min<std::size_t>(begin + limit, listed.size());
    const std::vector<StandingTree::Placed> want(listed.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 listed.begin() + static_cast<std::ptrdiff_t>(end));
    ASSERT_EQ(Listing(*page), Listing(want));
    for (std::size_t k = 0; k < page->size(); ++k) ASSERT_EQ((*page)[k].position, begin + k);
  }
}

struct Profile {
  const char* name;
  std::uint64_t values;  // how many different ones
  bool intervals;
  std::size_t batch;        // edits between two comparisons
  std::size_t members_max;  // beyond it, edits mostly remove
};

class StandingProperty : public testing::TestWithParam<std::tuple<Profile, int>> {};

StandingMember RandomMember(const Profile& profile, std::mt19937_64& random) {
  auto member = Member(random() % 5000, 1.0 + static_cast<double>(random() % profile.values) / 8);
  member.contender.evidence = static_cast<EvidenceLevel>(random() % 4);
  member.contender.observed_at.ms = static_cast<std::int64_t>(random() % 5) - 2;
  member.external_id.resize(random() % 50 == 0 ? 1024 : random() % 20, 'x');
  member.since = random() >> (random() % 64);
  if (profile.intervals && random() % 2 == 0) {
    member.contender.low = member.contender.value - static_cast<double>(random() % 3) / 16;
    member.contender.high = member.contender.value + static_cast<double>(random() % 3) / 16;
  }
  return member;
}

TEST_P(StandingProperty, EqualsRankingTheWholeGroupAfterEveryBatch) {
  const auto& [profile, seed] = GetParam();
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  MapSpace space;
  StandingRoot root;
  auto tree = std::make_unique<StandingTree>(space, root);
  Model model;
  bool growing = true;
  for (int round = 0; round < 24; ++round) {
    growing = model.members().empty() || (growing && model.members().size() < profile.members_max);
    for (std::size_t i = 0; i < profile.batch; ++i) {
      const auto& members = model.members();
      if (!members.empty() && random() % 8 < (growing ? 1U : 7U)) {
        const Contender key = members[random() % members.size()].contender;
        auto removed = tree->Remove(key);
        ASSERT_TRUE(removed && *removed);
        ASSERT_TRUE(model.Remove(key));
      } else {
        auto member = RandomMember(profile, random);
        if (!members.empty() && random() % 10 == 0) {
          member.contender = members[random() % members.size()].contender;  // replaces
          if (profile.intervals) member.contender.high = member.contender.value + 0.5;
        }
        ASSERT_TRUE(tree->Insert(member));
        model.Insert(member);
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectEqualsModel(*tree, model, random));
    if (random() % 2 == 0) continue;
    auto flushed = tree->Flush();
    ASSERT_TRUE(flushed);
    ExpectNoStrayNodes(space, *flushed);
    if (random() % 2 == 0) tree = std::make_unique<StandingTree>(space, *flushed);
    ASSERT_NO_FATAL_FAILURE(ExpectEqualsModel(*tree, model, random));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StandingProperty,
                         testing::Combine(testing::Values(Profile{"AllEqual", 1, false, 150, 1200},
                                                          Profile{"FewValues", 5, false, 300, 2500},
                                                          Profile{"RunsAcrossEdges", 60, false, 200, 1500},
                                                          Profile{"ManyValues", 1'000'000, false, 300, 2500},
                                                          Profile{"OneByOne", 20, false, 3, 30},
                                                          Profile{"Intervals", 200, true, 60, 400}),
                                          testing::Range(1, 4)),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param).name) +
                                  std::to_string(std::get<1>(p.param));
                         });

struct Big {
  const char* name;
  double (*value)(std::uint64_t);
  std::uint64_t distinct;
};

class StandingBig : public testing::TestWithParam<Big> {};

TEST_P(StandingBig, HoldsAndEmptiesAHundredThousandMembers) {
  constexpr std::uint64_t kMembers = 100'000;
  MapSpace space;
  StandingTree tree(space, {});
  std::vector<Contender> keys;
  for (std::uint64_t i = 0; i < kMembers; ++i) {
    auto member = Member(i, GetParam().value(i));
    keys.push_back(member.contender);
    ASSERT_TRUE(tree.Insert(std::move(member)));
  }
  auto root = tree.Flush();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->count, kMembers);
  EXPECT_EQ(root->distinct, GetParam().distinct);
  EXPECT_EQ(root->height, 3U);
  ExpectNoStrayNodes(space, *root);

  StandingTree again(space, *root);
  const auto check = again.Check();
  ASSERT_TRUE(check) << check.error().Message();
  const auto ranked = Rank(keys);
  for (std::size_t i = 0; i < ranked.size(); i += 97) {
    auto found = again.Find(keys[ranked[i].index]);
    ASSERT_TRUE(found && *found);
    ASSERT_EQ((*found)->rank, ranked[i].rank);
    ASSERT_EQ((*found)->position, i);
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(7));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto removed = again.Remove(keys[i]);
    ASSERT_TRUE(removed && *removed);
    if (i % 30'000 != 0) continue;
    ASSERT_TRUE(again.Check());
  }
  root = again.Flush();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->root, 0U);
  EXPECT_EQ(root->height, 0U);
  EXPECT_EQ(root->count, 0U);
  EXPECT_EQ(root->distinct, 0U);
  EXPECT_TRUE(space.nodes.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Orders, StandingBig,
    testing::Values(Big{"AllEqual", [](std::uint64_t) { return 5.0; }, 1},
                    Big{"Ascending", [](std::uint64_t i) { return 1.0 + static_cast<double>(i); }, 100'000},
                    Big{"Descending", [](std::uint64_t i) { return 1e6 - static_cast<double>(i); }, 100'000},
                    Big{"Scattered",
                        [](std::uint64_t i) { return 1.0 + static_cast<double>(i * 7919 % 1000); }, 1000}),
    [](const auto& p) { return p.param.name; });

TEST(StandingTree, AnswersForAnEmptyStandingWithoutReadingAnything) {
  MapSpace space;
  StandingTree tree(space, {});
  const auto found = tree.Find(Member(1, 1).contender);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_THAT(*tree.Page(0, 10), testing::IsEmpty());
  EXPECT_FALSE(*tree.Remove(Member(1, 1).contender));
  EXPECT_FALSE(*tree.has_intervals());
  EXPECT_TRUE(tree.Check());
  EXPECT_EQ(tree.Flush()->next_node, 1U);
  EXPECT_EQ(space.gets, 0U);
}

TEST(StandingTree, ReadsAndRewritesOneNodePerLevelForOneMember) {
  MapSpace space;
  const StandingRoot root = Planted(space, 20'000);
  ASSERT_EQ(root.height, 3U);
  StandingTree reader(space, root);
  ASSERT_TRUE(*reader.Find(Member(10'000, 1.0 + 10'000 / 3).contender));
  EXPECT_EQ(space.gets, 3U);
  StandingTree writer(space, root);
  ASSERT_TRUE(*writer.Remove(Member(10'000, 1.0 + 10'000 / 3).contender));
  ASSERT_TRUE(writer.Flush());
  EXPECT_EQ(space.gets, 6U);
  EXPECT_EQ(space.puts.size(), 3U);
}

TEST(StandingTree, MergesSmallNeighboursAndLowersTheRoot) {
  MapSpace space;
  StandingTree tree(space, Planted(space, 20'000));
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (i % 100 == 0) continue;
    ASSERT_TRUE(*tree.Remove(Member(i, 1.0 + static_cast<double>(i / 3)).contender));
  }
  const auto root = tree.Flush();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->count, 200U);
  EXPECT_EQ(root->height, 2U);
  EXPECT_LE(space.nodes.size(), 1 + 200 / (standing_node::kLeafMembersMax / 4));
  ExpectNoStrayNodes(space, *root);
}

TEST(StandingTree, WritesEachChangedNodeOnceAtFlushAndNothingAtTheNext) {
  MapSpace space;
  const StandingRoot root = Planted(space, 2'000);
  StandingTree tree(space, root);
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(tree.Insert(Member(10'000 + i, static_cast<double>(i))));
  EXPECT_TRUE(space.puts.empty());
  ASSERT_TRUE(tree.Flush());
  for (const auto& [id, times] : space.puts) EXPECT_EQ(times, 1) << "node " << id;
  space.puts.clear();
  ASSERT_TRUE(tree.Flush());
  EXPECT_TRUE(space.puts.empty());
}

TEST(StandingTree, ReplacesAMemberWithTheSameSortKey) {
  MapSpace space;
  StandingTree tree(space, {});
  ASSERT_TRUE(tree.Insert(Member(1, 2.0)));
  auto member = Member(1, 2.0);
  member.external_id = "other";
  member.contender.low = 1.5;
  ASSERT_TRUE(tree.Insert(member));
  EXPECT_EQ(tree.count(), 1U);
  EXPECT_TRUE(*tree.has_intervals());
  EXPECT_EQ(FieldsOf((*tree.Find(member.contender))->member), FieldsOf(member));
  ASSERT_TRUE(tree.Insert(Member(1, 2.0)));
  EXPECT_FALSE(*tree.has_intervals());
}

TEST(StandingTree, TakesZeroAndNegativeZeroForTheSameValue) {
  MapSpace space;
  StandingTree tree(space, {});
  ASSERT_TRUE(tree.Insert(Member(1, 0.0)));
  ASSERT_TRUE(tree.Insert(Member(2, -0.0)));
  ASSERT_TRUE(tree.Insert(Member(3, -1.0)));
  EXPECT_EQ(tree.distinct(), 2U);
  EXPECT_EQ((*tree.Find(Member(2, 0.0).contender))->rank, 2U);
}

TEST(StandingTree, StopsVisitingWhenTold) {
  MapSpace space;
  StandingTree tree(space, Planted(space, 1'000));
  std::size_t seen = 0;
  ASSERT_TRUE(tree.ForEach([&](const StandingTree::Placed& placed) {
    EXPECT_EQ(placed.position, seen);
    return ++seen < 250;
  }));
  EXPECT_EQ(seen, 250U);
}

}  // namespace
}  // namespace etl
