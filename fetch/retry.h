#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "model/instant.h"

namespace etl {

enum class BreakerState : std::uint8_t;

// How long to wait before an attempt is repeated: after the n-th failure (from 1) a random time between half
// and all of base_ms * 2^(n-1), at most cap_ms; but never less than what the server asked for, of which at
// most retry_after_cap_ms counts.
class Backoff {
 public:
  struct Limits {
    std::int64_t base_ms = 0;
    std::int64_t cap_ms = 0;
    std::int64_t retry_after_cap_ms = 0;
  };
  Backoff(const Limits& limits, std::uint64_t seed) : limits_(limits), random_(seed) {}
  std::int64_t DelayMs(int failures, std::optional<std::int64_t> retry_after_ms);

 private:
  Limits limits_;
  std::mt19937_64 random_;
};

// Keeps retries a small part of all requests: `size` may be ahead, an answer gives back `refill` of one.
class RetryBudget {
 public:
  RetryBudget(int size, double refill) : size_(size), refill_(refill), left_(size) {}
  bool Take();
  void GiveBack();
  double left() const { return left_; }

 private:
  double size_;
  double refill_;
  double left_;
};

// A circuit breaker. Closed until `threshold` attempts failed in a row; then open, which refuses requests for
// cooldown_ms; then half-open, which lets one probe through: its success closes, its failure opens again for
// twice as long, at most cooldown_cap_ms. A clock that goes back starts the cool-down again.
class Breaker {
 public:
  struct Limits {
    int threshold = 1;
    std::int64_t cooldown_ms = 0;
    std::int64_t cooldown_cap_ms = 0;
  };
  explicit Breaker(const Limits& limits) : limits_(limits), cooldown_ms_(limits.cooldown_ms) {}

  // Whether a request may be sent. Each true is followed by one of the three below.
  bool Allow(Instant now);
  void Succeeded();
  void Failed(Instant now);
  void Abandoned();  // nothing was learnt: it was stopped

  BreakerState State(Instant now);
  // When an open breaker lets a probe through.
  Instant Until() const { return Instant{opened_.ms + cooldown_ms_}; }

 private:
  Limits limits_;
  std::int64_t cooldown_ms_;
  int failures_ = 0;
  bool open_ = false;
  bool probing_ = false;
  Instant opened_;
};

}  // namespace etl
