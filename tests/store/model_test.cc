// The store against a map: random pages of random rows, late and early, must leave what the map says.
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "model/ranking.h"
#include "store/store_impl.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"

namespace etl::test {
namespace {

struct Seen {
  std::int64_t at = 0;
  double latency = 0;
};

std::unique_ptr<Store> InMemory(Clock& clock) {
  Store::Options options;
  options.mode = Store::Mode::kWrite;
  options.in_memory = true;
  auto store = Store::Open("", options, clock);
  return std::move(*store);
}

// Values of the rows that pass, best first, as ranks.
std::vector<std::pair<std::uint32_t, double>> RanksOf(const std::map<int, Seen>& rows) {
  std::vector<Contender> contenders;
  for (const auto& [id, seen] : rows) {
    if (seen.latency <= 0) continue;
    Contender c;
    c.value = seen.latency;
    c.observed_at = Instant{id};
    c.digest = Sha256(std::to_string(id));
    contenders.push_back(c);
  }
  std::vector<std::pair<std::uint32_t, double>> out;
  for (const Ranked& r : Rank(contenders)) out.emplace_back(r.rank, contenders[r.index].value);
  return out;
}

TEST(StoreModel, RandomPagesLeaveWhatAMapSays) {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    ManualClock clock;
    const auto store = InMemory(clock);
    SmallSource source;
    std::map<int, Seen> rows;
    std::map<std::uint64_t, std::map<int, Seen>> past;
    std::int64_t now = 1000;
    for (int step = 0; step < 120; ++step) {
      clock.AdvanceMs(10);
      // One in four pages is older than what is known. A page has a request of its own, so that it confirms
      // no other. No two pages have the same moment: what such a tie leaves is a matter of taste.
      now += 1000;
      const auto late =
          static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(step + 1)) * 1000 + step + 1;
      const std::int64_t at = random() % 4 == 0 ? late : now;
      std::map<int, double> page;
      const auto size = 1 + static_cast<unsigned>(random() % 12);
      for (unsigned i = 0; i < size; ++i)
        page[static_cast<int>(random() % 60) + 1] = static_cast<double>(random() % 30);
      const auto done = store->Commit(source.Page(step, {page.begin(), page.end()}, at));
      ASSERT_TRUE(done.has_value()) << done.error().Message();
      for (const auto& [id, latency] : page) {
        const auto known = rows.find(id);
        if (known == rows.end() || at > known->second.at) rows[id] = {at, latency};
      }
      past[store->sequence()] = rows;
      ASSERT_EQ(*store->Count(), *static_cast<const StoreImpl&>(*store).CountAll());
    }
    GroupInfo group;
    ASSERT_TRUE(store->ForEachGroup([&](const GroupInfo& g) { return group = g, false; }).has_value());
    const auto check = [&](AsOf as_of, const std::map<int, Seen>& expected) {
      const auto standing = store->GetStanding(group, 0, 1000, as_of);
      ASSERT_TRUE(standing.has_value());
      const auto ranks = RanksOf(expected);
      ASSERT_EQ(standing->size(), ranks.size()) << "seed " << seed << " sequence " << as_of.sequence;
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        EXPECT_EQ((*standing)[i].rank, ranks[i].first);
        EXPECT_EQ((*standing)[i].contender.value, ranks[i].second);
      }
    };
    check({}, rows);
    for (const auto& [sequence, expected] : past) check(AsOf{sequence}, expected);
    for (const auto& [id, seen] : rows) {
      const auto entry = store->GetEntry({"small", "submission/" + std::to_string(id), ""});
      ASSERT_TRUE(entry.has_value());
      EXPECT_EQ(entry->at(Kind::kSubmission).state == EntryState::kPassed, seen.latency > 0);
    }
    const auto report = store->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->fault_count, 0u) << "seed " << seed << ": " << report->faults[0].Message();
  }
}

TEST(StoreModel, TwentyThousandRecordStepsInOneVisitMeetNoHiddenLimit) {
  ManualClock clock;
  const auto store = InMemory(clock);
  SmallSource source;
  constexpr int kRows = 20'000, kPage = 500;
  for (int first = 1; first <= kRows; first += kPage) {
    std::vector<std::pair<int, double>> rows;
    for (int id = first; id < first + kPage; ++id) rows.emplace_back(id, 1'000'000.0 - id);
    ASSERT_TRUE(store->Commit(source.Page(first, rows)).has_value());
  }
  GroupInfo group;
  ASSERT_TRUE(store->ForEachGroup([&](const GroupInfo& g) { return group = g, false; }).has_value());
  EXPECT_EQ(group.members, static_cast<std::uint64_t>(kRows));
  EXPECT_EQ(store->GetRecords(group)->size(), static_cast<std::size_t>(kRows));
  // The holder of the first step leaves: the second takes its place.
  ASSERT_TRUE(store->Commit(source.Page(1, {{1, 0.0}}, 10'000'000)).has_value());
  EXPECT_EQ(store->GetRecords(group)->front().external_id, "submission/2");
}

TEST(StoreModel, ALaterEqualValueNeverTakesTheRecordAndAnEarlierOneDoes) {
  ManualClock clock;
  const auto store = InMemory(clock);
  SmallSource source;
  ASSERT_TRUE(store->Commit(source.Page(1, {{5, 100.0}})).has_value());
  ASSERT_TRUE(store->Commit(source.Page(2, {{9, 100.0}})).has_value());
  GroupInfo group;
  ASSERT_TRUE(store->ForEachGroup([&](const GroupInfo& g) { return group = g, false; }).has_value());
  EXPECT_EQ(store->GetRecords(group)->size(), 1u);
  EXPECT_EQ(store->GetRecords(group)->front().external_id, "submission/5");
  ASSERT_TRUE(store->Commit(source.Page(3, {{2, 100.0}})).has_value());
  EXPECT_EQ(store->GetRecords(group)->size(), 1u);
  EXPECT_EQ(store->GetRecords(group)->front().external_id, "submission/2");
}

}  // namespace
}  // namespace etl::test
