// What a leaderboard shows and no list does: kept as entries, until a list shows it after all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/board_row.h"
#include "tests/daemon/poll_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "B200" of kernel 5, v1.1; `rows` as JSON.
std::string Board(const std::vector<std::string>& rows, const std::string& gpu = "B200") {
  std::string text = R"({"data":{"kernel_id":5,"kernel_name":"k5","gpu_type":")" + gpu +
                     R"(","evaluation_stack_version":"v1.1","latency_unit":"ms","rankings":[)";
  for (const std::string& row : rows) text += (text.back() == '[' ? "" : ",") + row;
  return text + "]}}";
}

std::string Ranked(int rank, const std::string& user, const std::string& latency_ms,
                   const std::string& submitted_at = "2026-04-01T08:00:00") {
  return R"({"rank":)" + std::to_string(rank) + R"(,"username":")" + user +
         R"(","sol_score":0.5,"latency_ms":)" + latency_ms +
         R"(,"fast_1_count":2,"fast_1_total":3,"avg_speedup":1.5,"submitted_at":")" + submitted_at +
         R"(","is_reference":false})";
}

const std::string kReference =
    R"({"rank":null,"username":"SOL Bound","latency_ms":0.1,"submitted_at":null,"is_reference":true})";

class BoardRecoveries : public Polling {
 protected:
  // Everything that the store holds of leaderboard rows: "state REASON metadata", by external id.
  std::vector<std::string> Kept() {
    std::vector<std::string> kept;
    EXPECT_TRUE(store_->ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& kinds) {
      if (!name.external_id.starts_with("leaderboard/")) return true;
      const Version& v = kinds.at(Kind::kSubmission);
      EXPECT_EQ(kinds.size(), 1u) << "never a run";
      kept.push_back(std::string(EntryStateName(v.state)) + " " + v.reasons.front() + " " + v.metadata);
      return true;
    }));
    return kept;
  }
  void ExpectRebuiltTheSame() {
    ReplayClock replay_clock;
    const auto rebuilt = OpenStore("", replay_clock);
    ASSERT_TRUE(Rebuild(*store_, *rebuilt, replay_clock, nullptr).has_value());
    EXPECT_EQ(Difference(ExportOf(*rebuilt), ExportOf(*store_)), "");
    EXPECT_EQ(*rebuilt->FindCursor("sol-execbench", "board/kernel/5"),
              *store_->FindCursor("sol-execbench", "board/kernel/5"));
    const auto report = rebuilt->Verify();
    EXPECT_TRUE(report && report->fault_count == 0);
  }
  // The window has run ahead, in every slice of it: the leaderboards are asked for.
  void RunAhead(int newest) {
    ShowWindow(source_, Newest50(newest), newest);
    for (const std::string gpu : {"B200", "H100"}) {
      std::vector<ListedRow> rows;
      for (int id = newest - (gpu == "B200" ? 0 : 1); rows.size() < 50; id -= 2) rows.push_back({id});
      for (const std::string status : {"", "&status=COMPLETED"}) {
        source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu + status)] = Rows(rows);
        source_.bodies[RowsKey(5, 49, "&gpu_type=" + gpu + status)] = Rows({rows.back()}, 50);
      }
      for (const std::string status :
           {"QUEUED", "RUNNING", "PENDING_RESULT", "FAILED", "ERROR", "REJECTED", "CANCELLED", "TIMEOUT"})
        source_.bodies[RowsKey(5, 0, "&gpu_type=" + gpu + "&status=" + status)] = Rows({});
    }
  }
  void OutrunWindow() {
    ShowWindow(source_, Newest50(1050), 50);
    EXPECT_EQ(Poll().visit, "full");
    RunAhead(1200);
  }
};

const std::string kGone =
    R"(pending LEADERBOARD_ONLY {"avgSpeedup":1.5,"fast1Count":2,"fast1Total":3,"gpu":"B200","kernel":"k5",)"
    R"("latencyMs":0.7,"solScore":0.5,"stackVersion":"v1.1","submittedAt":"2026-04-01T08:00:00",)"
    R"("username":"gone"})";

TEST_F(BoardRecoveries, KeepWhatLeftTheWindowUnseenUntilAListShowsItAfterAll) {
  OutrunWindow();
  source_.bodies["leaderboard/kernel/5/B200"] =
      Board({Ranked(1, "gone", "0.7"), Ranked(2, "ada", "1.5", "2026-05-01T10:00:00"), kReference});
  const VisitResult result = Poll();
  EXPECT_EQ(result.visit, "partial");
  EXPECT_THAT(Codes(result), testing::Contains("WINDOW_OUTRUN"));
  EXPECT_THAT(Kept(), ElementsAre(kGone)) << "and not the row that is known, nor the reference";
  const auto lines = Changes("recovered");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr(R"("request":"leaderboard/kernel/5/B200","entries":["leaderboard/5/)"));
  ExpectRebuiltTheSame();

  // Told once: the same leaderboard, read again, brings nothing.
  const std::uint64_t then = store_->sequence();
  RunAhead(1400);
  Poll();
  EXPECT_EQ(Changes("recovered").size(), 1u);
  EXPECT_THAT(Kept(), ElementsAre(kGone));
  EXPECT_GT(store_->sequence(), then);

  // Its submission comes into sight: that is the entry now.
  auto rows = Newest50(1410);
  rows.back() = {1000, "COMPLETED", "0.7", "gone"};
  rows.back().submitted_at = "2026-04-01T08:00:00.000";
  ShowWindow(source_, rows, 410);
  Poll();
  EXPECT_THAT(Kept(), ElementsAre(R"(excluded LISTED_AFTER_ALL {"submission":"submission/1000"})"));
  EXPECT_EQ(Newest("submission/1000").state, EntryState::kPassed);
  ExpectRebuiltTheSame();
  leaderboards_ = true;
  clock_.AdvanceMs(7 * 3'600'000);
  Poll();
  EXPECT_THAT(Kept(), ElementsAre(R"(excluded LISTED_AFTER_ALL {"submission":"submission/1000"})"))
      << "the leaderboard still shows it, and says less";
}

TEST_F(BoardRecoveries, AreOfEveryUserGpuAndStackVersionThatIsAskedFor) {
  OutrunWindow();
  source_.bodies["leaderboard/kernel/5/H100?evaluation_stack_version=v1.1"] =
      Board({Ranked(1, "north", "0.25"), Ranked(1, "south", "0.25")}, "H100");
  // What cannot be read is set aside alone; who has no rank is kept all the same.
  source_.bodies["leaderboard/kernel/5/B200?evaluation_stack_version=v1.1"] =
      Board({R"({"rank":"first","username":"east","latency_ms":1})",
             R"({"rank":null,"username":"west","latency_ms":3,"submitted_at":"2026-04-02T08:00:00"})", "5",
             R"({"rank":3,"username":7,"latency_ms":1})"});
  Poll();
  EXPECT_THAT(source_.asked,
              testing::IsSupersetOf({"leaderboard/kernel/5/B200", "leaderboard/kernel/5/H100",
                                     "leaderboard/kernel/5/B200?evaluation_stack_version=v1.1",
                                     "leaderboard/kernel/5/H100?evaluation_stack_version=v1.1"}));
  EXPECT_THAT(Kept(), testing::UnorderedElementsAre(HasSubstr("north"), HasSubstr("south"), HasSubstr("west"),
                                                    HasSubstr("east")));
  ExpectRebuiltTheSame();
}

TEST_F(BoardRecoveries, AreNewVersionsWhereTheirScoreMoves) {
  OutrunWindow();
  source_.bodies["leaderboard/kernel/5/B200"] = Board({Ranked(1, "gone", "0.7")});
  Poll();
  source_.bodies["leaderboard/kernel/5/B200"] = Board({Ranked(4, "gone", "0.8")});
  RunAhead(1400);
  Poll();
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_THAT(Kept()[0], HasSubstr("\"latencyMs\":0.8"));
  EXPECT_EQ(Changes("recovered").size(), 2u);
  source_.bodies["leaderboard/kernel/5/B200"] = Board({Ranked(9, "gone", "0.8")});
  RunAhead(1600);
  Poll();
  EXPECT_EQ(Changes("recovered").size(), 2u) << "its rank is no news of the row";
  ExpectRebuiltTheSame();
}

TEST_F(BoardRecoveries, AreNotMadeOfRowsThatDoNotPassHere) {
  SetRows({{101, "COMPLETED", "1.5", "ada", true}, {102, "COMPLETED", "1.4"}});
  source_.bodies["leaderboard/kernel/5/H100"] =
      Board({Ranked(1, "ada", "1.5", "2026-05-01T10:00:00")}, "H100");
  leaderboards_ = true;
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(source_.asked, testing::Contains("leaderboard/kernel/5/H100"));
  EXPECT_THAT(Kept(), IsEmpty()) << "disqualified, and known";
}

TEST_F(BoardRecoveries, LeaveADryRunWithoutATrace) {
  leaderboards_ = true;
  source_.bodies["leaderboard/kernel/5/B200"] = Board({Ranked(1, "gone", "0.7")});
  const auto adapter = MakeAdapter("sol-execbench");
  VisitOptions options;
  options.goal.window = true;
  options.dry_run = true;
  EXPECT_EQ(RunVisit(*adapter, source_, store_.get(), clock_, options).visit, "full");
  EXPECT_THAT(Kept(), IsEmpty());
  EXPECT_EQ(store_->sequence(), 0u);
}

TEST(SameRow, NeedsGpuAndTimeAndOneOfUserAndLatency) {
  const RowTraits row{"B200", "v1", "ada", Instant{5}, 1.5};
  const auto with = [&](auto change) {
    RowTraits other = row;
    change(other);
    return SameRow(row, other) && SameRow(other, row);
  };
  EXPECT_TRUE(with([](RowTraits&) {}));
  EXPECT_TRUE(with([](RowTraits& r) { r.username = "ada l"; })) << "renamed";
  EXPECT_TRUE(with([](RowTraits& r) { r.latency_ms = 1.25; })) << "scored again";
  EXPECT_TRUE(with([](RowTraits& r) { r.stack_version.clear(); })) << "not stated";
  EXPECT_TRUE(with([](RowTraits& r) { r.submitted_at.reset(); })) << "not stated";
  EXPECT_FALSE(with([](RowTraits& r) { r.gpu = "H100"; }));
  EXPECT_FALSE(with([](RowTraits& r) { r.stack_version = "v2"; }));
  EXPECT_FALSE(with([](RowTraits& r) { r.submitted_at = Instant{6}; }));
  EXPECT_FALSE(with([](RowTraits& r) { r.username = "bo", r.latency_ms = 1.25; }));
  EXPECT_FALSE(with([](RowTraits& r) { r.submitted_at.reset(), r.latency_ms.reset(); }));
  EXPECT_FALSE(with([](RowTraits& r) { r.submitted_at.reset(), r.username = "bo"; }));
}

TEST(BoardCursor, KeepsTheNewestThousandAndRefusesWhatItDidNotWrite) {
  std::vector<BoardEntry> entries;
  for (int i = 0; i < 1001; ++i)
    entries.push_back({"leaderboard/5/" + std::to_string(i), {"B200", "", "a\"b", Instant{i}, 0.25}});
  entries[7].traits.submitted_at.reset();
  entries[7].traits.latency_ms.reset();
  const auto read = ParseBoard(BoardText(entries));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1000u);
  EXPECT_EQ(read->front().external_id, "leaderboard/5/1");
  EXPECT_EQ(read->back().traits.username, "a\"b");
  EXPECT_EQ(read->back().traits.submitted_at, Instant{1000});
  EXPECT_EQ(BoardText(*read), BoardText(entries));
  for (const char* text : {"", "{}", "[1]", "[{}]", "nonsense"}) EXPECT_FALSE(ParseBoard(text)) << text;
}

}  // namespace
}  // namespace etl::test
