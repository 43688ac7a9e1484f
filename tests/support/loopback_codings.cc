// The actions of loopback_actions.h that compress.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include <strings.h>
#include <zlib.h>

#include "tests/support/loopback_actions.h"

namespace etl::test {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kNestedBytesMax = std::uint64_t{1} << 30;
constexpr int kGzipBits = 15 + 16;
constexpr int kZlibBits = 15;
constexpr int kRawBits = -15;

// What deflate makes of `text`; with Z_FULL_FLUSH the output can stand between others of its kind.
std::string Deflate(std::string_view text, int window_bits, int flush) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot start");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, flush);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != (flush == Z_FINISH ? Z_STREAM_END : Z_OK)) throw std::runtime_error("zlib cannot finish");
  return out;
}

// A compressed run of zeros as parts that repeat: a head, the same block again and again, a tail.
struct Zeros {
  std::string head, block, tail;
  std::uint64_t blocks = 0;
  std::uint64_t bytes() const { return head.size() + block.size() * blocks + tail.size(); }
};

void AppendNumber(std::string& out, std::uint32_t number, bool big_endian) {
  for (int i = 0; i < 4; ++i)
    out += static_cast<char>(static_cast<unsigned char>(number >> (8 * (big_endian ? 3 - i : i))));
}

// The checksum of `count` blocks followed by the rest, where `combine` joins two checksums.
template <class Combine>
uLong Join(uLong start, uLong block, uLong rest, std::uint64_t count, std::size_t rest_bytes,
           Combine combine) {
  uLong all = start;
  for (std::uint64_t i = 0; i < count; ++i) all = combine(all, block, static_cast<z_off_t>(kBlockBytes));
  return combine(all, rest, static_cast<z_off_t>(rest_bytes));
}

Zeros CompressZeros(Coding coding, std::uint64_t decoded_bytes) {
  const std::string block(kBlockBytes, '\0');
  const std::string_view rest = std::string_view(block).substr(0, decoded_bytes % kBlockBytes);
  Zeros zeros;
  zeros.blocks = decoded_bytes / kBlockBytes;
  zeros.block = Deflate(block, kRawBits, Z_FULL_FLUSH);
  zeros.tail = Deflate(rest, kRawBits, Z_FINISH);
  const auto sum = [&](auto function, uLong start, std::string_view text) {
    return function(start, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  };
  if (coding == Coding::kGzip) {
    zeros.head.assign("\x1f\x8b\x08\0\0\0\0\0\x02\x03", 10);
    const uLong crc = Join(crc32(0, nullptr, 0), sum(crc32, 0, block), sum(crc32, 0, rest), zeros.blocks,
                           rest.size(), crc32_combine);
    AppendNumber(zeros.tail, static_cast<std::uint32_t>(crc), false);
    AppendNumber(zeros.tail, static_cast<std::uint32_t>(decoded_bytes), false);
  } else {
    zeros.head.assign("\x78\xda", 2);
    const uLong adler = Join(adler32(0, nullptr, 0), sum(adler32, 1, block), sum(adler32, 1, rest),
                             zeros.blocks, rest.size(), adler32_combine);
    AppendNumber(zeros.tail, static_cast<std::uint32_t>(adler), true);
  }
  return zeros;
}

std::string NameOf(Coding coding, int levels) {
  const std::string name = coding == Coding::kGzip ? "gzip" : "deflate";
  std::string names = name;
  for (int i = 1; i < levels; ++i) names += ", " + name;
  return names;
}

std::string Code(Coding coding, std::string_view text, int levels) {
  std::string out(text);
  for (int i = 0; i < levels; ++i)
    out = Deflate(out, coding == Coding::kGzip ? kGzipBits : kZlibBits, Z_FINISH);
  return out;
}

// The usual answer in full, its body replaced by `body` and named as coded so.
LoopbackAnswer Coded(const LoopbackAnswer& usual, std::string body, const std::string& coding) {
  LoopbackAnswer answer = usual;
  answer.is_not_modified = false;
  answer.is_head = false;
  answer.body = std::make_shared<const std::string>(std::move(body));
  std::erase_if(answer.headers,
                [](const auto& had) { return strcasecmp(had.first.c_str(), "Content-Encoding") == 0; });
  answer.headers.emplace_back("Content-Encoding", coding);
  return answer;
}

// The usual body as gzip, with `spoil` done to it.
template <class Spoil>
LoopbackAction SpoiltGzip(Spoil spoil) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    std::string bytes = GzipText(*usual.body);
    spoil(bytes);
    return WireOf(Coded(usual, std::move(bytes), "gzip"));
  };
}

std::string WholeText(const Zeros& zeros) {
  std::string text = zeros.head;
  for (std::uint64_t i = 0; i < zeros.blocks; ++i) text += zeros.block;
  return text + zeros.tail;
}

}  // namespace

std::string GzipText(std::string_view text) {
  return Code(Coding::kGzip, text, 1);
}

std::string DeflateText(std::string_view text) {
  return Code(Coding::kDeflate, text, 1);
}

LoopbackAction Bomb(Coding coding, std::uint64_t decoded_bytes, int levels) {
  if (levels > 1 && decoded_bytes > kNestedBytesMax)
    throw std::runtime_error("a nested bomb has at most 1 GiB");
  const auto zeros = std::make_shared<const Zeros>(CompressZeros(coding, decoded_bytes));
  if (levels > 1) {
    const auto body = std::make_shared<const std::string>(Code(coding, WholeText(*zeros), levels - 1));
    return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
      return WireOf(Coded(usual, *body, NameOf(coding, levels)));
    };
  }
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    LoopbackAnswer answer = Coded(usual, "", NameOf(coding, 1));
    std::string head = WireBytes(answer);
    const std::string_view empty = "Content-Length: 0";
    head.replace(head.find(empty), empty.size(), "Content-Length: " + std::to_string(zeros->bytes()));
    Wire wire;
    const auto add = [&](std::string text, std::uint64_t times) {
      if (times == 0) return;
      auto shared = std::make_shared<const std::string>(std::move(text));
      wire.push_back({WireStep::Kind::kBytes, std::move(shared), times, 0});
    };
    constexpr std::uint64_t kTogether = 64;  // blocks sent at once: each is about 1 KiB
    std::string piece;
    for (std::uint64_t i = 0; i < kTogether; ++i) piece += zeros->block;
    add(head + zeros->head, 1);
    add(std::move(piece), zeros->blocks / kTogether);
    add(zeros->block, zeros->blocks % kTogether);
    add(zeros->tail, 1);
    return wire;
  };
}

LoopbackAction Compressed(Coding coding, int levels) {
  return [=](const LoopbackRequest&, const LoopbackAnswer& usual) {
    return WireOf(Coded(usual, Code(coding, *usual.body, levels), NameOf(coding, levels)));
  };
}

LoopbackAction TruncatedGzip(std::size_t missing_bytes) {
  return SpoiltGzip(
      [=](std::string& bytes) { bytes.resize(bytes.size() - std::min(bytes.size(), missing_bytes)); });
}

LoopbackAction BadGzipCrc() {
  return SpoiltGzip([](std::string& bytes) { bytes[bytes.size() - 8] ^= 1; });
}

LoopbackAction BadGzipSize() {
  return SpoiltGzip([](std::string& bytes) { bytes[bytes.size() - 4] ^= 1; });
}

LoopbackAction TrailingGarbageGzip() {
  return SpoiltGzip([](std::string& bytes) { bytes += "garbage"; });
}

}  // namespace etl::test
