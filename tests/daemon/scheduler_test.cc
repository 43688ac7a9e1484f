#include "daemon/scheduler.h"

#include <gtest/gtest.h>

namespace etl {
namespace {

constexpr Steady kStart{1'000'000};
constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute;

Steady After(Steady at, std::int64_t ms) {
  return {at.ms + ms};
}

// From 1 to 16 minutes, without jitter.
PollSettings Rules() {
  PollSettings rules;
  rules.interval_min_s = 60;
  rules.interval_max_s = 960;
  rules.jitter = 0;
  return rules;
}

VisitEnd Read(bool changed) {
  VisitEnd end;
  end.changed = changed;
  return end;
}
VisitEnd Failed() {
  VisitEnd end;
  end.kind = VisitEnd::Kind::kFailed;
  return end;
}

using Slugs = std::vector<std::string>;

class SchedulerOfOne : public testing::Test {
 protected:
  void SetUp() override { scheduler_.Set("a", Rules(), true, {}, std::nullopt, kStart); }
  // Visits when it is due; the wait until the next is returned.
  std::int64_t Visit(const VisitEnd& end) {
    now_ = std::max(now_, scheduler_.Find("a")->next);
    EXPECT_EQ(scheduler_.Due(now_), Slugs{"a"});
    scheduler_.Begin("a");
    EXPECT_EQ(scheduler_.Due(now_), Slugs{});
    scheduler_.End("a", end, now_);
    return scheduler_.Find("a")->next.ms - now_.ms;
  }
  Scheduler scheduler_{1};
  Steady now_ = kStart;
};

TEST_F(SchedulerOfOne, VisitsAnUnknownSourceAtOnce) {
  EXPECT_EQ(scheduler_.Find("a")->why, Scheduler::Why::kFirst);
  EXPECT_EQ(scheduler_.Due(kStart), Slugs{"a"});
}

TEST_F(SchedulerOfOne, WaitsLongerWhileTheSourceRestsAndNoLongerThanTheMaximum) {
  std::int64_t before = Visit(Read(false));
  EXPECT_EQ(before, 75'000);
  for (int i = 0; i < 40; ++i) {
    const std::int64_t wait = Visit(Read(false));
    EXPECT_GE(wait, before);
    before = wait;
  }
  EXPECT_EQ(before, 16 * kMinute);
}

TEST_F(SchedulerOfOne, WaitsHalfAsLongAfterAChangeAndNoShorterThanTheMinimum) {
  while (Visit(Read(false)) < 16 * kMinute) {
  }
  EXPECT_EQ(Visit(Read(true)), 8 * kMinute);
  EXPECT_EQ(Visit(Read(true)), 4 * kMinute);
  EXPECT_EQ(Visit(Read(true)), 2 * kMinute);
  EXPECT_EQ(Visit(Read(true)), 1 * kMinute);
  EXPECT_EQ(Visit(Read(true)), 1 * kMinute);
}

TEST_F(SchedulerOfOne, DoublesTheWaitWithEachFailureAndForgetsThemAfterAnAnswer) {
  EXPECT_EQ(Visit(Failed()), 2 * kMinute);
  EXPECT_EQ(scheduler_.Find("a")->why, Scheduler::Why::kFailing);
  EXPECT_EQ(Visit(Failed()), 4 * kMinute);
  EXPECT_EQ(Visit(Failed()), 8 * kMinute);
  EXPECT_EQ(Visit(Failed()), 16 * kMinute);
  EXPECT_EQ(Visit(Failed()), 16 * kMinute);
  EXPECT_EQ(Visit(Read(true)), 1 * kMinute);
  EXPECT_EQ(Visit(Failed()), 2 * kMinute);
}

TEST_F(SchedulerOfOne, ComesEarlierWhereTheAdapterIsDueButNotBeforeTheMinimum) {
  while (Visit(Read(false)) < 16 * kMinute) {
  }
  VisitEnd end = Read(false);
  end.due_ms = 3 * kMinute;
  EXPECT_EQ(Visit(end), 3 * kMinute);
  EXPECT_EQ(scheduler_.Find("a")->why, Scheduler::Why::kDue);
  end.due_ms = -5 * kHour;
  EXPECT_EQ(Visit(end), 1 * kMinute);
  end.due_ms = 5 * kHour;
  EXPECT_EQ(Visit(end), 16 * kMinute);
}

TEST_F(SchedulerOfOne, RestsWhilePausedAndVisitsOnceWhenItGoesOn) {
  Visit(Read(false));
  ASSERT_TRUE(scheduler_.Pause("a")->paused);
  EXPECT_EQ(scheduler_.Due(After(now_, kHour)), Slugs{});
  EXPECT_EQ(scheduler_.PollNow("a", now_).error().code, "SOURCE_PAUSED");
  ASSERT_FALSE(scheduler_.Resume("a", After(now_, kHour))->paused);
  EXPECT_EQ(scheduler_.Due(After(now_, kHour)), Slugs{"a"});
}

TEST_F(SchedulerOfOne, RestsAfterTheVisitUnderWhichItWasPaused) {
  scheduler_.Begin("a");
  ASSERT_TRUE(scheduler_.Pause("a"));
  EXPECT_TRUE(scheduler_.End("a", Read(true), now_).paused);
  EXPECT_EQ(scheduler_.Due(After(now_, kHour)), Slugs{});
  EXPECT_EQ(scheduler_.Find("a")->why, Scheduler::Why::kPaused);
}

TEST_F(SchedulerOfOne, VisitsAgainAtOnceWhenAskedDuringAVisit) {
  scheduler_.Begin("a");
  ASSERT_TRUE(scheduler_.PollNow("a", now_));
  EXPECT_EQ(scheduler_.Due(now_), Slugs{});
  scheduler_.End("a", Read(false), now_);
  EXPECT_EQ(scheduler_.Due(now_), Slugs{"a"});
  EXPECT_EQ(scheduler_.Find("a")->why, Scheduler::Why::kAsked);
}

TEST_F(SchedulerOfOne, VisitsAtOnceWhenAsked) {
  Visit(Read(false));
  EXPECT_EQ(scheduler_.Due(now_), Slugs{});
  ASSERT_TRUE(scheduler_.PollNow("a", now_));
  EXPECT_EQ(scheduler_.Due(now_), Slugs{"a"});
}

TEST_F(SchedulerOfOne, ServesNewRulesWithoutAnExtraVisit) {
  Visit(Read(false));
  PollSettings rules = Rules();
  rules.interval_min_s = 600;
  scheduler_.Set("a", rules, true, {}, std::nullopt, now_);
  EXPECT_EQ(scheduler_.Due(now_), Slugs{});
  EXPECT_EQ(scheduler_.Find("a")->next.ms - now_.ms, 75'000) << "as planned before";
  scheduler_.Set("a", rules, false, {}, std::nullopt, now_);
  EXPECT_EQ(scheduler_.Due(After(now_, kHour)), Slugs{});
  EXPECT_EQ(scheduler_.PollNow("a", now_).error().code, "SOURCE_DISABLED");
}

TEST(Scheduler, PollsNothingEarlyAfterARestart) {
  Scheduler scheduler(1);
  ScheduleState state;
  state.interval_ms = 10 * kMinute;
  scheduler.Set("a", Rules(), true, ScheduleState::Parse(state.Json()), 4 * kMinute, kStart);
  EXPECT_EQ(scheduler.Find("a")->next, After(kStart, 6 * kMinute));
  state.failures = 3;
  scheduler.Set("b", Rules(), true, ScheduleState::Parse(state.Json()), 1 * kMinute, kStart);
  EXPECT_EQ(scheduler.Find("b")->next, After(kStart, 7 * kMinute));
  state.failures = 0;
  state.paused = true;
  scheduler.Set("c", Rules(), true, ScheduleState::Parse(state.Json()), 100 * kHour, kStart);
  EXPECT_EQ(scheduler.Due(After(kStart, 30'000)), Slugs{});
  // A wall clock that was set back since makes the last visit lie in the future.
  scheduler.Set("d", Rules(), true, {}, -100 * kHour, kStart);
  EXPECT_EQ(scheduler.Find("d")->next, After(kStart, kMinute));
}

TEST(Scheduler, TakesStateThatItDoesNotUnderstandAsNothingKnown) {
  for (const char* json : {"", "[]", "{", R"({"failures":-1,"intervalMs":-5,"paused":1})"}) {
    const ScheduleState state = ScheduleState::Parse(json);
    EXPECT_EQ(state.failures, 0U) << json;
    EXPECT_EQ(state.interval_ms, 0) << json;
    EXPECT_FALSE(state.paused) << json;
  }
}

TEST(Scheduler, NamesTheSourcesThereAreToWhoAsksForAnother) {
  Scheduler scheduler(1);
  scheduler.Set("a", Rules(), true, {}, std::nullopt, kStart);
  const auto paused = scheduler.Pause("b");
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().code, "SOURCE_UNKNOWN");
  EXPECT_EQ(paused.error().fix, "it follows: a");
}

TEST(Scheduler, SpreadsWhatCameDueWhileTheMachineSlept) {
  Scheduler scheduler(1);
  for (const char* slug : {"a", "b", "c", "d"}) scheduler.Set(slug, Rules(), true, {}, 0, kStart);
  EXPECT_EQ(scheduler.Due(kStart), Slugs{});
  const Steady woken = After(kStart, 8 * kHour);
  EXPECT_EQ(scheduler.Due(woken), Slugs{});
  std::map<std::string, int> visits;
  for (std::int64_t ms = 0; ms <= Scheduler::kSpreadMs; ms += 500) {
    for (const std::string& slug : scheduler.Due(After(woken, ms))) {
      ++visits[slug];
      scheduler.Begin(slug);
      scheduler.End(slug, Read(false), After(woken, ms));
    }
  }
  for (const char* slug : {"a", "b", "c", "d"})
    EXPECT_EQ(visits[slug], 1) << "missed polls are not made up for";
}

TEST(Scheduler, KeepsItsJitterWithinTheShare) {
  Scheduler scheduler(7);
  PollSettings rules = Rules();
  rules.jitter = 0.1;
  rules.interval_max_s = rules.interval_min_s = 100;
  scheduler.Set("a", rules, true, {}, std::nullopt, kStart);
  std::int64_t least = INT64_MAX, most = 0;
  for (int i = 0; i < 1000; ++i) {
    scheduler.Begin("a");
    scheduler.End("a", Read(false), kStart);
    const std::int64_t wait = scheduler.Find("a")->next.ms - kStart.ms;
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, 90'000);
  EXPECT_LE(most, 110'000);
  EXPECT_GT(most - least, 15'000);
}

// Thirty days in which one source is sick, one busy and one quiet, with a sleep a day.
TEST(Scheduler, MissesNoPollInThirtyDaysAndLetsASickSourceHoldUpNoOther) {
  Scheduler scheduler(3);
  PollSettings rules = Rules();
  rules.jitter = 0.1;
  for (const char* slug : {"busy", "quiet", "sick"})
    scheduler.Set(slug, rules, true, {}, std::nullopt, kStart);
  struct Seen {
    std::int64_t visits = 0, longest_ms = 0;
    Steady last = kStart;
  };
  std::map<std::string, Seen> seen;
  Steady now = kStart;
  bool slept = false;
  std::int64_t next_sleep_ms = kStart.ms + 24 * kHour;
  while (now.ms < kStart.ms + 30 * 24 * kHour) {
    for (const std::string& slug : scheduler.Due(now)) {
      Seen& source = seen[slug];
      ++source.visits;
      if (!slept) source.longest_ms = std::max(source.longest_ms, now.ms - source.last.ms);
      source.last = now;
      scheduler.Begin(slug);
      scheduler.End(slug, slug == "sick" ? Failed() : Read(slug == "busy"), now);
    }
    const Steady wake = scheduler.NextWake(now);
    ASSERT_GE(wake, now);
    ASSERT_LE(wake.ms - now.ms, Scheduler::kSleepMs / 2);
    now = std::max(wake, After(now, 1));
    slept = now.ms >= next_sleep_ms;
    if (slept) {
      now.ms += 2 * kHour;
      next_sleep_ms += 24 * kHour;
      for (auto& [slug, source] : seen) source.last = now;
    }
  }
  const std::int64_t awake_min = 30 * 22 * 60;
  EXPECT_GT(seen["busy"].visits, awake_min * 9 / 10);
  EXPECT_LE(seen["busy"].longest_ms, 70'000 + Scheduler::kSpreadMs);
  EXPECT_LE(seen["quiet"].longest_ms, 17.7 * kMinute + Scheduler::kSpreadMs);
  EXPECT_GT(seen["quiet"].visits, awake_min / 18);
  EXPECT_NEAR(static_cast<double>(seen["sick"].visits), static_cast<double>(awake_min) / 16, 200);
}

}  // namespace
}  // namespace etl
