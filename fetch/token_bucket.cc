#include "fetch/token_bucket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

namespace etl {
namespace {

constexpr std::int64_t kMicro = 1'000'000;
constexpr std::string_view kMagic = "etl-bucket 1 ";
// "etl-bucket 1 <micro tokens, 20 digits> <milliseconds, 20 digits> <CRC-32 of what is before, 8 hex>\n"
constexpr std::size_t kLineBytes = 13 + 20 + 1 + 20 + 1 + 8 + 1;

std::int64_t Full(const BucketRate& rate) {
  return rate.burst * kMicro;
}

std::uint32_t Checksum(std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

std::string Line(const BucketState& state) {
  std::array<char, kLineBytes + 1> text{};
  const int size = std::snprintf(text.data(), text.size(), "etl-bucket 1 %020" PRId64 " %020" PRId64 " ",
                                 state.micro_tokens, state.at.ms);
  std::string line(text.data(), static_cast<std::size_t>(size));
  std::snprintf(text.data(), text.size(), "%08x\n", Checksum(line));
  return line + text.data();
}

std::optional<BucketState> ReadLine(std::string_view line) {
  if (line.size() != kLineBytes || !line.starts_with(kMagic)) return std::nullopt;
  BucketState state;
  const char* const tokens = line.data() + kMagic.size();
  const char* const moment = tokens + 21;
  std::from_chars(tokens, tokens + 20, state.micro_tokens);
  std::from_chars(moment, moment + 20, state.at.ms);
  // Written again it must be the same: that checks every digit and the checksum at once.
  return Line(state) == line ? std::optional(state) : std::nullopt;
}

tl::unexpected<Error> BadFile(const std::string& path, const char* what, int error) {
  return Fail(Errc::kUnavailable, "FETCH_STATE", path,
              std::string("the token bucket cannot be ") + what + ": " + std::strerror(error),
              "make the folder writable, or free space on its disk");
}

// Holds the file lock while it lives.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    int rc = 0;
    do rc = flock(fd_, LOCK_EX);
    while (rc != 0 && errno == EINTR);
    error_ = rc == 0 ? 0 : errno;
  }
  ~FileLock() {
    if (error_ == 0) flock(fd_, LOCK_UN);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  int error() const { return error_; }

 private:
  int fd_;
  int error_ = 0;
};

}  // namespace

BucketState Refill(BucketState state, const BucketRate& rate, Instant now) {
  const std::int64_t full = Full(rate);
  state.micro_tokens = std::clamp<std::int64_t>(state.micro_tokens, 0, full);
  if (now > state.at) {
    // In floating point, because the product of a year and a high rate does not fit an integer.
    const double elapsed_ms = static_cast<double>(now.ms) - static_cast<double>(state.at.ms);
    const double gained = std::min(elapsed_ms * rate.rate_per_second * 1000, static_cast<double>(full));
    state.micro_tokens = std::min(state.micro_tokens + static_cast<std::int64_t>(gained), full);
  }
  state.at = now;
  return state;
}

std::int64_t TakeToken(BucketState& state, const BucketRate& rate, Instant now) {
  state = Refill(state, rate, now);
  if (state.micro_tokens >= kMicro) {
    state.micro_tokens -= kMicro;
    return 0;
  }
  const double missing = static_cast<double>(kMicro - state.micro_tokens);
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(missing / (rate.rate_per_second * 1000))));
}

TokenBucket::TokenBucket(std::string path, int fd, const BucketRate& rate)
    : path_(std::move(path)), fd_(fd), rate_(rate) {}

TokenBucket::TokenBucket(TokenBucket&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      rate_(other.rate_),
      state_(other.state_),
      fresh_(other.fresh_) {}

TokenBucket& TokenBucket::operator=(TokenBucket&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  rate_ = other.rate_;
  state_ = other.state_;
  fresh_ = other.fresh_;
  return *this;
}

TokenBucket::~TokenBucket() {
  if (fd_ >= 0) close(fd_);
}

Result<TokenBucket> TokenBucket::Open(const std::string& path, const BucketRate& rate) {
  if (path.empty()) return TokenBucket(path, -1, rate);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return BadFile(path, "opened", errno);
  return TokenBucket(path, fd, rate);
}

Result<BucketState> TokenBucket::Load(Instant now) const {
  if (fd_ < 0) return fresh_ ? BucketState{Full(rate_), now} : state_;
  std::array<char, kLineBytes> bytes{};  // what a longer, damaged file has behind is not looked at
  const ssize_t size = pread(fd_, bytes.data(), bytes.size(), 0);
  if (size < 0) return BadFile(path_, "read", errno);
  if (size == 0) return BucketState{Full(rate_), now};  // just made
  const auto state = ReadLine(std::string_view(bytes.data(), static_cast<std::size_t>(size)));
  return state ? *state : BucketState{0, now};
}

Status TokenBucket::Save(const BucketState& state) const {
  if (fd_ < 0) return {};
  const std::string line = Line(state);
  errno = ENOSPC;  // what a short write means
  if (pwrite(fd_, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    return BadFile(path_, "written", errno);
  return {};
}

Result<std::int64_t> TokenBucket::Take(Instant now, std::int64_t waited_ms, Instant asked) {
  std::optional<FileLock> lock;
  if (fd_ >= 0) {
    lock.emplace(fd_);
    if (lock->error() != 0) return BadFile(path_, "locked", lock->error());
  }
  ETL_TRY(BucketState state, Load(now));
  // A clock that did not go on while the caller waited: believe the wait.
  if (waited_ms > 0 && (now.ms - asked.ms) * 2 < waited_ms) state.at = Instant{now.ms - waited_ms};
  const std::int64_t wait_ms = TakeToken(state, rate_, now);
  ETL_CHECK_OK(Save(state));
  state_ = state;
  fresh_ = false;
  return wait_ms;
}

BucketState TokenBucket::Peek(Instant now) const {
  BucketState state = state_;
  if (fresh_) {
    const auto stored = Load(now);
    state = stored ? *stored : BucketState{0, now};
  }
  return Refill(state, rate_, now);
}

}  // namespace etl
