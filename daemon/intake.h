#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "adapters/adapter.h"
#include "model/draft.h"
#include "model/error.h"
#include "store/store.h"

namespace etl {

// What a series of responses brought.
struct IntakeCounts {
  std::uint64_t snapshots = 0, runs = 0, groups = 0;
  std::uint64_t entries = 0, entries_new = 0, entries_changed = 0;  // spoken of, each once; of them new; of them changed
  std::uint64_t quarantined = 0, gaps = 0, drift = 0, changes = 0;
};

// Takes responses in, one by one: has the adapter read each with the context it needs, commits what comes of it, and when a response
// changes a context, reads the rows again that depend on it. Knows nothing of where responses come from, so a visit and a
// replay share it.
//
// `store` null: nothing is kept, and contexts live here. `dry_run`: the store is read, not written. One thread.
class Intake {
 public:
  Intake(Adapter& adapter, Store* store, bool dry_run, const Goal& goal);

  struct Taken {
    std::optional<Outcome> outcome;  // absent: refused
    std::optional<Error> refusal;
    bool same = false;  // these bytes were the known answer, and nothing was written
  };
  // Consumes request.walk. Errors are the store's: the visit cannot go on.
  Result<Taken> Take(Request& request, const Snapshot& snapshot);

  const IntakeCounts& counts() const { return counts_; }

 private:
  bool writes() const { return store_ != nullptr && !dry_run_; }
  Result<bool> IsKnown(const Request& request, const Snapshot& snapshot, const ContextState& context,
                       std::optional<RequestState>& known) const;
  Status Commit(Ingest& ingest);
  void Count(const CommitResult& done);
  Result<ContextState> ContextOf(const std::string& key);
  ContextState KeepContext(const std::string& key, ContextState context);
  Status Rederive(const std::string& context_key);
  Status RederiveCommit(const std::string& context_key, const ContextState& context, std::uint64_t sequence,
                        const std::unordered_set<std::string>& wanted);

  Adapter& adapter_;
  Store* store_;
  bool dry_run_;
  const Goal& goal_;
  std::uint64_t start_ = 0;  // newest sequence when the intake began
  IntakeCounts counts_;
  std::map<std::string, ContextState> contexts_;
  std::unordered_set<std::uint64_t> counted_;  // hashes of the entries that were counted
};

}  // namespace etl
