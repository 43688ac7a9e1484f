#pragma once

#include <cstdint>
#include <string>

#include "model/error.h"
#include "model/instant.h"

namespace etl {

// How fast requests may follow each other: `rate_per_second` on average, `burst` at once after a pause.
struct BucketRate {
  double rate_per_second = 1;  // over 0
  int burst = 1;               // at least 1
};

// What a bucket holds, and when that was true.
struct BucketState {
  std::int64_t micro_tokens = 0;  // millionths of a request, 0 to burst
  Instant at;
  friend bool operator==(const BucketState&, const BucketState&) = default;
};

// Fills the bucket up to `now`. Time that ran backwards fills nothing and is taken as the new time; time that
// ran forward fills to the burst, however far.
BucketState Refill(BucketState state, const BucketRate& rate, Instant now);

// Takes one request out of the bucket: 0, or the milliseconds until it will hold one, never more than one
// request's spacing.
std::int64_t TakeToken(BucketState& state, const BucketRate& rate, Instant now);

// A token bucket in a file, shared by every process and thread that opens the same path: a take reads, counts
// and writes under a file lock, so that a request which is sent has been written down before, and a process
// that dies and comes back goes on with the level it left. Nothing is synced: a power cut may give back what
// was taken in the last seconds, and no more than a burst.
//
// The file is one line of text with a checksum. A missing file is a full bucket, a damaged one an empty
// bucket. Without a path the state is in memory only.
class TokenBucket {
 public:
  // Error: kUnavailable FETCH_STATE when the file cannot be opened or made.
  static Result<TokenBucket> Open(const std::string& path, const BucketRate& rate);

  TokenBucket(TokenBucket&& other) noexcept;
  TokenBucket& operator=(TokenBucket&& other) noexcept;
  ~TokenBucket();

  // 0 when a request may be sent now, which is then counted; else how many milliseconds to wait before asking
  // again. `waited_ms`: how long the caller has waited since it was last told to, for a clock that stood
  // still or went back meanwhile; `asked`: what the clock said then. Error: kUnavailable FETCH_STATE when the
  // file cannot be read or written; nothing was counted.
  Result<std::int64_t> Take(Instant now, std::int64_t waited_ms = 0, Instant asked = {});
  // What it holds now, without counting anything; a file that cannot be read counts as empty.
  BucketState Peek(Instant now) const;

 private:
  TokenBucket(std::string path, int fd, const BucketRate& rate);
  Result<BucketState> Load(Instant now) const;
  Status Save(const BucketState& state) const;

  std::string path_;  // empty: in memory
  int fd_ = -1;
  BucketRate rate_;
  BucketState state_;
  bool fresh_ = true;  // nothing taken yet: full
};

}  // namespace etl
