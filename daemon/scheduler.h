#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "model/error.h"

namespace etl {

// Milliseconds on a clock that never goes back and goes on while the machine sleeps (CLOCK_BOOTTIME). What
// the wall clock shows, and where it jumps to, moves no poll.
struct Steady {
  std::int64_t ms = 0;
  friend auto operator<=>(const Steady&, const Steady&) = default;
};

// What is remembered of a source over restarts.
struct ScheduleState {
  std::int64_t interval_ms = 0;  // 0: not known yet
  std::uint32_t failures = 0;    // visits in a row that brought nothing
  bool paused = false;
  std::int64_t last_full_ms = 0;  // when a visit last ended full, since 1970; 0: never. Kept for people

  // {"failures":0,"intervalMs":60000,"lastFullMs":1700000000000,"paused":false}. Parse takes anything it does
  // not understand as nothing known, since the next visit writes it anew.
  std::string Json() const;
  static ScheduleState Parse(std::string_view json);
};

// How a visit ended, as far as the next one depends on it.
struct VisitEnd {
  enum class Kind : std::uint8_t {
    kRead,     // full, or partial with something read
    kFailed,   // failed, or nothing was answered
    kStopped,  // told to stop before it could end
  };
  Kind kind = Kind::kRead;
  bool changed = false;
  std::optional<std::int64_t> due_ms;  // the adapter wants to be asked again after so long
};

// When each source is visited next: at its own interval with jitter, which shrinks while the source changes
// and grows while it rests; later and later while it fails; never twice at once; never to make up for polls
// that were missed. Pure: time is passed in, jitter comes from the seed. One thread.
//
// The interval of a source starts at interval_min, is halved after a visit that brought a change, and grows
// by a quarter after one that did not, between interval_min and interval_max. A failing source waits
// interval_min doubled with each failure, at most interval_max. What the adapter asks for may bring the next
// visit forward, not before interval_min after the last.
class Scheduler {
 public:
  enum class Why : std::uint8_t {
    kFirst,     // this program has not visited it yet
    kInterval,  // its interval
    kDue,       // the adapter asked for it
    kFailing,   // it waits after failures
    kAsked,     // an operator wants it now
    kRunning,   // a visit is under way
    kPaused,    // an operator paused it
    kDisabled,  // by the settings
  };
  // "its interval", "an operator asked for it"...
  static std::string_view ToString(Why why) noexcept;

  struct Entry {
    std::string slug;
    ScheduleState state;
    Why why = Why::kFirst;
    bool running = false, enabled = true;
    Steady next;  // meaningless while paused, disabled or running
  };

  // A time that passes between two calls of Due without one is a sleep of the machine: what came due in it
  // is spread over kSpreadMs.
  static constexpr std::int64_t kSleepMs = 60'000;
  static constexpr std::int64_t kSpreadMs = 30'000;

  explicit Scheduler(std::uint64_t seed) : random_(seed) {}

  // Adds a source, or changes the rules of one that is there. `since_last_ms`: how long ago its last visit
  // ended, by what the store knows; nothing: never. A source that was read long ago is due soon, one that was
  // read just now waits for its interval, so that a restart polls nothing early.
  void Set(const std::string& slug, const PollSettings& rules, bool enabled, const ScheduleState& state,
           std::optional<std::int64_t> since_last_ms, Steady now);

  // The sources to visit now, in order of their time. Each must be told to Begin, or stays due.
  std::vector<std::string> Due(Steady now);
  // When Due has to be asked next, at most kSleepMs / 2 from now.
  Steady NextWake(Steady now) const;

  void Begin(const std::string& slug);
  void NoteFull(const std::string& slug, std::int64_t at_ms);  // before End
  // What is to be remembered of it comes back.
  ScheduleState End(const std::string& slug, const VisitEnd& end, Steady now);

  // Errors: kNotFound SOURCE_UNKNOWN; of PollNow kConflict SOURCE_PAUSED, SOURCE_DISABLED. A visit that is
  // under way is followed by another, as it may have read the source before it was asked for.
  Status PollNow(const std::string& slug, Steady now);
  Result<ScheduleState> Pause(const std::string& slug);
  Result<ScheduleState> Resume(const std::string& slug, Steady now);

  const Entry* Find(const std::string& slug) const;
  std::vector<Entry> List() const;

 private:
  struct Source {
    Entry entry;
    PollSettings rules;
    bool again = false;  // asked for while running
  };
  Result<Source*> Get(const std::string& slug);
  std::int64_t Jittered(std::int64_t ms, double jitter);
  void Plan(Source& source, std::int64_t wait_ms, Why why, Steady now);
  static void ShowRest(Source& source);

  std::map<std::string, Source> sources_;
  std::mt19937_64 random_;
  std::optional<Steady> asked_;  // Due was asked last
};

}  // namespace etl
