#include "etlctl/format.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace etl::ctl {
namespace {

TEST(FormatLatency, ShowsThreeSignificantDigitsAndTheNextUnitWhereItRoundsUp) {
  const struct {
    double ns;
    const char* text;
  } cases[] = {
      {0, "0 ns"},         {1, "1 ns"},         {812, "812 ns"},      {812.5, "812.5 ns"},
      {999, "999 ns"},     {999.7, "1.00 µs"},  {1000, "1.00 µs"},    {9994, "9.99 µs"},
      {9995.1, "10.0 µs"}, {45344, "45.3 µs"},  {99949, "99.9 µs"},   {99951, "100 µs"},
      {999499, "999 µs"},  {999500, "1.00 ms"}, {1738431, "1.74 ms"}, {12'345'678, "12.3 ms"},
      {2.5e9, "2.50 s"},   {1.2e11, "120 s"},   {3.6e12, "3600 s"},   {std::nan(""), "–"},
  };
  for (const auto& c : cases) EXPECT_EQ(FormatLatency(c.ns), c.text) << c.ns;
}

TEST(FormatValue, GivesOtherUnitsTheirNumber) {
  EXPECT_EQ(FormatValue(45344, "ns"), "45.3 µs");
  EXPECT_EQ(FormatValue(12.25, "GB/s"), "12.25 GB/s");
  EXPECT_EQ(FormatValue(7, ""), "7");
}

TEST(Format, WritesRatiosScoresAndGaps) {
  EXPECT_EQ(FormatRatio(1.264), "1.26×");
  EXPECT_EQ(FormatRatio(5.4683), "5.47×");
  EXPECT_EQ(FormatScore(0.57492), "0.5749");
  EXPECT_EQ(FormatScore(0.80802), "0.8080");
  EXPECT_EQ(FormatGap(100, 100), "–");
  EXPECT_EQ(FormatGap(112.3, 100), "+12.3 %");
  EXPECT_EQ(FormatGap(231, 100), "2.31×");
  EXPECT_EQ(FormatGap(1, 0), "–");
}

TEST(Format, WritesCountsBytesAndDurations) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(std::uint64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(FormatDuration(4.6), "0:05");
  EXPECT_EQ(FormatDuration(751), "12:31");
  EXPECT_EQ(FormatDuration(3723), "1:02:03");
  EXPECT_EQ(FormatDuration(-1), "0:00");
}

TEST(TitleOf, MakesAKernelNameReadable) {
  const struct {
    const char* name;
    const char* title;
  } cases[] = {
      {"028_gqa_rotary_attention_core_backward", "GQA rotary attention core backward"},
      {"013_fused_residual_rms_norm_backward", "Fused residual RMS norm backward"},
      {"gqa_paged_decode_h32_kv8", "GQA paged decode h32 kv8"},
      {"002_FlashMosaic_v2.5_decode", "FlashMosaic v2.5 decode"},
      {"42", "42"},
      {"7__moe__route_", "MoE route"},
      {"___", "___"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(TitleOf(c.name), c.title);
}

TEST(Format, NamesSourcesDigestsAndUnits) {
  EXPECT_EQ(SourceTitle("sol-execbench"), "NVIDIA SOL-ExecBench");
  EXPECT_EQ(SourceTitle("elsewhere"), "elsewhere");
  EXPECT_EQ(UnitOf("latency:mean:ns"), "ns");
  EXPECT_EQ(UnitOf("none"), "");
  Digest digest;
  digest.bytes.fill(0xab);
  EXPECT_EQ(ShortId(digest, 8), "abababab");
  EXPECT_EQ(ShortDigest(digest, 4), "sha256:abab…");
}

}  // namespace
}  // namespace etl::ctl
