#include "store/head.h"

#define XXH_INLINE_ALL
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

}  // namespace

Result<std::unique_ptr<HeadFile>> HeadFile::Open(const std::string& dir) {
  const std::string path = dir + "/HEAD";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Fail(IoError("STORE_IO", path, errno));
  std::unique_ptr<HeadFile> file(new HeadFile(fd, path));
  // The next write goes over the older slot, so that a torn one leaves the newest.
  std::array<char, 2 * kSlotBytes> bytes{};
  if (pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) {
    const auto first = ParseSlot({bytes.data(), kSlotBytes}),
               second = ParseSlot({bytes.data() + kSlotBytes, kSlotBytes});
    if (first && (!second || first->sequence > second->sequence)) file->slot_ = 1;
  }
  return file;
}

HeadFile::~HeadFile() {
  close(fd_);
}

Result<std::optional<Head>> HeadFile::Read(const std::string& dir) {
  const std::string path = dir + "/HEAD";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return std::optional<Head>();
    return Fail(IoError("STORE_IO", path, errno));
  }
  std::array<char, 2 * kSlotBytes> bytes{};
  const ssize_t n = pread(fd, bytes.data(), bytes.size(), 0);
  close(fd);
  if (n < 0) return Fail(IoError("STORE_IO", path, errno));
  if (n == 0) return std::optional<Head>();
  std::optional<Head> newest;
  for (std::size_t at = 0; at + kSlotBytes <= static_cast<std::size_t>(n); at += kSlotBytes) {
    const auto head = ParseSlot({bytes.data() + at, kSlotBytes});
    if (head && (!newest || head->sequence >= newest->sequence)) newest = head;
  }
  if (!newest)
    return Fail(Errc::kCorrupt, "STORE_DAMAGED", path, "neither of its two lines is intact",
                "run `etlctl verify`; if the store is otherwise sound, remove this file");
  return newest;
}

Status HeadFile::Write(const Head& head) {
  const std::string slot = SlotText(head);
  const auto at = static_cast<off_t>((slot_++ % 2) * kSlotBytes);
  if (pwrite(fd_, slot.data(), slot.size(), at) != static_cast<ssize_t>(slot.size()) || fdatasync(fd_) != 0)
    return Fail(IoError("STORE_WRITE", path_, errno));
  return {};
}

Result<std::unique_ptr<StoreLock>> StoreLock::Take(const std::string& dir, bool exclusive,
                                                   const std::string& holder, Instant now) {
  const std::string path = dir + "/LOCK";
  // A reader of a store it may not write still locks: the file is made by the writer that made the store.
  const int fd = exclusive ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)
                           : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Fail(IoError("STORE_IO", path, errno));
  if (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    const int error = errno;
    std::array<char, 256> text{};
    const ssize_t n = pread(fd, text.data(), text.size() - 1, 0);
    close(fd);
    if (error != EWOULDBLOCK) return Fail(IoError("STORE_IO", path, error));
    std::string who(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    if (const auto end = who.find('\n'); end != std::string::npos) who.resize(end);
    return Fail(Errc::kUnavailable, "STORE_LOCKED", dir,
                who.empty() ? "readers have the store open" : "held by " + who,
                "wait for it to finish, or stop it");
  }
  if (exclusive) {
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

StoreLock::~StoreLock() {
  // Only a writer wrote its name; with the lock still held, taking it away cannot hit another's. Fails
  // harmlessly for readers.
  if (ftruncate(fd_, 0) != 0) errno = 0;
  close(fd_);
}

}  // namespace etl
