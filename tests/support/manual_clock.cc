#include "tests/support/manual_clock.h"

namespace etl::test {

ManualClock::ManualClock(Instant start) : now_ms_(start.ms) {}

Instant ManualClock::Now() {
  return Instant{now_ms_.fetch_add(step_ms_.load())};
}

void ManualClock::Set(Instant now) {
  now_ms_.store(now.ms);
}

void ManualClock::AdvanceMs(std::int64_t duration_ms) {
  now_ms_.fetch_add(duration_ms);
}

void ManualClock::TickMs(std::int64_t step_ms) {
  step_ms_.store(step_ms);
}

}  // namespace etl::test
