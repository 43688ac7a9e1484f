// When answers came, as far as a clock that jumps can tell.
#include "daemon/visit_clock.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/daemon/poll_support.h"

namespace etl::test {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

// The moments of answers that came when the clock showed these.
std::vector<std::int64_t> Moments(VisitClock& time, const std::vector<std::int64_t>& shown_ms) {
  std::vector<std::int64_t> moments;
  for (const std::int64_t shown : shown_ms) moments.push_back(time.Next(Instant{shown}).ms);
  return moments;
}

TEST(VisitClock, NeverGoesBackWithinAVisit) {
  const std::vector<std::vector<std::int64_t>> clocks = {
      {5000, 5000, 5000},                 // stands still
      {5000, 4999, 4000, 5000, 5001},     // back by less than a minute, as answers fetched ahead are
      {100'000, 41'000, 40'001, 99'000},  // by a minute, just
      {100'000, 10, 11, 5, 200'000},      // by more
      {5000, 5000 + 365 * kDayMs, 6000, 7000, 5000 + 365 * kDayMs},
      {5000, 5000 - 365 * kDayMs, 5001 - 365 * kDayMs, 6000},
  };
  for (const auto& shown : clocks) {
    VisitClock time;
    time.Start(Instant{1000}, std::nullopt, Instant{shown.front()});
    std::int64_t before = 1000;
    for (const std::int64_t moment : Moments(time, shown)) {
      EXPECT_GT(moment, before);
      before = moment;
    }
    EXPECT_EQ(time.newest().ms, before);
  }
}

TEST(VisitClock, IsTheClockWhereThatRises) {
  VisitClock time;
  time.Start(Instant{1000}, std::nullopt, Instant{5000});
  EXPECT_EQ(Moments(time, {5000, 5001, 9000}), (std::vector<std::int64_t>{5000, 5001, 9000}));
  EXPECT_EQ(Moments(time, {8000, 8500, 9000, 9500}), (std::vector<std::int64_t>{9001, 9002, 9003, 9500}))
      << "a little out of order";
}

TEST(VisitClock, GoesOnFromWhatIsKnownByWhatTheClockHasMoved) {
  VisitState last;
  last.started_at = Instant{40 * kDayMs};
  last.finished_at = Instant{40 * kDayMs + 10};
  last.clock_at = Instant{30 * kDayMs};
  VisitClock time;
  time.Start(Instant{40 * kDayMs + 5}, last, Instant{30 * kDayMs + 700});
  EXPECT_EQ(Moments(time, {30 * kDayMs + 700, 30 * kDayMs + 900}),
            (std::vector<std::int64_t>{40 * kDayMs + 710, 40 * kDayMs + 910}));
  // A clock that says it moved by more than a day is believed one day.
  VisitClock far;
  far.Start(Instant{40 * kDayMs + 5}, last, Instant{35 * kDayMs});
  EXPECT_EQ(far.Next(Instant{35 * kDayMs}).ms, 41 * kDayMs + 10);
  // Set back since the last visit: by the least there is.
  VisitClock back;
  back.Start(Instant{40 * kDayMs + 5}, last, Instant{20 * kDayMs});
  EXPECT_EQ(back.Next(Instant{20 * kDayMs}).ms, 40 * kDayMs + 11);
}

// The row is on both pages of one walk, and the second says otherwise: it came later, whatever the clock
// says.
TEST_F(Polling, BelievesTheLaterOfTwoAnswersThoughTheClockWasSetBackALittleBetweenThem) {
  for (const std::int64_t back_ms : {1LL, 11LL, 30'000LL, 59'000LL, 61'000LL}) {
    auto rows = Newest50(1050);
    rows.back() = {1001, "COMPLETED", "2.5"};
    source_.bodies[RowsKey(5)] = Rows(rows, 51);
    source_.bodies[RowsKey(5, 49)] = Rows({{1001, "COMPLETED", "0.5"}, {900}}, 51);
    source_.bodies["kernels"] = KernelList({{5, static_cast<int>(back_ms)}});
    source_.before = [&](std::string_view key) {
      if (key == RowsKey(5, 49)) clock_.AdvanceMs(-back_ms);
    };
    EXPECT_EQ(Poll().visit, "full");
    const auto run = Newest("submission/1001", Kind::kBenchmarkRun);
    ASSERT_TRUE(run.ranked);
    EXPECT_EQ(run.ranked->contender.value, 500'000) << back_ms;
    clock_.AdvanceMs(120'000);
    // For the next round: as the first page says.
    source_.before = nullptr;
    source_.bodies[RowsKey(5, 49)] = Rows({{1001, "COMPLETED", "2.5"}, {900}}, 51);
    source_.bodies["kernels"] = KernelList({{5, 0}});
    Poll();
    EXPECT_EQ(Newest("submission/1001", Kind::kBenchmarkRun).ranked->contender.value, 2'500'000);
  }
}

}  // namespace
}  // namespace etl::test
