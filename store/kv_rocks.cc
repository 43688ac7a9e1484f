#define XXH_INLINE_ALL  // no library to link, and small values are the common case
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>
#include <xxhash.h>

#include "store/kv.h"
#include "store/printable.h"

namespace etl {
namespace {

constexpr std::size_t kChecksumBytes = 4;
constexpr std::uint64_t kLogBytesMax = std::uint64_t{96} << 20;  // bounds what a crash leaves to replay

std::array<char, kChecksumBytes> ChecksumOf(std::string_view key, std::string_view value) {
  const XXH64_hash_t sum =
      XXH3_64bits_withSeed(value.data(), value.size(), XXH3_64bits(key.data(), key.size()));
  std::array<char, kChecksumBytes> out{};
  for (std::size_t i = 0; i < kChecksumBytes; ++i) out[i] = static_cast<char>((sum >> (8 * i)) & 0xff);
  return out;
}

// The value without its checksum, or nothing when the two disagree.
std::optional<std::string_view> Unseal(std::string_view key, std::string_view sealed) {
  if (sealed.size() < kChecksumBytes) return std::nullopt;
  const std::string_view value = sealed.substr(0, sealed.size() - kChecksumBytes);
  const auto expected = ChecksumOf(key, value);
  if (sealed.substr(value.size()) != std::string_view(expected.data(), expected.size())) return std::nullopt;
  return value;
}

Error ChecksumError(std::string_view key) {
  return {Errc::kCorrupt, "VALUE_CHECKSUM", "key " + PrintableKey(key),
          "the stored value does not match its checksum",
          "restore a backup, or rebuild from the stored snapshots"};
}

// Beside what RocksDB calls corruption: a file that another one names and that is not there, or holds
// something else.
bool IsDamage(const rocksdb::Status& s, bool writing) {
  return s.IsCorruption() ||
         (!writing && (s.IsPathNotFound() || s.IsNotFound() || s.IsInvalidArgument() || s.IsNotSupported()));
}

Error FromRocks(const rocksdb::Status& s, std::string_view where, bool writing) {
  const std::string text = s.ToString();
  if (IsDamage(s, writing))
    return {Errc::kCorrupt, "STORE_DAMAGED", std::string(where), text,
            "run `etlctl verify`; restore a backup, or rebuild from the stored snapshots"};
  if (writing)
    return {Errc::kUnavailable, "STORE_WRITE", std::string(where), text,
            s.IsNoSpace() || s.subcode() == rocksdb::Status::kNoSpace
                ? "make room on the disk and run the command again"
                : "check the disk and run the command again"};
  return {Errc::kUnavailable, "STORE_IO", std::string(where), text,
          "check the path, its permissions and the disk"};
}

rocksdb::Slice ToSlice(std::string_view v) {
  return {v.data(), v.size()};
}
std::string_view ToView(const rocksdb::Slice& s) {
  return {s.data(), s.size()};
}

class RocksBatch final : public Kv::Batch {
 public:
  void Put(std::string_view key, std::string_view value) override {
    const auto checksum = ChecksumOf(key, value);
    const rocksdb::Slice key_parts[] = {ToSlice(key)};
    const rocksdb::Slice value_parts[] = {ToSlice(value), {checksum.data(), checksum.size()}};
    // In-memory appends: the only failure is a batch over its size limit, and none is set.
    (void)batch.Put(rocksdb::SliceParts(key_parts, 1), rocksdb::SliceParts(value_parts, 2));
    // The value is the last thing in the batch's bytes.
    places_.push_back({std::string(key), batch.GetDataSize() - value.size() - kChecksumBytes, value.size()});
  }
  void Delete(std::string_view key) override {
    (void)batch.Delete(ToSlice(key));
    places_.push_back({std::string(key), 0, kDeleted});
  }
  void Clear() override {
    batch.Clear();
    places_.clear();
    index_.clear();
  }
  std::size_t bytes() const override { return batch.GetDataSize(); }
  std::optional<std::optional<std::string>> Find(std::string_view key) const override {
    if (index_.empty())
      for (const Place& place : places_) index_[place.key] = &place;  // the last word on a key counts
    const auto it = index_.find(key);
    if (it == index_.end()) return std::nullopt;
    if (it->second->bytes == kDeleted) return std::optional<std::string>();
    return std::optional<std::string>(batch.Data().substr(it->second->offset, it->second->bytes));
  }

  rocksdb::WriteBatch batch;

 private:
  static constexpr std::size_t kDeleted = SIZE_MAX;
  struct Place {
    std::string key;
    std::size_t offset = 0, bytes = 0;
  };
  std::deque<Place> places_;
  mutable std::unordered_map<std::string_view, const Place*> index_;
};

class RocksIterator final : public Kv::Iterator {
 public:
  RocksIterator(rocksdb::DB* db, rocksdb::ReadOptions options, std::string_view lower, std::string_view upper)
      : lower_(lower), upper_(upper), lower_slice_(lower_), upper_slice_(upper_) {
    options.iterate_lower_bound = &lower_slice_;
    if (!upper_.empty()) options.iterate_upper_bound = &upper_slice_;
    it_.reset(db->NewIterator(options));
    it_->Seek(lower_slice_);
  }
  bool Valid() const override { return it_->Valid(); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  void Seek(std::string_view key) override { it_->Seek(ToSlice(key)); }
  void SeekToLast() override { it_->SeekToLast(); }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override {
    const std::string_view sealed = ToView(it_->value());
    return sealed.substr(0, sealed.size() < kChecksumBytes ? 0 : sealed.size() - kChecksumBytes);
  }
  Status checked() const override {
    if (!Unseal(key(), ToView(it_->value()))) return Fail(ChecksumError(key()));
    return {};
  }
  Status status() const override {
    if (!it_->status().ok()) return Fail(FromRocks(it_->status(), "store", false));
    return {};
  }

 private:
  std::string lower_, upper_;
  rocksdb::Slice lower_slice_, upper_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;
};

// RocksDB's own log of what it does is not kept: nobody reads it, and on a full disk Debian's build, which
// keeps its assertions, aborts the process when a second line of it cannot be written.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*values*/) override {}
};

rocksdb::Options RocksOptions(const Kv::Options& o) {
  rocksdb::Options options;
  options.info_log = std::make_shared<NoLog>();
  options.create_if_missing = o.create;
  options.paranoid_checks = true;
  options.write_buffer_size = o.write_buffer_bytes;
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = kLogBytesMax;
  // Most look-ups of a backfill are for what is not there yet; a filter answers them without a walk through
  // the memtable.
  options.memtable_prefix_bloom_size_ratio = 0.05;
  options.memtable_whole_key_filtering = true;
  options.max_background_jobs = 2;
  options.max_open_files = 256;
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kZSTD;
  options.level_compaction_dynamic_level_bytes = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_size = 16 << 10;
  table.block_cache = rocksdb::NewLRUCache(o.cache_bytes);
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// The open database, shared by a Kv and its views; closed with the last of them.
class Database {
 public:
  Database(std::unique_ptr<rocksdb::Env> env, rocksdb::DB* db) : env_(std::move(env)), db_(db) {}
  ~Database() { (void)db_->Close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::DB* get() const { return db_.get(); }

 private:
  std::unique_ptr<rocksdb::Env> env_;  // outlives db_
  std::unique_ptr<rocksdb::DB> db_;
};

class RocksKv final : public Kv {
 public:
  RocksKv(std::shared_ptr<Database> db, std::string dir, bool read_only)
      : db_(std::move(db)), dir_(std::move(dir)), read_only_(read_only) {}
  ~RocksKv() override {
    if (snapshot_ != nullptr) (*db_)->ReleaseSnapshot(snapshot_);
    if (!read_only_ && !failed_) (void)Flush();
  }

  Result<std::unique_ptr<Kv>> View() const override {
    auto view = std::make_unique<RocksKv>(db_, dir_, true);
    view->snapshot_ = (*db_)->GetSnapshot();
    return std::unique_ptr<Kv>(std::move(view));
  }

  std::unique_ptr<Batch> NewBatch() const override { return std::make_unique<RocksBatch>(); }

  Status Write(std::shared_ptr<Batch> batch, bool sync) override {
    if (failed_ || snapshot_ != nullptr) return Fail(Stopped());
    rocksdb::WriteOptions options;
    options.sync = sync;
    const auto s = (*db_)->Write(options, &static_cast<RocksBatch&>(*batch).batch);
    if (s.ok()) return {};
    failed_ = true;
    return Fail(FromRocks(s, dir_, true));
  }
  Status SyncLog() override {
    if (failed_) return Fail(Stopped());
    if (const auto s = (*db_)->SyncWAL(); !s.ok()) {
      failed_ = true;
      return Fail(FromRocks(s, dir_, true));
    }
    return {};
  }
  Status Resume() override {
    if (const auto s = (*db_)->Resume(); !s.ok()) return Fail(FromRocks(s, dir_, true));
    failed_ = false;
    return {};
  }
  Status Flush() override {
    if (const auto s = (*db_)->Flush(rocksdb::FlushOptions()); !s.ok()) return Fail(FromRocks(s, dir_, true));
    return {};
  }
  Status Compact() override {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    if (const auto s = (*db_)->CompactRange(options, nullptr, nullptr); !s.ok())
      return Fail(FromRocks(s, dir_, true));
    return {};
  }

  Result<std::optional<std::string>> Get(std::string_view key) const override {
    rocksdb::PinnableSlice sealed;
    const auto s = (*db_)->Get(Reading(), (*db_)->DefaultColumnFamily(), ToSlice(key), &sealed);
    if (s.IsNotFound()) return std::optional<std::string>();
    if (!s.ok()) return Fail(FromRocks(s, "key " + PrintableKey(key), false));
    const auto value = Unseal(key, ToView(sealed));
    if (!value) return Fail(ChecksumError(key));
    return std::optional<std::string>(std::string(*value));
  }

  std::unique_ptr<Iterator> Scan(std::string_view lower, std::string_view upper) const override {
    return std::make_unique<RocksIterator>(db_->get(), Reading(), lower, upper);
  }

  Status VerifyFiles() const override {
    if (const auto s = (*db_)->VerifyChecksum(); !s.ok()) return Fail(FromRocks(s, dir_, false));
    return {};
  }

  Status Checkpoint(const std::string& dir) const override {
    rocksdb::Checkpoint* raw = nullptr;
    if (const auto s = rocksdb::Checkpoint::Create(db_->get(), &raw); !s.ok())
      return Fail(FromRocks(s, dir, true));
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    if (const auto s = checkpoint->CreateCheckpoint(dir); !s.ok()) return Fail(FromRocks(s, dir, true));
    return {};
  }

  Result<Backup> CreateBackup(const std::string& backup_dir, const std::string& note) override;

  Usage DiskUsage() const override {
    Usage usage;
    std::uint64_t n = 0;
    if ((*db_)->GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &n)) usage.table_bytes = n;
    if ((*db_)->GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &n)) usage.estimated_keys = n;
    rocksdb::VectorLogPtr logs;
    if ((*db_)->GetSortedWalFiles(logs).ok())
      for (const auto& log : logs) usage.log_bytes += log->SizeFileBytes();
    return usage;
  }

  StoreHealth Health() const override {
    using P = rocksdb::DB::Properties;
    const auto number = [&](const std::string& property) {
      std::uint64_t n = 0;
      return (*db_)->GetIntProperty(property, &n) ? n : 0;
    };
    const Usage usage = DiskUsage();
    StoreHealth health;
    health.table_bytes = usage.table_bytes;
    health.log_bytes = usage.log_bytes;
    health.estimated_keys = usage.estimated_keys;
    health.writes_stopped = number(P::kIsWriteStopped) != 0;
    health.compaction_pending_bytes = number(P::kEstimatePendingCompactionBytes);
    health.compactions_running = number(P::kNumRunningCompactions);
    health.flushes_running = number(P::kNumRunningFlushes);
    health.background_errors = number(P::kBackgroundErrors);
    health.memtable_bytes = number(P::kCurSizeAllMemTables);
    health.cache_bytes = number(P::kBlockCacheUsage);
    std::map<std::string, std::string> stats;
    if ((*db_)->GetMapProperty(P::kCFStats, &stats)) {
      const auto counted = [&](const char* name) {
        const auto found = stats.find(name);
        return found == stats.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
      };
      health.slowdowns = counted("io_stalls.total_slowdown");
      health.stops = counted("io_stalls.total_stop");
    }
    return health;
  }

 private:
  Error Stopped() const {
    return {Errc::kUnavailable, "STORE_WRITE", dir_, "an earlier write failed, so nothing more is written",
            "see the first error, then open the store again"};
  }

  rocksdb::ReadOptions Reading() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }

  std::shared_ptr<Database> db_;
  const rocksdb::Snapshot* snapshot_ = nullptr;  // of a view
  std::string dir_;
  bool read_only_;
  std::atomic<bool> failed_{false};
};

Result<std::unique_ptr<rocksdb::BackupEngine>> OpenBackups(const std::string& dir) {
  rocksdb::BackupEngine* raw = nullptr;
  rocksdb::BackupEngineOptions options(dir);
  options.share_table_files = true;
  options.share_files_with_checksum = true;
  options.sync = true;
  if (const auto s = rocksdb::BackupEngine::Open(rocksdb::Env::Default(), options, &raw); !s.ok())
    return Fail(FromRocks(s, dir, true));
  return std::unique_ptr<rocksdb::BackupEngine>(raw);
}

std::vector<Kv::Backup> BackupsIn(rocksdb::BackupEngine& engine) {
  std::vector<rocksdb::BackupInfo> infos;
  engine.GetBackupInfo(&infos);
  std::vector<Kv::Backup> out;
  for (const auto& info : infos)
    out.push_back({info.backup_id, info.timestamp, info.size, info.number_files, info.app_metadata});
  return out;
}

Result<Kv::Backup> RocksKv::CreateBackup(const std::string& backup_dir, const std::string& note) {
  ETL_TRY(auto engine, OpenBackups(backup_dir));
  rocksdb::CreateBackupOptions options;
  options.flush_before_backup = !read_only_;
  if (const auto s = engine->CreateNewBackupWithMetadata(options, db_->get(), note); !s.ok())
    return Fail(FromRocks(s, backup_dir, true));
  return BackupsIn(*engine).back();
}

// Whether a database that was once finished being made lies here: a table, or a log with something in it.
bool HasData(const std::string& dir) {
  std::error_code ec;
  for (const auto& file : std::filesystem::directory_iterator(dir, ec)) {
    const auto extension = file.path().extension();
    if (extension == ".sst" || (extension == ".log" && file.file_size(ec) > 0)) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Kv>> Kv::Open(const std::string& dir, const Options& o) {
  std::error_code ec;
  if (!o.in_memory && !std::filesystem::exists(dir + "/CURRENT", ec) && HasData(dir))
    return Fail(Errc::kCorrupt, "STORE_DAMAGED", dir + "/CURRENT",
                "the file that names the database's state is missing", "restore a backup");
  if (!o.in_memory && !o.create && !std::filesystem::exists(dir + "/CURRENT", ec))
    return Fail(Errc::kNotFound, "STORE_MISSING", dir, "there is no store here",
                "name one with --store, or make one with `etlctl backfill`");
  rocksdb::Options options = RocksOptions(o);
  std::unique_ptr<rocksdb::Env> env;
  if (o.in_memory) {
    env.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    options.env = env.get();
    options.create_if_missing = true;
  } else if (o.create) {
    std::filesystem::create_directories(dir, ec);
  }
  rocksdb::DB* db = nullptr;
  const auto s =
      o.read_only ? rocksdb::DB::OpenForReadOnly(options, dir, &db) : rocksdb::DB::Open(options, dir, &db);
  // RocksDB's own lock: whoever has it took ours too, unless its file was removed since.
  if (s.IsIOError() && s.ToString().find("lock ") != std::string::npos)
    return Fail(Errc::kUnavailable, "STORE_LOCKED", dir, "another process has the database open",
                "wait for it to finish, or stop it");
  if (!s.ok()) return Fail(FromRocks(s, dir, false));
  return std::unique_ptr<Kv>(
      std::make_unique<RocksKv>(std::make_shared<Database>(std::move(env), db), dir, o.read_only));
}

Result<std::vector<Kv::Backup>> Kv::ListBackups(const std::string& backup_dir) {
  std::error_code ec;
  if (!std::filesystem::is_directory(backup_dir, ec))
    return Fail(Errc::kNotFound, "BACKUP_MISSING", backup_dir, "there are no backups here",
                "make one with `etlctl backup create`");
  ETL_TRY(auto engine, OpenBackups(backup_dir));
  return BackupsIn(*engine);
}

Status Kv::RestoreBackup(const std::string& backup_dir, std::uint32_t id, const std::string& dir) {
  ETL_TRY(const auto backups, ListBackups(backup_dir));
  bool found = false;
  for (const auto& backup : backups) found = found || id == 0 || backup.id == id;
  if (!found)
    return Fail(Errc::kNotFound, "BACKUP_MISSING", backup_dir, "there is no such backup",
                "see `etlctl backup list`");
  ETL_TRY(auto engine, OpenBackups(backup_dir));
  const rocksdb::RestoreOptions options;
  const auto chosen = id == 0 ? backups.back().id : id;
  if (const auto s = engine->VerifyBackup(chosen, true); !s.ok())
    return Fail(FromRocks(s, backup_dir, false));
  if (const auto s = engine->RestoreDBFromBackup(options, chosen, dir, dir); !s.ok())
    return Fail(FromRocks(s, dir, true));
  return {};
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace etl
