// How much a store holds is told by its last commit, and is what counting it all gives.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/keys.h"
#include "store/store_impl.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

std::unique_ptr<Store> OpenAt(const std::string& dir, Store::Mode mode, Clock& clock) {
  Store::Options options;
  options.mode = mode;
  options.create = mode == Store::Mode::kWrite;
  options.in_memory = dir.empty();
  auto store = Store::Open(dir, options, clock);
  EXPECT_TRUE(store.has_value()) << store.error().Message();
  return store ? *std::move(store) : nullptr;
}

StoreCounts Counted(const Store& store) {
  return *static_cast<const StoreImpl&>(store).CountAll();
}

Ingest DecisionOn(const Ingest& page, const Digest& item) {
  Ingest decided;
  decided.snapshot = page.snapshot;
  decided.adapter = page.adapter;
  decided.rederived_from = 1;
  decided.decision = DecisionDraft{"", item, Decision{"dropped", "a test row", Instant{5}, "ada"}};
  return decided;
}

// Random pages with rows that come, change, fall out and come late; items refused more than once, in one page
// and across pages, and decided on; drift and gaps.
TEST(Counts, AreThoseOfAFullCountAfterEveryCommit) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    ManualClock clock;
    const auto store = OpenAt("", Store::Mode::kWrite, clock);
    SmallSource source;
    for (int step = 0; step < 80; ++step) {
      std::vector<std::pair<int, double>> rows;
      for (auto i = random() % 6; i > 0; --i)
        rows.emplace_back(static_cast<int>(random() % 25) + 1, static_cast<double>(random() % 9));
      Ingest page = source.Page(static_cast<int>(random() % 9), rows, 1 + static_cast<int>(random() % 5000));
      for (auto i = random() % 4; i > 0; --i)
        page.draft.quarantine.push_back(
            {"ROW_ID", "page", "no id", "tell the source", "{\"x\":" + std::to_string(random() % 60) + "}"});
      if (random() % 4 == 0) page.draft.drift.push_back({"rows[]." + std::to_string(random() % 5), "7"});
      if (random() % 4 == 0)
        page.draft.gaps.push_back({"page", "TOTAL_NOT_REACHED", static_cast<int>(random() % 3), "more"});
      ASSERT_TRUE(store->Commit(page).has_value());
      ASSERT_EQ(*store->Count(), Counted(*store)) << "seed " << seed << " step " << step;
      const auto items = store->Quarantine("");
      if (items->empty() || random() % 3 != 0) continue;
      ASSERT_TRUE(store->Commit(DecisionOn(page, (*items)[random() % items->size()].id)).has_value());
      ASSERT_EQ(*store->Count(), Counted(*store)) << "seed " << seed << " step " << step << ", decided";
    }
    const StoreCounts counts = *store->Count();
    EXPECT_GT(counts.entries_by_kind.at("BenchmarkRun"), counts.ranked_runs);
    for (const std::uint64_t count : {counts.ranked_runs, counts.objects, counts.groups, counts.snapshots,
                                      counts.drift, counts.gaps, counts.quarantine})
      EXPECT_GT(count, 0u);
  }
}

// The store without its counts, as a program that did not count left it.
void TakeCountsAway(const std::string& dir) {
  const auto kv = Kv::Open(dir + "/db", {});
  std::string value = **(*kv)->Get(keys::Meta("last"));
  const std::size_t counts = value.find(",\"counts\":");
  ASSERT_NE(counts, std::string::npos);
  value.replace(counts, std::string::npos, "}");
  const std::shared_ptr<Kv::Batch> batch = (*kv)->NewBatch();
  batch->Put(keys::Meta("last"), value);
  ASSERT_TRUE((*kv)->Write(batch, true).has_value());
}

TEST(Counts, OfAStoreThatDoesNotTellThemAreCountedAndToldFromTheNextCommitOn) {
  TempDir dir{"counts"};
  const std::string path = dir.File("store");
  ManualClock clock;
  SmallSource source;
  {
    const auto store = OpenAt(path, Store::Mode::kWrite, clock);
    ASSERT_TRUE(store->Commit(source.Page(1, {{1, 100.0}, {2, 0.0}})).has_value());
  }
  TakeCountsAway(path);
  {
    const auto store = OpenAt(path, Store::Mode::kRead, clock);
    EXPECT_EQ(store->Count()->ranked_runs, 1u);
    EXPECT_EQ(*store->Count(), Counted(*store));
    EXPECT_EQ(store->Verify()->fault_count, 0u);
  }
  {
    const auto store = OpenAt(path, Store::Mode::kWrite, clock);
    ASSERT_TRUE(store->Commit(source.Page(2, {{3, 90.0}})).has_value());
  }
  const auto store = OpenAt(path, Store::Mode::kRead, clock);
  EXPECT_EQ(store->Count()->ranked_runs, 2u);
  EXPECT_EQ(*store->Count(), Counted(*store));
  EXPECT_EQ(store->Verify()->fault_count, 0u);
  const std::string last = **static_cast<const StoreImpl&>(*store).kv().Get(keys::Meta("last"));
  EXPECT_NE(last.find("\"rankedRuns\":2"), std::string::npos) << last;
}

}  // namespace
}  // namespace etl::test
