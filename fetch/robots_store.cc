#include "fetch/robots_store.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "fetch/robots.h"

namespace etl {
namespace {

// "etl-robots 1 <milliseconds, 20 digits> <rules|none > <bytes, 6 digits> <CRC-32, 8 hex>\n"; the checksum is
// of the line up to it and of the text.
constexpr std::size_t kHeadBytes = 13 + 20 + 1 + 5 + 1 + 6 + 1 + 8 + 1;

std::uint32_t Crc(std::uint32_t before, std::string_view bytes) {
  const auto* const data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32(before, data, static_cast<uInt>(bytes.size())));
}

std::string Head(const RobotsCopy& copy) {
  std::array<char, kHeadBytes + 1> text{};
  std::snprintf(text.data(), text.size(), "etl-robots 1 %020" PRId64 " %s %06zu ", copy.read.ms,
                copy.absent ? "none " : "rules", copy.text.size());
  std::string head = text.data();
  std::snprintf(text.data(), text.size(), "%08x\n", Crc(Crc(0, head), copy.text));
  return head + text.data();
}

std::optional<std::string> ReadUpTo(const std::string& path, std::size_t bytes_max) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return std::nullopt;
  std::string text(bytes_max, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < bytes_max && (got = read(fd, text.data() + size, bytes_max - size)) > 0)
    size += static_cast<std::size_t>(got);
  close(fd);
  if (got < 0) return std::nullopt;
  text.resize(size);
  return text;
}

}  // namespace

bool IsFresh(const RobotsCopy& copy, Instant now) {
  return copy.read <= now && now.ms - copy.read.ms < kRobotsAgeMsMax;
}

std::optional<RobotsCopy> LoadRobots(const std::string& path) {
  const auto file = ReadUpTo(path, kHeadBytes + RobotsRules::kBytesMax + 1);
  if (!file || file->size() < kHeadBytes || !file->starts_with("etl-robots 1 ")) return std::nullopt;
  RobotsCopy copy;
  std::from_chars(file->data() + 13, file->data() + 33, copy.read.ms);
  copy.absent = file->compare(34, 5, "none ") == 0;
  copy.text = file->substr(kHeadBytes);
  if (copy.text.size() > RobotsRules::kBytesMax) return std::nullopt;
  // Written again it must be the same: that checks every digit, the length and the checksum at once.
  if (file->compare(0, kHeadBytes, Head(copy)) != 0) return std::nullopt;
  return copy;
}

Status SaveRobots(const std::string& path, const RobotsCopy& copy) {
  const auto failed = [&](int error) {
    return Fail(Errc::kUnavailable, "FETCH_STATE", path,
                std::string("robots.txt cannot be kept: ") + std::strerror(error),
                "make the folder writable, or free space on its disk");
  };
  const std::string bytes = Head(copy) + copy.text;
  const std::string draft = path + "." + std::to_string(getpid()) + ".new";
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed(errno);
  errno = ENOSPC;  // what a short write means
  const bool written = write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  int error = written ? 0 : errno;
  close(fd);
  if (error == 0 && rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(draft.c_str());
  return failed(error);
}

}  // namespace etl
