#include "daemon/visit_clock.h"

#include <algorithm>

namespace etl {
namespace {

constexpr std::int64_t kClockStepMs = 86'400'000;  // that a clock may move between visits and be believed
constexpr std::int64_t kAheadMs = 60'000;          // that an answer may have been fetched ahead

}  // namespace

// What is known was captured by now, even if the clock has been set back since.
void VisitClock::Start(Instant known, const std::optional<VisitState>& last, Instant now) {
  newest_ = known;
  if (last) newest_ = std::max({newest_, last->started_at, last->finished_at});
  if (now > newest_) return;
  const std::int64_t moved_ms = last ? now.ms - last->clock_at.ms : 0;
  behind_ms_ = newest_.ms + std::clamp<std::int64_t>(moved_ms, 1, kClockStepMs) - now.ms;
}

Instant VisitClock::Next(Instant shown) {
  // Answers fetched ahead may be a little out of order; a greater step back is the clock's.
  if (shown.ms < shown_.ms - kAheadMs) {
    behind_ms_ += shown_.ms - shown.ms + 1;
    shown_ = shown;
  }
  shown_ = std::max(shown_, shown);
  newest_ = std::max(Time(shown), Instant{newest_.ms + 1});
  return newest_;
}

}  // namespace etl
