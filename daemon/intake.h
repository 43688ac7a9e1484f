#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>

#include "adapters/adapter.h"
#include "model/draft.h"
#include "model/error.h"
#include "store/store.h"

namespace etl {

// What a series of responses brought.
struct IntakeCounts {
  std::uint64_t snapshots = 0, runs = 0, groups = 0;
  std::uint64_t entries = 0, entries_new = 0,
                entries_changed = 0;  // spoken of, each once; of them new; of them changed
  std::uint64_t quarantined = 0, gaps = 0, drift = 0, changes = 0;
};

// What the store keeps for the adapter, as the adapter sees it. An error of the store is kept until asked
// for.
class StoreCursors final : public Cursors {
 public:
  StoreCursors(const Store* store, std::string source) : store_(store), source_(std::move(source)) {}
  std::optional<std::string> Find(std::string_view key) const override;
  std::vector<CursorDraft> FindAll(std::string_view key_prefix) const override;
  const Status& status() const { return status_; }

 private:
  const Store* store_;
  std::string source_;
  mutable Status status_;
};

// Takes responses in, one by one: has the adapter read each with the context it needs, commits what comes of
// it, and when a response changes a context, reads the rows again that depend on it. Knows nothing of where
// responses come from, so a visit and a replay share it.
//
// With kPipelined, commits run on a thread of their own, up to kPendingMax behind; Take waits for those that
// its own answer depends on, so the result is the same. Everything but that thread belongs to the caller's
// thread. `store` null: nothing is kept, and contexts live here. `dry_run`: the store is read, not written.
class Intake {
 public:
  enum class Commits : std::uint8_t { kInline, kPipelined };
  static constexpr std::size_t kPendingMax = 8;
  static constexpr std::uint64_t kCommitsPerSync =
      128;  // pipelined: a killed visit reads at most this many again

  Intake(Adapter& adapter, Store* store, bool dry_run, const Goal& goal, Commits commits = Commits::kInline);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  struct Taken {
    std::optional<Outcome> outcome;  // absent: refused
    std::optional<Error> refusal;
    bool same = false;  // these bytes were the known answer, and nothing is written
  };
  // Consumes request.walk. `not_modified`: the server said so, and the bytes are those that are stored.
  // Errors are the store's, perhaps from an earlier response: the visit cannot go on.
  Result<Taken> Take(Request& request, Snapshot snapshot, bool not_modified = false);
  // The same for a response that was refused before and stays refused.
  Status TakeRefused(Request& request, Snapshot snapshot, Error refusal);
  // Reads the rows again that a process which died left unread; Take begins with it. Errors as above.
  Status FinishContexts();
  // Waits until everything is committed. Errors as above.
  Status Drain();
  // With kPipelined, an answer that came before and that another answer has contradicted since (one row on
  // two pages, with different content) is confirmed at once and read again only here, when all that a visit
  // saw is confirmed: two answers that both came again leave what they left before. Waits like Drain; errors
  // as above.
  Status ReadAgain();
  // Responses of all intakes of this process that wait for their commit, those being committed included.
  static std::size_t PendingEverywhere() { return pending_everywhere_.load(std::memory_order_relaxed); }

  // Valid after Drain.
  const IntakeCounts& counts() const { return counts_; }

 private:
  struct Work {
    Snapshot snapshot;
    Ingest ingest;
    std::optional<RequestState> known;  // set: the answer was known, and only needs confirming
    bool not_modified = false;
  };

  // What these bytes are to the store: kSame were read before with the same mapping and context;
  // kContradicted too, and a row has been found in another state since.
  enum class Standing : std::uint8_t { kNews, kSame, kContradicted };
  // Still to be read again: a snapshot without its bytes, which are stored.
  struct Later {
    Snapshot snapshot;
    std::string context_key;
    std::uint64_t entries = 0, runs = 0;  // see RequestState
  };

  bool writes() const { return store_ != nullptr && !dry_run_; }
  Result<Standing> StandingOf(const Request& request, const Snapshot& snapshot, const ContextState& context,
                              std::optional<RequestState>& known) const;
  Result<Outcome> Accept(Request& request, const Snapshot& snapshot, std::string_view context,
                         Reading reading);
  Result<ContextState> ContextOf(const std::string& key);

  Status Hand(Work work);
  Status WaitFor(const std::string& context_key);
  void CommitLoop();
  Status Do(Work& work);
  Status Commit(Work& work);
  void Count(const CommitResult& done);
  Status ReadLater(Later& later);
  Status Rederive(const std::string& context_key);
  Status RederiveCommit(const std::string& context_key, const ContextState& context, std::uint64_t sequence,
                        const std::unordered_set<std::string>& wanted);

  Adapter& adapter_;
  std::mutex adapter_mutex_;  // an adapter reads one response at a time
  Store* store_;
  bool dry_run_;
  StoreCursors cursors_;
  Goal goal_;                // with those cursors
  std::uint64_t start_ = 0;  // newest sequence when the intake began
  bool begun_ = false;
  std::map<std::string, ContextState> own_contexts_;  // without a store to keep them
  std::map<std::string, Later> again_;                // by request

  // The committing side: that thread's alone while it runs.
  IntakeCounts counts_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>
      counted_requests_;                       // request -> its entries and runs
  std::unordered_set<std::uint64_t> counted_;  // hashes of the entries that were counted
  std::uint64_t committed_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> pending_;                     // the first is being committed
  std::map<std::string, std::size_t> touching_;  // contexts that pending work reads or changes -> how many
  Status failure_;
  bool stopping_ = false;
  static std::atomic<std::size_t> pending_everywhere_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace etl
