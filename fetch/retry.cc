#include "fetch/retry.h"

#include <algorithm>
#include <utility>

#include "fetch/http_transport.h"

namespace etl {

std::int64_t Backoff::DelayMs(int failures, std::optional<std::int64_t> retry_after_ms) {
  std::int64_t most = std::min(limits_.base_ms, limits_.cap_ms);
  for (int i = 1; i < failures && most < limits_.cap_ms; ++i) most = std::min(most * 2, limits_.cap_ms);
  std::uniform_int_distribution<std::int64_t> pick(most / 2, most);
  const std::int64_t delay_ms = pick(random_);
  return std::max(delay_ms, std::min(retry_after_ms.value_or(0), limits_.retry_after_cap_ms));
}

bool RetryBudget::Take() {
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

void RetryBudget::GiveBack() {
  left_ = std::min(left_ + refill_, size_);
}

bool Breaker::Allow(Instant now) {
  switch (State(now)) {
    case BreakerState::kClosed:
      return true;
    case BreakerState::kOpen:
      return false;
    case BreakerState::kHalfOpen:
      return !std::exchange(probing_, true);
  }
  return false;
}

void Breaker::Succeeded() {
  failures_ = 0;
  open_ = false;
  probing_ = false;
  cooldown_ms_ = limits_.cooldown_ms;
}

void Breaker::Failed(Instant now) {
  failures_ = std::min(failures_ + 1, limits_.threshold);
  if (probing_)
    cooldown_ms_ = std::min(cooldown_ms_ * 2, std::max(limits_.cooldown_cap_ms, limits_.cooldown_ms));
  // One that was sent before the breaker opened says nothing new.
  if (probing_ || (!open_ && failures_ >= limits_.threshold)) {
    open_ = true;
    opened_ = now;
  }
  probing_ = false;
}

void Breaker::Abandoned() {
  probing_ = false;
}

BreakerState Breaker::State(Instant now) {
  if (!open_) return BreakerState::kClosed;
  if (now < opened_) opened_ = now;
  return now.ms - opened_.ms >= cooldown_ms_ ? BreakerState::kHalfOpen : BreakerState::kOpen;
}

}  // namespace etl
