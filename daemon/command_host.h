#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl {

// How a source that the daemon follows is, for people.
struct SourceReport {
  std::string source;
  std::string state;                 // polling, waiting, failing, paused, disabled, no space, draining
  std::optional<Instant> last_full;  // end of the last full visit
  std::string last_visit;            // full, partial, failed; empty: none yet
  std::optional<Instant> last_end;
  std::optional<Instant> next;  // by the wall clock as it is now; nothing: not planned
  std::string why_next;
  std::int64_t interval_ms = 0;
  std::uint32_t failures = 0;  // in a row
  std::string last_error;      // empty: the last visit had none
  std::string advice;          // what to do about it
};

// The daemon, as a command sees it that the daemon runs for somebody. Used by the command's own thread.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  virtual Store& store() = 0;
  virtual const std::atomic<bool>& stop() const = 0;  // set: the command is to end soon
  virtual std::string user() const = 0;               // who asks
  virtual bool may_change() const = 0;
  virtual std::string settings_file() const = 0;

  // No visit of the source begins while what comes back lives. Waits for one that is under way; errors:
  // kStopped STOPPED.
  virtual Result<std::shared_ptr<void>> HoldSource(const std::string& source) = 0;

  virtual std::vector<SourceReport> Sources() = 0;
  // Errors: those of Scheduler; of Reload those of LoadSettings, and everything stays as it was. What comes
  // back of Reload are the keys that only the next start takes up.
  virtual Status PollNow(const std::string& source) = 0;
  virtual Status Pause(const std::string& source) = 0;
  virtual Status Resume(const std::string& source) = 0;
  virtual Result<std::vector<std::string>> Reload() = 0;
  // Begins no more visits, and waits for those under way; `on` false: goes on. Errors: kStopped.
  virtual Status Drain(bool on) = 0;
};

}  // namespace etl
