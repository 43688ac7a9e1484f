#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "store/health.h"

namespace etl {

// The one door to RocksDB: a sorted map of byte strings on disk, with atomic batches.
//
// Every value carries a checksum (XXH3, 32 bits) of its key and bytes, written and checked here, so that a
// wrong bit is found on the read that meets it and named by its key, whatever the layers below noticed.
class Kv {
 public:
  struct Options {
    bool read_only = false;
    bool create = false;     // make an empty store where there is none
    bool in_memory = false;  // no disk at all (tests)
    std::size_t write_buffer_bytes = std::size_t{48} << 20;
    std::size_t cache_bytes = std::size_t{24} << 20;
  };

  // Errors: kNotFound STORE_MISSING (nothing there and not to be created), kCorrupt STORE_DAMAGED (checksums,
  // missing or torn files; `what` names the file), kUnavailable STORE_IO (permissions, disk, lock).
  static Result<std::unique_ptr<Kv>> Open(const std::string& dir, const Options& options);
  virtual ~Kv() = default;

  // Puts and deletes that take effect together or not at all. Reusable after Clear.
  class Batch {
   public:
    virtual ~Batch() = default;
    virtual void Put(std::string_view key, std::string_view value) = 0;
    virtual void Delete(std::string_view key) = 0;
    virtual void Clear() = 0;
    virtual std::size_t bytes() const = 0;
    // What the batch says of a key: its value, an inner nothing for a delete, or nothing at all. Pays for an
    // index of its keys with the first call.
    virtual std::optional<std::optional<std::string>> Find(std::string_view key) const = 0;
  };
  virtual std::unique_ptr<Batch> NewBatch() const = 0;

  // Applies a batch. With `sync`, it survives a power cut once this returns; without, it survives the death
  // of the process, and a power cut loses at most a tail of whole batches. Errors: kUnavailable STORE_WRITE
  // (full disk, I/O): nothing of the batch is visible, and this Kv refuses further writes until Resume, or
  // until it is opened again.
  virtual Status Write(std::shared_ptr<Batch> batch, bool sync) = 0;
  // Makes all batches written so far survive a power cut.
  virtual Status SyncLog() = 0;
  // After a failed write, when its cause may be gone: writes are taken again, and what failed is dropped.
  // Errors: kUnavailable STORE_WRITE: not yet.
  virtual Status Resume() = 0;
  // Moves everything from the log into tables.
  virtual Status Flush() = 0;
  // Rewrites all tables down to the bottom level. Minutes on a large store.
  virtual Status Compact() = 0;

  // The value, or nothing. Errors: kCorrupt VALUE_CHECKSUM (`where` names the key), STORE_DAMAGED.
  virtual Result<std::optional<std::string>> Get(std::string_view key) const = 0;

  // Walks keys in [lower, upper) in byte order, over one consistent state. After Valid() is false, status()
  // tells an end from a failure. A value whose checksum is wrong makes checked() fail for that key alone.
  class Iterator {
   public:
    virtual ~Iterator() = default;
    virtual bool Valid() const = 0;
    virtual void Next() = 0;
    virtual void Seek(std::string_view key) = 0;
    virtual void SeekToLast() = 0;
    virtual void Prev() = 0;
    virtual std::string_view key() const = 0;
    virtual std::string_view value() const = 0;  // without its checksum
    virtual Status checked() const = 0;
    virtual Status status() const = 0;
  };
  // Starts at the first key >= lower.
  virtual std::unique_ptr<Iterator> Scan(std::string_view lower, std::string_view upper) const = 0;

  // The state of this moment, for reading: later writes do not show in it. Cheap to make; while it lives,
  // what it can see is not cleaned away. May outlive this Kv, and then keeps the database open.
  virtual Result<std::unique_ptr<Kv>> View() const = 0;
  // Reads every block of every file and checks its checksums; names the first damaged file.
  virtual Status VerifyFiles() const = 0;
  // A copy that can be opened by itself, by hard links where the file system allows. `dir` must not exist.
  virtual Status Checkpoint(const std::string& dir) const = 0;

  struct Backup {
    std::uint32_t id = 0;
    std::int64_t at_s = 0;  // seconds since 1970
    std::uint64_t bytes = 0;
    std::uint32_t files = 0;
    std::string note;
  };
  virtual Result<Backup> CreateBackup(const std::string& backup_dir, const std::string& note) = 0;
  static Result<std::vector<Backup>> ListBackups(const std::string& backup_dir);
  // Into `dir`, which must be empty or absent. `id` 0: the newest. Checks the checksums of what it restores.
  static Status RestoreBackup(const std::string& backup_dir, std::uint32_t id, const std::string& dir);

  struct Usage {
    std::uint64_t table_bytes = 0, log_bytes = 0, estimated_keys = 0;
  };
  virtual Usage DiskUsage() const = 0;
  // All but what the database does not know of: commits.
  virtual StoreHealth Health() const = 0;
};

// Writes batches on a thread of its own, one behind the caller, who sees them at once: Get looks into the
// batch that is on its way, everything else waits for it. What Write returns is the fate of the batches
// before; SyncLog and Flush return that of all. After a failure nothing more is written. Write from one
// thread; read from any.
std::unique_ptr<Kv> MakeWriteBehind(std::unique_ptr<Kv> kv);

// The smallest string above every string that starts with `prefix` (prefix not all 0xff).
std::string PrefixEnd(std::string_view prefix);

}  // namespace etl
