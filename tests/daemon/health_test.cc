#include "daemon/health.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etl {
namespace {

using Reasons = std::vector<std::string>;

SourceReport Source(const char* state, std::int64_t last_full_ms) {
  SourceReport report;
  report.source = "small";
  report.state = state;
  if (last_full_ms > 0) report.last_full = Instant{last_full_ms};
  return report;
}

TEST(NotReadyReasons, NamesSourcesThatAreLate) {
  Settings settings;
  settings.poll.interval_max_s = 600;
  const std::int64_t late_ms = 6 * 600'000;
  const Instant now{100'000'000};
  EXPECT_EQ(NotReadyReasons({Source("waiting", now.ms - late_ms)}, settings, false, now), Reasons());
  EXPECT_EQ(NotReadyReasons({Source("waiting", now.ms - late_ms - 60'000)}, settings, false, now),
            Reasons{"small had no full visit for 61 minutes"});
  SourceReport never = Source("failing", 0);
  never.last_error = "HTTP_CONNECT: no connection";
  EXPECT_EQ(NotReadyReasons({never}, settings, false, now),
            Reasons{"small was never visited in full: HTTP_CONNECT: no connection"});
}

TEST(NotReadyReasons, LeavesOutWhatAnOperatorStopped) {
  for (const char* state : {"paused", "disabled"})
    EXPECT_EQ(NotReadyReasons({Source(state, 0)}, Settings(), false, Instant{1}), Reasons()) << state;
}

TEST(NotReadyReasons, NamesADiskWithoutSpace) {
  const Reasons reasons = NotReadyReasons({}, Settings(), true, Instant{1});
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_NE(reasons[0].find("reserve_bytes"), std::string::npos);
}

}  // namespace
}  // namespace etl
