#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/settings.h"
#include "daemon/command_host.h"
#include "daemon/log.h"
#include "daemon/scheduler.h"
#include "daemon/source_turns.h"
#include "daemon/visit.h"
#include "fetch/http_transport.h"
#include "fetch/settings.h"
#include "model/error.h"
#include "store/store.h"

namespace etl {

// Follows every source that the settings enable: begins the visits that the scheduler says are due, each on a
// thread of its own, and tells it how they ended. Any thread may call anything; nothing here waits for a
// visit unless it says so.
class Polling {
 public:
  static constexpr std::size_t kVisitsMax = 4;  // at once; more wait for one to end

  struct Parts {
    Store* store = nullptr;
    Clock* clock = nullptr;
    Log* log = nullptr;
    std::function<Steady()> steady;
    std::function<void()> wake;  // Tick is wanted soon; any thread
    std::uint64_t seed = 0;
    // What opens a source's network; tests put their own.
    std::function<Result<std::unique_ptr<HttpTransport>>(const FetchSettings&, Clock&)> open;
    // Told of every visit that ended, with its transport's report where one was opened; on the visit's
    // thread.
    std::function<void(const VisitResult&, const std::optional<HostReport>&)> visited;
  };

  explicit Polling(Parts parts);
  ~Polling();
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

  // Checks that every enabled source can be followed with these settings. Errors: kInvalid SOURCE_UNKNOWN,
  // and those of FetchSettings::Validate, but for a missing contact: then everything is served, nothing is
  // fetched, and the source says why.
  static Status Check(const Settings& settings);
  // Follows by these settings from now on; visits under way end with the old ones. Errors: those of Check,
  // and everything stays as it was; those of the store.
  Status Configure(const Settings& settings);

  // Begins what is due, and returns when to be called again. While `no_space`, nothing is begun and visits
  // under way are told to stop.
  Steady Tick(bool no_space);

  // Whether a visit has shown no sign of life for longer than its settings allow a request to take.
  bool Stalled() const;
  std::size_t running() const;
  std::vector<SourceReport> Report() const;

  Status PollNow(const std::string& source);
  Status Pause(const std::string& source);
  Status Resume(const std::string& source);
  // Begins no visit from now on; `on` false: goes on.
  void Drain(bool on);
  SourceTurns& turns() { return turns_; }

  // Tells every visit to stop, and begins none any more.
  void Stop();
  // Waits for the visits to end, at most this long; whether they have.
  bool WaitForEnd(std::int64_t wait_ms);

 private:
  struct Source {
    SourceSettings settings;
    std::shared_ptr<HttpTransport> network;  // kept between visits: its connections, its breaker
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> alive_ms{0};  // steady time of the last sign of life
    std::jthread visit;
    std::string last_visit, last_error, advice;
    std::optional<Instant> last_end;
  };

  Status Add(const std::string& slug, const SourceSettings& settings);
  void Begin(const std::string& slug, std::shared_ptr<void> turn);
  void Visit(const std::string& slug, Source& source);
  void Finish(const std::string& slug, Source& source, const VisitResult& result, std::optional<Instant> due);
  Result<std::shared_ptr<HttpTransport>> Network(const Adapter& adapter, Source& source);
  void Remember(const std::string& slug, const ScheduleState& state);
  void Tell(const VisitResult& result);
  std::int64_t StallMs(const SourceSettings& settings) const;
  SourceReport ReportOf(const Scheduler::Entry& entry, const Source& source, Steady now) const;

  Parts parts_;
  SourceTurns turns_;
  mutable std::mutex mutex_;  // guards what follows
  Scheduler scheduler_;
  std::map<std::string, std::unique_ptr<Source>> sources_;
  std::size_t running_ = 0;
  bool no_space_ = false, draining_ = false, stopping_ = false;
  std::condition_variable ended_;
};

}  // namespace etl
