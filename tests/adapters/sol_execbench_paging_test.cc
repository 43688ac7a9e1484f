// Walking a list that moves while it is read, and what may be called complete.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/sol_execbench/request_key.h"
#include "adapters/sol_execbench/source.h"
#include "tests/adapters/sol_execbench_fixtures.h"

namespace etl::test {
namespace {

using sol_execbench::ParseRequestKey;

// One kernel whose rows may change before each page is answered.
struct MovingUpstream {
  std::vector<std::int64_t> ids;
  std::int64_t total_shift = 0;  // how much the stated total lies
  std::int64_t page_rows_max = 50;
  std::int64_t window = 1'000'000;  // rows that can be reached at all
  std::function<void(MovingUpstream&, std::int64_t page)> before = [](MovingUpstream&, std::int64_t) {};
  std::int64_t pages = 0;

  std::string operator()(const std::string& key) {
    if (key == "kernels") return R"({"data": {"kernels": [{"id": 5, "name": "005_toy"}]}})";
    if (key == "kernels/5") return Detail(PlainKernel());
    const auto parsed = ParseRequestKey(key);
    if (!parsed || parsed->endpoint != sol_execbench::Endpoint::kSubmissions) return "";
    before(*this, pages++);
    std::vector<std::string> rows;
    const auto reach = std::min<std::int64_t>(static_cast<std::int64_t>(ids.size()), window);
    for (std::int64_t i = parsed->offset;
         i < std::min(reach, parsed->offset + std::min(parsed->limit, page_rows_max)); ++i) {
      rows.push_back(PlainRow(ids[static_cast<std::size_t>(i)]).Text());
    }
    return PageOf(rows, static_cast<std::int64_t>(ids.size()) + total_shift);
  }
};

MovingUpstream Steady(std::int64_t count) {
  MovingUpstream upstream;
  for (std::int64_t id = count; id > 0; --id) upstream.ids.push_back(id);
  return upstream;
}

Visited Walk(MovingUpstream& upstream, Goal goal = {}, std::size_t requests_max = 1000) {
  goal.leaderboards = false;
  sol_execbench::Source source;
  return Visit(source, std::ref(upstream), goal, Reading::kFull, requests_max);
}

std::string Codes(const Visited& visited) {
  std::string codes;
  for (const Shortfall& shortfall : visited.shortfalls) codes += (codes.empty() ? "" : " ") + shortfall.code;
  return codes;
}

std::size_t DifferentRows(const Visited& visited) {
  std::set<std::string> ids;
  for (const EntryDraft& entry : visited.draft.entries) {
    if (entry.kind == Kind::kSubmission) ids.insert(entry.external_id);
  }
  return ids.size();
}

TEST(SolExecbenchPaging, OverlapsPagesByOneRow) {
  MovingUpstream upstream = Steady(120);
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.asked,
            (std::vector<std::string>{"kernels", "kernels/5", "submissions?kernel_id=5&limit=50&offset=0",
                                      "submissions?kernel_id=5&limit=50&offset=49",
                                      "submissions?kernel_id=5&limit=50&offset=98"}));
  EXPECT_EQ(visited.scopes_done, 1U);
  EXPECT_EQ(visited.rows, 120U);
  EXPECT_EQ(Codes(visited), "");
}

TEST(SolExecbenchPaging, TakesExactlyFullPagesAndEmptyLists) {
  for (const std::int64_t count : {0, 1, 2, 49, 50, 51, 99, 100, 148}) {
    SCOPED_TRACE(count);
    MovingUpstream upstream = Steady(count);
    const Visited visited = Walk(upstream);
    EXPECT_EQ(visited.scopes_done, 1U);
    EXPECT_EQ(visited.rows, static_cast<std::uint64_t>(count));
    EXPECT_EQ(Codes(visited), "");
  }
}

TEST(SolExecbenchPaging, GoesOnFromWhereAServersOwnLimitLeftIt) {
  MovingUpstream upstream = Steady(45);
  upstream.page_rows_max = 20;
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.asked.size(), 5U);
  EXPECT_EQ(visited.rows, 45U);
  EXPECT_EQ(visited.scopes_done, 1U);
}

TEST(SolExecbenchPaging, WalksAgainWhenARowIsAddedBetweenPages) {
  MovingUpstream upstream = Steady(120);
  upstream.before = [](MovingUpstream& now, std::int64_t page) {
    if (page == 1) now.ids.insert(now.ids.begin(), 500);
  };
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 1U);
  EXPECT_EQ(visited.rows, 121U);
  EXPECT_EQ(DifferentRows(visited), 121U);
  EXPECT_EQ(upstream.pages, 2 + 3);
}

TEST(SolExecbenchPaging, WalksAgainWhenARowIsRemovedBetweenPages) {
  MovingUpstream upstream = Steady(120);
  upstream.before = [](MovingUpstream& now, std::int64_t page) {
    if (page == 1) now.ids.erase(now.ids.begin() + 3);
  };
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 1U);
  EXPECT_EQ(visited.rows, 120U);
  EXPECT_EQ(Codes(visited), "");
}

TEST(SolExecbenchPaging, NoticesARowSwappedAcrossAPageBorderThoughTheTotalStays) {
  MovingUpstream upstream = Steady(120);
  upstream.before = [](MovingUpstream& now, std::int64_t page) {
    if (page == 1) std::swap(now.ids[10], now.ids[80]);
  };
  // The row at 80 moved to a page already read, the one at 10 is seen twice: 119 of 120, noticed at the end.
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 1U);
  EXPECT_EQ(DifferentRows(visited), 120U);
  EXPECT_EQ(upstream.pages, 4 + 3);
}

TEST(SolExecbenchPaging, NoticesOneRowLeavingAsAnotherComes) {
  MovingUpstream upstream = Steady(120);
  upstream.before = [](MovingUpstream& now, std::int64_t page) {
    if (page != 1) return;
    now.ids.erase(now.ids.begin());
    now.ids.push_back(900);
  };
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 1U);
  EXPECT_EQ(DifferentRows(visited), 121U);
  EXPECT_EQ(upstream.pages, 2 + 3);
}

TEST(SolExecbenchPaging, GivesUpOnAListThatMovesAllTheTimeButReadsItToTheEnd) {
  MovingUpstream upstream = Steady(200);
  std::int64_t next = 1000;
  upstream.before = [&next](MovingUpstream& now, std::int64_t) { now.ids.insert(now.ids.begin(), next++); };
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 0U);
  EXPECT_EQ(Codes(visited), "PAGING_UNSTABLE");
  EXPECT_EQ(visited.shortfalls[0].scope, "kernel/5");
  EXPECT_TRUE(Find(visited.draft, Kind::kSubmission, "submission/1"));
  ASSERT_EQ(visited.draft.gaps.size(), 1U);
}

TEST(SolExecbenchPaging, NamesTheGapWhenATotalIsNotReached) {
  MovingUpstream upstream = Steady(251);
  upstream.window = 50;
  const Visited visited = Walk(upstream);
  EXPECT_EQ(visited.scopes_done, 0U);
  EXPECT_EQ(Codes(visited), "TOTAL_NOT_REACHED");
  EXPECT_EQ(visited.rows, 50U);
  ASSERT_EQ(visited.draft.gaps.size(), 1U);
  EXPECT_EQ(visited.draft.gaps[0].scope, "kernel/5");
  EXPECT_EQ(visited.draft.gaps[0].code, "TOTAL_NOT_REACHED");
  EXPECT_EQ(visited.draft.gaps[0].missing, 201);
  EXPECT_EQ(upstream.pages, 3 * 2);
}

TEST(SolExecbenchPaging, NeverCallsAListCompleteWhoseTotalLies) {
  MovingUpstream more = Steady(60);
  more.total_shift = -20;
  EXPECT_EQ(Codes(Walk(more)), "PAGING_UNSTABLE");
  MovingUpstream fewer = Steady(60);
  fewer.total_shift = 1;
  EXPECT_EQ(Codes(Walk(fewer)), "TOTAL_NOT_REACHED");
}

TEST(SolExecbenchPaging, CountsRepeatedIdsOnce) {
  MovingUpstream upstream = Steady(60);
  upstream.ids[30] = upstream.ids[10];
  const Visited visited = Walk(upstream);
  EXPECT_EQ(Codes(visited), "TOTAL_NOT_REACHED");
  EXPECT_EQ(visited.rows, 59U);
}

TEST(SolExecbenchPaging, EndsWithAServerThatAnswersTheSamePageForEver) {
  MovingUpstream upstream = Steady(50);
  const std::string page = upstream("submissions?kernel_id=5&limit=50&offset=0");
  upstream.total_shift = 1'000'000;
  const std::string lying = upstream("submissions?kernel_id=5&limit=50&offset=0");
  sol_execbench::Source source;
  Goal goal;
  goal.leaderboards = false;
  const Visited visited = Visit(
      source, [&](const std::string& key) { return key.starts_with("submissions") ? lying : upstream(key); },
      goal, Reading::kFull, 1000);
  EXPECT_EQ(Codes(visited), "TOTAL_NOT_REACHED");
  EXPECT_EQ(visited.asked.size(), 2U + 3U * 2U);
}

TEST(SolExecbenchPaging, EndsWithAListThatNeverEnds) {
  sol_execbench::Source source({1000});
  MovingUpstream upstream;
  Goal goal;
  goal.leaderboards = false;
  const auto endless = [&](const std::string& key) {
    const auto parsed = ParseRequestKey(key);
    if (!key.starts_with("submissions")) return upstream(key);
    std::vector<std::string> rows;
    for (std::int64_t i = 0; i < parsed->limit; ++i) rows.push_back(PlainRow(parsed->offset + i + 1).Text());
    return PageOf(rows, 1'000'000'000);
  };
  const Visited visited = Visit(source, endless, goal, Reading::kFull, 1000);
  EXPECT_EQ(Codes(visited), "ROW_LIMIT");
  EXPECT_LT(visited.asked.size(), 30U);
}

TEST(SolExecbenchPaging, EndsWithoutATotal) {
  sol_execbench::Source source;
  MovingUpstream upstream = Steady(70);
  Goal goal;
  goal.leaderboards = false;
  const auto silent = [&](const std::string& key) {
    std::string page = upstream(key);
    if (const auto at = page.find(", \"total\": 70"); at != std::string::npos) page.erase(at, 13);
    return page;
  };
  const Visited visited = Visit(source, silent, goal, Reading::kFull, 1000);
  EXPECT_EQ(Codes(visited), "TOTAL_NOT_REACHED");
  EXPECT_EQ(visited.rows, 70U);
  EXPECT_TRUE(visited.draft.gaps.empty());
}

TEST(SolExecbenchPaging, IsNotBrokenByBadRowsAlone) {
  for (const std::size_t bad : {0U, 1U, 48U, 49U, 50U, 97U, 98U, 99U, 100U, 119U}) {
    SCOPED_TRACE(bad);
    MovingUpstream upstream = Steady(120);
    sol_execbench::Source source;
    Goal goal;
    goal.leaderboards = false;
    const std::string broken = "\"id\": " + std::to_string(upstream.ids[bad]) + ",";
    const auto answer = [&](const std::string& key) {
      std::string page = upstream(key);
      if (const auto at = page.find(broken); at != std::string::npos)
        page.replace(at, broken.size(), "\"id\": null,");
      return page;
    };
    const Visited visited = Visit(source, answer, goal, Reading::kFull, 1000);
    EXPECT_EQ(Codes(visited), "");
    EXPECT_EQ(visited.scopes_done, 1U);
    EXPECT_EQ(visited.rows, 119U);
    EXPECT_FALSE(visited.draft.quarantine.empty());
  }
}

TEST(SolExecbenchPaging, CannotBeShownCompleteThroughUnreadablePages) {
  MovingUpstream upstream = Steady(200);
  sol_execbench::Source source;
  Goal goal;
  goal.leaderboards = false;
  const auto answer = [&](const std::string& key) {
    std::string page = upstream(key);
    if (!key.starts_with("submissions")) return page;
    for (std::int64_t id = 200 - 60; id > 200 - 170; --id) {
      const std::string broken = "\"id\": " + std::to_string(id) + ",";
      if (const auto at = page.find(broken); at != std::string::npos)
        page.replace(at, broken.size(), "\"id\": null,");
    }
    return page;
  };
  const Visited visited = Visit(source, answer, goal, Reading::kFull, 1000);
  EXPECT_EQ(Codes(visited), "PAGING_UNSTABLE");
  EXPECT_EQ(visited.rows, 90U);
}

TEST(SolExecbenchPaging, StopsAskingAtTheGoalsRowLimit) {
  MovingUpstream upstream = Steady(300);
  Goal goal;
  goal.rows_max = 60;
  const Visited visited = Walk(upstream, goal);
  EXPECT_EQ(Codes(visited), "ROW_LIMIT");
  EXPECT_EQ(visited.rows, 99U);
  goal.rows_max = 300;
  MovingUpstream again = Steady(300);
  EXPECT_EQ(Codes(Walk(again, goal)), "");
}

TEST(SolExecbenchPaging, ReadsAStoredPageAloneWithoutAskingForMore) {
  MovingUpstream upstream = Steady(120);
  sol_execbench::Source source;
  const std::string key = "submissions?kernel_id=5&limit=50&offset=49";
  const auto outcome = AcceptOne(source, key, upstream(key), PlainContext());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->next.empty());
  EXPECT_FALSE(outcome->scope_done);
  EXPECT_EQ(Count(outcome->draft, Kind::kSubmission), 50U);
}

}  // namespace
}  // namespace etl::test
