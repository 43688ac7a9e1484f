#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/error.h"
#include "store/group_edit.h"
#include "store/kv.h"
#include "store/record.h"
#include "store/store.h"

namespace etl {

// What the writer knows beside the database, kept between commits. The caches only ever hold what a read
// would give; after a failed commit they are dropped.
struct WriterState {
  std::string epoch;
  std::uint64_t sequence = 0;  // of the last change
  Instant last_time;           // of the last commit: commit times never go back
  std::uint32_t groups = 0;    // numbers handed out
  // Of what the store holds. Nothing where the last commit did not tell: an older program made it.
  std::optional<StoreCounts> counts;
  std::unordered_map<Digest, std::uint32_t> group_numbers;
  RecordBooks books;

  void DropCaches() {
    group_numbers.clear();
    books.Clear();
  }
};

// The state of the counters as stored under the "last" meta key (counters.cc).
std::string EncodeCounters(const WriterState& state);
Status DecodeCounters(std::string_view key, std::string_view value, WriterState& state);

// Adds the move of a cursor to a batch, unless a newer response has moved it on.
Status PutCursor(const Kv& kv, Kv::Batch& batch, std::string_view source, const CursorDraft& cursor,
                 Instant at);

// Turns one response's draft into one batch. Used once: construct, Build, then write `batch()` and, only if
// that went well, call Apply to move the writer's state on.
class CommitBuilder {
 public:
  CommitBuilder(const Kv& kv, WriterState& state, const Ingest& ingest, Instant now);

  // Reads what the draft touches and fills the batch. Errors: kInvalid INGEST, kCorrupt. `result().sequence`
  // 0 and an empty batch: there is nothing to write.
  Status Build();
  const std::shared_ptr<Kv::Batch>& batch() const { return batch_; }
  const CommitResult& result() const { return result_; }
  void Apply();

 private:
  // An entry that the draft speaks of: as it was, and as it will be.
  struct Edit {
    EntryName name;
    Bundle bundle;
    std::optional<Version::Ranked> ranked_before;
    std::map<std::uint64_t, bool> newer;  // a row of the same moment as the known one, by its place in the
                                          // snapshot -> whether it is preferred
    bool existed = false, dirty = false;
  };
  // What an existing version was derived from, and until when that was known to be upstream's answer.
  struct Origin {
    CommitInfo commit;
    Instant confirmed_at;  // of its snapshot as the answer; 0: never
  };

  std::uint64_t commit_sequence() const { return state_.sequence + 1; }
  void AddChange(std::string type, std::string json);
  Status CheckDraft() const;
  Status AddSnapshot();
  Status AddEntries();
  Result<Edit*> EditOf(const EntryDraft& draft);
  Status ApplyDraft(Edit& edit, const EntryDraft& draft);
  Result<bool> IsNewer(const EntryDraft& draft, const Version& known);
  Result<const Origin*> OriginOf(std::uint64_t from);
  Instant LastSeen(const Origin& origin, Instant seen);
  Version VersionFrom(const EntryDraft& draft) const;
  Status AddNewest(Edit& edit, const EntryDraft& draft, Version version);
  Status AddLate(Edit& edit, const EntryDraft& draft, Version version);
  Result<std::vector<std::string>> FieldsChanged(const EntryDraft& draft, const Version& before,
                                                 const Version& after);
  Result<std::string> RowBytes(const Version& version);
  Status AddObject(const EntryName& name, const EntryDraft& draft);
  Result<std::uint32_t> GroupNumber(const EntryDraft::Ranking& ranking);
  void RetractRun(Edit& edit);
  Status AddStandings();
  Result<bool> HeldElsewhere(const EntryName& name, const Digest& digest);
  Status AddQuarantine();
  Result<bool> AddBody(const Digest& digest, std::string_view bytes);
  Status AddDrift();
  Status AddGaps();
  Status AddContexts();
  Status AddCursors();
  void AddEvents();
  Status AddDecision();  // decisions.cc
  Status AddRequest();
  void AddCommitRecord();
  void EntryLine(std::string_view what, const EntryName& name, Kind kind, const Version& version,
                 const std::vector<std::string>& fields);

  const Kv& kv_;
  WriterState& state_;
  const Ingest& ingest_;
  const Snapshot& snapshot_;
  Instant now_;
  std::shared_ptr<Kv::Batch> batch_;
  CommitResult result_;
  StoreCounts counts_;  // after this commit
  std::vector<Change> changes_;
  std::map<std::string, Edit> edits_;
  std::vector<std::string> new_rows_;  // external ids of submissions seen for the first time
  std::unordered_map<Digest, std::uint32_t> new_groups_;
  std::unordered_map<Digest, EntryName> new_objects_;
  std::unordered_set<Digest> new_bodies_;
  // Keys of quarantine, drift and gaps that the batch already holds: the database does not show them.
  std::unordered_set<std::string> noted_;
  std::map<std::uint64_t, Origin> origins_;
  std::map<std::string, ConfirmedAnswer> confirmed_;  // requests whose confirmation made this snapshot late
  bool row_changed_ = false;                          // a known entry was found in another, newer state
  bool tied_ = false;                                 // the last comparison came down to a preference
  bool contradicted_ = false;                         // the response says something older than what is known
  bool snapshot_known_ = false;   // this response is already the answer that the request record names
  std::uint64_t known_from_ = 0;  // then: the commit that brought it
};

}  // namespace etl
