#include "daemon/source_turns.h"

#include <chrono>

namespace etl {
namespace {

constexpr std::chrono::milliseconds kStopCheck{50};

}  // namespace

std::shared_ptr<void> SourceTurns::Turn(const std::string& source) {
  return {static_cast<void*>(this), [this, source](void*) {
            {
              const std::lock_guard lock(mutex_);
              taken_.erase(source);
            }
            changed_.notify_all();
            if (given_) given_();
          }};
}

std::shared_ptr<void> SourceTurns::TryTake(const std::string& source) {
  const std::lock_guard lock(mutex_);
  return taken_.insert(source).second ? Turn(source) : nullptr;
}

Result<std::shared_ptr<void>> SourceTurns::Take(const std::string& source, const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  while (!taken_.insert(source).second) {
    if (stop)
      return Fail(Errc::kStopped, "STOPPED", source,
                  "told to stop while it waited for the source's visit to end", "run the command again");
    changed_.wait_for(lock, kStopCheck);
  }
  return Turn(source);
}

}  // namespace etl
