#include "fetch/retry.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "fetch/http_transport.h"

namespace etl::test {
namespace {

constexpr Instant kNow{1767225600000};
Instant Later(std::int64_t ms) {
  return Instant{kNow.ms + ms};
}

TEST(Backoff, GrowsWithJitterUpToItsCap) {
  Backoff backoff({100, 1000, 5000}, 7);
  std::set<std::int64_t> seen;
  for (int round = 0; round < 200; ++round) {
    for (int failures = 1; failures < 70; ++failures) {
      const std::int64_t most = failures > 4 ? 1000 : 100LL << (failures - 1);
      const std::int64_t delay_ms = backoff.DelayMs(failures, std::nullopt);
      EXPECT_GE(delay_ms, most / 2);
      EXPECT_LE(delay_ms, most);
      if (failures == 1) seen.insert(delay_ms);
    }
  }
  EXPECT_GT(seen.size(), 20U);
}

TEST(Backoff, IsTheSameForTheSameSeed) {
  Backoff one({100, 1000, 5000}, 7), two({100, 1000, 5000}, 7), other({100, 1000, 5000}, 8);
  std::vector<std::int64_t> a, b, c;
  for (int i = 0; i < 20; ++i) {
    a.push_back(one.DelayMs(3, std::nullopt));
    b.push_back(two.DelayMs(3, std::nullopt));
    c.push_back(other.DelayMs(3, std::nullopt));
  }
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Backoff, WaitsAtLeastAsLongAsAskedUpToItsCap) {
  Backoff backoff({100, 1000, 5000}, 7);
  EXPECT_EQ(backoff.DelayMs(1, 3000), 3000);
  EXPECT_EQ(backoff.DelayMs(1, 1'000'000), 5000);
  EXPECT_LE(backoff.DelayMs(1, 0), 100);
  EXPECT_GE(backoff.DelayMs(1, 0), 50);
}

TEST(RetryBudget, IsSpentByRetriesAndGivenBackByAnswers) {
  RetryBudget budget(2, 0.5);
  EXPECT_TRUE(budget.Take());
  EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
  budget.GiveBack();
  EXPECT_FALSE(budget.Take());
  budget.GiveBack();
  EXPECT_TRUE(budget.Take());
  for (int i = 0; i < 100; ++i) budget.GiveBack();
  EXPECT_EQ(budget.left(), 2);
}

TEST(Breaker, OpensAfterFailuresInARowOnly) {
  Breaker breaker({3, 1000, 4000});
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(breaker.Allow(kNow));
    breaker.Failed(kNow);
    EXPECT_TRUE(breaker.Allow(kNow));
    breaker.Failed(kNow);
    EXPECT_TRUE(breaker.Allow(kNow));
    breaker.Succeeded();
  }
  for (int i = 0; i < 3; ++i) breaker.Failed(kNow);
  EXPECT_FALSE(breaker.Allow(kNow));
  EXPECT_EQ(breaker.State(kNow), BreakerState::kOpen);
  EXPECT_EQ(breaker.Until(), Later(1000));
}

TEST(Breaker, LetsOneProbeThroughAndWaitsTwiceAsLongAfterItFails) {
  Breaker breaker({1, 1000, 3000});
  breaker.Failed(kNow);
  std::int64_t at = 0;
  for (const std::int64_t cooldown_ms : {1000, 2000, 3000, 3000}) {
    EXPECT_FALSE(breaker.Allow(Later(at + cooldown_ms - 1)));
    at += cooldown_ms;
    EXPECT_EQ(breaker.State(Later(at)), BreakerState::kHalfOpen);
    EXPECT_TRUE(breaker.Allow(Later(at)));
    EXPECT_FALSE(breaker.Allow(Later(at)));
    breaker.Failed(Later(at));
  }
  at += 3000;
  EXPECT_TRUE(breaker.Allow(Later(at)));
  breaker.Abandoned();
  EXPECT_TRUE(breaker.Allow(Later(at)));
  breaker.Succeeded();
  EXPECT_EQ(breaker.State(Later(at)), BreakerState::kClosed);
  breaker.Failed(Later(at));
  EXPECT_EQ(breaker.Until(), Later(at + 1000));
}

TEST(Breaker, ALateFailureDoesNotProlongIt) {
  Breaker breaker({1, 1000, 3000});
  breaker.Failed(kNow);
  breaker.Failed(Later(900));
  EXPECT_EQ(breaker.Until(), Later(1000));
}

TEST(Breaker, AClockThatGoesBackStartsTheCooldownAgain) {
  Breaker breaker({1, 1000, 3000});
  breaker.Failed(kNow);
  EXPECT_FALSE(breaker.Allow(Later(-1'000'000'000)));
  EXPECT_TRUE(breaker.Allow(Later(-1'000'000'000 + 1000)));
}

TEST(Breaker, ItsStatesHaveNames) {
  EXPECT_EQ(ToString(BreakerState::kClosed), "closed");
  EXPECT_EQ(ToString(BreakerState::kOpen), "open");
  EXPECT_EQ(ToString(BreakerState::kHalfOpen), "half-open");
}

}  // namespace
}  // namespace etl::test
