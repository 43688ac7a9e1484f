#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "model/error.h"
#include "model/instant.h"

namespace etl {

// The last commit that anyone was told is durable: a small file beside the database. A write-ahead log that a
// damaged byte cuts short opens as if the rest had never been; this file is what tells that commits are
// missing.
//
// Two slots of 64 bytes are written in turn, each with its own checksum, so that a torn write leaves the
// other.
struct Head {
  std::string epoch;
  std::uint64_t sequence = 0;
  friend bool operator==(const Head&, const Head&) = default;
};

class HeadFile {
 public:
  // Opens or makes DIR/HEAD. Errors: kUnavailable STORE_IO.
  static Result<std::unique_ptr<HeadFile>> Open(const std::string& dir);
  // The newest intact slot, whatever the other is; nothing where there is none, or no file. Errors:
  // kUnavailable STORE_IO.
  static Result<std::optional<Head>> Newest(const std::string& dir);
  // The same for those who rely on it. Errors, beside those: kCorrupt STORE_DAMAGED, `where` the file: it is
  // missing, a slot is damaged, or its size is none that was ever written. An empty file is sound: nothing
  // was acknowledged yet.
  static Result<std::optional<Head>> Read(const std::string& dir);
  ~HeadFile();
  HeadFile(const HeadFile&) = delete;
  HeadFile& operator=(const HeadFile&) = delete;

  // Durable once this returns. Errors: kUnavailable STORE_WRITE.
  Status Write(const Head& head);

 private:
  HeadFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
  unsigned slot_ = 0;
};

// DIR/LOCK: one writer, or any number of readers. Released by the kernel when the process ends, however it
// ends. The file names the writer, for people; a name that a killed writer left is not believed.
class StoreLock {
 public:
  // Makes the file where it is gone; a reader that may not make it goes on without a lock. Errors:
  // kUnavailable STORE_LOCKED, whose `what` says who holds it and since when; STORE_IO.
  static Result<std::unique_ptr<StoreLock>> Take(const std::string& dir, bool exclusive,
                                                 const std::string& holder, Instant now);
  // The name in the file while a writer holds it; else empty.
  static std::string Writer(const std::string& dir);
  ~StoreLock();
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

 private:
  explicit StoreLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace etl
