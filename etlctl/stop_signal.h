#pragma once

#include <atomic>

namespace etl::ctl {

// While one of these lives, SIGINT and SIGTERM set a flag instead of ending the process; the second of either
// ends it as usual. A reader that goes away (SIGPIPE) ends nothing: the work matters more than the talk. One
// at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  const std::atomic<bool>* flag() const;
  bool stopped() const { return flag()->load(); }
};

}  // namespace etl::ctl
