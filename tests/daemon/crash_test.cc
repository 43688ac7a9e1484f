// A backfill killed by SIGKILL at random moments, then finished, leaves the same store as one that was left
// alone.
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/backfill.h"
#include "tests/support/generated_leaderboard.h"
#include "tests/support/killed_child.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

bool BackfillAndDie(const std::string& store_dir, const std::string& from, std::uint64_t responses,
                    unsigned delay_us) {
  return KilledWhile(
      [&](const std::function<void()>& tick) {
        SystemClock clock;
        auto store = OpenStore(store_dir, clock);
        VisitOptions options;
        options.progress = [&](const VisitProgress&) { tick(); };
        Backfill(*store, from, clock, options);
        (void)store.release();  // closing would wait for threads of RocksDB, which a child has not
      },
      responses, delay_us);
}

TEST(Crash, ABackfillKilledAtAnyMomentAndFinishedExportsTheSameBytesAndVerifies) {
  TempDir dir("crash");
  const std::string from = dir.File("leaderboard");
  LeaderboardShape shape;
  shape.kernels = 8;
  shape.rows_per_kernel = 120;
  shape.cases_per_kernel = 4;
  WriteLeaderboard(from, shape);
  SystemClock clock;
  std::string expected;
  std::uint64_t requests = 0;
  {
    const auto store = OpenStore(dir.File("undisturbed"), clock);
    const VisitResult result = Backfill(*store, from, clock);
    ASSERT_EQ(result.visit, "full");
    requests = result.requests;
    expected = ExportOf(*store);
  }
  const int rounds = CrashRounds();
  int killed = 0;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(round) + 1);
    const std::string store_dir = dir.File("store");
    std::filesystem::remove_all(store_dir);
    // Up to three blows before it is left to finish.
    for (unsigned blow = 0; blow <= random() % 3; ++blow)
      killed +=
          BackfillAndDie(store_dir, from, 1 + random() % requests, static_cast<unsigned>(random() % 4000))
              ? 1
              : 0;
    const auto store = OpenStore(store_dir, clock);
    const VisitResult result = Backfill(*store, from, clock);
    ASSERT_EQ(result.visit, "full") << "round " << round;
    ASSERT_EQ(Difference(ExportOf(*store), expected), "") << "round " << round;
    const auto report = store->Verify();
    ASSERT_TRUE(report.has_value());
    ASSERT_EQ(report->fault_count, 0u) << "round " << round << ": " << report->faults[0].Message();
  }
  EXPECT_GT(killed, rounds / 2) << "most rounds must really have been killed";
}

}  // namespace
}  // namespace etl::test
