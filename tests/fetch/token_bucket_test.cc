#include "fetch/token_bucket.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "fetch/robots_store.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

constexpr BucketRate kRate{2, 3};
constexpr Instant kNow{1767225600000};
constexpr std::int64_t kYearMs = 365LL * 24 * 3600 * 1000;

Instant Later(std::int64_t ms) {
  return Instant{kNow.ms + ms};
}

TokenBucket Open(const std::string& path) {
  auto bucket = TokenBucket::Open(path, kRate);
  EXPECT_TRUE(bucket);
  return *std::move(bucket);
}

TEST(TokenBucket, GivesItsBurstAndThenItsRate) {
  BucketState state{3'000'000, kNow};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TakeToken(state, kRate, kNow), 0);
  EXPECT_EQ(TakeToken(state, kRate, kNow), 500);
  EXPECT_EQ(TakeToken(state, kRate, Later(499)), 1);
  EXPECT_EQ(TakeToken(state, kRate, Later(500)), 0);
  EXPECT_EQ(TakeToken(state, kRate, Later(500)), 500);
}

TEST(TokenBucket, HoldsNoMoreThanItsBurstHoweverLongItWas) {
  EXPECT_EQ(Refill({0, kNow}, kRate, Later(kYearMs)), (BucketState{3'000'000, Later(kYearMs)}));
  EXPECT_EQ(Refill({0, Instant{INT64_MIN}}, {10'000, 10'000}, Instant{INT64_MAX}).micro_tokens,
            10'000'000'000);
  EXPECT_EQ(Refill({99'000'000, kNow}, kRate, kNow).micro_tokens, 3'000'000);
  EXPECT_EQ(Refill({-5, kNow}, kRate, kNow).micro_tokens, 0);
}

TEST(TokenBucket, AClockThatGoesBackFillsNothingAndHoldsNothingUp) {
  BucketState state{0, kNow};
  EXPECT_EQ(TakeToken(state, kRate, Later(-kYearMs)), 500);
  EXPECT_EQ(TakeToken(state, kRate, Later(-kYearMs + 500)), 0);
}

TEST(TokenBucket, AClockThatStandsStillEndsNoWait) {
  TokenBucket bucket = Open("");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*bucket.Take(kNow), 0);
  EXPECT_EQ(*bucket.Take(kNow), 500);
  EXPECT_EQ(*bucket.Take(kNow, 500, kNow), 0);
  EXPECT_EQ(*bucket.Take(kNow), 500);
  EXPECT_EQ(*bucket.Take(Later(-kYearMs), 500, kNow), 0);
}

TEST(TokenBucket, GoesOnWithTheLevelItLeft) {
  TempDir dir;
  const std::string file = dir.File("bucket");
  EXPECT_EQ(Open(file).Peek(kNow).micro_tokens, 3'000'000);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*Open(file).Take(kNow), 0);
  EXPECT_EQ(Open(file).Peek(kNow).micro_tokens, 0);
  EXPECT_EQ(*Open(file).Take(kNow), 500);
  EXPECT_EQ(*Open(file).Take(Later(250)), 250);
  EXPECT_EQ(*Open(file).Take(Later(500)), 0);
}

TEST(TokenBucket, IsSharedByAllThatOpenIt) {
  TempDir dir;
  TokenBucket one = Open(dir.File("bucket"));
  TokenBucket two = Open(dir.File("bucket"));
  EXPECT_EQ(*one.Take(kNow), 0);
  EXPECT_EQ(*two.Take(kNow), 0);
  EXPECT_EQ(*one.Take(kNow), 0);
  EXPECT_EQ(*two.Take(kNow), 500);
}

TEST(TokenBucket, ADamagedFileIsAnEmptyBucket) {
  TempDir dir;
  const std::string file = dir.File("bucket");
  EXPECT_EQ(*Open(file).Take(kNow), 0);
  std::string line;
  {
    std::ifstream stream(file, std::ios::binary);
    line.assign(std::istreambuf_iterator<char>(stream), {});
  }
  ASSERT_EQ(line.size(), 64U);
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string damaged = line;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_EQ(*Open(file).Take(kNow), 500) << i;
    std::ofstream(file, std::ios::binary) << line.substr(0, i);
    EXPECT_EQ(*Open(file).Take(kNow), i == 0 ? 0 : 500) << i;
  }
  std::ofstream(file, std::ios::binary) << line << "and more";
  EXPECT_EQ(*Open(file).Take(kNow), 0);
}

TEST(TokenBucket, SaysWhereItCannotBeKept) {
  const auto bucket = TokenBucket::Open("/nowhere/bucket", kRate);
  ASSERT_FALSE(bucket);
  EXPECT_EQ(bucket.error().code, "FETCH_STATE");
  EXPECT_EQ(bucket.error().where, "/nowhere/bucket");
}

TEST(RobotsStore, GivesBackWhatItKept) {
  TempDir dir;
  const std::string file = dir.File("robots");
  EXPECT_FALSE(LoadRobots(file));
  for (const RobotsCopy& copy : {RobotsCopy{kNow, false, "User-agent: *\n"}, RobotsCopy{kNow, true, ""},
                                 RobotsCopy{Instant{0}, false, std::string("\0\n\xFF", 3)}}) {
    ASSERT_TRUE(SaveRobots(file, copy));
    EXPECT_EQ(LoadRobots(file), copy);
  }
  EXPECT_EQ(SaveRobots("/nowhere/robots", {}).error().code, "FETCH_STATE");
}

TEST(RobotsStore, ADamagedFileIsNone) {
  TempDir dir;
  const std::string file = dir.File("robots");
  ASSERT_TRUE(SaveRobots(file, {kNow, false, "User-agent: *\n"}));
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_FALSE(LoadRobots(file)) << i;
    std::ofstream(file, std::ios::binary) << bytes.substr(0, i);
    EXPECT_FALSE(LoadRobots(file)) << i;
  }
}

TEST(RobotsStore, ACopyIsFreshForADayAndNeverFromTheFuture) {
  const RobotsCopy copy{kNow, false, ""};
  EXPECT_TRUE(IsFresh(copy, kNow));
  EXPECT_TRUE(IsFresh(copy, Later(kRobotsAgeMsMax - 1)));
  EXPECT_FALSE(IsFresh(copy, Later(kRobotsAgeMsMax)));
  EXPECT_FALSE(IsFresh(copy, Later(-1)));
}

}  // namespace
}  // namespace etl::test
