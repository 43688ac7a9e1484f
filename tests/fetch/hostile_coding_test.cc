// Bodies that are compressed to do harm, or wrongly. Memory stays under 256 MiB, whatever they would grow to.

#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

constexpr std::int64_t kMemoryKibMax = 256 << 10;

// Sanitizers keep freed memory, and shadows of all of it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif
#else
constexpr bool kMemoryIsOurs = true;
#endif

// Forgets what earlier tests of this process needed.
void ResetPeakMemory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

// The most memory this process had resident since then; 0 if the system does not tell.
std::int64_t PeakMemoryKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  return 0;
}

// The limit on the ratio out of the way, to see the others.
void AnyRatio(FetchSettings& settings) {
  settings.decode_ratio_max = 10'000;
}

class HostileCodingTest : public HostileTest {};

TEST_P(HostileCodingTest, HasExactlyThisOutcome) {
  ResetPeakMemory();
  Serve();
  upstream_->Put("a", "0123456789");
  Check();
  EXPECT_GT(PeakMemoryKib(), 0);
  if (kMemoryIsOurs) {
    EXPECT_LT(PeakMemoryKib(), kMemoryKibMax);
  }
}

constexpr std::uint64_t kMb = 1'000'000;
constexpr std::uint64_t kGb = 1'000 * kMb;

INSTANTIATE_TEST_SUITE_P(
    Bombs, HostileCodingTest,
    testing::Values(
        HostileCase{"Gzip10MbIsOverTheRatio", Bomb(Coding::kGzip, 10 * kMb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Gzip1GbIsOverTheRatio", Bomb(Coding::kGzip, kGb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Gzip10GbIsOverTheRatio", Bomb(Coding::kGzip, 10 * kGb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Deflate10MbIsOverTheRatio", Bomb(Coding::kDeflate, 10 * kMb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Deflate1GbIsOverTheRatio", Bomb(Coding::kDeflate, kGb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Deflate10GbIsOverTheRatio", Bomb(Coding::kDeflate, 10 * kGb), "HTTP_DECODE_RATIO", 1},
        HostileCase{"Gzip1GbIsTooLarge", Bomb(Coding::kGzip, kGb), "HTTP_TOO_LARGE", 1, AnyRatio},
        HostileCase{"Gzip10GbIsTooLarge", Bomb(Coding::kGzip, 10 * kGb), "HTTP_TOO_LARGE", 1, AnyRatio},
        HostileCase{"Deflate1GbIsTooLarge", Bomb(Coding::kDeflate, kGb), "HTTP_TOO_LARGE", 1, AnyRatio},
        HostileCase{"Deflate10GbIsTooLarge", Bomb(Coding::kDeflate, 10 * kGb), "HTTP_TOO_LARGE", 1, AnyRatio},
        HostileCase{"GzipTwice10Mb", Bomb(Coding::kGzip, 10 * kMb, 2), "HTTP_CODING", 1},
        HostileCase{"GzipTwice1Gb", Bomb(Coding::kGzip, kGb, 2), "HTTP_CODING", 1},
        HostileCase{"GzipThrice1Gb", Bomb(Coding::kGzip, kGb, 3), "HTTP_CODING", 1},
        HostileCase{"DeflateTwice1Gb", Bomb(Coding::kDeflate, kGb, 2), "HTTP_CODING", 1}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Codings, HostileCodingTest,
    testing::Values(
        HostileCase{"Gzip", Compressed(Coding::kGzip), "200 0123456789", 1},
        HostileCase{"Deflate", Compressed(Coding::kDeflate), "200 0123456789", 1},
        HostileCase{"GzipTwice", Compressed(Coding::kGzip, 2), "HTTP_CODING", 1},
        HostileCase{"GzipOfGzipNamedOnce",
                    Reply(200, {{"Content-Encoding", "gzip"}}, GzipText(GzipText("x"))),
                    "200 " + GzipText("x"), 1},
        HostileCase{"GzipInTwoMembers",
                    Reply(200, {{"Content-Encoding", "gzip"}}, GzipText("01") + GzipText("23")), "200 0123",
                    1},
        HostileCase{"GzipWithoutItsTrailer", TruncatedGzip(8), "HTTP_TRUNCATED", 4},
        HostileCase{"GzipWithoutItsLastByte", TruncatedGzip(1), "HTTP_TRUNCATED", 4},
        HostileCase{"GzipWithoutItsEnd", TruncatedGzip(12), "HTTP_TRUNCATED", 4},
        HostileCase{"GzipHeadOnly", Reply(200, {{"Content-Encoding", "gzip"}}, GzipText("x").substr(0, 10)),
                    "HTTP_TRUNCATED", 4},
        HostileCase{"GzipOfNothingAtAll", Reply(200, {{"Content-Encoding", "gzip"}}, ""), "HTTP_TRUNCATED",
                    4},
        HostileCase{"GzipWithAWrongChecksum", BadGzipCrc(), "HTTP_TRUNCATED", 4},
        HostileCase{"GzipWithAWrongSize", BadGzipSize(), "HTTP_TRUNCATED", 4},
        HostileCase{"GzipWithBytesBehindIt", TrailingGarbageGzip(), "HTTP_CODING", 1},
        HostileCase{"GzipThatIsNone", NamedCoding("gzip"), "HTTP_CODING", 1},
        HostileCase{"DeflateThatIsNone", NamedCoding("deflate"), "HTTP_CODING", 1},
        HostileCase{"DeflateWithoutItsTrailer",
                    Reply(200, {{"Content-Encoding", "deflate"}},
                          DeflateText("0123456789").substr(0, DeflateText("0123456789").size() - 4)),
                    "HTTP_TRUNCATED", 4},
        HostileCase{"Brotli", NamedCoding("br"), "HTTP_CODING", 1},
        HostileCase{"Zstandard", NamedCoding("zstd"), "HTTP_CODING", 1},
        HostileCase{"ACodingNobodyKnows", NamedCoding("made-up"), "HTTP_CODING", 1},
        HostileCase{"Identity", NamedCoding("identity"), "200 0123456789", 1},
        HostileCase{"GzipUnderItsOldName", Reply(200, {{"Content-Encoding", "X-GZIP"}}, GzipText("old")),
                    "200 old", 1}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Transfers, HostileCodingTest,
    testing::Values(HostileCase{"GzipAsATransferCoding",
                                Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + GzipText("x")),
                                "HTTP_CODING", 1},
                    HostileCase{"GzipUnderChunks",
                                Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
                                "HTTP_CODING", 1}),
    NameOfCase);

// The bombs above would be no test if the server could not make a whole one.
TEST_F(HttpTransportTest, ReadsACompressedBodyOfZerosToItsLastByte) {
  Serve();
  settings_.decode_ratio_max = 10'000;
  const std::uint64_t bytes = 10'000'000;
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate}) {
    upstream_->ClearScripts();
    upstream_->Always("a", Bomb(coding, bytes));
    const auto response = Fetch("a");
    ASSERT_TRUE(response) << response.error().Message();
    EXPECT_TRUE(response->bytes == std::string(bytes, '\0'));
  }
}

}  // namespace
}  // namespace etl::test
