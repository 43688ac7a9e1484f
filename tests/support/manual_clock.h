#pragma once

#include <atomic>
#include <cstdint>

#include "model/instant.h"

namespace etl::test {

// A clock that stands still until it is told otherwise. Every call may come from any thread.
class ManualClock : public Clock {
 public:
  // Stands at 2026-01-01T00:00:00.000Z unless told otherwise.
  explicit ManualClock(Instant start = Instant{1767225600000});

  Instant Now() override;
  // To this moment, backwards too: wall clocks do that.
  void Set(Instant now);
  void AdvanceMs(std::int64_t duration_ms);
  // From now on every Now() moves the clock by this much after it has answered, so that no two answers are
  // equal.
  void TickMs(std::int64_t step_ms);

 private:
  std::atomic<std::int64_t> now_ms_;
  std::atomic<std::int64_t> step_ms_{0};
};

}  // namespace etl::test
