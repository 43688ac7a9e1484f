// Following a source that changes: what a poll asks, what it finds, and what it will not believe.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/daemon/poll_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(Polling, AsksForTheListAloneWhenNothingChanged) {
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(source_.asked, ElementsAre("kernels", "kernels/5", RowsKey(5)));
  const VisitResult idle = Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels"));
  EXPECT_EQ(idle.visit, "full");
  EXPECT_EQ(idle.changes, 0u);
  EXPECT_EQ(idle.conditional.not_modified, 1u);
}

TEST_F(Polling, ReadsTheRowsOfAKernelWhoseCountMovedAndNothingElse) {
  Poll();
  SetRows({{104, "COMPLETED", "0.5"}, {101}, {102}, {103}});
  const VisitResult result = Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", RowsKey(5)));
  EXPECT_EQ(result.runs, 4u);
  EXPECT_EQ(Newest("submission/104").state, EntryState::kPassed);
  const auto run = Newest("submission/104", Kind::kBenchmarkRun);
  const auto place = store_->RankOf(run);
  ASSERT_TRUE(place && *place);
  EXPECT_EQ((*place)->rank, 1u);
}

TEST_F(Polling, FollowsAnUnfinishedRowUntilItIsFinal) {
  SetRows({{104, "QUEUED"}, {101}});
  Poll();
  EXPECT_EQ(Newest("submission/104").state, EntryState::kPending);
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", RowsKey(5)));
  SetRows({{104, "COMPLETED"}, {101}});  // the count has not moved
  Poll();
  EXPECT_EQ(Newest("submission/104").state, EntryState::kPassed);
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels"));
}

TEST_F(Polling, GivesAnUnfinishedRowUpAfterAWhileAndSaysSo) {
  SetRows({{104, "RUNNING"}, {101}});
  Poll();
  clock_.AdvanceMs(8 * 86'400'000LL);
  const VisitResult result = Poll();
  EXPECT_EQ(result.gaps, 1u);
  const auto gaps = store_->Gaps("");
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ((*gaps)[0].code, "UNFINISHED_GIVEN_UP");
  EXPECT_THAT((*gaps)[0].detail, HasSubstr("submission/104"));
  EXPECT_THAT(Changes("unfinished"),
              ElementsAre(R"({"type":"unfinished","what":"given up","externalId":"submission/104"})"));
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels")) << "no longer waited for, though still in sight";
  clock_.AdvanceMs(30 * 86'400'000LL);
  EXPECT_EQ(Poll().gaps, 0u) << "what was given up is not raised again";
}

TEST_F(Polling, FindsASilentChangeWhenEveryRowIsDue) {
  Poll();
  SetRows({{101, "COMPLETED", "0.7"}, {102}, {103, "COMPLETED", "1.5", "ada", true}});
  EXPECT_EQ(Poll().changes, 0u) << "nothing says so, and nothing is due";
  clock_.AdvanceMs(7 * 3'600'000);
  const VisitResult result = Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", "kernels/5", RowsKey(5)));
  EXPECT_GT(result.changes, 0u);
  EXPECT_EQ(Newest("submission/101").version, 2u);
  EXPECT_THAT(Newest("submission/103").reasons, ElementsAre("DISQUALIFIED"));
  EXPECT_THAT(Newest("submission/103", Kind::kBenchmarkRun).reasons,
              ElementsAre("RETRACTED", "DISQUALIFIED"));
}

TEST_F(Polling, VersionsAUserWhoseNameChanged) {
  Poll();
  SetRows({{104, "COMPLETED", "1.5", "ada l"}, {101, "COMPLETED", "1.5", "ada l"}, {102}, {103}});
  Poll();
  const auto project = Newest("user/7", Kind::kSoftwareProject);
  EXPECT_EQ(project.version, 2u);
  EXPECT_THAT(project.metadata, HasSubstr("sol-user-ada-l"));
}

TEST_F(Polling, RecordsAKernelThatVanishesAndKeepsIt) {
  std::vector<ListedKernel> kernels;
  for (int id = 5; id < 16; ++id) {
    kernels.push_back({id, 0});
    source_.bodies["kernels/" + std::to_string(id)] = KernelDetail(id);
    source_.bodies[RowsKey(id)] = Rows({});
  }
  source_.bodies["kernels"] = KernelList(kernels);
  EXPECT_EQ(Poll().visit, "full");
  source_.bodies["kernels"] = KernelList({kernels.begin() + 1, kernels.end()});  // 1 of 11
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(Changes("kernel"),
              ElementsAre(R"({"type":"kernel","what":"withdrawn","id":5,"externalId":"k5"})"));
  EXPECT_EQ(Newest("k5", Kind::kOperationSpec).state, EntryState::kPassed);
  Poll();
  EXPECT_EQ(Changes("kernel").size(), 1u) << "told once";
  source_.bodies["kernels"] = KernelList(kernels);
  Poll();
  EXPECT_THAT(Changes("kernel").back(), HasSubstr("returned"));
}

TEST_F(Polling, RefusesAListThatLostMoreKernelsThanAllowedUnlessAnOperatorSaysSo) {
  source_.bodies["kernels"] = KernelList({{5, 3}, {6, 0}});
  source_.bodies["kernels/6"] = KernelDetail(6);
  source_.bodies[RowsKey(6)] = Rows({});
  EXPECT_EQ(Poll().visit, "full");
  for (const std::string& list : {KernelList({{5, 3}}), KernelList({})}) {
    source_.bodies["kernels"] = list;
    const VisitResult result = Poll();
    EXPECT_EQ(result.visit, "partial");
    EXPECT_EQ(result.quarantined, 1u);
    EXPECT_THAT(Codes(result), ElementsAre("RESPONSE_REFUSED"));
    const auto items = *store_->Quarantine("");
    EXPECT_TRUE(std::any_of(items.begin(), items.end(), [&](const QuarantineItem& item) {
      return item.code == "KERNELS_VANISHED" && *store_->GetBytes(item.bytes_digest) == list;
    })) << "the refused bytes are kept";
    EXPECT_THAT(Changes("kernel"), IsEmpty());
  }
  source_.bodies["kernels"] = KernelList({{5, 3}});
  EXPECT_EQ(Visit(true, true).visit, "full");
  EXPECT_THAT(Changes("kernel"), ElementsAre(HasSubstr("withdrawn")));
}

TEST_F(Polling, RefusesAnEmptyListOfRowsWhereThereWereSome) {
  Poll();
  SetRows({}, 4);
  const VisitResult result = Poll();
  EXPECT_EQ(result.visit, "partial");
  EXPECT_EQ(store_->Quarantine("")->back().code, "ROWS_VANISHED");
  EXPECT_EQ(Newest("submission/101").state, EntryState::kPassed);
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", RowsKey(5))) << "read again until it is right";
  SetRows({{101}}, 4);
  Poll();
  EXPECT_EQ(store_->Quarantine("")->size(), 2u);
  SetRows({{104}, {101}, {102}, {103}}, 4);
  EXPECT_EQ(Poll().visit, "full");
}

TEST_F(Polling, MovesNoCursorWhenTheRowsCannotBeRead) {
  Poll();
  SetRows({{104}, {101}, {102}, {103}});
  source_.unavailable[RowsKey(5)] = true;
  EXPECT_EQ(Poll().visit, "partial");
  source_.unavailable.clear();
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_EQ(Newest("submission/104").state, EntryState::kPassed);
}

TEST_F(Polling, IsNotMovedByABackfillBesideIt) {
  SetRows({{104, "QUEUED"}, {101}});
  Poll();
  const auto cursor = store_->FindCursor("sol-execbench", "poll/5");
  SetRows({{105}, {104, "COMPLETED"}, {101}});
  EXPECT_EQ(Visit(false).visit, "full");
  EXPECT_EQ(*store_->FindCursor("sol-execbench", "poll/5"), *cursor);
  EXPECT_EQ(Newest("submission/105").state, EntryState::kPassed);
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", RowsKey(5)));
}

TEST_F(Polling, ReadsSlicesWhenTheWindowRanAheadAndRecordsWhatNoListShows) {
  ShowWindow(source_, Newest50(1050), 50);
  EXPECT_EQ(Poll().visit, "full") << "50 rows and a count of 50: nothing is hidden";
  ShowWindow(source_, Newest50(1200), 200);
  // By GPU, both lists are full; by status, B200 reaches back and H100 does not.
  for (const std::string gpu : {"B200", "H100"}) {
    std::vector<ListedRow> rows;
    for (int id = gpu == "B200" ? 1200 : 1199; rows.size() < 50; id -= 2) rows.push_back({id});
    source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu)] = Rows(rows);
    source_.bodies[RowsKey(5, 49, "&gpu_type=" + gpu)] = Rows({rows.back()}, 50);
    for (const std::string status :
         {"QUEUED", "RUNNING", "PENDING_RESULT", "FAILED", "ERROR", "REJECTED", "CANCELLED", "TIMEOUT"})
      source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu + "&status=" + status)] = Rows({});
    if (gpu == "B200") rows.back().id = 1002;
    source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu + "&status=COMPLETED")] = Rows(rows);
    source_.bodies[RowsKey(5, 49, "&gpu_type=" + gpu + "&status=COMPLETED")] = Rows({rows.back()}, 50);
  }
  const VisitResult result = Poll();
  EXPECT_EQ(result.visit, "partial");
  EXPECT_THAT(Codes(result), testing::Contains("WINDOW_OUTRUN"));
  const auto gaps = store_->Gaps("");
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ((*gaps)[0].scope, "kernel/5");
  EXPECT_EQ((*gaps)[0].detail,
            "gpu_type=H100&status=COMPLETED: rows between 1050 and 1101 may have left the window unseen");
  EXPECT_THAT(source_.asked, testing::Contains("leaderboard/kernel/5/H100"));
  EXPECT_EQ(Newest("submission/1120").state, EntryState::kPassed) << "found by its slice alone";
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels"));
}

TEST_F(Polling, LooksForAnUnfinishedRowThatLeftTheWindow) {
  auto rows = Newest50(1050);
  rows.back() = {1001, "RUNNING"};
  ShowWindow(source_, rows, 60);
  for (const std::string gpu : {"B200", "H100"}) source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu)] = Rows({});
  Poll();
  ShowWindow(source_, Newest50(1060), 70);
  for (const std::string status :
       {"QUEUED", "RUNNING", "PENDING_RESULT", "FAILED", "ERROR", "REJECTED", "CANCELLED", "TIMEOUT"})
    source_.bodies[RowsKey(5, 0, "&status=" + status)] = Rows({});
  source_.bodies[RowsKey(5, 0, "&status=COMPLETED")] = Rows({{1001}});
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_EQ(Newest("submission/1001").state, EntryState::kPassed);
}

TEST_F(Polling, CountsBothKindsOfLieAboutChange) {
  SetRows({{101, "QUEUED"}});
  source_.etags[RowsKey(5)] = "\"same\"";
  Poll();
  SetRows({{101, "COMPLETED"}});  // and the ETag says that nothing changed
  unconditional_every_ = 2;
  Poll();
  Poll();
  EXPECT_EQ(Newest("submission/101").state, EntryState::kPending) << "believed, for a while";
  const VisitResult found = Poll();
  EXPECT_EQ(found.conditional.false_not_modified, 1u);
  EXPECT_EQ(Newest("submission/101").state, EntryState::kPassed);
  source_.etags["kernels"] = "\"one\"";
  Poll();
  source_.etags["kernels"] = "\"two\"";  // and the bytes are the same
  EXPECT_EQ(Poll().conditional.false_modified, 1u);
  EXPECT_EQ(*store_->FindCursor("sol-execbench", "conditional"),
            R"({"falseModified":2,"falseNotModified":1})");
}

TEST_F(Polling, NeverAsksWithTheValidatorOfARefusedAnswer) {
  Poll();
  SetRows({}, 4);
  EXPECT_EQ(Poll().visit, "partial");
  const VisitResult again = Poll();
  EXPECT_EQ(again.conditional.not_modified, 1u) << "the list alone; the refused rows are sent again";
  EXPECT_EQ(again.visit, "partial");
}

TEST_F(Polling, BelievesALaterEditWhateverTheClockSays) {
  constexpr std::int64_t kYear = 365 * 86'400'000LL;
  int latency = 100;
  for (const std::int64_t jump : {-kYear, kYear, -kYear, kYear, kYear, -2 * kYear}) {
    SetRows({{102, "COMPLETED", "0." + std::to_string(latency)}}, latency);
    Poll();
    clock_.AdvanceMs(jump);
    ++latency;
    SetRows({{102, "COMPLETED", "0." + std::to_string(latency)}}, latency);
    Poll();
    const auto run = Newest("submission/102", Kind::kBenchmarkRun);
    ASSERT_TRUE(run.ranked);
    EXPECT_EQ(run.ranked->contender.value, latency * 1000.0) << jump;
  }
}

TEST_F(Polling, GoesOnAfterARebuildWhereItWasWithEveryGap) {
  SetRows({{104, "RUNNING"}, {101}});
  Poll();
  clock_.AdvanceMs(8 * 86'400'000LL);
  EXPECT_EQ(Poll().gaps, 1u);
  ReplayClock replay_clock;
  const auto rebuilt = OpenStore("", replay_clock);
  ASSERT_TRUE(Rebuild(*store_, *rebuilt, replay_clock, nullptr).has_value());
  EXPECT_EQ(rebuilt->sequence(), store_->sequence() - 1) << "all but the line that says why it was given up";
  const auto gaps = rebuilt->Gaps("");
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ((*gaps)[0].code, "UNFINISHED_GIVEN_UP");
  EXPECT_EQ(*rebuilt->FindCursor("sol-execbench", "poll/5"), *store_->FindCursor("sol-execbench", "poll/5"));
  EXPECT_EQ(ExportOf(*rebuilt), ExportOf(*store_));
}

}  // namespace
}  // namespace etl::test
