// What arrives at the server when a client starts again and again: never more than its budget, which is kept
// over the starts.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"
#include "tests/support/killed_child.h"

namespace etl::test {
namespace {

constexpr int kStarts = 100;
constexpr std::int64_t kBetweenStartsMs = 600;  // 100 in a minute
constexpr double kPerSecond = 1;
constexpr int kBurst = 4;

class WallClock : public Clock {
 public:
  Instant Now() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
  }
};

// Notes what the clock said at every request: the server's own log knows only the real time.
class HostileBudgetTest : public HttpTransportTest {
 protected:
  void ServeCounting() {
    Serve();
    settings_.requests_per_second = kPerSecond;
    settings_.burst = kBurst;
    settings_.state_dir = dir_.path();
    upstream_->AlwaysUnder("/", [this](const LoopbackRequest& request, const LoopbackAnswer& usual) {
      if (request.target != "/robots.txt") at_ms_.push_back(clock_.Now().ms);
      return WireOf(usual);
    });
  }
  // In no stretch of time more than the burst and what was added meanwhile. One request is for robots.txt,
  // which was read before the first.
  void ExpectWithinBudget() const {
    for (std::size_t first = 0; first < at_ms_.size(); ++first) {
      for (std::size_t last = first; last < at_ms_.size(); ++last) {
        const double seconds = static_cast<double>(at_ms_[last] - at_ms_[first]) / 1000;
        ASSERT_LE(static_cast<double>(last - first + 1), kBurst + kPerSecond * seconds + 1e-6)
            << "requests " << first << " to " << last;
      }
    }
  }
  std::vector<std::int64_t> at_ms_;  // written by the server before it answers, read after the answer
};

TEST_F(HostileBudgetTest, StaysInsideItOverAHundredStartsThatWait) {
  ServeCounting();
  for (int start = 0; start < kStarts; ++start) {
    EXPECT_EQ(Outcome("a"), "200 alpha");
    transport_.reset();
    clock_.AdvanceMs(kBetweenStartsMs);
  }
  EXPECT_EQ(Count("a"), std::size_t{kStarts});
  EXPECT_EQ(Count("/robots.txt"), 1U) << "kept over the starts too";
  ExpectWithinBudget();
}

// As a process that is killed as soon as it has to wait, and started again by its supervisor.
class DyingPacer : public Pacer {
 public:
  std::function<void()> die;
  std::int64_t RealMs(std::int64_t /*wanted_ms*/) override {
    die();
    return 3'600'000;
  }
};

TEST_F(HostileBudgetTest, StaysInsideItOverAHundredStartsThatDieWaiting) {
  ServeCounting();
  DyingPacer pacer;
  pacer.die = [this] { transport_->Stop(); };
  seams_.pacer = &pacer;
  std::size_t answered = 0;
  for (int start = 0; start < kStarts; ++start) {
    const std::string outcome = Outcome("a");
    EXPECT_TRUE(outcome == "200 alpha" || outcome == "STOPPED") << outcome;
    answered += outcome == "200 alpha" ? 1 : 0;
    transport_.reset();
    clock_.AdvanceMs(kBetweenStartsMs);
  }
  EXPECT_EQ(Count("a"), answered);
  // The burst, and one a second for the 59.4 seconds between the first start and the last.
  EXPECT_EQ(upstream_->count(), 63U);
  ExpectWithinBudget();
}

// Killed after every request, before anything could be tidied up.
TEST_F(HostileBudgetTest, StaysInsideItWhenEveryRequestFails) {
  ServeCounting();
  settings_.attempts_max = 10;
  settings_.retry_budget = 1000;
  upstream_->ClearScripts();
  upstream_->AlwaysUnder("/", [this](const LoopbackRequest& request, const LoopbackAnswer&) {
    if (request.target == "/robots.txt") return WireOf(LoopbackAnswer());
    at_ms_.push_back(clock_.Now().ms);
    return Wire{{WireStep::Kind::kReset, nullptr, 1, 0}};
  });
  for (int start = 0; start < 20; ++start) {
    EXPECT_EQ(Outcome("a"), "HTTP_RESET");
    transport_.reset();
  }
  EXPECT_EQ(Count("a"), 200U) << "retries count as requests do";
  ExpectWithinBudget();
}

TEST_F(HostileBudgetTest, SharesItBetweenTransportsOfOneFolder) {
  ServeCounting();
  auto other = OpenHttp(settings_, clock_, seams_);
  ASSERT_TRUE(other) << other.error().Message();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Outcome("a"), "200 alpha");
    EXPECT_EQ(Text((*other)->Fetch("a")), "200 alpha");
  }
  ExpectWithinBudget();
}

TEST_F(HostileBudgetTest, GivesNothingAwayWhenTheClockJumps) {
  ServeCounting();
  const std::int64_t year_ms = std::int64_t{365} * 24 * 3600 * 1000;
  for (const std::int64_t jump_ms : {year_ms, -2 * year_ms, year_ms}) {
    const std::size_t before = Count("a");
    clock_.AdvanceMs(jump_ms);
    const std::int64_t waited_ms = pacer_.total_ms();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Outcome("a"), "200 alpha");
    transport_.reset();
    EXPECT_EQ(Count("a") - before, 20U);
    EXPECT_GE(pacer_.total_ms() - waited_ms, 16'000 - 1) << "a burst of 4, then one a second";
  }
}

// curl repeats a request by itself when a kept connection turns out to be closed: that would be a request
// without its token.
TEST_F(HostileBudgetTest, CountsWhatIsSentAgainOverAKeptConnectionThatWasClosed) {
  ServeCounting();
  ASSERT_EQ(Outcome("a"), "200 alpha");  // and its connection is kept
  for (int i = 0; i < 10; ++i) {
    upstream_->ClearScripts();
    // The next request is read, and answered by closing the connection.
    upstream_->First("a", 1, CloseAtOnce());
    const std::uint64_t sent = Transport().Report().requests;
    const std::size_t came = upstream_->count();
    ASSERT_EQ(Outcome("a"), "200 alpha") << i;
    EXPECT_EQ(upstream_->count() - came, 2U) << i;
    EXPECT_EQ(Transport().Report().requests - sent, 2U) << "each that arrived was counted";
  }
  const double tokens = kBurst + kPerSecond * static_cast<double>(pacer_.total_ms()) / 1000;
  EXPECT_LE(static_cast<double>(upstream_->count()), tokens + 1e-6);
}

TEST_F(HostileBudgetTest, StopsTryingWhereEveryConnectionIsClosedUnderTheRequest) {
  ServeCounting();
  ASSERT_EQ(Outcome("a"), "200 alpha");
  const std::size_t came = upstream_->count();
  upstream_->ClearScripts();
  upstream_->Always("a", CloseAtOnce());
  EXPECT_EQ(Outcome("a"), "HTTP_RESET");
  EXPECT_EQ(upstream_->count() - came, static_cast<std::size_t>(settings_.attempts_max));
}

// Processes that die as soon as they have an answer, against the real clock: what arrives is the burst and
// what time has added since.
TEST_F(HostileBudgetTest, HoldsForAHundredProcessesThatAreKilled) {
  Serve();
  settings_.requests_per_second = 20;
  settings_.burst = 10;
  settings_.state_dir = dir_.path();
  const auto start = std::chrono::steady_clock::now();
  int answered = 0;
  for (int process = 0; process < kStarts; ++process) {
    answered += KilledWhile(
                    [&](const std::function<void()>& tick) {
                      WallClock clock;
                      const auto transport = OpenHttp(settings_, clock);
                      while (transport && (*transport)->Fetch("a")) tick();
                    },
                    1, static_cast<unsigned>(process % 7) * 500)
                    ? 1
                    : 0;
  }
  const std::size_t came = upstream_->count();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(answered, kStarts);
  EXPECT_GE(came, std::size_t{kStarts});
  EXPECT_LE(static_cast<double>(came), settings_.burst + settings_.requests_per_second * seconds + 1);
  EXPECT_EQ(Count("/robots.txt"), 1U);
}

}  // namespace
}  // namespace etl::test
