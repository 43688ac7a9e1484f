// Sources followed in virtual time, over real connections.
#include "daemon/polling.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/loopback_actions.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr const char* kSource = "sol-execbench";

std::string Picture(int number) {
  return std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/" + std::to_string(number);
}

class VirtualTime : public testing::Test {
 protected:
  VirtualTime() : log_stream_(::open_memstream(&log_text_, &log_size_)) {
    test::LoopbackOptions upstream;
    upstream.folder = Picture(1);
    upstream.etag = test::LoopbackOptions::Etag::kStrong;
    upstream_ = std::make_unique<test::LoopbackUpstream>(upstream);
    LogSettings log;
    log.format = "json";
    log_ = Log::Open(log, clock_, log_stream_);
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.create = true;
    auto store = Store::Open(dir_.File("store"), options, clock_);
    EXPECT_TRUE(store) << store.error().Message();
    store_ = *std::move(store);
  }
  ~VirtualTime() override {
    polling_.reset();
    log_.reset();
    std::fclose(log_stream_);
    std::free(log_text_);
  }

  Settings Rules(double least_s = 60, double most_s = 960) const {
    Settings settings;
    settings.fetch.contact = "tests@example.org";
    settings.fetch.requests_per_second = 0;
    settings.fetch.retries_max = 0;
    settings.poll.interval_min_s = least_s;
    settings.poll.interval_max_s = most_s;
    SourceSettings source = settings.Source(kSource);
    source.base_url = upstream_->base_url();
    settings.sources[kSource] = source;
    return settings;
  }
  void Start(const Settings& settings) {
    Polling::Parts parts;
    parts.store = store_.get();
    parts.clock = &clock_;
    parts.log = log_.get();
    parts.steady = [this] { return Steady{steady_ms_}; };
    parts.wake = [] {};
    parts.seed = 1;
    polling_ = std::make_unique<Polling>(std::move(parts));
    const Status configured = polling_->Configure(settings);
    ASSERT_TRUE(configured) << configured.error().Message();
  }
  void Pass(std::int64_t ms) {
    steady_ms_ += ms;
    clock_.AdvanceMs(ms);
  }
  // Lets time pass until the next turn of the loop, at most this much, and whatever it begins come to its
  // end.
  void Turn(std::int64_t most_ms = kDay) {
    const Steady next = polling_->Tick(false);
    ASSERT_TRUE(polling_->WaitForEnd(60'000)) << "a visit hangs";
    Pass(std::clamp<std::int64_t>(next.ms - steady_ms_, 1, most_ms));
  }
  void TurnFor(std::int64_t ms) {
    for (const std::int64_t end = steady_ms_ + ms; steady_ms_ < end;) Turn(end - steady_ms_);
  }
  std::size_t Polls() const { return upstream_->CountOf("kernels"); }
  SourceReport Report() const { return polling_->Report().at(0); }

  test::TempDir dir_{"polling"};
  test::ManualClock clock_;
  std::atomic<std::int64_t> steady_ms_{1'000'000};
  std::unique_ptr<test::LoopbackUpstream> upstream_;
  char* log_text_ = nullptr;
  std::size_t log_size_ = 0;
  std::FILE* log_stream_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Polling> polling_;
};

std::uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_F(VirtualTime, OfThirtyDaysMissesNoPollAndKeepsMemoryAndDescriptorsFlat) {
  Start(Rules(300, 960));
  [[maybe_unused]] std::uint64_t bytes = 0;
  std::size_t descriptors = 0, seen = 0;
  std::int64_t last_ms = steady_ms_, longest_ms = 0;
  const std::int64_t begin_ms = steady_ms_;
  for (int day = 0; day < 30; ++day) {
    const std::int64_t end = begin_ms + (day + 1) * kDay;
    while (steady_ms_ < end) {
      const std::int64_t at = steady_ms_;
      Turn();
      if (Polls() == seen) continue;
      seen = Polls();
      longest_ms = std::max(longest_ms, at - last_ms);
      last_ms = at;
    }
    if (day == 10) upstream_->SetFolder(Picture(2));
    if (day == 20) upstream_->SetFolder(Picture(3));
    if (day != 22) continue;
    bytes = ResidentBytes();
    descriptors = OpenDescriptors();
  }
  EXPECT_LE(longest_ms, 960'000 * 11 / 10 + Scheduler::kSleepMs / 2);
  EXPECT_GE(seen, 30U * 24 * 60 / 18) << "a quiet source is polled every 16 minutes, give or take a tenth";
  EXPECT_LE(OpenDescriptors(), descriptors + 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(ResidentBytes(), bytes + (std::uint64_t{5} << 20));
#endif
  EXPECT_EQ(Report().last_visit, "full");
  const auto verified = store_->Verify();
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->fault_count, 0U);
}

TEST_F(VirtualTime, IsNotTheWallClocks) {
  Start(Rules(300, 300));
  TurnFor(kHour);
  const std::size_t usual = Polls();
  for (const std::int64_t jump : {365 * kDay, -2 * 365 * kDay, 400 * kDay}) {
    clock_.AdvanceMs(jump);
    const std::size_t before = Polls();
    TurnFor(kHour);
    EXPECT_NEAR(static_cast<double>(Polls() - before), static_cast<double>(usual), 3) << jump;
    EXPECT_EQ(Report().last_visit, "full") << jump;
  }
}

TEST_F(VirtualTime, ThatWasSleptThroughIsNotMadeUpFor) {
  Start(Rules(300, 300));
  TurnFor(kHour);
  const std::size_t before = Polls();
  Pass(12 * kHour);
  TurnFor(5 * kMinute);
  EXPECT_LE(Polls() - before, 2U);
  EXPECT_GE(Polls() - before, 1U);
}

TEST_F(VirtualTime, IsSpacedOutWhileTheSourceFails) {
  upstream_->AlwaysUnder("kernels", test::Reply(500));
  Start(Rules(60, 3600));
  TurnFor(kDay);
  EXPECT_LE(upstream_->count(), 60U) << "backed off to an hour";
  const SourceReport report = Report();
  EXPECT_EQ(report.state, "failing");
  EXPECT_THAT(report.last_error, HasSubstr("HTTP_BUSY"));
  EXPECT_FALSE(report.advice.empty());
  ASSERT_TRUE(report.next);
  EXPECT_LE(report.next->ms - clock_.Now().ms, kHour * 11 / 10);
  upstream_->ClearScripts();
  TurnFor(2 * kHour);
  EXPECT_EQ(Report().state, "waiting");
  EXPECT_EQ(Report().last_error, "");
}

TEST_F(VirtualTime, WaitsForWhoHoldsTheSource) {
  Start(Rules(60, 60));
  {
    const auto turn = polling_->turns().TryTake(kSource);
    ASSERT_NE(turn, nullptr);
    TurnFor(10 * kMinute);
    EXPECT_EQ(Polls(), 0U);
    EXPECT_EQ(polling_->turns().TryTake(kSource), nullptr);
    const std::atomic<bool> stop{true};
    const auto refused = polling_->turns().Take(kSource, stop);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "STOPPED");
  }
  TurnFor(10 * kMinute);
  EXPECT_GE(Polls(), 8U);
}

TEST_F(VirtualTime, GoesOnFromWhereARestartLeftIt) {
  Start(Rules(600, 600));
  Turn();
  ASSERT_EQ(Polls(), 1U);
  polling_.reset();
  Pass(kMinute);
  Start(Rules(600, 600));
  EXPECT_EQ(Report().last_visit, "full");
  ASSERT_TRUE(Report().last_full);
  TurnFor(7 * kMinute);
  EXPECT_EQ(Polls(), 1U) << "a restart polls nothing early";
  TurnFor(4 * kMinute);
  EXPECT_EQ(Polls(), 2U);
}

TEST_F(VirtualTime, RefusesSettingsThatNoVisitCouldUse) {
  Start(Rules());
  Settings settings = Rules();
  settings.sources["no-such-source"] = settings.Source(kSource);
  EXPECT_EQ(polling_->Configure(settings).error().code, "SOURCE_UNKNOWN");
  settings = Rules();
  settings.sources[kSource].fetch.connections_per_host = 0;
  EXPECT_EQ(polling_->Configure(settings).error().code, "FETCH_LIMIT");
  settings.sources[kSource].enabled = false;
  EXPECT_TRUE(polling_->Configure(settings)) << "what is not followed need not be right";
}

TEST_F(VirtualTime, FetchesNothingWithoutAContactAndSaysHowToSetOne) {
  Settings settings = Rules();
  settings.sources[kSource].fetch.contact.clear();
  Start(settings);
  TurnFor(kHour);
  EXPECT_EQ(upstream_->count(), 0U);
  EXPECT_THAT(Report().last_error, HasSubstr("FETCH_CONTACT_MISSING"));
  EXPECT_THAT(Report().advice, HasSubstr("contact"));
  ASSERT_TRUE(polling_->Configure(Rules()));
  Turn();
  EXPECT_EQ(Report().last_visit, "full") << "at once, not when the failures' wait is over";
}

TEST_F(VirtualTime, ShowsAVisitThatNoLongerLives) {
  upstream_->AlwaysUnder("", test::Silence());
  Start(Rules());
  (void)polling_->Tick(false);
  while (upstream_->count() == 0) ::usleep(1000);
  EXPECT_FALSE(polling_->Stalled());
  steady_ms_ += kDay;
  EXPECT_TRUE(polling_->Stalled());
  polling_->Stop();
  EXPECT_TRUE(polling_->WaitForEnd(60'000));
  EXPECT_FALSE(polling_->Stalled());
}

}  // namespace
}  // namespace etl
