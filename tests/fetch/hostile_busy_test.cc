// Servers that are busy or broken, and how long they ask to wait.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

// A Retry-After as the server sends it, and the wait that comes of it; none: the backoff decides. The clock
// stands at 2026-01-01T00:00:00Z.
struct WaitCase {
  std::string name;
  Headers headers;
  std::optional<std::int64_t> wait_ms;
  int status = 503;

  friend std::ostream& operator<<(std::ostream& out, const WaitCase& c) { return out << c.name << c.status; }
};

class HostileWaitTest : public HttpTransportTest, public testing::WithParamInterface<WaitCase> {};

TEST_P(HostileWaitTest, IsWaitedOutOnceAndThenAnswered) {
  const WaitCase& c = GetParam();
  Serve();
  settings_.backoff_base_ms = 500;
  upstream_->First("a", 1, Reply(c.status, c.headers, "busy"));
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(Count("a"), 2U);
  if (c.wait_ms) {
    EXPECT_THAT(pacer_.waits_ms(), ElementsAre(*c.wait_ms));
  } else {
    EXPECT_THAT(pacer_.waits_ms(), ElementsAre(AllOf(Ge(250), Le(500))));
  }
}

std::vector<WaitCase> WaitCases() {
  const auto after = [](std::string text) { return Headers{{"Retry-After", std::move(text)}}; };
  const std::vector<WaitCase> forms = {
      {"None", {}, std::nullopt},
      {"Seconds", after("7"), 7'000},
      {"SecondsWithBlanks", after("  7  "), 7'000},
      {"NoSeconds", after("0"), std::nullopt},
      {"SecondsOverTheCap", after("86400"), 120'000},
      {"SecondsOver64Bits", after("99999999999999999999"), 120'000},
      {"ImfDate", after("Thu, 01 Jan 2026 00:00:10 GMT"), 10'000},
      {"Rfc850Date", after("Thursday, 01-Jan-26 00:00:10 GMT"), 10'000},
      {"AsctimeDate", after("Thu Jan  1 00:00:10 2026"), 10'000},
      {"DateOverTheCap", after("Fri, 01 Jan 2027 00:00:00 GMT"), 120'000},
      {"DateOfThePast", after("Wed, 31 Dec 2025 23:59:59 GMT"), std::nullopt},
      {"DateThatIsNone", after("Thu, 32 Jan 2026 00:00:10 GMT"), std::nullopt},
      {"DateInAnotherZone", after("Thu, 01 Jan 2026 00:00:10 CET"), std::nullopt},
      {"IsoDate", after("2026-01-01T00:00:10Z"), std::nullopt},
      {"Negative", after("-5"), std::nullopt},
      {"Fraction", after("1.5"), std::nullopt},
      {"Exponent", after("1e3"), std::nullopt},
      {"Hexadecimal", after("0x10"), std::nullopt},
      {"Unit", after("7s"), std::nullopt},
      {"Word", after("soon"), std::nullopt},
      {"Empty", after(""), std::nullopt},
  };
  std::vector<WaitCase> cases;
  for (WaitCase c : forms) {
    for (const int status : {429, 503}) {
      c.status = status;
      cases.push_back(c);
    }
  }
  return cases;
}

std::string NameOfWait(const testing::TestParamInfo<WaitCase>& of) {
  return of.param.name + std::to_string(of.param.status);
}
INSTANTIATE_TEST_SUITE_P(RetryAfter, HostileWaitTest, testing::ValuesIn(WaitCases()), NameOfWait);

class HostileBusyTest : public HostileTest {};

TEST_P(HostileBusyTest, HasExactlyThisOutcome) {
  Serve();
  Check();
}

INSTANTIATE_TEST_SUITE_P(
    Statuses, HostileBusyTest,
    testing::Values(HostileCase{"AlwaysTooMany", Reply(429), "HTTP_BUSY", 4},
                    HostileCase{"AlwaysUnavailable", Reply(503), "HTTP_BUSY", 4},
                    HostileCase{"AlwaysBroken", Reply(500, "<html>broken</html>"), "HTTP_BUSY", 4},
                    HostileCase{"BadGateway", Reply(502), "HTTP_BUSY", 4},
                    HostileCase{"GatewayTimeout", Reply(504), "HTTP_BUSY", 4},
                    HostileCase{"AStatusNobodyKnows", Reply(599), "HTTP_BUSY", 4},
                    HostileCase{"OneAttemptOnly", Reply(503), "HTTP_BUSY", 1,
                                [](FetchSettings& settings) { settings.attempts_max = 1; }},
                    HostileCase{"NoRetriesLeft", Reply(503), "HTTP_BUSY", 3,
                                [](FetchSettings& settings) { settings.retry_budget = 2; }},
                    HostileCase{"NotFound", Reply(404, "no"), "404 no", 1},
                    HostileCase{"Gone", Reply(410, "no"), "410 no", 1},
                    HostileCase{"Forbidden", Reply(403, "no"), "403 no", 1},
                    HostileCase{"StatusOf1000", Raw("HTTP/1.1 1000 OK\r\nContent-Length: 0\r\n\r\n"),
                                "HTTP_PROTOCOL", 1}),
    NameOfCase);

TEST_F(HttpTransportTest, WaitsLongerAfterEveryFailureAndNeverAsAnotherDoes) {
  Serve();
  settings_.attempts_max = 6;
  settings_.backoff_base_ms = 1'000;
  settings_.backoff_cap_ms = 6'000;
  upstream_->Always("a", Reply(500));
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");
  EXPECT_EQ(Count("a"), 6U);
  EXPECT_THAT(pacer_.waits_ms(),
              ElementsAre(AllOf(Ge(500), Le(1'000)), AllOf(Ge(1'000), Le(2'000)), AllOf(Ge(2'000), Le(4'000)),
                          AllOf(Ge(3'000), Le(6'000)), AllOf(Ge(3'000), Le(6'000))));
  const auto first = pacer_.waits_ms();
  transport_.reset();
  settings_.jitter_seed = 2;
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");
  const auto both = pacer_.waits_ms();
  EXPECT_NE(first, std::vector<std::int64_t>(both.begin() + 5, both.end())) << "another seed, other waits";
}

TEST_F(HttpTransportTest, AnswersAfterABrokenAnswer) {
  Serve();
  for (const int failures : {1, 2, 3}) {
    upstream_->ClearScripts();
    upstream_->ClearLog();
    upstream_->First("a", failures, Reply(500));
    EXPECT_EQ(Outcome("a"), "200 alpha");
    EXPECT_EQ(Count("a"), static_cast<std::size_t>(failures) + 1);
  }
}

TEST_F(HttpTransportTest, LeavesAHostAloneThatFailsTooOften) {
  Serve();
  settings_.breaker_threshold = 3;
  settings_.breaker_cooldown_ms = 30'000;
  upstream_->Put("b", "beta");
  ASSERT_EQ(Outcome("b"), "200 beta");
  upstream_->Always("a", Reply(500));
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");
  EXPECT_EQ(Count("a"), 3U) << "the third failure opens the breaker";
  EXPECT_EQ(Transport().Report().breaker, BreakerState::kOpen);
  const std::size_t before = upstream_->count();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Outcome("b"), "HTTP_BREAKER_OPEN");
  EXPECT_EQ(upstream_->count(), before);

  clock_.AdvanceMs(30'000);
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");
  EXPECT_EQ(Count("a"), 4U) << "one probe";
  clock_.AdvanceMs(30'000);
  EXPECT_EQ(Outcome("a"), "HTTP_BREAKER_OPEN") << "a probe that failed doubles the wait";
  clock_.AdvanceMs(30'000);
  EXPECT_EQ(Outcome("b"), "200 beta");
  EXPECT_EQ(Transport().Report().breaker, BreakerState::kClosed);
}

// Which requests were let through is counted where they arrive.
TEST_F(HttpTransportTest, SpendsItsRetriesOnlyOnce) {
  Serve();
  settings_.retry_budget = 5;
  settings_.retry_budget_refill = 0;
  upstream_->AlwaysUnder("k", Reply(503));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Outcome("k" + std::to_string(i)), "HTTP_BUSY");
  EXPECT_EQ(upstream_->count(), 1U + 20U + 5U) << "robots.txt, every request once, and five more";
}

}  // namespace
}  // namespace etl::test
