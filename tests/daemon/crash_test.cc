// A backfill killed by SIGKILL at random moments, then finished, leaves the same store as one that was left
// alone.
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/backfill.h"
#include "tests/support/generated_leaderboard.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

int Rounds() {
  const char* rounds = std::getenv("ETL_CRASH_ROUNDS");
  return rounds == nullptr ? 20 : std::atoi(rounds);
}

// Runs a backfill in a child process, and kills it a while after it has taken in so many responses. Returns
// whether that came before its end.
bool BackfillAndDie(const std::string& store_dir, const std::string& from, std::uint64_t responses,
                    unsigned delay_us) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    SystemClock clock;
    const auto store = OpenStore(store_dir, clock);
    VisitOptions options;
    std::uint64_t seen = 0;
    options.progress = [&](const VisitProgress&) {
      if (++seen == responses && write(ends[1], "x", 1) != 1) _exit(1);
    };
    Backfill(*store, from, clock, options);
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  if (read(ends[0], &byte, 1) == 1) {
    const timespec delay{0, static_cast<long>(delay_us) * 1000};
    nanosleep(&delay, nullptr);
    kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
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
  const int rounds = Rounds();
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
