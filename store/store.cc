#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "model/json_writer.h"
#include "store/record_reader.h"
#include "store/store_impl.h"

namespace etl {
namespace {

std::string NewEpoch(const std::vector<EpochStart>& known) {
  std::random_device random;
  for (;;) {
    std::string epoch;
    for (int i = 0; i < 8; ++i) epoch += "0123456789abcdef"[random() % 16];
    bool used = false;
    for (const EpochStart& e : known) used = used || e.epoch == epoch;
    if (!used) return epoch;
  }
}

Status WrongMode() {
  return Fail(Errc::kConflict, "STORE_READ_ONLY", "", "the store was opened for reading",
              "open it for writing");
}

}  // namespace

std::string Store::WriterOf(const std::string& dir) {
  return StoreLock::Writer(dir);
}

Result<std::unique_ptr<Store>> Store::Open(const std::string& dir, const Options& options, Clock& clock) {
  auto store = std::make_unique<StoreImpl>(dir, options, clock);
  ETL_CHECK_OK(store->Init());  // a store that would not open writes nothing when it goes
  return std::unique_ptr<Store>(std::move(store));
}

StoreImpl::~StoreImpl() {
  (void)Close();
}

Status StoreImpl::Init() {
  failed_ = true;
  ETL_CHECK_OK(TryInit());
  failed_ = false;
  return {};
}

Status StoreImpl::TryInit() {
  if (!options_.in_memory) {
    std::error_code ec;
    const bool there = std::filesystem::exists(dir_ + "/db", ec);
    if (!there && std::filesystem::exists(dir_ + "/HEAD", ec))
      return Fail(Errc::kCorrupt, "STORE_DAMAGED", dir_ + "/db", "a store was here, and its database is gone",
                  "restore a backup; to begin anew, remove " + dir_ + "/HEAD");
    if (!there && !(options_.mode == Mode::kWrite && options_.create))
      return Fail(Errc::kNotFound, "STORE_MISSING", dir_, "there is no store here",
                  "name one with --store or ETL_STORE, or make one with `etlctl backfill`");
    if (!there) std::filesystem::create_directories(dir_, ec);
    if (ec)
      return Fail(Errc::kUnavailable, "STORE_IO", dir_, ec.message(), "check the path and its permissions");
    ETL_TRY(lock_, StoreLock::Take(dir_, options_.mode == Mode::kWrite, options_.holder, clock_.Now()));
  }
  ETL_CHECK_OK(OpenKv());
  ETL_CHECK_OK(LoadState());
  ETL_CHECK_OK(CheckHead());
  return RaiseFormat();
}

Result<std::shared_ptr<Store>> StoreImpl::View() const {
  Options options = options_;
  options.mode = Mode::kRead;
  auto view = std::make_shared<StoreImpl>(dir_, std::move(options), clock_);
  ETL_TRY(view->kv_, kv_->View());
  ETL_CHECK_OK(view->LoadState());
  return std::shared_ptr<Store>(std::move(view));
}

Status StoreImpl::LoadState() {
  ETL_CHECK_OK(CheckFormat());
  return LoadCounters();
}

// The batch that failed, and what was committed on top of it, never came to be: the counters are again those
// of the last one that did.
Status StoreImpl::Resume() {
  const std::lock_guard lock(writing_);
  if (options_.mode != Mode::kWrite) return WrongMode();
  ETL_CHECK_OK(kv_->Resume());
  state_.DropCaches();
  ETL_CHECK_OK(LoadCounters());
  failed_ = false;
  return {};
}

Status StoreImpl::LoadCounters() {
  const std::string last_key = keys::Meta("last");
  ETL_TRY(const auto last, kv_->Get(last_key));
  if (!last) return Fail(Unreadable(last_key, "missing"));
  ETL_CHECK_OK(DecodeCounters(last_key, *last, state_));
  if (state_.epoch != epochs_.back().epoch) return Fail(Unreadable(last_key, "epoch"));
  if (!state_.counts && options_.mode == Mode::kWrite) {
    // From now on every commit tells. Damage does not keep a store from opening: `verify` names it.
    if (auto counted = CountAll()) state_.counts = *std::move(counted);
  }
  sequence_ = state_.sequence;
  return {};
}

// Who writes to a store of an older program leaves what that program would misread.
Status StoreImpl::RaiseFormat() {
  if (options_.mode != Mode::kWrite || format_ == kFormatNumber) return {};
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  format_ = kFormatNumber;
  ETL_CHECK_OK(PutEpochs(*batch));
  return kv_->Write(batch, true);
}

Status StoreImpl::OpenKv() {
  Kv::Options o;
  o.read_only = options_.mode == Mode::kRead && !options_.in_memory;
  o.create = options_.mode == Mode::kWrite && options_.create;
  o.in_memory = options_.in_memory;
  ETL_TRY(kv_, Kv::Open(options_.in_memory ? "/store" : dir_ + "/db", o));
  if (options_.mode == Mode::kWrite) kv_ = MakeWriteBehind(std::move(kv_));
  return {};
}

Status StoreImpl::CheckFormat() {
  const std::string key = keys::Meta("format");
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored) {
    // A store that lost its first record is damaged; one that never had it was interrupted while being made.
    auto any = kv_->Scan("", "");
    if (any->Valid()) return Fail(Unreadable(key, "missing"));
    if (!options_.in_memory) {
      ETL_TRY(const auto head, HeadFile::Newest(dir_));
      if (head) return Fail(LostCommits(0, head->sequence));
    }
    if (options_.mode == Mode::kRead)
      return Fail(Errc::kNotFound, "STORE_MISSING", dir_, "the store was never finished being made",
                  "run `etlctl backfill` again");
    state_.counts.emplace();
    return StartEpoch();
  }
  ETL_TRY(const auto document, ParseStored(key, *stored));
  RecordReader r(key, document.root());
  const auto format = r.Integer("format");
  for (const json::Value e : r.At("epochs").elements()) {
    RecordReader epoch(key, e);
    EpochStart start{epoch.Text("epoch"), epoch.Count("first")};
    ETL_TRY(start, epoch.Done(std::move(start)));
    epochs_.push_back(std::move(start));
  }
  if (epochs_.empty()) r.Bad("epochs");
  ETL_TRY([[maybe_unused]] const bool ok, r.Done(true));
  if (format > kFormatNumber)
    return Fail(Errc::kInvalid, "STORE_FORMAT", dir_,
                "the store has format " + std::to_string(format) + ", this program reads up to " +
                    std::to_string(kFormatNumber),
                "use the newer etld that made it");
  format_ = static_cast<int>(format);
  return {};
}

Status StoreImpl::PutEpochs(Kv::Batch& batch) const {
  std::string list = "[";
  for (const EpochStart& e : epochs_) {
    if (list.size() > 1) list += ',';
    json::ObjectWriter w(list);
    w.Text("epoch", e.epoch).Count("first", e.first).End();
  }
  std::string out;
  json::ObjectWriter w(out);
  w.Integer("format", format_).Raw("epochs", list + "]").End();
  batch.Put(keys::Meta("format"), out);
  batch.Put(keys::Meta("last"), EncodeCounters(state_));
  return {};
}

// A new store, or one that was restored: sequences go on, counted in an epoch nobody has seen.
Status StoreImpl::StartEpoch() {
  epochs_.push_back({NewEpoch(epochs_), state_.sequence + 1});
  state_.epoch = epochs_.back().epoch;
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  ETL_CHECK_OK(PutEpochs(*batch));
  return kv_->Write(batch, true);
}

Error StoreImpl::LostCommits(std::uint64_t have, std::uint64_t acknowledged) const {
  return {Errc::kCorrupt, "STORE_LOST_COMMITS", dir_,
          "changes " + std::to_string(have + 1) + " to " + std::to_string(acknowledged) +
              " were acknowledged and are gone: the write-ahead log is damaged",
          "restore a backup, or rebuild and backfill again"};
}

Status StoreImpl::CheckHead() {
  if (options_.in_memory) return {};
  ETL_TRY(const auto head, HeadFile::Newest(dir_));
  if (head && head->epoch == state_.epoch && head->sequence > state_.sequence)
    return Fail(LostCommits(state_.sequence, head->sequence));
  if (options_.mode != Mode::kWrite) return {};  // a reader goes on without; `verify` tells
  ETL_CHECK_OK(HeadIsSound());
  // A restored store carries the mark of its copy: its numbers may be given out again, so it must not look
  // the same.
  const std::string mark = keys::Meta("restored");
  ETL_TRY(const auto restored, kv_->Get(mark));
  if (restored) ETL_CHECK_OK(StartEpoch());
  ETL_TRY(head_, HeadFile::Open(dir_));
  if (restored) {
    const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
    batch->Delete(mark);
    ETL_CHECK_OK(kv_->Write(batch, true));
  }
  return {};
}

// The file is there from the first change on, except in a copy that was never opened for writing.
Status StoreImpl::HeadIsSound() const {
  if (options_.in_memory) return {};
  const std::string path = dir_ + "/HEAD";
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) {
    ETL_TRY(const auto restored, kv_->Get(keys::Meta("restored")));
    if (state_.sequence == 0 || restored) return {};
  }
  ETL_TRY(const auto head, HeadFile::Read(dir_));
  const auto known = [&](const EpochStart& epoch) { return head->epoch == epoch.epoch; };
  if (head && std::none_of(epochs_.begin(), epochs_.end(), known))
    return Fail(Errc::kCorrupt, "STORE_DAMAGED", path, "it is of an epoch that the store never had",
                "put the store's own file back; or go on without: `truncate -s 0 " + path + "`");
  return {};
}

Status StoreImpl::Close() {
  if (!kv_) return {};
  Status result;
  if (options_.mode == Mode::kWrite && !failed_) {
    result = Sync();
    if (result) result = kv_->Flush();
  }
  kv_.reset();
  head_.reset();
  lock_.reset();
  return result;
}

std::unique_ptr<CommitBuilder> StoreImpl::NewBuilder(const Ingest& ingest) {
  return std::make_unique<CommitBuilder>(*kv_, state_, ingest, clock_.Now());
}

Result<CommitResult> StoreImpl::Commit(const Ingest& ingest) {
  if (options_.mode != Mode::kWrite) return Fail(WrongMode().error());
  const std::lock_guard lock(writing_);
  const auto begun = std::chrono::steady_clock::now();
  const auto builder = NewBuilder(ingest);
  auto status = builder->Build();
  if (status) status = kv_->Write(builder->batch(), false);
  if (!status) {
    state_.DropCaches();
    failed_ = failed_ || status.error().errc == Errc::kUnavailable;
    return Fail(std::move(status).error());
  }
  builder->Apply();
  sequence_ = state_.sequence;
  const auto took = std::chrono::steady_clock::now() - begun;
  NoteCommit(static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
  return builder->result();
}

void StoreImpl::NoteCommit(std::uint64_t ns) {
  const auto& bounds = StoreHealth::kCommitBoundsS;
  const auto above = std::lower_bound(bounds.begin(), bounds.end(), static_cast<double>(ns) / 1e9);
  commits_[static_cast<std::size_t>(above - bounds.begin())].fetch_add(1, std::memory_order_relaxed);
  commit_ns_.fetch_add(ns, std::memory_order_relaxed);
}

StoreHealth StoreImpl::Health() const {
  StoreHealth health = kv_->Health();
  for (std::size_t i = 0; i < commits_.size(); ++i) health.commits[i] = commits_[i].load();
  health.commit_seconds = static_cast<double>(commit_ns_.load()) / 1e9;
  return health;
}

Result<CommitResult> StoreImpl::Preview(const Ingest& ingest) {
  const std::lock_guard lock(writing_);
  const auto builder = NewBuilder(ingest);
  const auto status = builder->Build();
  state_.DropCaches();  // they were edited as if the batch had been written
  if (!status) return Fail(status.error());
  return builder->result();
}

Status StoreImpl::Confirm(std::string_view source, std::string_view request, const Digest& snapshot,
                          Instant at) {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  const std::string key = keys::ByText(keys::kRequest, source, request);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored) return {};
  ETL_TRY(RequestState state, DecodeRequest(key, *stored));
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  if (state.snapshot != snapshot) {
    batch->Put(keys::Response(keys::kConfirmed, source, request, snapshot), std::to_string(at.ms));
    return kv_->Write(batch, false);
  }
  if (at <= state.confirmed_at) return {};
  state.confirmed_at = at;
  batch->Put(key, EncodeRequest(state));
  return kv_->Write(batch, false);
}

Status StoreImpl::Confirm(const Snapshot& again, bool not_modified, const std::vector<CursorDraft>& cursors) {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  for (const CursorDraft& cursor : cursors)
    ETL_CHECK_OK(etl::PutCursor(*kv_, *batch, again.source, cursor, again.captured_at));
  const std::string key = keys::ByText(keys::kRequest, again.source, again.request);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (stored) {
    ETL_TRY(RequestState state, DecodeRequest(key, *stored));
    if (state.snapshot == again.digest && again.captured_at > state.confirmed_at) {
      state.confirmed_at = again.captured_at;
      state.etag = again.etag;
      state.last_modified = again.last_modified;
      state.not_modified = not_modified ? state.not_modified + 1 : 0;
      batch->Put(key, EncodeRequest(state));
    } else if (state.snapshot != again.digest) {
      batch->Put(keys::Response(keys::kConfirmed, again.source, again.request, again.digest),
                 std::to_string(again.captured_at.ms));
    }
  }
  return kv_->Write(batch, false);
}

Status StoreImpl::PutCursor(std::string_view source, const CursorDraft& cursor, Instant at) {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  ETL_CHECK_OK(etl::PutCursor(*kv_, *batch, source, cursor, at));
  return kv_->Write(batch, false);
}

Status StoreImpl::Compact() {
  const std::lock_guard lock(writing_);
  return kv_->Compact();
}

Instant StoreImpl::last_time() const {
  const std::lock_guard lock(writing_);
  return state_.last_time;
}

Status StoreImpl::Sync() {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  if (options_.in_memory) return {};
  auto status = kv_->SyncLog();
  const Head head{state_.epoch, state_.sequence};
  if (status && head_ && head != head_written_) {
    status = head_->Write(head);
    head_written_ = head;
  }
  if (!status) failed_ = true;
  return status;
}

Result<std::vector<std::string>> StoreImpl::PendingContexts(std::string_view source) const {
  std::vector<std::string> out;
  const std::string prefix = keys::ByText(keys::kPendingContext, source, "");
  auto it = kv_->Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) out.emplace_back(it->key().substr(prefix.size()));
  ETL_CHECK_OK(it->status());
  return out;
}

Status StoreImpl::ContextDone(std::string_view source, std::string_view context) {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  batch->Delete(keys::ByText(keys::kPendingContext, source, context));
  return kv_->Write(batch, false);
}

Status StoreImpl::PutVisit(std::string_view source, const VisitState& visit) {
  if (options_.mode != Mode::kWrite) return WrongMode();
  const std::lock_guard lock(writing_);
  const std::shared_ptr<Kv::Batch> batch = kv_->NewBatch();
  batch->Put(keys::ByText(keys::kVisit, source, visit.goal), EncodeVisit(visit));
  return kv_->Write(batch, false);
}

Result<Store::BackupInfo> StoreImpl::CreateBackup(const std::string& backup_dir) {
  const std::lock_guard lock(writing_);
  ETL_TRY(const auto backup,
          kv_->CreateBackup(backup_dir, state_.epoch + ":" + std::to_string(state_.sequence)));
  return BackupInfo{backup.id, Instant{backup.at_s * 1000}, backup.bytes, state_.epoch, state_.sequence};
}

Result<std::vector<Store::BackupInfo>> Store::ListBackups(const std::string& backup_dir) {
  ETL_TRY(const auto backups, Kv::ListBackups(backup_dir));
  std::vector<BackupInfo> out;
  for (const auto& b : backups) {
    const auto colon = b.note.find(':');
    BackupInfo info{b.id, Instant{b.at_s * 1000}, b.bytes, b.note.substr(0, colon), 0};
    if (colon != std::string::npos) info.sequence = std::strtoull(b.note.c_str() + colon + 1, nullptr, 10);
    out.push_back(std::move(info));
  }
  return out;
}

Status Store::RestoreBackup(const std::string& backup_dir, std::uint32_t id, const std::string& dir,
                            Clock& clock) {
  std::error_code ec;
  if (std::filesystem::exists(dir, ec) && !std::filesystem::is_empty(dir, ec))
    return Fail(Errc::kConflict, "RESTORE_TARGET", dir, "the folder is not empty",
                "name a folder that does not exist; move the old store away first");
  std::filesystem::create_directories(dir, ec);
  // Under another name until it is marked: a restore that is cut short must not pass for the store it copies.
  const std::string unfinished = dir + "/db.unfinished";
  ETL_CHECK_OK(Kv::RestoreBackup(backup_dir, id, unfinished));
  {
    ETL_TRY(const auto kv, Kv::Open(unfinished, {}));
    const std::shared_ptr<Kv::Batch> batch = kv->NewBatch();
    batch->Put(keys::Meta("restored"), "{}");
    ETL_CHECK_OK(kv->Write(batch, true));
    ETL_CHECK_OK(kv->Flush());
  }
  std::filesystem::rename(unfinished, dir + "/db", ec);
  if (ec)
    return Fail(Errc::kUnavailable, "STORE_IO", dir, ec.message(), "check the path and its permissions");
  Options options;
  options.mode = Mode::kWrite;
  ETL_TRY(const auto store, Store::Open(dir, options, clock));  // starts the new epoch
  return store->Close();
}

}  // namespace etl
