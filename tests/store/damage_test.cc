// Verify finds damage: every single flipped byte that changes a stored value, on disk or in the value itself.
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/keys.h"
#include "store/kv.h"
#include "store/store.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

namespace fs = std::filesystem;

// A small store with every kind of value: a superseded run, a retracted one, a refused response, quarantine,
// drift, a gap.
void Fill(Store& store) {
  SmallSource source;
  const auto commit = [&](const Ingest& ingest) {
    const auto done = store.Commit(ingest);
    ASSERT_TRUE(done.has_value()) << done.error().Message();
  };
  commit(source.Page(1, {{1, 100.0}, {2, 90.0}, {3, 90.0}}));
  commit(source.Page(1, {{1, 80.0}, {2, 90.0}, {3, 0.0}}));
  Ingest more = source.Page(2, {{4, 70.0}});
  more.context_key = "context/1";
  more.context_value = "{}";
  more.draft.quarantine.push_back(
      {"ROW_ID", "page/2 $[1]", "the id is missing", "tell the source", "{\"x\":1}"});
  more.draft.drift.push_back({"rows[].flux", "7"});
  more.draft.gaps.push_back({"context/1", "TOTAL_NOT_REACHED", 3, "said 4, showed 1"});
  more.draft.contexts.push_back({"context/2", "{\"a\":1}"});
  commit(more);
  Ingest refused = source.Page(3, {});
  refused.draft = {};
  refused.refusal = Error{Errc::kInvalid, "RESPONSE_JSON", "byte 0", "not JSON", "ask again"};
  commit(refused);
  ASSERT_TRUE(store.PutVisit("small", {"nowhere", "full", Instant{1}, Instant{2}, "{}", "", Instant{}}).has_value());
}

Result<VerifyReport> VerifyIn(const std::string& dir, Clock& clock) {
  Store::Options options;
  auto store = Store::Open(dir, options, clock);
  if (!store) return tl::unexpected<Error>(store.error());
  return (*store)->Verify();
}

class Damage : public testing::Test {
 protected:
  void SetUp() override {
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.create = true;
    auto store = Store::Open(dir_.File("store"), options, clock_);
    ASSERT_TRUE(store.has_value());
    Fill(**store);
    ASSERT_TRUE((*store)->Close().has_value());
    const auto report = VerifyIn(dir_.File("store"), clock_);
    ASSERT_TRUE(report.has_value());
    for (const Error& fault : report->faults) ADD_FAILURE() << fault.Message();
    root_ = report->root;
  }
  TempDir dir_{"damage"};
  ManualClock clock_;
  Digest root_;
};

// Every value taken away in turn, as if it had never been written.
TEST_F(Damage, EveryValueThatStopsBeingWhatItsKeySaysIsFound) {
  std::vector<std::pair<std::string, std::string>> all;
  {
    const auto kv = Kv::Open(dir_.File("store") + "/db", {});
    for (auto it = (*kv)->Scan("", ""); it->Valid(); it->Next()) all.emplace_back(it->key(), it->value());
  }
  ASSERT_GT(all.size(), 40u);
  std::map<char, int> found, kinds;
  for (const auto& [key, value] : all) {
    ++kinds[key[0]];
    const std::string copy = dir_.File("gone");
    fs::remove_all(copy);
    fs::copy(dir_.File("store"), copy, fs::copy_options::recursive);
    {
      const auto kv = Kv::Open(copy + "/db", {});
      const std::shared_ptr<Kv::Batch> batch = (*kv)->NewBatch();
      batch->Delete(key);
      ASSERT_TRUE((*kv)->Write(batch, true).has_value());
    }
    const auto report = VerifyIn(copy, clock_);
    if (!report || report->fault_count > 0) ++found[key[0]];
  }
  for (const char prefix : {keys::kSnapshotBody, keys::kCommit, keys::kEntry, keys::kGroup, keys::kRecordStep,
                            keys::kGroupNumber, keys::kObject, keys::kStandingRoot, keys::kStandingNode,
                            keys::kVersion, keys::kQuarantine, keys::kDrift, keys::kGap, keys::kMeta})
    EXPECT_EQ(found[prefix], kinds[prefix]) << prefix;
}

TEST_F(Damage, EveryFlippedByteOfATableFileThatChangesAValueIsFound) {
  std::vector<fs::path> tables;
  for (const auto& file : fs::directory_iterator(dir_.File("store") + "/db"))
    if (file.path().extension() == ".sst" || file.path().filename().string().starts_with("MANIFEST"))
      tables.push_back(file.path());
  ASSERT_GE(tables.size(), 2u);
  std::size_t flips = 0, found = 0, harmless = 0;
  for (const fs::path& table : tables) {
    const std::string bytes = ReadFile(table.string());
    std::mt19937 random(7);
    for (std::size_t at = 0; at < bytes.size(); at += 1 + random() % 5) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1u << (random() % 8)));
      std::ofstream(table, std::ios::binary | std::ios::trunc) << bad;
      ++flips;
      const auto report = VerifyIn(dir_.File("store"), clock_);
      if (!report || report->fault_count > 0) {
        ++found;
      } else {
        // Nothing was said: then nothing may be different either (padding, statistics, a filter that lost
        // nothing).
        ASSERT_EQ(report->root, root_) << table << " byte " << at;
        ++harmless;
      }
    }
    std::ofstream(table, std::ios::binary | std::ios::trunc) << bytes;
  }
  EXPECT_GT(found, flips / 2) << flips << " flips, " << harmless << " without effect";
  const auto report = VerifyIn(dir_.File("store"), clock_);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->fault_count, 0u);
}

// The same for the write-ahead log of a store that was not closed: no acknowledged commit may vanish unsaid.
TEST_F(Damage, EveryFlippedByteOfTheLogIsFoundOrLosesNothing) {
  const std::string live = dir_.File("live"), copy = dir_.File("copy");
  Digest root;
  {
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.create = true;
    auto store = Store::Open(live, options, clock_);
    SmallSource source;
    for (int page = 1; page <= 3; ++page)
      ASSERT_TRUE((*store)->Commit(source.Page(page, {{page, 100.0 - page}})).has_value());
    ASSERT_TRUE((*store)->Sync().has_value());
    fs::copy(live, copy, fs::copy_options::recursive);
    root = (*store)->Verify()->root;
  }
  fs::path log;
  for (const auto& file : fs::directory_iterator(copy + "/db"))
    if (file.path().extension() == ".log" && file.file_size() > 0) log = file.path();
  ASSERT_FALSE(log.empty());
  const std::string bytes = ReadFile(log.string());
  std::mt19937 random(11);
  std::size_t found = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 1 + random() % 40) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ (1u << (random() % 8)));
    std::ofstream(log, std::ios::binary | std::ios::trunc) << bad;
    const auto report = VerifyIn(copy, clock_);
    if (!report) {
      EXPECT_EQ(report.error().errc, Errc::kCorrupt) << report.error().Message();
      ++found;
    } else if (report->fault_count > 0) {
      ++found;
    } else {
      ASSERT_EQ(report->root, root) << "byte " << at;
    }
  }
  EXPECT_GT(found, 10u);
}

}  // namespace
}  // namespace etl::test
