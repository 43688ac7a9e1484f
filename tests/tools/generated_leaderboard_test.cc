#include "tests/support/generated_leaderboard.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

std::size_t Count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

LeaderboardShape SmallShape() {
  LeaderboardShape shape;
  shape.kernels = 3;
  shape.rows_per_kernel = 400;
  return shape;
}

TEST(GeneratedLeaderboard, GivesEqualBytesForEqualShapes) {
  TempDir a("a"), b("b");
  WriteLeaderboard(a.path(), SmallShape());
  WriteLeaderboard(b.path(), SmallShape());
  for (const char* file : {"kernels.json", "kernels/2.json", "submissions/3.json"}) {
    EXPECT_EQ(ReadFile(a.File(file)), ReadFile(b.File(file))) << file;
  }
}

TEST(GeneratedLeaderboard, GivesOtherRowsForAnotherSeed) {
  TempDir a("a"), b("b");
  LeaderboardShape shape = SmallShape();
  WriteLeaderboard(a.path(), shape);
  shape.seed = 2;
  WriteLeaderboard(b.path(), shape);
  EXPECT_NE(ReadFile(a.File("submissions/1.json")), ReadFile(b.File("submissions/1.json")));
}

TEST(GeneratedLeaderboard, AddsNewerRowsToTheFirstKernelOnly) {
  TempDir a("a"), b("b");
  LeaderboardShape shape = SmallShape();
  WriteLeaderboard(a.path(), shape);
  shape.extra_rows = 1;
  WriteLeaderboard(b.path(), shape);
  EXPECT_EQ(ReadFile(a.File("submissions/2.json")), ReadFile(b.File("submissions/2.json")));
  const std::string grown = ReadFile(b.File("submissions/1.json"));
  EXPECT_EQ(grown.find("{\"id\": 1201, "), std::string_view("{\"data\": {\"submissions\": [").size());
  EXPECT_EQ(Count(grown, "\"user_id\""), 401U);
}

TEST(GeneratedLeaderboard, LooksLikeUpstream) {
  TempDir dir("shape");
  WriteLeaderboard(dir.path(), SmallShape());
  const std::string rows = ReadFile(dir.File("submissions/2.json"));
  EXPECT_NEAR(static_cast<double>(rows.size()) / 400, 860, 30);
  EXPECT_EQ(Count(rows, "\": "), 400U * 30 + 5);  // and data, submissions, total, offset, limit
  EXPECT_NEAR(static_cast<double>(Count(rows, "\"is_correct\": true")), 400 * 0.88, 30);
  for (const char* what : {"\"FAILED\"", "\"RUNNING\"", "\"is_correct\": false", "\"is_disqualified\": true",
                           "\"H100\"", "\"v1.0\"", "\"latency_ms\": null"}) {
    EXPECT_GT(Count(rows, what), 0U) << what;
  }
  EXPECT_EQ(Count(ReadFile(dir.File("kernels/2.json")), "\"sol_ms\""), 16U);
}

TEST(GeneratedLeaderboard, RefusesAShapeOutsideItsLimits) {
  TempDir dir("limits");
  LeaderboardShape shape;
  shape.kernels = 0;
  EXPECT_THROW(WriteLeaderboard(dir.path(), shape), std::invalid_argument);
}

TEST(TempDir, IsGoneWithItsContents) {
  std::string path;
  {
    TempDir dir("gone");
    path = dir.path();
    WriteLeaderboard(dir.path(), LeaderboardShape{.kernels = 1, .rows_per_kernel = 1});
    EXPECT_TRUE(std::filesystem::exists(dir.File("kernels.json")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(Instant{5});
  EXPECT_EQ(clock.Now(), clock.Now());
  clock.AdvanceMs(10);
  EXPECT_EQ(clock.Now(), Instant{15});
  clock.Set(Instant{3});
  clock.TickMs(2);
  EXPECT_EQ(clock.Now(), Instant{3});
  EXPECT_EQ(clock.Now(), Instant{5});
}

}  // namespace
}  // namespace etl::test
