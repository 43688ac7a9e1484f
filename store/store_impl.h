#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/commit.h"
#include "store/head.h"
#include "store/keys.h"
#include "store/kv.h"
#include "store/record.h"
#include "store/store.h"

namespace etl {

// Raised when an older binary could misread the store. 1 knew no decisions: it would take an admitted row out
// again at the next reading.
inline constexpr int kFormatNumber = 2;

// An epoch of the store: sequences from `first` on are counted in it.
struct EpochStart {
  std::string epoch;
  std::uint64_t first = 1;
};

class StoreImpl final : public Store {
 public:
  StoreImpl(std::string dir, Options options, Clock& clock)
      : dir_(std::move(dir)), options_(std::move(options)), clock_(clock) {}
  ~StoreImpl() override;
  Status Init();

  Status Close() override;
  Result<std::shared_ptr<Store>> View() const override;
  bool failed() const override { return failed_; }
  Status Resume() override;
  std::string epoch() const override { return state_.epoch; }
  std::uint64_t sequence() const override { return sequence_.load(); }
  std::string dir() const override { return dir_; }

  Result<CommitResult> Commit(const Ingest& ingest) override;
  Result<CommitResult> Preview(const Ingest& ingest) override;
  Status Confirm(std::string_view source, std::string_view request, const Digest& snapshot,
                 Instant at) override;
  Status Confirm(const Snapshot& again, bool not_modified, const std::vector<CursorDraft>& cursors) override;
  Status PutCursor(std::string_view source, const CursorDraft& cursor, Instant at) override;
  Status Sync() override;
  Result<std::vector<std::string>> PendingContexts(std::string_view source) const override;
  Status ContextDone(std::string_view source, std::string_view context) override;
  Status PutVisit(std::string_view source, const VisitState& visit) override;
  Status Compact() override;

  Result<std::optional<RequestState>> FindRequest(std::string_view source,
                                                  std::string_view request) const override;
  Result<std::optional<ContextState>> FindContext(std::string_view source,
                                                  std::string_view key) const override;
  Result<std::uint64_t> LastRowChange(std::string_view source, std::string_view context) const override;
  Result<std::optional<VisitState>> FindVisit(std::string_view source, std::string_view goal) const override;
  Result<std::optional<std::string>> FindCursor(std::string_view source, std::string_view key) const override;
  Result<std::vector<CursorDraft>> FindCursors(std::string_view source,
                                               std::string_view key_prefix) const override;
  Instant last_time() const override;
  Result<std::vector<std::string>> RowsOf(std::string_view source, std::string_view context) const override;
  std::vector<std::string> Sources() const override;
  Result<AsOf> ResolveAsOf(std::string_view text) const override;

  Result<StoredObject> GetObject(const Digest& digest) const override;
  Result<std::vector<Digest>> FindObjects(std::string_view hex_prefix, std::size_t limit) const override;
  Result<std::string> ManifestOf(const Digest& digest, AsOf as_of) const override;
  Result<std::map<Kind, Version>> GetEntry(const EntryName& name, AsOf as_of) const override;
  Result<std::vector<Version>> GetVersions(const EntryName& name, Kind kind) const override;
  Result<std::vector<EntryName>> FindEntries(std::string_view source,
                                             std::string_view external_id) const override;
  Status ForEachEntry(const std::function<bool(const EntryName&, const std::map<Kind, Version>&)>& visit,
                      const EntryName& from) const override;

  Result<GroupInfo> GetGroup(const Digest& key) const override;
  Result<GroupInfo> GetGroup(std::uint32_t number) const override;
  Result<std::vector<Digest>> FindGroups(std::string_view hex_prefix, std::size_t limit) const override;
  Status ForEachGroup(const std::function<bool(const GroupInfo&)>& visit) const override;
  Result<std::vector<StandingLine>> GetStanding(const GroupInfo& group, std::uint64_t offset,
                                                std::uint64_t limit, AsOf as_of) const override;
  Result<std::optional<StandingLine>> RankOf(const Version& run, AsOf as_of) const override;
  Result<std::vector<RecordStep>> GetRecords(const GroupInfo& group, AsOf as_of) const override;

  Result<CommitInfo> GetCommit(std::uint64_t sequence) const override;
  Status ForEachChange(std::uint64_t after,
                       const std::function<bool(const CommitInfo&, const Change&)>& visit) const override;
  Status ForEachCommit(std::uint64_t after,
                       const std::function<bool(const CommitInfo&)>& visit) const override;
  Result<std::string> GetBytes(const Digest& digest) const override;

  Result<std::vector<QuarantineItem>> Quarantine(std::string_view source) const override;
  Result<std::vector<DriftItem>> Drift(std::string_view source) const override;
  Result<std::vector<GapItem>> Gaps(std::string_view source) const override;
  Result<StoreCounts> Count() const override;
  std::uint64_t DiskBytes() const override;
  StoreHealth Health() const override;

  Status Export(AsOf as_of, const std::function<Status(std::string_view)>& sink) const override;
  Result<VerifyReport> Verify() const override;
  Result<BackupInfo> CreateBackup(const std::string& backup_dir) override;

  // For the parts of the store that live in their own files.
  const Kv& kv() const { return *kv_; }
  const std::vector<EpochStart>& epochs() const { return epochs_; }
  int format() const { return format_; }
  // All versions of one kind, with the newest.
  Result<std::vector<Version>> VersionsOf(const EntryName& name, Kind kind, const KindState& state) const;
  // The newest version as of a sequence, if there was one.
  Result<std::optional<Version>> NewestAt(const EntryName& name, Kind kind, const KindState& state,
                                          AsOf as_of) const;
  // The metadata that goes with an object; `further` are the entries beside the first that have it.
  Result<std::string> MetadataOf(const ObjectRecord& object, const Digest& digest,
                                 std::vector<EntryName> entries, AsOf as_of) const;
  // Whether HEAD is what this program wrote for this store. Errors: kCorrupt STORE_DAMAGED.
  Status HeadIsSound() const;
  // What Count should say, counted: reads every entry and item of the quarantine, and all keys of the rest.
  Result<StoreCounts> CountAll() const;
  // Every member of a group as of a sequence, in rank order.
  Result<std::vector<StandingLine>> StandingAt(std::uint32_t group, AsOf as_of) const;

 private:
  Status TryInit();
  Status OpenKv();
  Status LoadState();
  Status LoadCounters();
  Status CheckFormat();
  Status RaiseFormat();
  Status StartEpoch();
  Status CheckHead();
  Error LostCommits(std::uint64_t have, std::uint64_t acknowledged) const;
  Status PutEpochs(Kv::Batch& batch) const;
  void NoteCommit(std::uint64_t ns);
  std::unique_ptr<CommitBuilder> NewBuilder(const Ingest& ingest);
  Result<std::string> Stored(const std::string& key, std::string_view what) const;

  std::string dir_;
  Options options_;
  Clock& clock_;
  std::unique_ptr<StoreLock> lock_;  // released after the database is closed
  std::unique_ptr<HeadFile> head_;
  Head head_written_;  // last, by this process
  std::unique_ptr<Kv> kv_;
  int format_ = kFormatNumber;  // of the store
  std::vector<EpochStart> epochs_;
  mutable std::mutex writing_;  // held by each writing call; guards what follows
  WriterState state_;
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<bool> failed_{false};
  std::array<std::atomic<std::uint64_t>, StoreHealth::kCommitBoundsS.size() + 1> commits_{};
  std::atomic<std::uint64_t> commit_ns_{0};
};

// The record history over a list of members (identity.md), with the previous holder of each step.
std::vector<RecordStep> RecordStepsOf(const std::vector<StandingLine>& members);

}  // namespace etl
