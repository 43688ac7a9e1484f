#include "fetch/body_decoder.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

namespace etl::test {
namespace {

constexpr int kGzip = 15 + 16, kZlib = 15, kBare = -15;
constexpr BodyLimits kWide{1 << 28, 1 << 28, 1e9, 0, 1 << 28};

std::string Pack(const std::string& text, int bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Text() {
  std::string text;
  for (int i = 0; text.size() < 200'000; ++i) text += std::to_string(i * 7919 % 100'003) + ",";
  return text;
}

struct Outcome {
  BodyFault fault;
  std::string body;
};

Outcome Decode(ContentCoding coding, const std::string& wire, std::size_t piece,
               const BodyLimits& limits = kWide) {
  BodyDecoder decoder;
  decoder.Start(coding, limits, 0);
  for (std::size_t i = 0; i < wire.size(); i += piece) decoder.Feed(std::string_view(wire).substr(i, piece));
  const BodyFault fault = decoder.Finish();
  return {fault, decoder.TakeBody()};
}

TEST(BodyDecoder, DecodesEveryFormInPiecesOfAnySize) {
  const std::string text = Text();
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{10'000'000}}) {
    EXPECT_EQ(Decode(ContentCoding::kIdentity, text, piece).body, text);
    EXPECT_EQ(Decode(ContentCoding::kGzip, Pack(text, kGzip), piece).body, text);
    EXPECT_EQ(Decode(ContentCoding::kDeflate, Pack(text, kZlib), piece).body, text);
    const Outcome bare = Decode(ContentCoding::kDeflate, Pack(text, kBare), piece);
    EXPECT_EQ(bare.fault, BodyFault::kNone);
    EXPECT_EQ(bare.body, text);
    EXPECT_EQ(Decode(ContentCoding::kGzip, Pack("one ", kGzip) + Pack("two", kGzip), piece).body, "one two");
  }
}

TEST(BodyDecoder, KnowsACodingThatEndsTooEarlyAtEveryByte) {
  for (const auto& [coding, bits] :
       std::vector<std::pair<ContentCoding, int>>{{ContentCoding::kGzip, kGzip},
                                                  {ContentCoding::kDeflate, kZlib},
                                                  {ContentCoding::kDeflate, kBare}}) {
    const std::string wire = Pack("some text, some more text, and text", bits);
    for (std::size_t size = 0; size < wire.size(); ++size)
      EXPECT_EQ(Decode(coding, wire.substr(0, size), 5).fault, BodyFault::kTruncated) << bits << " " << size;
    EXPECT_EQ(Decode(coding, wire, 5).fault, BodyFault::kNone);
  }
}

TEST(BodyDecoder, KnowsAWrongChecksumAndAWrongLength) {
  const std::string wire = Pack("some text", kGzip);
  for (std::size_t i = wire.size() - 8; i < wire.size(); ++i) {
    std::string damaged = wire;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(Decode(ContentCoding::kGzip, damaged, 100).fault, BodyFault::kTruncated) << i;
  }
}

TEST(BodyDecoder, RefusesWhatIsNotTheCoding) {
  EXPECT_EQ(Decode(ContentCoding::kGzip, "{\"data\": []}", 3).fault, BodyFault::kCoding);
  EXPECT_EQ(Decode(ContentCoding::kDeflate, "\xFF\xFF\xFF\xFF\xFF", 3).fault, BodyFault::kCoding);
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack("x", kZlib), 3).fault, BodyFault::kCoding);
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack("x", kGzip) + "tail", 1).fault, BodyFault::kCoding);
  EXPECT_EQ(Decode(ContentCoding::kDeflate, Pack("x", kZlib) + "tail", 100).fault, BodyFault::kCoding);
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack("x", kGzip) + "\x1F", 100).fault, BodyFault::kTruncated);
}

TEST(BodyDecoder, HoldsItsLimits) {
  BodyLimits limits = kWide;
  limits.wire_bytes_max = 10;
  EXPECT_EQ(Decode(ContentCoding::kIdentity, "0123456789", 3, limits).fault, BodyFault::kNone);
  EXPECT_EQ(Decode(ContentCoding::kIdentity, "0123456789A", 3, limits).fault, BodyFault::kTooLarge);
  limits = kWide;
  limits.decoded_bytes_max = 1000;
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack(std::string(1000, 'x'), kGzip), 7, limits).fault,
            BodyFault::kNone);
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack(std::string(1001, 'x'), kGzip), 7, limits).fault,
            BodyFault::kTooLarge);
  limits = kWide;
  limits.ratio_max = 20;
  limits.ratio_free_bytes = 2000;
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack(std::string(2000, 'x'), kGzip), 7, limits).fault,
            BodyFault::kNone);
  EXPECT_EQ(Decode(ContentCoding::kGzip, Pack(std::string(20'000, 'x'), kGzip), 7, limits).fault,
            BodyFault::kRatio);
}

TEST(BodyDecoder, ChecksWhatItDoesNotKeep) {
  BodyLimits limits = kWide;
  limits.kept_bytes_max = 10;
  const std::string wire = Pack(std::string(5000, 'x'), kGzip);
  EXPECT_EQ(Decode(ContentCoding::kGzip, wire, 7, limits).body, "xxxxxxxxxx");
  EXPECT_EQ(Decode(ContentCoding::kGzip, wire.substr(0, wire.size() - 1), 7, limits).fault,
            BodyFault::kTruncated);
}

TEST(BodyDecoder, ABombNeverGrowsBeyondItsLimit) {
  BodyDecoder decoder;
  BodyLimits limits = kWide;
  limits.decoded_bytes_max = limits.kept_bytes_max = 1 << 20;
  decoder.Start(ContentCoding::kDeflate, limits, UINT64_MAX);
  const std::string wire = Pack(std::string(100 << 20, '\0'), kZlib);
  EXPECT_EQ(decoder.Feed(wire), BodyFault::kTooLarge);
  EXPECT_EQ(decoder.Feed("more"), BodyFault::kTooLarge);
  EXPECT_LE(decoder.TakeBody().capacity(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace etl::test
