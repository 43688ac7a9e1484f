// When a source is due, and what a kernel that is due is read again by.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/intake.h"
#include "tests/daemon/poll_support.h"

namespace etl::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::optional<Instant> NextDue(const Store& store) {
  const auto adapter = MakeAdapter("sol-execbench");
  const StoreCursors cursors(&store, "sol-execbench");
  const auto due = adapter->NextDue(cursors);
  EXPECT_TRUE(cursors.status());
  return due;
}

TEST_F(Polling, TellsWhenSomethingIsDueNext) {
  EXPECT_EQ(NextDue(*store_), std::nullopt) << "never polled";
  Poll();
  const auto first = NextDue(*store_);
  ASSERT_TRUE(first);
  EXPECT_GT(first->ms, clock_.Now().ms + 5 * 3'600'000);
  EXPECT_LE(first->ms, clock_.Now().ms + 6 * 3'600'000);
  // A kernel whose rows come fast is due sooner, and it is the soonest that counts.
  clock_.AdvanceMs(3'600'000);
  SetRows({{109}, {108}, {107}, {106}, {105}, {104}, {103}, {102}, {101}});
  Poll();
  const auto sooner = NextDue(*store_);
  ASSERT_TRUE(sooner);
  // Six rows in an hour: half a window in a little over four.
  EXPECT_GT(sooner->ms, clock_.Now().ms + 4 * 3'600'000);
  EXPECT_LT(sooner->ms, clock_.Now().ms + 5 * 3'600'000);
  // A definition that could not be taken is due at once.
  clock_.AdvanceMs(7 * 3'600'000);
  source_.bodies["kernels/5"] = "{}";
  Poll();
  EXPECT_LE(*NextDue(*store_), clock_.Now());
  source_.bodies["kernels/5"] = KernelDetail(5);
  Poll();
  EXPECT_GT(*NextDue(*store_), clock_.Now());
}

TEST_F(Polling, IsNotDueForAKernelThatWasWithdrawn) {
  std::vector<ListedKernel> kernels{{5, 3}};
  for (int id = 6; id < 17; ++id) {
    kernels.push_back({id, 0});
    source_.bodies["kernels/" + std::to_string(id)] = KernelDetail(id);
    source_.bodies[RowsKey(id)] = Rows({});
  }
  source_.bodies["kernels"] = KernelList(kernels);
  EXPECT_EQ(Poll().visit, "full");
  const auto before = *NextDue(*store_);
  source_.bodies["kernels"] = KernelList({kernels.begin() + 1, kernels.end()});
  clock_.AdvanceMs(7 * 3'600'000);
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_GT(*NextDue(*store_), before) << "it is never read again, and would be due for ever";
}

TEST_F(Polling, LooksAtOnceWhereTheCountFellToNothing) {
  Poll();
  SetRows({}, 0);
  const VisitResult result = Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", RowsKey(5)));
  EXPECT_EQ(result.visit, "partial");
  EXPECT_EQ(store_->Quarantine("")->back().code, "ROWS_VANISHED");
  // With the count as it was, nothing is looked at before it is due, and nothing is claimed of it.
  SetRows({{101}, {102}, {103}});
  EXPECT_EQ(Poll().visit, "full");
  SetRows({}, 3);
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(source_.asked, ElementsAre("kernels"));
  clock_.AdvanceMs(7 * 3'600'000);
  EXPECT_EQ(Poll().visit, "partial");
}

// A leaderboard of one kernel with 120 rows behind a window of 50, sliced by GPU and status.
class Sliced : public Polling {
 protected:
  Sliced() {
    for (int id = 1120; id > 1000; --id) rows_.push_back({id});
    Show();
  }
  void Show() {
    Put("", [](const ListedRow&) { return true; });
    for (const std::string gpu : {"B200", "H100"}) {
      const auto of_gpu = [gpu](const ListedRow& row) { return (row.id % 2 == 0) == (gpu == "B200"); };
      Put("&gpu_type=" + gpu, of_gpu);
      for (const std::string status : {"QUEUED", "RUNNING", "PENDING_RESULT", "COMPLETED", "FAILED", "ERROR",
                                       "REJECTED", "CANCELLED", "TIMEOUT"})
        Put("&gpu_type=" + gpu + "&status=" + status,
            [&](const ListedRow& row) { return of_gpu(row) && row.status == status; });
    }
    source_.bodies["kernels"] = KernelList({{5, static_cast<int>(rows_.size())}});
  }
  ListedRow& Row(int id) {
    return *std::find_if(rows_.begin(), rows_.end(), [&](const ListedRow& row) { return row.id == id; });
  }
  double StandsAt(int id) {
    const auto run = Newest("submission/" + std::to_string(id), Kind::kBenchmarkRun);
    return run.ranked ? run.ranked->contender.value : -1;
  }
  std::string Cursor() { return **store_->FindCursor("sol-execbench", "poll/5"); }

  std::vector<ListedRow> rows_;

 private:
  template <class Filter>
  void Put(const std::string& slice, Filter filter) {
    std::vector<ListedRow> shown;
    for (const ListedRow& row : rows_)
      if (filter(row) && shown.size() < 50) shown.push_back(row);
    source_.bodies[RowsKey(5, 0, slice)] = Rows(shown);
    if (shown.size() == 50) source_.bodies[RowsKey(5, 49, slice)] = Rows({shown.back()}, 50);
  }
};

TEST_F(Sliced, FindsASilentChangeThatOnlyASliceStillShows) {
  Poll();
  EXPECT_EQ(StandsAt(1022), 1'500'000) << "beyond the window of the whole list, within that of its GPU";
  EXPECT_THAT(Cursor(), HasSubstr(R"("slices":[["B200","","COMPLETED"],["H100","","COMPLETED"]])"));
  Row(1022).latency_ms = "0.75";
  Show();
  EXPECT_EQ(Poll().changes, 0u) << "nothing says so, and nothing is due";
  EXPECT_THAT(source_.asked, ElementsAre("kernels"));
  clock_.AdvanceMs(7 * 3'600'000);
  EXPECT_EQ(Poll().visit, "full") << "what is known to be there was read, and nothing is newly lost";
  EXPECT_EQ(StandsAt(1022), 750'000);
  EXPECT_THAT(source_.asked, Contains(RowsKey(5, 0, "&gpu_type=B200&status=COMPLETED")));
  EXPECT_THAT(source_.asked, Not(Contains(RowsKey(5, 0, "&gpu_type=B200&status=FAILED"))))
      << "a slice without rows is not asked for again";
}

TEST_F(Sliced, BeginsToReadByASliceWhereItsFirstRowIsSeen) {
  Poll();
  rows_.insert(rows_.begin(), {1121, "FAILED"});
  Show();
  Poll();
  EXPECT_THAT(source_.asked, Not(Contains(HasSubstr("gpu_type"))));
  EXPECT_THAT(Cursor(), HasSubstr(R"(["H100","v1.1","FAILED"])"));
  source_.bodies[RowsKey(5, 0, "&gpu_type=H100&evaluation_stack_version=v1.1&status=FAILED")] =
      Rows({{1121, "COMPLETED"}});
  clock_.AdvanceMs(7 * 3'600'000);
  Poll();
  EXPECT_EQ(StandsAt(1121), 1'500'000);
}

TEST_F(Sliced, ReadsAKernelBySlicesOnceItHasOutgrownTheWindow) {
  const auto all = rows_;
  rows_.erase(rows_.begin(), rows_.begin() + 80);  // 40 rows: all are in the list
  Show();
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(Cursor(), Not(HasSubstr("slices")));
  rows_.assign(all.begin() + 40, all.end());  // 80: those known are still in sight
  Show();
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(source_.asked, Not(Contains(HasSubstr("gpu_type"))));
  Row(1001).latency_ms = "0.75";  // left the window since
  Show();
  clock_.AdvanceMs(7 * 3'600'000);
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_THAT(source_.asked, Contains(RowsKey(5, 0, "&gpu_type=H100")));
  EXPECT_EQ(StandsAt(1001), 750'000);
  EXPECT_THAT(Cursor(), HasSubstr(R"("slices":[["B200","",""],["H100","",""]])"));
}

TEST_F(Sliced, ReadsNoSlicesAgainOnlyBecauseADefinitionIsMissing) {
  Poll();
  clock_.AdvanceMs(7 * 3'600'000);
  source_.bodies["kernels/5"] = "{}";
  Poll();
  EXPECT_THAT(source_.asked, Contains(HasSubstr("gpu_type")));
  Poll();
  EXPECT_THAT(source_.asked, ElementsAre("kernels", "kernels/5", RowsKey(5), RowsKey(5, 49)));
}

}  // namespace
}  // namespace etl::test
