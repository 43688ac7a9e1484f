#include "fetch/body_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include <zlib.h>

namespace etl {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
constexpr int kGzipBits = 15 + 16;
constexpr int kZlibBits = 15;
constexpr int kBareBits = -15;

bool IsZlibHeader(unsigned first, unsigned second) {
  return (first & 0x0F) == 8 && first >> 4 <= 7 && (first * 256 + second) % 31 == 0;
}

}  // namespace

struct BodyDecoder::Inflater {
  Inflater() {
    if (inflateInit2(&stream, kGzipBits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  std::array<char, kChunkBytes> out{};
};

BodyDecoder::BodyDecoder() = default;
BodyDecoder::~BodyDecoder() = default;

void BodyDecoder::Start(ContentCoding coding, const BodyLimits& limits, std::uint64_t expected_bytes) {
  coding_ = coding;
  limits_ = limits;
  fault_ = BodyFault::kNone;
  begun_ = ended_ = false;
  head_.clear();
  body_ = {};
  wire_bytes_ = decoded_bytes_ = 0;
  const std::uint64_t kept_max = std::min(limits_.decoded_bytes_max, limits_.kept_bytes_max);
  // A server's word is believed for as much memory as one chunk of zlib's window costs a few times over.
  body_.reserve(static_cast<std::size_t>(std::min({expected_bytes, kept_max, std::uint64_t{1} << 20})));
}

BodyFault BodyDecoder::Keep(std::string_view bytes) {
  decoded_bytes_ += bytes.size();
  if (decoded_bytes_ > limits_.decoded_bytes_max) return BodyFault::kTooLarge;
  if (coding_ != ContentCoding::kIdentity && decoded_bytes_ > limits_.ratio_free_bytes &&
      static_cast<double>(decoded_bytes_) > limits_.ratio_max * static_cast<double>(wire_bytes_)) {
    return BodyFault::kRatio;
  }
  const std::uint64_t kept_max = std::min(limits_.decoded_bytes_max, limits_.kept_bytes_max);
  bytes = bytes.substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), kept_max - body_.size())));
  if (body_.size() + bytes.size() > body_.capacity()) {
    const auto grown =
        std::min<std::uint64_t>(std::max(body_.capacity() * 2, body_.size() + bytes.size()), kept_max);
    body_.reserve(static_cast<std::size_t>(grown));
  }
  body_ += bytes;
  return BodyFault::kNone;
}

// Finds out the form of the stream and gets the inflater ready for it. Takes bytes only when there are too
// few.
BodyFault BodyDecoder::Begin(std::string_view& bytes) {
  if (!inflater_) inflater_ = std::make_unique<Inflater>();
  int bits = kGzipBits;
  if (coding_ == ContentCoding::kDeflate) {
    if (head_.size() + bytes.size() < 2) {
      head_ += bytes;
      bytes = {};
      return BodyFault::kNone;
    }
    const char first = head_.empty() ? bytes[0] : head_[0];
    const char second = head_.empty() ? bytes[1] : bytes[0];
    bits = IsZlibHeader(static_cast<unsigned char>(first), static_cast<unsigned char>(second)) ? kZlibBits
                                                                                               : kBareBits;
  }
  if (inflateReset2(&inflater_->stream, bits) != Z_OK) return BodyFault::kCoding;
  begun_ = true;
  const std::string head = std::exchange(head_, {});
  return head.empty() ? BodyFault::kNone : Decode(head);
}

BodyFault BodyDecoder::Decode(std::string_view bytes) {
  z_stream& stream = inflater_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  bool more = true;  // zlib may hold output although it has taken all input
  while (stream.avail_in > 0 || more) {
    if (ended_) {
      if (stream.avail_in == 0) break;
      if (coding_ != ContentCoding::kGzip || *stream.next_in != 0x1F) return BodyFault::kCoding;
      inflateReset(&stream);
      ended_ = false;
    }
    stream.next_out = reinterpret_cast<Bytef*>(inflater_->out.data());
    stream.avail_out = static_cast<uInt>(inflater_->out.size());
    const int rc = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = inflater_->out.size() - stream.avail_out;
    if (const BodyFault fault = Keep({inflater_->out.data(), made}); fault != BodyFault::kNone) return fault;
    if (rc == Z_DATA_ERROR && stream.msg != nullptr &&
        (std::strcmp(stream.msg, "incorrect data check") == 0 ||
         std::strcmp(stream.msg, "incorrect length check") == 0)) {
      return BodyFault::kTruncated;
    }
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) return BodyFault::kCoding;
    ended_ = rc == Z_STREAM_END;
    more = !ended_ && stream.avail_out == 0;
    if (rc == Z_BUF_ERROR && made == 0) break;  // wants more input
  }
  return BodyFault::kNone;
}

BodyFault BodyDecoder::Feed(std::string_view bytes) {
  if (fault_ != BodyFault::kNone || bytes.empty()) return fault_;
  wire_bytes_ += bytes.size();
  if (wire_bytes_ > limits_.wire_bytes_max) return fault_ = BodyFault::kTooLarge;
  if (coding_ == ContentCoding::kIdentity) return fault_ = Keep(bytes);
  // zlib counts in 32 bits.
  while (fault_ == BodyFault::kNone && !bytes.empty()) {
    if (!begun_) fault_ = Begin(bytes);
    const std::string_view part = bytes.substr(0, std::size_t{1} << 30);
    bytes.remove_prefix(part.size());
    if (fault_ == BodyFault::kNone && begun_ && !part.empty()) fault_ = Decode(part);
  }
  return fault_;
}

BodyFault BodyDecoder::Finish() {
  if (fault_ == BodyFault::kNone && coding_ != ContentCoding::kIdentity && !ended_)
    fault_ = BodyFault::kTruncated;
  return fault_;
}

}  // namespace etl
