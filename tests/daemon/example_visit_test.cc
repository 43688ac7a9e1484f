// The example leaderboard at its three points in time (fixtures/README.md names each situation).
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/support/backfill.h"
#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/";
constexpr const char* kSource = "sol-execbench";

class ExampleVisits : public testing::Test {
 protected:
  void SetUp() override { store_ = OpenStore("", clock_); }

  VisitResult Visit(int point) {
    clock_.AdvanceMs(3'600'000);
    return Backfill(*store_, kExample + std::to_string(point), clock_);
  }
  Version Newest(const std::string& id, Kind kind) {
    const auto entry = store_->GetEntry({kSource, id, ""});
    if (!entry || !entry->contains(kind)) return {};
    return entry->at(kind);
  }
  std::uint32_t RankOf(const std::string& id) {
    const auto line = store_->RankOf(Newest(id, Kind::kBenchmarkRun));
    return line && *line ? (*line)->rank : 0;
  }
  // Lines of the change log above a sequence that hold all of the given texts.
  std::size_t Lines(std::uint64_t after, const std::vector<std::string>& texts) {
    std::size_t n = 0;
    const auto status = store_->ForEachChange(after, [&](const CommitInfo&, const Change& change) {
      bool all = true;
      for (const auto& text : texts) all = all && change.json.find(text) != std::string::npos;
      n += all ? 1 : 0;
      return true;
    });
    EXPECT_TRUE(status.has_value());
    return n;
  }

  // Point 1 with one text of a file replaced.
  std::string Altered(const TempDir& dir, const std::string& file, const std::string& text,
                      const std::string& by) {
    const std::string from = dir.File("from");
    std::filesystem::copy(kExample + "1", from, std::filesystem::copy_options::recursive);
    std::string bytes = ReadFile(from + file);
    const std::size_t at = bytes.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    std::ofstream(from + file, std::ios::binary) << bytes.replace(at, text.size(), by);
    return from;
  }

  ManualClock clock_;
  std::unique_ptr<Store> store_;
};

TEST_F(ExampleVisits, EachPointIsReadInFull) {
  const std::uint64_t rows[] = {382, 496, 612}, passing[] = {336, 440, 549};
  for (int point = 1; point <= 3; ++point) {
    const VisitResult result = Visit(point);
    EXPECT_EQ(result.visit, "full") << result.Json();
    EXPECT_EQ(result.quarantined, 0u) << result.Json();
    EXPECT_EQ(result.rows, rows[point - 1]);
    EXPECT_EQ(store_->Count()->ranked_runs, passing[point - 1]);
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    for (const Error& fault : report->faults) ADD_FAILURE() << fault.Message();
  }
  std::set<std::string> drift;
  const auto items = store_->Drift(kSource);
  ASSERT_TRUE(items.has_value());
  for (const DriftItem& item : *items) drift.insert(item.path);
  EXPECT_EQ(drift,
            (std::set<std::string>{"submissions[].energy_joules", "submissions[].gpu_type=RTX_6000_PRO",
                                   "submissions[].status=REVIEWING"}));
}

TEST_F(ExampleVisits, ARescoredRunSupersedesAndTheOldOneStaysInItsHistory) {
  Visit(1);
  const Version before = Newest("submission/70140", Kind::kBenchmarkRun);
  EXPECT_EQ(RankOf("submission/70140"), 1u);
  const std::uint64_t then = store_->sequence();
  Visit(2);
  const Version after = Newest("submission/70140", Kind::kBenchmarkRun);
  EXPECT_EQ(after.version, 2u);
  EXPECT_NE(after.digest, before.digest);
  EXPECT_EQ(RankOf("submission/70140"), 6u);
  EXPECT_TRUE(store_->GetObject(*before.digest).has_value());
  EXPECT_EQ(store_->GetVersions({kSource, "submission/70140", ""}, Kind::kBenchmarkRun)->size(), 2u);
  EXPECT_EQ(Lines(then, {"\"changed\"", "BenchmarkRun", "submission/70140", "spec.timing.latencyNs.mean"}),
            1u);
  EXPECT_EQ(
      Lines(then, {"\"changed\"", "\"Submission\"", "submission/70140", "row.latency_ms", "row.sol_score"}),
      1u);
  // As of the first point, it still leads.
  const auto line = store_->RankOf(before, AsOf{then});
  ASSERT_TRUE(line && *line);
  EXPECT_EQ((*line)->rank, 1u);
}

TEST_F(ExampleVisits, ADisqualifiedRunLeavesTheStandingUnderItsCauseAndAClearedOneComesIn) {
  Visit(1);
  EXPECT_EQ(RankOf("submission/70206"), 1u);
  const Digest digest = *Newest("submission/70206", Kind::kBenchmarkRun).digest;
  Visit(2);
  const Version run = Newest("submission/70206", Kind::kBenchmarkRun);
  EXPECT_EQ(run.state, EntryState::kExcluded);
  EXPECT_EQ(run.reasons, (std::vector<std::string>{"RETRACTED", "DISQUALIFIED"}));
  EXPECT_EQ(run.digest, digest);
  EXPECT_EQ(RankOf("submission/70206"), 0u);
  EXPECT_EQ(Newest("submission/70216", Kind::kSubmission).reasons, std::vector<std::string>{"DISQUALIFIED"});
  Visit(3);
  EXPECT_EQ(RankOf("submission/70216"), 1u);
}

TEST_F(ExampleVisits, AnEmbargoedRowIsPendingUntilItCompletesAndTakesItsPlaceInTheRecordHistory) {
  Visit(1);
  EXPECT_EQ(Newest("submission/70390", Kind::kSubmission).state, EntryState::kPending);
  EXPECT_EQ(RankOf("submission/70384"), 1u);
  Visit(2);
  EXPECT_EQ(Newest("submission/70390", Kind::kSubmission).state, EntryState::kPassed);
  EXPECT_EQ(RankOf("submission/70390"), 1u);
  const auto group = store_->GetGroup(Newest("submission/70390", Kind::kBenchmarkRun).ranked->group);
  const auto records = store_->GetRecords(*group);
  ASSERT_TRUE(records.has_value());
  std::set<std::string> holders;
  for (const RecordStep& step : *records) holders.insert(step.external_id);
  // It finished before the run that led at the first point, which therefore never held the record.
  EXPECT_TRUE(holders.contains("submission/70390"));
  EXPECT_FALSE(holders.contains("submission/70384"));
}

TEST_F(ExampleVisits, AMovedSpeedOfLightBoundReadsTheKernelsRowsAgain) {
  Visit(1);
  EXPECT_EQ(RankOf("submission/70130"), 1u);
  EXPECT_EQ(Newest("submission/70017", Kind::kSubmission).reasons,
            std::vector<std::string>{"BELOW_SPEED_OF_LIGHT"});
  Visit(2);
  EXPECT_EQ(Newest("submission/70130", Kind::kBenchmarkRun).reasons,
            (std::vector<std::string>{"RETRACTED", "BELOW_SPEED_OF_LIGHT"}));
  EXPECT_EQ(RankOf("submission/70130"), 0u);
  Visit(3);
  EXPECT_EQ(RankOf("submission/70017"), 1u);
}

TEST_F(ExampleVisits, AChangedDefinitionIsANewVersionThatMovesItsRunsAndNobodyElses) {
  Visit(2);
  const Version before = Newest("003_quill_nvfp4_matmul", Kind::kOperationSpec);
  const VisitResult result = Visit(3);
  EXPECT_EQ(result.visit, "full");
  const Version after = Newest("003_quill_nvfp4_matmul", Kind::kOperationSpec);
  EXPECT_EQ(after.version, before.version + 1);
  EXPECT_NE(after.digest, before.digest);
  std::size_t old_groups_left = 0, new_groups = 0;
  ASSERT_TRUE(store_
                  ->ForEachGroup([&](const GroupInfo& g) {
                    old_groups_left += g.operation == *before.digest && g.members > 0 ? 1 : 0;
                    new_groups += g.operation == *after.digest && g.members > 0 ? 1 : 0;
                    return true;
                  })
                  .has_value());
  EXPECT_EQ(old_groups_left, 0u);
  EXPECT_GT(new_groups, 0u);
  EXPECT_EQ(Newest("001_tidal_rms_gate", Kind::kOperationSpec).version, 1u);
}

TEST_F(ExampleVisits, EqualValuesShareARankAndTheLaterOneNeverTakesTheRecord) {
  Visit(2);
  for (const char* id : {"submission/70021", "submission/70058", "submission/70431"})
    EXPECT_EQ(RankOf(id), 1u) << id;
  EXPECT_EQ(RankOf("submission/70095"), 2u);
  EXPECT_EQ(RankOf("submission/70096"), 2u);
  const auto group = store_->GetGroup(Newest("submission/70021", Kind::kBenchmarkRun).ranked->group);
  EXPECT_EQ(store_->GetRecords(*group)->back().external_id, "submission/70021");
}

TEST_F(ExampleVisits, PeopleWhoseNamesGiveTheSameSlugOrNoneStayApart) {
  Visit(1);
  std::set<Digest> people;
  for (const char* id : {"user/3107", "user/3122", "user/3131", "user/3140"}) {
    const Version project = Newest(id, Kind::kSoftwareProject);
    ASSERT_TRUE(project.digest.has_value()) << id;
    people.insert(*project.digest);
  }
  EXPECT_EQ(people.size(), 4u);
}

TEST_F(ExampleVisits, ARenamedUserIsANewVersionOfTheSamePerson) {
  Visit(1);
  Visit(2);
  const auto versions = store_->GetVersions({kSource, "user/3105", ""}, Kind::kSoftwareProject);
  ASSERT_TRUE(versions.has_value());
  EXPECT_EQ(versions->size(), 2u);
}

TEST_F(ExampleVisits, ZeroAbsentAndUnfinishedRowsAreKeptWithTheirReasonAndNeverRank) {
  Visit(1);
  const std::map<std::string, std::vector<std::string>> reasons{
      {"submission/70012", {"NOT_CORRECT"}},
      {"submission/70013", {"MISSING_PRIMARY_METRIC"}},
      {"submission/70014", {"MISSING_PRIMARY_METRIC"}},
      {"submission/70015", {"BELOW_SPEED_OF_LIGHT"}},
      {"submission/70023", {"NOT_FINISHED"}},
      {"submission/70396", {"NOT_FINISHED"}}};
  for (const auto& [id, expected] : reasons) {
    EXPECT_EQ(Newest(id, Kind::kSubmission).reasons, expected) << id;
    EXPECT_EQ(Newest(id, Kind::kBenchmarkRun).version, 0u) << id;
  }
  EXPECT_EQ(Newest("submission/70011", Kind::kSubmission).reasons.front(), "STATUS_FAILED");
  EXPECT_EQ(Newest("submission/70011", Kind::kSubmission).state, EntryState::kExcluded);
}

TEST_F(ExampleVisits, UpstreamsRanksAreHeldAgainstOursAndTheOneDifferenceIsTold) {
  const VisitResult first = Visit(1);
  EXPECT_GT(first.upstream_ranks.compared, 0u);
  EXPECT_EQ(first.upstream_ranks.different, 0u) << first.Json();
  Visit(2);
  const VisitResult third = Visit(3);
  EXPECT_EQ(third.upstream_ranks.different, 2u) << third.Json();  // the two that changed places
}

TEST_F(ExampleVisits, ThePastCanBeAskedForInFull) {
  std::map<std::uint64_t, std::string> exports;
  for (int point = 1; point <= 3; ++point) {
    Visit(point);
    exports[store_->sequence()] = ExportOf(*store_);
  }
  for (const auto& [sequence, text] : exports)
    EXPECT_EQ(Difference(ExportOf(*store_, AsOf{sequence}), text), "") << sequence;
}

TEST_F(ExampleVisits, AListThatSaysMoreThanItShowsIsPartialAndItsGapIsKept) {
  TempDir dir("gap");
  const std::string from = Altered(dir, "/submissions/41.json", "\"total\": 25", "\"total\": 29");
  const VisitResult result = Backfill(*store_, from, clock_);
  EXPECT_EQ(result.visit, "partial");
  EXPECT_EQ(result.gaps, 1u);
  const auto gaps = store_->Gaps(kSource);
  ASSERT_TRUE(gaps.has_value());
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ(gaps->front().missing, 4);
  const auto again = Backfill(*store_, from, clock_);
  EXPECT_EQ(again.visit, "partial");
  EXPECT_EQ(again.changes, 0u);
}

// The total of a list may be capped at a page, while there is more.
TEST_F(ExampleVisits, ATotalThatIsCappedAtThePageIsNotTheEnd) {
  TempDir dir("capped");
  const std::string from = Altered(dir, "/submissions/7.json", "\"total\": 72", "\"total\": 50");
  const VisitResult result = Backfill(*store_, from, clock_);
  EXPECT_EQ(result.visit, "partial");
  EXPECT_EQ(result.rows, 382u);
}

TEST_F(ExampleVisits, ARowThatStandsTwiceInAnAnswerAndSaysTwoThingsIsTakenOnceAndNeverGrows) {
  TempDir dir("twice");
  std::filesystem::copy(kExample + "1", dir.File("from"), std::filesystem::copy_options::recursive);
  const std::string path = dir.File("from") + "/submissions/41.json";
  std::string text = ReadFile(path);
  const std::size_t begin = text.find("{\"id\""), end = text.find('\n', begin);
  std::string copy = text.substr(begin, end - begin);
  const std::size_t name = copy.find("\"username\": \"");
  ASSERT_NE(name, std::string::npos);
  copy.insert(name + 13, "x");
  text.insert(begin, copy + "\n");
  std::ofstream(path, std::ios::binary) << text;
  const VisitResult first = Backfill(*store_, dir.File("from"), clock_);
  EXPECT_EQ(first.quarantined, 1u);
  EXPECT_EQ(store_->Quarantine(kSource)->front().code, "ROW_ID_REPEATED");
  EXPECT_EQ(store_->Verify()->fault_count, 0u);
  clock_.AdvanceMs(1000);
  EXPECT_EQ(Backfill(*store_, dir.File("from"), clock_).changes, 0u);
}

TEST_F(ExampleVisits, ADryRunCountsAndWritesNothing) {
  VisitOptions options;
  options.dry_run = true;
  const VisitResult dry = Backfill(*store_, kExample + "1", clock_, options);
  EXPECT_EQ(dry.visit, "full");
  EXPECT_EQ(store_->sequence(), 0u);
  EXPECT_EQ(ExportOf(*store_), "");
  const VisitResult real = Visit(1);
  EXPECT_EQ(dry.entries_new, real.entries_new);
  EXPECT_EQ(dry.runs, real.runs);
}

TEST_F(ExampleVisits, NothingOfTheReferenceCodeIsExported) {
  for (int point = 1; point <= 3; ++point) Visit(point);
  const std::string text = ExportOf(*store_);
  EXPECT_EQ(text.find("fixture-baseline"), std::string::npos);
  EXPECT_EQ(text.find("fixture-reference"), std::string::npos);
}

TEST_F(ExampleVisits, ARebuiltStoreExportsTheSameBytesAndTheSamePast) {
  std::map<std::uint64_t, std::string> exports;
  for (int point = 1; point <= 3; ++point) {
    Visit(point);
    exports[store_->sequence()] = ExportOf(*store_);
  }
  ReplayClock replay;
  const auto target = OpenStore("", replay);
  const auto status = Rebuild(*store_, *target, replay, nullptr);
  ASSERT_TRUE(status.has_value()) << status.error().Message();
  EXPECT_EQ(target->sequence(), store_->sequence());
  for (const auto& [sequence, text] : exports)
    EXPECT_EQ(Difference(ExportOf(*target, AsOf{sequence}), text), "") << sequence;
  const auto again = Rebuild(*store_, *target, replay, nullptr);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, "REBUILD_TARGET");
}

}  // namespace
}  // namespace etl::test
