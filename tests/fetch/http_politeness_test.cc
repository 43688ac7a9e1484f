#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fetch/http_test_support.h"

namespace etl::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

class HttpPoliteness : public HttpTransportTest {
 protected:
  void ServeWithState(std::optional<std::string> robots = std::nullopt) {
    LoopbackOptions options;
    options.robots = std::move(robots);
    Serve(options);
    settings_.state_dir = dir_.File("state");
  }
  // A file of the state folder whose name starts so.
  fs::path StateFile(const std::string& kind) {
    for (const auto& entry : fs::directory_iterator(settings_.state_dir)) {
      if (entry.path().filename().string().starts_with(kind)) return entry.path();
    }
    return {};
  }
  std::size_t RobotsReads() const { return upstream_->CountOf("/robots.txt"); }
};

TEST_F(HttpPoliteness, SpacesRequestsAfterABurst) {
  ServeWithState();
  settings_.requests_per_second = 2;
  settings_.burst = 4;
  for (int i = 0; i < 11; ++i) ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(upstream_->count(), 12U);  // robots.txt counts
  EXPECT_EQ(pacer_.total_ms(), (12 - 4) * 500);
}

TEST_F(HttpPoliteness, AHundredRestartsInAMinuteStayInsideTheBudget) {
  ServeWithState();
  settings_.requests_per_second = 0.5;
  settings_.burst = 3;
  const Instant start = clock_.Now();
  for (int i = 0; i < 100; ++i) {
    transport_.reset();
    ASSERT_EQ(Outcome("a"), "200 alpha");
  }
  const double elapsed_s = static_cast<double>(clock_.Now().ms - start.ms) / 1000;
  EXPECT_EQ(upstream_->count(), 101U);
  EXPECT_LE(static_cast<double>(upstream_->count()), 3 + 0.5 * elapsed_s + 1e-6);
}

TEST_F(HttpPoliteness, ADamagedBucketCountsAsEmpty) {
  ServeWithState();
  settings_.requests_per_second = 1;
  settings_.burst = 4;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_TRUE(pacer_.waits_ms().empty());
  transport_.reset();
  std::ofstream(StateFile("bucket"), std::ios::binary) << std::string(200, 'x');
  ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(pacer_.total_ms(), 1000);
  ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(pacer_.total_ms(), 2000);
}

TEST_F(HttpPoliteness, AClockThatJumpsDelaysNobody) {
  ServeWithState();
  settings_.requests_per_second = 1;
  settings_.burst = 2;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  for (const std::int64_t jump_ms : {-365 * kDayMs, 365 * kDayMs, -365 * kDayMs}) {
    clock_.AdvanceMs(jump_ms);
    const std::int64_t before = pacer_.total_ms();
    ASSERT_EQ(Outcome("a"), "200 alpha");
    EXPECT_LE(pacer_.total_ms() - before, 2000);
  }
}

TEST_F(HttpPoliteness, SendsNothingThatItCannotWriteDown) {
  ServeWithState();
  settings_.state_dir = "/proc/nowhere";
  const auto opened = OpenHttp(settings_, clock_, seams_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "FETCH_STATE");
  EXPECT_EQ(opened.error().errc, Errc::kUnavailable);
}

TEST_F(HttpPoliteness, ObeysRobots) {
  ServeWithState("User-agent: *\nDisallow: /\n\nUser-agent: etld\nDisallow: /api/private\nAllow: /api/\n");
  upstream_->Put("private/x", "secret");
  EXPECT_EQ(Outcome("a"), "200 alpha");
  const auto refused = Fetch("private/x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "ROBOTS_DISALLOWED");
  EXPECT_EQ(refused.error().errc, Errc::kUnavailable);
  EXPECT_EQ(Count("private/x"), 0U);
}

TEST_F(HttpPoliteness, AsksForRobotsOnceADayAlsoOverRestarts) {
  ServeWithState("User-agent: *\nDisallow: /api/private\n");
  for (int i = 0; i < 3; ++i) {
    transport_.reset();
    ASSERT_EQ(Outcome("a"), "200 alpha");
    EXPECT_EQ(Outcome("private/x"), "ROBOTS_DISALLOWED");
  }
  EXPECT_EQ(RobotsReads(), 1U);
  clock_.AdvanceMs(kDayMs - 1);
  ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(RobotsReads(), 1U);
  clock_.AdvanceMs(1);
  upstream_->SetRobots("User-agent: *\nDisallow: /api/a\n");
  EXPECT_EQ(Outcome("a"), "ROBOTS_DISALLOWED");
  EXPECT_EQ(RobotsReads(), 2U);
  clock_.AdvanceMs(-365 * kDayMs);
  upstream_->SetRobots(std::nullopt);
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(RobotsReads(), 3U);
}

TEST_F(HttpPoliteness, ReadsRobotsAgainWhereItsCopyIsDamaged) {
  ServeWithState("User-agent: *\nDisallow: /api/private\n");
  ASSERT_EQ(Outcome("a"), "200 alpha");
  const fs::path file = StateFile("robots");
  fs::resize_file(file, fs::file_size(file) - 1);
  transport_.reset();
  EXPECT_EQ(Outcome("private/x"), "ROBOTS_DISALLOWED");
  EXPECT_EQ(RobotsReads(), 2U);
}

TEST_F(HttpPoliteness, TakesAMissingRobotsForPermission) {
  ServeWithState();
  for (const int status : {400, 401, 403, 404, 410}) {
    transport_.reset();
    fs::remove_all(settings_.state_dir);
    upstream_->ClearScripts();
    upstream_->Always("/robots.txt", Reply(status, "User-agent: *\nDisallow: /\n"));
    EXPECT_EQ(Outcome("a"), "200 alpha") << status;
  }
}

TEST_F(HttpPoliteness, TakesAFailingRobotsForARefusal) {
  ServeWithState();
  for (const int status : {429, 500, 503}) {
    upstream_->ClearScripts();
    upstream_->Always("/robots.txt", Reply(status));
    EXPECT_EQ(Outcome("a"), "ROBOTS_DISALLOWED") << status;
  }
  upstream_->ClearScripts();
  upstream_->Always("/robots.txt", Reset());
  const auto response = Fetch("a");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "HTTP_RESET");
  EXPECT_EQ(response.error().where, upstream_->origin() + "/robots.txt");
  EXPECT_EQ(Count("a"), 0U);
  upstream_->ClearScripts();
  EXPECT_EQ(Outcome("a"), "200 alpha");
}

TEST_F(HttpPoliteness, GoesByTheLastGoodRobotsWhileItFails) {
  ServeWithState("User-agent: *\nDisallow: /api/private\n");
  ASSERT_EQ(Outcome("a"), "200 alpha");
  clock_.AdvanceMs(2 * kDayMs);
  upstream_->Always("/robots.txt", Reply(503));
  EXPECT_EQ(Outcome("private/x"), "ROBOTS_DISALLOWED");
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(RobotsReads(), 1U + 4U);  // not asked for again at every request
}

TEST_F(HttpPoliteness, ReadsNoMoreOfRobotsThanFiveHundredKilobytes) {
  ServeWithState("User-agent: *\n" + std::string(500 << 10, '#') + "\nDisallow: /api/a\n");
  EXPECT_EQ(Outcome("a"), "200 alpha");
}

TEST_F(HttpPoliteness, ReadsRobotsOnceForAllThatWait) {
  ServeWithState("User-agent: *\nDisallow: /api/private\n");
  upstream_->Always("/robots.txt", SlowFirstByte(20));
  for (int i = 0; i < 10; ++i) Transport().Expect("k/" + std::to_string(i), {});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Fetch("k/" + std::to_string(i)));
  EXPECT_EQ(RobotsReads(), 1U);
}

}  // namespace
}  // namespace etl::test
