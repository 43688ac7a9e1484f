#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace etl {

enum class BodyFault : std::uint8_t {
  kNone,
  kTooLarge,   // over wire_bytes_max or decoded_bytes_max
  kRatio,      // over ratio_max
  kCoding,     // not what the coding says, or bytes behind its end
  kTruncated,  // ends before its coding does, or with a wrong checksum or length
};

enum class ContentCoding : std::uint8_t { kIdentity, kGzip, kDeflate };

struct BodyLimits {
  std::uint64_t wire_bytes_max = 0;
  std::uint64_t decoded_bytes_max = 0;
  double ratio_max = 0;                // decoded to wire bytes
  std::uint64_t ratio_free_bytes = 0;  // decoded bytes up to which the ratio is not looked at
  std::uint64_t kept_bytes_max = 0;    // decoded bytes behind this are checked, counted and dropped
};

// Takes a body apart as it arrives. Memory: what is kept, at most twice decoded_bytes_max while it grows, and
// 64 KiB. Gzip (RFC 1952) may have several members; deflate is a zlib stream (RFC 1950), or what some servers
// send for it, a bare deflate stream (RFC 1951).
class BodyDecoder {
 public:
  BodyDecoder();
  ~BodyDecoder();
  BodyDecoder(const BodyDecoder&) = delete;
  BodyDecoder& operator=(const BodyDecoder&) = delete;

  // Begins a body, dropping everything of an earlier one. `expected_bytes`: how long it says it is, 0 if it
  // does not; a hint only.
  void Start(ContentCoding coding, const BodyLimits& limits, std::uint64_t expected_bytes);
  // The next bytes. Once it has answered a fault it answers the same to everything.
  BodyFault Feed(std::string_view bytes);
  // After the last byte.
  BodyFault Finish();

  std::string TakeBody() { return std::move(body_); }
  std::uint64_t wire_bytes() const { return wire_bytes_; }
  std::uint64_t decoded_bytes() const { return decoded_bytes_; }

 private:
  struct Inflater;
  BodyFault Decode(std::string_view bytes);
  BodyFault Keep(std::string_view bytes);
  BodyFault Begin(std::string_view& bytes);

  std::unique_ptr<Inflater> inflater_;  // made once it is needed, then reused
  ContentCoding coding_ = ContentCoding::kIdentity;
  BodyLimits limits_;
  BodyFault fault_ = BodyFault::kNone;
  bool begun_ = false;  // the inflater knows the form
  bool ended_ = false;  // at the end of a member
  std::string head_;    // a first byte that alone does not tell the form of deflate
  std::string body_;
  std::uint64_t wire_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
};

}  // namespace etl
