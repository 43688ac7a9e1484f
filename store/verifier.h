#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/comparison.h"
#include "store/printable.h"
#include "store/store_impl.h"

namespace etl {

inline constexpr std::size_t kVerifyFaultsKept = 1000;

// Of a version, as the change log tells it in a line "entry": equal for equal lines.
std::uint64_t VersionHash(const EntryName& name, Kind kind, const Version& version);

// One pass of `verify` over a store that does not change meanwhile. Every value is read and decoded, must be
// written exactly as this program writes it, and is then held against what it derives from: objects against
// their digests, rows against their snapshots, versions against the change log, indexes, standings (past
// members too) and record histories against the versions. Each fault names its key, entry or digest; a
// reading goes on after it. Used once.
//
// Memory: some 200 bytes per object and 100 per entry, whatever their size.
class Verifier {
 public:
  Verifier(const StoreImpl& store, VerifyReport& report) : store_(store), kv_(store.kv()), report_(report) {}
  // Errors only where the store cannot be read at all; faults go to the report.
  Status Run();

 private:
  static constexpr std::uint32_t kNoEntry = UINT32_MAX;
  static constexpr std::uint64_t kSizeUntold = UINT64_MAX;

  struct CommitFacts {
    CommitInfo info;
    // Entry lines of the change log and versions of entries, as a sum of hashes each: equal sums, equal sets.
    std::uint64_t told = 0, found = 0;
    std::string new_rows;  // external ids of the submissions first seen in it, as an index keeps them
    bool rows_indexed = false;
    bool rows_moved = false;  // a known row came in another state: newer, late or retracted
  };
  struct ObjectFacts {
    Digest digest;
    std::uint64_t sequence = 0;
    std::uint32_t first = kNoEntry;    // the entry that introduced it
    std::uint64_t since = UINT64_MAX;  // lowest sequence of a version that has it
  };
  struct RunFacts {  // what ranking needs of a run's manifest
    Contender contender;
    Digest comparison_key;
    bool native = false, evidence = false;
  };
  struct PendingRun {
    Digest implementation, workload, protocol, environment;
    std::string metric_key;
    RunFacts facts;
  };
  // An entry that has or had an object, since when.
  struct Holder {
    std::uint32_t object = 0, entry = 0;
    std::uint64_t since = 0;
    friend auto operator<=>(const Holder&, const Holder&) = default;
  };
  // A run that joins or leaves a group, told by one entry's versions.
  struct Move {
    std::uint32_t group = 0, object = 0;
    std::uint64_t sequence = 0;
    bool joins = false;
    std::uint32_t entry = 0;
    friend auto operator<=>(const Move&, const Move&) = default;
  };
  struct RowCheck {
    std::uint32_t entry = 0, version = 0;
    Locator locator;
    Digest content;
  };
  // What the change log tells of quarantine, drift, gaps, decisions: by key, the value's telling part.
  struct Told {
    std::string text;
    std::uint64_t sequence = 0;
    bool found = false;
  };

  // A row under review as its newest version shows it: by the key of its decisions.
  struct Reviewed {
    std::string decision;  // as its metadata have it; "": none
    EntryState state = EntryState::kPassed;
    bool turned_down = false;
    std::string where;
  };

  // --- verifier.cc ---
  void Fault(Error error);
  void Fault(std::string code, std::string where, std::string what);
  void KeyFault(std::string code, std::string_view key, std::string what) {
    Fault(std::move(code), "key " + PrintableKey(key), std::move(what));
  }
  template <class T>
  const T* Keep(const Result<T>& result) {
    if (result) return &*result;
    Fault(result.error());
    return nullptr;
  }
  // A value that decodes must be what its encoding gives: nothing added, nothing spelt otherwise.
  void CheckSpelling(std::string_view key, std::string_view stored, std::string_view written);
  // Calls `visit` for every intact value under a prefix; a value with a wrong checksum is a fault by itself.
  template <class Visit>
  Status Each(keys::Prefix prefix, Visit visit) {
    auto it = kv_.Scan(std::string(1, prefix), PrefixEnd(std::string(1, prefix)));
    for (; it->Valid(); it->Next()) {
      if (const auto checked = it->checked(); !checked) {
        Fault(checked.error());
        continue;
      }
      visit(it->key(), it->value());
    }
    if (const auto status = it->status(); !status) Fault(status.error());
    return {};
  }
  Status CheckUnknownKeys();
  const CommitFacts* CommitAt(std::uint64_t first) const;

  // --- verify_log.cc: meta records, the change log, and what stands beside it ---
  Status CheckMeta();
  Status CheckCommits();
  void ReadLines(CommitFacts& commit, std::string_view key, std::string_view value);
  Status CheckLines();
  Status CheckQuarantine();
  Status CheckDrift();
  Status CheckGaps();
  Status CheckVisits();
  void CheckTold(std::string_view key, std::string_view text, std::uint64_t sequence);
  void CheckDecision(std::string_view key, const std::string& told, const Decision& decision);
  void CheckReviewed(std::string_view key, const Decision& decision);
  void CheckUntold();

  // --- verify_requests.cc: requests and contexts ---
  Status CheckRequests();
  Status CheckAnswers();
  Status CheckContexts();
  Status CheckContextRows();
  Status CheckRowChanges();

  // --- verify_entries.cc: objects, entries, versions, rows ---
  Status ReadEntryNames();
  Status CheckObjects();
  void CheckRun(const Digest& digest, const BenchmarkRun& run);
  void ResolveRuns();
  Status CheckEntries();
  using Older = std::map<Kind, std::vector<Version>>;
  Older TakeOlder(Kv::Iterator& it, std::string_view name);
  void CheckEntry(std::uint32_t entry, const EntryName& name, const Bundle& bundle, Older older);
  void CheckKind(std::uint32_t entry, const EntryName& name, Kind kind, const std::vector<Version>& versions,
                 std::uint32_t newest);
  void CheckVersion(std::uint32_t entry, const EntryName& name, Kind kind, const Version& version);
  void CheckRanked(const EntryName& name, Kind kind, const Version& version);
  void NoteReview(const EntryName& name, const Version& row);
  void AddMoves(std::uint32_t entry, const std::vector<Version>& versions);
  Status CheckHolders();
  Status CheckSnapshots();
  void CheckRows(const Digest& snapshot, std::string_view bytes);
  EntryName NameOf(std::uint32_t entry) const;
  bool HasObject(const Digest& digest) const { return object_index_.contains(digest); }

  // --- verify_groups.cc ---
  Status CheckGroups();
  Status CheckStandings();
  void PlayMoves();
  void PlayRun(std::size_t begin, std::size_t end);
  bool HeldBefore(std::uint32_t object, std::uint32_t entry, std::uint64_t sequence) const;
  bool Holds(const Digest& digest, std::string_view source, std::string_view external_id) const;
  void CheckStanding(const GroupInfo& group, std::uint64_t nodes);
  void CheckRecords(const GroupInfo& group, const std::vector<Contender>& contenders);
  Status CheckFormer();

  const StoreImpl& store_;
  const Kv& kv_;
  VerifyReport& report_;
  std::map<std::uint64_t, CommitFacts> commits_;        // by first sequence
  std::map<std::string, Told> told_;                    // by key of the item
  std::map<std::string, Reviewed> reviewed_;
  std::unordered_map<Digest, std::uint64_t> sizes_;     // of snapshots and quarantined bytes, as told
  std::map<std::string, std::uint64_t> context_lines_;  // key of a context -> commit that last changed it
  std::map<std::string, std::string> row_changes_;      // by key
  std::vector<std::string> entry_keys_;                 // in order
  std::unordered_map<std::string_view, std::uint32_t> entry_index_;
  std::vector<ObjectFacts> objects_;  // in order
  std::unordered_map<Digest, std::uint32_t> object_index_;
  std::unordered_map<Digest, Digest> operations_;   // implementation -> operation
  std::unordered_map<Digest, Digest> correctness_;  // workload -> correctness key
  std::vector<PendingRun> pending_runs_;
  std::unordered_map<Digest, RunFacts> runs_;
  std::vector<Holder> holders_;                             // sorted and merged by CheckHolders
  std::unordered_map<Digest, std::vector<RowCheck>> rows_;  // by snapshot
  std::map<std::uint32_t, GroupInfo> groups_;               // by number
  std::vector<Move> moves_;
  std::map<std::uint32_t, std::vector<StandingMember>> members_;  // who stands now, as the versions say
  std::map<std::string, std::string> former_;                     // key -> value, as the versions say
};

}  // namespace etl
