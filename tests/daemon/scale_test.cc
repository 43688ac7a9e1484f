// No hidden limit: a hundred thousand rows and twenty thousand record steps in one visit.
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/backfill.h"
#include "tests/support/generated_leaderboard.h"
#include "tests/support/manual_clock.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

constexpr int kRows = 100'000, kRecords = 20'000;

// Rows of one kernel, newest first; the last `kRecords` each a little faster than all before.
void WriteRows(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out << R"({"data":{"submissions":[)";
  for (int i = kRows; i >= 1; --i) {
    const int below = i > kRows - kRecords ? i - (kRows - kRecords) : 0;
    const double latency_ms = below > 0 ? 50.0 - below * 0.001 : 60.0 + i % 1000;
    const int minute = i % 60, hour = i / 60 % 24, day = i / 1440 % 28 + 1, month = i / 40'320 + 1;
    char time[40];
    std::snprintf(time, sizeof(time), "2026-%02d-%02dT%02d:%02d:00", month, day, hour, minute);
    out << (i == kRows ? "" : ",") << R"({"id":)" << i << R"(,"type":"kernel","user_id":)" << i % 50
        << R"(,"username":"user)" << i % 50
        << R"(","kernel_id":1,"status":"COMPLETED","is_correct":true,"latency_ms":)" << latency_ms
        << R"(,"gpu_type":"B200","evaluation_stack_version":"v1.1","is_disqualified":false,"submitted_at":")"
        << time << R"(","finished_at":")" << time << R"("})";
  }
  out << R"(],"total":)" << kRows << R"(,"offset":0,"limit":)" << kRows << "}}";
}

TEST(Scale, AHundredThousandRowsAndTwentyThousandRecordStepsInOneVisit) {
  TempDir dir("scale");
  LeaderboardShape shape;
  shape.kernels = 1;
  shape.rows_per_kernel = 0;
  WriteLeaderboard(dir.File("leaderboard"), shape);
  WriteRows(dir.File("leaderboard") + "/submissions/1.json");
  ManualClock clock;
  const auto store = OpenStore(dir.File("store"), clock);
  const VisitResult result = Backfill(*store, dir.File("leaderboard"), clock);
  EXPECT_EQ(result.visit, "full") << result.Json().substr(0, 2000);
  EXPECT_EQ(result.rows, static_cast<std::uint64_t>(kRows));
  EXPECT_EQ(result.runs, static_cast<std::uint64_t>(kRows));
  GroupInfo group;
  ASSERT_TRUE(store->ForEachGroup([&](const GroupInfo& g) { return group = g, false; }).has_value());
  EXPECT_EQ(group.members, static_cast<std::uint64_t>(kRows));
  EXPECT_GE(store->GetRecords(group)->size(), static_cast<std::size_t>(kRecords));
  const auto best = store->GetStanding(group, 0, 1);
  EXPECT_EQ(best->front().external_id, "submission/" + std::to_string(kRows));
}

}  // namespace
}  // namespace etl::test
