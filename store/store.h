#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/decision.h"
#include "model/draft.h"
#include "model/error.h"
#include "model/instant.h"
#include "model/manifest.h"
#include "model/ranking.h"
#include "store/health.h"

namespace etl {

// Everything that was ever seen, in RocksDB (docs/formats.md has the bytes). One process at a time writes,
// its threads one after the other; any number of threads read. The rules that hold after every commit are in
// docs/design/002-store.md.

// The newest state when `sequence` is kNow, else the state after the commit that holds this sequence. Commits
// are atomic: every sequence inside one commit shows the state after it.
struct AsOf {
  static constexpr std::uint64_t kNow = UINT64_MAX;
  std::uint64_t sequence = kNow;
  bool now() const { return sequence == kNow; }
};

struct EntryName {
  std::string source, external_id, scope;
  friend auto operator<=>(const EntryName&, const EntryName&) = default;
  // "sol-execbench:submission/37749", with " in SCOPE" where there is one.
  std::string Text() const;
};

// One state of one kind of entry.
struct Version {
  std::uint32_t version = 0;   // from 1, in the order of arrival
  std::uint64_t sequence = 0;  // of the commit that brought it
  std::uint64_t from = 0;      // sequence of the commit that stored the snapshot it was derived from
  EntryState state = EntryState::kPassed;
  std::vector<std::string> reasons;
  std::optional<Digest> digest;   // of its object
  std::string metadata;           // canonical JSON; "" for none
  std::optional<Digest> content;  // of the canonical source row
  Locator locator;                // in the snapshot
  bool late = false;              // older than what was known when it arrived: never was the newest
  // Which observation this is: see EntryDraft::major.
  std::uint64_t major = 0;
  Instant captured_at, context_at, seen_at;  // seen_at: last observation of this very state
  struct Ranked {
    std::uint32_t group = 0;
    Contender contender;
  };
  std::optional<Ranked> ranked;  // where the run stands, for a BenchmarkRun that passed
};

struct StoredObject {
  Kind kind = Kind::kOperationSpec;
  Digest digest;
  std::string identity;            // canonical {apiVersion, kind, spec}
  std::uint64_t sequence = 0;      // of the commit that brought it
  std::vector<EntryName> entries;  // that are or were in a state with this object; the first introduced it
};

struct GroupInfo {
  std::uint32_t number = 0;  // internal, never shown
  Digest key;
  std::string profile;
  Digest operation, workload, protocol, environment, correctness;
  std::string metric_key;
  std::uint64_t members = 0, distinct = 0;
};

struct StandingLine {  // one line of a standing
  std::uint32_t rank = 0;
  Contender contender;
  std::string source, external_id;
  std::uint64_t since = 0;
};

struct RecordStep {
  Instant at;  // observed_at of the run
  Digest digest;
  double value = 0;
  std::string source, external_id;
  std::optional<std::string> previous;  // external id of the holder before
};

// An answer that was known to have been given again later.
// One commit, and one line of the change log. `json` is the line's own part (docs/formats.md, "changes").
struct ConfirmedAnswer {
  std::string request;
  Digest snapshot;
  Instant at;
};
struct CommitInfo {
  std::uint64_t first = 0, last = 0;  // sequences of its changes; `first` is also the commit's own sequence
  std::string epoch;
  Instant time;
  std::string source, request, origin, adapter, context;  // context: key of the context it was read with
  std::optional<Digest> snapshot;
  Instant captured_at;
  bool refused = false;                         // the response was quarantined as a whole
  std::optional<std::uint64_t> rederived_from;  // the commit whose snapshot was read again
  bool decided = false;                         // it carries out a decision, told by its last line
  // Requests whose answer was known to have been confirmed later than this snapshot, which made it late:
  // needed to replay it.
  std::vector<ConfirmedAnswer> confirmed;
};
struct Change {
  std::uint64_t sequence = 0;
  std::string type;  // snapshot, entry, standing, record, quarantine, drift, gap, context, review, decision
  std::string json;  // canonical object
};

struct QuarantineItem {
  Digest id;
  std::string source, code, where, what, fix;
  Digest bytes_digest;
  std::uint64_t bytes = 0, sequence = 0;
  Instant first_seen, last_seen;
  std::optional<Decision> decision;  // the newest on it; nothing: it is open
};
struct DriftItem {
  std::string source, path, sample;
  std::uint64_t sequence = 0;
  Instant first_seen;
};
struct GapItem {
  std::string source, scope, code, detail;
  std::int64_t missing = 0;
  std::uint64_t sequence = 0;
  Instant at;
};

// What the store remembers of a request: its newest response.
struct RequestState {
  Digest snapshot;
  Instant captured_at;   // when this body was first the answer
  Instant confirmed_at;  // when it last was
  std::string adapter, context;
  std::optional<Digest> context_digest;
  std::uint64_t sequence = 0;
  std::uint64_t entries = 0, runs = 0;  // that the response spoke of first in its visit
  std::uint64_t read_at = 0;            // newest sequence when it was last read in full
  bool refused = false;
  std::string etag, last_modified;  // that came with the newest answer
  std::uint64_t not_modified = 0;   // how often in a row the server said so instead of sending the bytes
};

struct ContextState {
  std::string value;
  Instant captured_at, seen_at;  // of the snapshot that brought the value; of the last that said the same
  std::uint64_t sequence = 0;
};

// A visit, kept per source and goal: the newest only.
struct VisitState {
  std::string origin, state;  // running, full, partial, failed
  Instant started_at, finished_at;
  std::string summary;  // JSON of the result, once finished
  std::string goal;     // "poll", or empty for a backfill
  Instant clock_at;     // what the clock showed last; the other times never go back, it may
};

// A decision, to be committed with what follows from it.
struct DecisionDraft {
  std::string external_id;  // of the row under review; empty: an item of the quarantine
  Digest item;              // its id
  Decision decision;
};

// One response to take in, with what the adapter made of it.
struct Ingest {
  const Snapshot* snapshot = nullptr;
  std::string adapter;
  std::string context_key;  // what it was read with
  std::string context_value;
  Instant context_at;
  std::optional<Error>
      refusal;  // the response is wrong as a whole: it goes to quarantine, the draft must be empty
  Draft draft;
  std::optional<std::uint64_t> rederived_from;
  std::optional<DecisionDraft> decision;            // why it is read again, or what is decided with it
  std::uint64_t visit_entries = 0, visit_runs = 0;  // kept as RequestState::entries, runs
  std::uint64_t visit_start =
      UINT64_MAX;  // newest sequence when the visit began: what came after is not counted as changed again
};

struct CommitResult {
  std::uint64_t sequence = 0;  // 0: nothing was written
  std::uint64_t changes = 0, entries_new = 0, entries_changed = 0, entries_unchanged = 0, entries_late = 0;
  std::uint64_t runs_ranked = 0, runs_left = 0, groups = 0, quarantined = 0, drift = 0, gaps = 0,
                snapshots = 0;
  std::vector<std::string> contexts_changed;  // rows of these contexts have to be derived again
};

struct StoreCounts {
  std::map<std::string, std::uint64_t> entries_by_kind;  // "BenchmarkRun" -> n
  std::uint64_t objects = 0, groups = 0, snapshots = 0, drift = 0, gaps = 0, ranked_runs = 0;
  std::uint64_t quarantine = 0;  // items that are open
  friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

struct VerifyReport {
  std::vector<Error> faults;  // at most 1,000 are kept
  std::uint64_t fault_count = 0, objects = 0, entries = 0, versions = 0, groups = 0, snapshots = 0,
                commits = 0;
  Digest root;  // over the export; meaningful when there is no fault
};

class Store {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite };
  struct Options {
    Mode mode = Mode::kRead;
    bool create = false;            // with kWrite: make a new store where there is none
    bool in_memory = false;         // tests
    std::string holder = "etlctl";  // who is named to others while this holds the lock
  };

  // Errors: kNotFound STORE_MISSING; kUnavailable STORE_LOCKED (`what` says who holds it and since when),
  // STORE_IO; kCorrupt STORE_DAMAGED, STORE_LOST_COMMITS (the log ends before a commit that was
  // acknowledged); kInvalid STORE_FORMAT (made by a newer etld). `clock` must outlive the store.
  static Result<std::unique_ptr<Store>> Open(const std::string& dir, const Options& options, Clock& clock);
  // Who has the store in this folder open for writing, as they told Options::holder, with process and time:
  // "etld, process 12, since 2026-01-01T00:00:00.000Z". Empty when nobody has, or it cannot be told.
  static std::string WriterOf(const std::string& dir);
  virtual ~Store() = default;
  // Flushes and releases the lock. Reports what the destructor could only swallow.
  virtual Status Close() = 0;

  // The store at this moment, for reading: what is committed later does not show in it, so that several reads
  // of it agree with each other. Cheap to make (microseconds); while it lives, what it can see stays on the
  // disk. Give it up before Close.
  virtual Result<std::shared_ptr<Store>> View() const = 0;

  // Whether a write has failed since, so that none is taken any more; what was written is read as before.
  virtual bool failed() const = 0;
  // Takes writes again, when the cause may be gone (a full disk that has room now). What was not written is
  // forgotten, and has to be committed again. Errors: kUnavailable STORE_WRITE: not yet; kCorrupt.
  virtual Status Resume() = 0;

  virtual std::string epoch() const = 0;
  virtual std::uint64_t sequence() const = 0;
  virtual std::string dir() const = 0;

  // --- writing: any thread, one call after the other ---

  // One response becomes one atomic commit: objects, versions, standings, record steps, changes and the
  // request's own state. Returns what changed. It is seen by reads at once, is written while the caller goes
  // on, and is safe, from a power cut too, once Sync has returned; a crash before that leaves the commits up
  // to some moment, each whole. Errors: kUnavailable STORE_WRITE (of this commit or the one before: it is not
  // there, and the store has to be opened again), kCorrupt. kInvalid INGEST: a draft that breaks its rules (a
  // bug of the adapter): nothing written.
  virtual Result<CommitResult> Commit(const Ingest& ingest) = 0;
  // What Commit would do, without doing it.
  virtual Result<CommitResult> Preview(const Ingest& ingest) = 0;
  // These bytes came again for a request, as they had before: remembers when, also after others have taken
  // their place. Moves no sequence.
  virtual Status Confirm(std::string_view source, std::string_view request, const Digest& snapshot,
                         Instant at) = 0;
  // The same for an answer that was fetched just now: keeps the validators that came with it too, counts
  // answers without a body (`not_modified`), and moves cursors.
  virtual Status Confirm(const Snapshot& again, bool not_modified,
                         const std::vector<CursorDraft>& cursors) = 0;
  // Moves a cursor outside of any response.
  virtual Status PutCursor(std::string_view source, const CursorDraft& cursor, Instant at) = 0;
  // Makes all commits so far survive a power cut, and only then records them as acknowledged.
  virtual Status Sync() = 0;
  // Contexts that changed and whose rows have not all been read again since: marked by the commit that
  // brought the change, until ContextDone. A process that dies in between leaves them for the next.
  virtual Result<std::vector<std::string>> PendingContexts(std::string_view source) const = 0;
  virtual Status ContextDone(std::string_view source, std::string_view context) = 0;
  virtual Status PutVisit(std::string_view source, const VisitState& visit) = 0;
  virtual Status Compact() = 0;

  // --- reading: any thread; NotFound where the thing is not there ---

  virtual Result<std::optional<RequestState>> FindRequest(std::string_view source,
                                                          std::string_view request) const = 0;
  virtual Result<std::optional<ContextState>> FindContext(std::string_view source,
                                                          std::string_view key) const = 0;
  // The newest sequence at which a row read with this context was found changed; 0: never. An answer that was
  // read before and comes again unchanged may contradict it, and has to be read again.
  virtual Result<std::uint64_t> LastRowChange(std::string_view source, std::string_view context) const = 0;
  virtual Result<std::optional<VisitState>> FindVisit(std::string_view source,
                                                      std::string_view goal = {}) const = 0;
  // What an adapter remembers under a key.
  virtual Result<std::optional<std::string>> FindCursor(std::string_view source,
                                                        std::string_view key) const = 0;
  // The cursors of a source whose keys start with this, by key.
  virtual Result<std::vector<CursorDraft>> FindCursors(std::string_view source,
                                                       std::string_view key_prefix) const = 0;
  // Time of the last commit: they never go back.
  virtual Instant last_time() const = 0;
  // External ids of the rows that were read with a context, oldest first, without repeats.
  virtual Result<std::vector<std::string>> RowsOf(std::string_view source,
                                                  std::string_view context) const = 0;
  virtual std::vector<std::string> Sources() const = 0;

  // Sequence for an instant (the last commit at or before it) or for "EPOCH:SEQ" or "SEQ"; 0 is the empty
  // state before the first change. kInvalid AS_OF_PATTERN, kNotFound AS_OF_EPOCH, AS_OF_RANGE (before the
  // first commit, or ahead of the last).
  virtual Result<AsOf> ResolveAsOf(std::string_view text) const = 0;

  virtual Result<StoredObject> GetObject(const Digest& digest) const = 0;
  // Digests that start with these hex digits ("sha256:" in front allowed), at most `limit`, in order.
  // kInvalid DIGEST_PREFIX for fewer than 4 digits or other characters.
  virtual Result<std::vector<Digest>> FindObjects(std::string_view hex_prefix, std::size_t limit) const = 0;
  // The object with the metadata of the entry that introduced it (lowest name among those in this state): the
  // manifest.
  virtual Result<std::string> ManifestOf(const Digest& digest, AsOf as_of = {}) const = 0;

  // The newest version of every kind of an entry.
  virtual Result<std::map<Kind, Version>> GetEntry(const EntryName& name, AsOf as_of = {}) const = 0;
  // All versions of one kind, oldest number first.
  virtual Result<std::vector<Version>> GetVersions(const EntryName& name, Kind kind) const = 0;
  // Entries of a source with this external id, in every scope.
  virtual Result<std::vector<EntryName>> FindEntries(std::string_view source,
                                                     std::string_view external_id) const = 0;
  // Every entry with its newest versions, in export order (source, external id, scope), beginning with the
  // first at or behind `from`; stops when `visit` returns false.
  virtual Status ForEachEntry(
      const std::function<bool(const EntryName&, const std::map<Kind, Version>&)>& visit,
      const EntryName& from = {}) const = 0;

  virtual Result<GroupInfo> GetGroup(const Digest& key) const = 0;
  virtual Result<GroupInfo> GetGroup(std::uint32_t number) const = 0;
  virtual Result<std::vector<Digest>> FindGroups(std::string_view hex_prefix, std::size_t limit) const = 0;
  virtual Status ForEachGroup(const std::function<bool(const GroupInfo&)>& visit) const = 0;
  virtual Result<std::vector<StandingLine>> GetStanding(const GroupInfo& group, std::uint64_t offset,
                                                        std::uint64_t limit, AsOf as_of = {}) const = 0;
  // The rank of a run in its group; nothing if it does not stand there.
  virtual Result<std::optional<StandingLine>> RankOf(const Version& run, AsOf as_of = {}) const = 0;
  virtual Result<std::vector<RecordStep>> GetRecords(const GroupInfo& group, AsOf as_of = {}) const = 0;

  virtual Result<CommitInfo> GetCommit(
      std::uint64_t sequence) const = 0;  // the commit that holds this sequence
  // Changes with a sequence above `after`, in order; stops when `visit` returns false.
  virtual Status ForEachChange(std::uint64_t after,
                               const std::function<bool(const CommitInfo&, const Change&)>& visit) const = 0;
  virtual Status ForEachCommit(std::uint64_t after,
                               const std::function<bool(const CommitInfo&)>& visit) const = 0;
  // The exact bytes of a snapshot or of a quarantined item.
  virtual Result<std::string> GetBytes(const Digest& digest) const = 0;

  virtual Result<std::vector<QuarantineItem>> Quarantine(std::string_view source) const = 0;  // "" for all
  virtual Result<std::vector<DriftItem>> Drift(std::string_view source) const = 0;
  virtual Result<std::vector<GapItem>> Gaps(std::string_view source) const = 0;
  // What the last commit left. A store whose last commit is of a program that did not count yet is counted
  // afresh: then this reads all of it.
  virtual Result<StoreCounts> Count() const = 0;
  virtual std::uint64_t DiskBytes() const = 0;
  virtual StoreHealth Health() const = 0;

  // --- the whole store ---

  // JSON lines in a fixed order, byte-identical for equal states. `sink` gets one line at a time, with its
  // newline.
  virtual Status Export(AsOf as_of, const std::function<Status(std::string_view)>& sink) const = 0;
  virtual Result<VerifyReport> Verify() const = 0;

  struct BackupInfo {
    std::uint32_t id = 0;
    Instant at;
    std::uint64_t bytes = 0;
    std::string epoch;
    std::uint64_t sequence = 0;
  };
  virtual Result<BackupInfo> CreateBackup(const std::string& backup_dir) = 0;
  static Result<std::vector<BackupInfo>> ListBackups(const std::string& backup_dir);
  // Restores into `dir` (absent or empty), as a store with a new epoch. id 0: the newest.
  static Status RestoreBackup(const std::string& backup_dir, std::uint32_t id, const std::string& dir,
                              Clock& clock);
};

}  // namespace etl
