#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "daemon/conditional.h"
#include "fetch/transport.h"
#include "model/error.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl {

// How upstream's own ranks compare with ours, where the transport had them.
struct RankComparison {
  std::uint64_t compared = 0, equal = 0, different = 0, unmatched = 0;
  std::vector<std::string> differences;  // a line each, at most 100
};

struct VisitResult {
  std::string source;
  std::string goal;      // backfill, poll
  std::string visit;     // full, partial, failed
  bool resumed = false;  // an earlier visit of the same place was interrupted
  bool dry_run = false;
  std::uint64_t requests = 0, snapshots = 0, rows = 0;
  std::uint64_t entries_new = 0, entries_changed = 0, entries_unchanged = 0;
  std::uint64_t runs = 0, groups_recomputed = 0, quarantined = 0, gaps = 0, drift = 0, changes = 0;
  std::string epoch;
  std::uint64_t sequence = 0;
  ConditionalCounts conditional;
  double elapsed_seconds = 0;
  std::vector<Shortfall> shortfalls;  // why it is not full, at most 1,000
  RankComparison upstream_ranks;
  std::optional<Error> failure;  // why it failed

  // One canonical JSON object: source, goal, visit, resumed, dryRun, requests, snapshots, rows, entries {new,
  // changed, unchanged}, conditional {notModified, falseNotModified, falseModified}, runs, groupsRecomputed,
  // quarantined, gaps, drift, changes, epoch, sequence, elapsedSeconds, shortfalls, upstreamRanks.
  std::string Json() const;
};

struct VisitProgress {
  std::uint64_t scopes_total = 0, scopes_done = 0, rows = 0, requests = 0;
};

struct VisitOptions {
  Goal goal;
  // Of a live transport: after this many answers without a body the next request is unconditional, and its
  // bytes are compared.
  std::uint64_t unconditional_every = 20;
  bool dry_run = false;
  // When the saved responses were fetched; else the start of the visit. A live transport's answers are dated
  // one by one, as they arrive, and never before what the store already knows, whatever the clock says.
  std::optional<Instant> captured_at;
  std::function<void(const VisitProgress&)> progress;  // called after each response, on the visit's thread
  const std::atomic<bool>* stop = nullptr;  // set from outside: ends the visit after the current response
};

// One pass over a source: asks for what the adapter wants, hands each response to it, and commits what comes
// of it, response by response, so that a visit killed at any moment leaves whole responses behind and the
// next one finishes the work. Rows are derived again when the context they were read with changes. `store`
// may be null for a dry run over an empty store.
//
// Blocking; one visit at a time per store. A visit never throws and always returns a result: what went wrong
// is in `failure` (the store, the transport as a whole) or in `shortfalls`.
VisitResult RunVisit(Adapter& adapter, Transport& transport, Store* store, Clock& clock,
                     const VisitOptions& options);

// The whole store again from its stored snapshots, into `target` (an empty store). Commit times are those of
// the original. Errors: kConflict REBUILD_TARGET when the target is not empty; those of the stores.
Status Rebuild(const Store& from, Store& target, class ReplayClock& clock,
               const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);

// The clock that a rebuilt store is opened with: shows the time that was last set.
class ReplayClock final : public Clock {
 public:
  Instant Now() override { return Instant{now_ms_.load()}; }
  void Set(Instant at) { now_ms_.store(at.ms); }

 private:
  std::atomic<std::int64_t> now_ms_{0};
};

// The wall clock.
class SystemClock final : public Clock {
 public:
  Instant Now() override;
};

}  // namespace etl
