#include "store/head.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace etl {
namespace {

constexpr std::size_t kSlotBytes = 64;

Error IoError(std::string code, const std::string& path, int error) {
  return {Errc::kUnavailable, std::move(code), path,
          std::error_code(error, std::generic_category()).message(),
          "check the path, its permissions and the disk"};
}

std::uint32_t ChecksumOf(std::string_view bytes) {
  return XXH32(bytes.data(), bytes.size(), 0);
}

// "<epoch> <sequence> <checksum, 8 hex>\n", padded with spaces before the newline.
std::string SlotText(const Head& head) {
  std::string body = head.epoch + " " + std::to_string(head.sequence) + " ";
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", ChecksumOf(body));
  body += hex.data();
  body.resize(kSlotBytes - 1, ' ');
  return body + "\n";
}

std::optional<Head> ParseSlot(std::string_view slot) {
  const auto first = slot.find(' ');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  const auto second = slot.find(' ', first + 1);
  if (second == std::string_view::npos || second + 9 > slot.size()) return std::nullopt;
  Head head;
  head.epoch = slot.substr(0, first);
  for (const char c : slot.substr(first + 1, second - first - 1)) {
    if (c < '0' || c > '9' || head.sequence > UINT64_MAX / 10 - 1) return std::nullopt;
    head.sequence = head.sequence * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (SlotText(head) != slot) return std::nullopt;
  return head;
}

// The two slots as they lie on disk; nothing where there is no file.
Result<std::optional<std::string>> ReadSlots(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return Fail(IoError("STORE_IO", path, errno));
  }
  std::string bytes(2 * kSlotBytes + 1, '\0');  // one more, to see what does not belong there
  const ssize_t n = pread(fd, bytes.data(), bytes.size(), 0);
  const int error = errno;
  close(fd);
  if (n < 0) return Fail(IoError("STORE_IO", path, error));
  bytes.resize(static_cast<std::size_t>(n));
  return std::optional<std::string>(std::move(bytes));
}

std::optional<Head> SlotAt(const std::string& bytes, std::size_t slot) {
  if (bytes.size() < (slot + 1) * kSlotBytes) return std::nullopt;
  return ParseSlot(std::string_view(bytes).substr(slot * kSlotBytes, kSlotBytes));
}

std::optional<Head> NewestOf(const std::string& bytes) {
  const auto first = SlotAt(bytes, 0), second = SlotAt(bytes, 1);
  if (!first || (second && second->sequence >= first->sequence)) return second;
  return first;
}

Error HeadDamage(const std::string& path, std::string what) {
  return {Errc::kCorrupt, "STORE_DAMAGED", path,
          std::move(what) + ", so it cannot be told whether acknowledged changes are missing",
          "run `etlctl verify`; if this is all it finds, go on without: `truncate -s 0 " + path + "`"};
}

}  // namespace

Result<std::unique_ptr<HeadFile>> HeadFile::Open(const std::string& dir) {
  const std::string path = dir + "/HEAD";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Fail(IoError("STORE_IO", path, errno));
  std::unique_ptr<HeadFile> file(new HeadFile(fd, path));
  // The next write goes over the older slot, so that a torn one leaves the newest.
  ETL_TRY(const auto bytes, ReadSlots(path));
  const auto first = SlotAt(bytes.value_or(""), 0), second = SlotAt(bytes.value_or(""), 1);
  if (first && (!second || first->sequence > second->sequence)) file->slot_ = 1;
  return file;
}

HeadFile::~HeadFile() {
  close(fd_);
}

Result<std::optional<Head>> HeadFile::Newest(const std::string& dir) {
  ETL_TRY(const auto bytes, ReadSlots(dir + "/HEAD"));
  return bytes ? NewestOf(*bytes) : std::nullopt;
}

Result<std::optional<Head>> HeadFile::Read(const std::string& dir) {
  const std::string path = dir + "/HEAD";
  ETL_TRY(const auto bytes, ReadSlots(path));
  if (!bytes) return Fail(HeadDamage(path, "the file is missing"));
  if (bytes->size() % kSlotBytes != 0 || bytes->size() > 2 * kSlotBytes)
    return Fail(HeadDamage(path, "its size is " + std::to_string(bytes->size()) + " bytes"));
  for (std::size_t slot = 0; slot < bytes->size() / kSlotBytes; ++slot)
    if (!SlotAt(*bytes, slot))
      return Fail(HeadDamage(path, "its line " + std::to_string(slot + 1) + " is damaged"));
  return NewestOf(*bytes);
}

Status HeadFile::Write(const Head& head) {
  const std::string slot = SlotText(head);
  const auto at = static_cast<off_t>((slot_++ % 2) * kSlotBytes);
  if (pwrite(fd_, slot.data(), slot.size(), at) != static_cast<ssize_t>(slot.size()) || fdatasync(fd_) != 0)
    return Fail(IoError("STORE_WRITE", path_, errno));
  return {};
}

namespace {

constexpr int kNoFile = -1;

// The lock's file. A reader makes it only where it is gone; where it may not (a folder that is not its own, a
// read-only disk), it reads without.
Result<int> OpenLock(const std::string& path, bool exclusive) {
  constexpr int kMake = O_RDWR | O_CREAT | O_CLOEXEC;
  int fd = exclusive ? open(path.c_str(), kMake, 0644) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && !exclusive && errno == ENOENT) {
    fd = open(path.c_str(), kMake, 0644);
    if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS)) return kNoFile;
  }
  if (fd < 0) return Fail(IoError("STORE_IO", path, errno));
  return fd;
}

struct flock WholeFile(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

std::string WriterText(int fd) {
  std::array<char, 512> text{};
  const ssize_t n = pread(fd, text.data(), text.size() - 1, 0);
  std::string who(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  who.resize(std::min(who.size(), who.find('\n')));
  return who.empty() ? "a writer that has not said its name yet" : who;
}

// Who keeps us out. Where a shared lock can be had, readers do, and the text is that of a writer that died.
Error LockedBy(int fd, const std::string& dir) {
  std::string who;
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) who = WriterText(fd);
  return {Errc::kUnavailable, "STORE_LOCKED", dir,
          who.empty() ? "readers have the store open" : "held by " + who,
          "wait for it to finish, or stop it"};
}

}  // namespace

Result<std::unique_ptr<StoreLock>> StoreLock::Take(const std::string& dir, bool exclusive,
                                                   const std::string& holder, Instant now) {
  const std::string path = dir + "/LOCK";
  ETL_TRY(const int fd, OpenLock(path, exclusive));
  if (fd == kNoFile) return std::unique_ptr<StoreLock>(new StoreLock(fd));
  if (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    Error error = errno == EWOULDBLOCK ? LockedBy(fd, dir) : IoError("STORE_IO", path, errno);
    close(fd);
    return Fail(std::move(error));
  }
  if (exclusive) {
    // For Writer, which must not take the lock away from anyone by asking.
    struct flock mark = WholeFile(F_WRLCK);
    (void)fcntl(fd, F_OFD_SETLK, &mark);
    const std::string text =
        holder + ", process " + std::to_string(getpid()) + ", since " + now.Text() + "\n";
    if (ftruncate(fd, 0) != 0 ||
        pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      const int error = errno;
      close(fd);
      return Fail(IoError("STORE_WRITE", path, error));
    }
  }
  return std::unique_ptr<StoreLock>(new StoreLock(fd));
}

std::string StoreLock::Writer(const std::string& dir) {
  const int fd = open((dir + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct flock mark = WholeFile(F_RDLCK);
  const bool held = fcntl(fd, F_OFD_GETLK, &mark) == 0 && mark.l_type != F_UNLCK;
  std::string who = held ? WriterText(fd) : std::string();
  close(fd);
  return who;
}

StoreLock::~StoreLock() {
  if (fd_ < 0) return;
  // Only a writer wrote its name; with the lock still held, taking it away cannot hit another's. Fails
  // harmlessly for readers.
  if (ftruncate(fd_, 0) != 0) errno = 0;
  close(fd_);
}

}  // namespace etl
