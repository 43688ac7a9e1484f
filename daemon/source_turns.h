#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "model/error.h"

namespace etl {

// One visit or change of a source at a time, whoever makes it. Any thread. Must outlive its turns.
class SourceTurns {
 public:
  // `given` is called, on the thread that gives a turn back, after each.
  explicit SourceTurns(std::function<void()> given) : given_(std::move(given)) {}

  // Null when somebody has the turn.
  std::shared_ptr<void> TryTake(const std::string& source);
  // Waits for it. Errors: kStopped STOPPED, once `stop` is set.
  Result<std::shared_ptr<void>> Take(const std::string& source, const std::atomic<bool>& stop);

 private:
  std::shared_ptr<void> Turn(const std::string& source);
  std::function<void()> given_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> taken_;
};

}  // namespace etl
