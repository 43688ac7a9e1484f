#include "model/instant.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace etl {
namespace {

std::string Source(std::string_view text) {
  const auto read = ParseSourceInstant(text);
  return read ? read->Text() : read.error().code + " " + read.error().where;
}

std::string Strict(std::string_view text) {
  const auto read = ParseCanonicalInstant(text);
  return read ? read->Text() : read.error().code + " " + read.error().where;
}

TEST(Instant, IsWrittenInUtcWithMilliseconds) {
  EXPECT_EQ(Instant{0}.Text(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Instant{-1}.Text(), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(Instant{1'787'076'952'587}.Text(), "2026-08-18T18:15:52.587Z");
  EXPECT_EQ(Instant{951'782'400'000}.Text(), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(Instant{-62'135'596'800'000}.Text(), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(Instant{253'402'300'799'999}.Text(), "9999-12-31T23:59:59.999Z");
}

TEST(SourceInstant, WithoutAZoneIsUtc) {
  EXPECT_EQ(Source("2026-08-18T18:15:52.587"), "2026-08-18T18:15:52.587Z");
  EXPECT_EQ(Source("2026-08-18 18:15:52"), "2026-08-18T18:15:52.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15"), "2026-08-18T18:15:00.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15Z"), "2026-08-18T18:15:00.000Z");
}

TEST(SourceInstant, CutsFinerDigitsAndNeverRounds) {
  EXPECT_EQ(Source("2026-08-18T18:15:52.5"), "2026-08-18T18:15:52.500Z");
  EXPECT_EQ(Source("2026-08-18T18:15:52.58"), "2026-08-18T18:15:52.580Z");
  EXPECT_EQ(Source("2026-08-18T18:15:52.5879999"), "2026-08-18T18:15:52.587Z");
  EXPECT_EQ(Source("2026-12-31T23:59:59.999999999Z"), "2026-12-31T23:59:59.999Z");
  EXPECT_EQ(Source("1969-12-31T23:59:59.9999"), "1969-12-31T23:59:59.999Z");
}

TEST(SourceInstant, ConvertsAnOffset) {
  EXPECT_EQ(Source("2026-08-18T18:15:52+02:00"), "2026-08-18T16:15:52.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15:52-0530"), "2026-08-18T23:45:52.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15:52.1+09"), "2026-08-18T09:15:52.100Z");
  EXPECT_EQ(Source("2026-01-01T00:30:00+01:00"), "2025-12-31T23:30:00.000Z");
  EXPECT_EQ(Source("2024-02-28T23:30:00-01:00"), "2024-02-29T00:30:00.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15+00:00"), "2026-08-18T18:15:00.000Z");
  EXPECT_EQ(Source("2026-08-18T18:15:00-00:00"), "2026-08-18T18:15:00.000Z");
}

TEST(SourceInstant, RefusesAnotherShape) {
  for (const auto& [text, where] : std::vector<std::pair<std::string, std::string>>{
           {"", "character 0"},
           {"now", "character 0"},
           {"1787076952", "character 4"},
           {"2026-08-18", "character 10"},
           {"2026-8-18T00:00:00", "character 6"},
           {"26-08-18T00:00:00", "character 2"},
           {"2026-08-18t00:00:00", "character 10"},
           {"2026-08-18  00:00:00", "character 11"},
           {"2026-08-18T00", "character 13"},
           {"2026-08-18T00:", "character 14"},
           {"2026-08-18T00:00:0", "character 18"},
           {"2026-08-18T00:00:00.", "character 20"},
           {"2026-08-18T00:00:00,5", "character 19"},
           {"2026-08-18T00:00:00.1234567890", "character 29"},
           {"2026-08-18T00:00:00z", "character 19"},
           {"2026-08-18T00:00:00ZZ", "character 20"},
           {"2026-08-18T00:00:00Z ", "character 20"},
           {" 2026-08-18T00:00:00Z", "character 0"},
           {"2026-08-18T00:00:00 UTC", "character 19"},
           {"2026-08-18T00:00:00+1", "character 21"},
           {"2026-08-18T00:00:00+01:", "character 23"},
           {"2026-08-18T00:00:00+01:000", "character 25"},
           {"2026-08-18T00:00:00+", "character 20"},
           {"-2026-08-18T00:00:00", "character 0"},
           {std::string("2026-08-18T00:00:00\0", 20), "character 19"}})
    EXPECT_EQ(Source(text), "INSTANT_PATTERN " + where) << text;
}

TEST(SourceInstant, RefusesAMomentThatDoesNotExist) {
  for (const auto& [text, where] :
       std::vector<std::pair<std::string, std::string>>{{"2026-00-18T00:00:00", "character 5"},
                                                        {"2026-13-18T00:00:00", "character 5"},
                                                        {"2026-08-00T00:00:00", "character 8"},
                                                        {"2026-08-32T00:00:00", "character 8"},
                                                        {"2026-02-29T00:00:00", "character 0"},
                                                        {"2100-02-29T00:00:00", "character 0"},
                                                        {"2026-04-31T00:00:00", "character 0"},
                                                        {"2026-08-18T24:00:00", "character 11"},
                                                        {"2026-08-18T00:60:00", "character 14"},
                                                        {"2016-12-31T23:59:60Z", "character 17"},
                                                        {"2026-08-18T00:00:00+24:00", "character 20"},
                                                        {"2026-08-18T00:00:00+23:60", "character 23"},
                                                        {"0000-01-01T00:00:00", "character 0"},
                                                        {"0001-01-01T00:00:00+00:01", "character 0"},
                                                        {"9999-12-31T23:59:59-00:01", "character 0"}})
    EXPECT_EQ(Source(text), "INSTANT_RANGE " + where) << text;
  EXPECT_EQ(Source("2024-02-29T00:00:00"), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(Source("2000-02-29T00:00:00"), "2000-02-29T00:00:00.000Z");
}

TEST(CanonicalInstant, TakesOnlyItsOwnForm) {
  EXPECT_EQ(Strict("2026-08-18T18:15:52.587Z"), "2026-08-18T18:15:52.587Z");
  for (const auto& [text, refusal] : std::vector<std::pair<std::string, std::string>>{
           {"2026-08-18T18:15:52Z", "INSTANT_PATTERN character 19"},
           {"2026-08-18T18:15:52.5Z", "INSTANT_PATTERN character 21"},
           {"2026-08-18T18:15:52.5870Z", "INSTANT_PATTERN character 23"},
           {"2026-08-18T18:15:52.587", "INSTANT_PATTERN character 23"},
           {"2026-08-18T18:15:52.587+00:00", "INSTANT_PATTERN character 23"},
           {"2026-08-18 18:15:52.587Z", "INSTANT_PATTERN character 10"},
           {"2026-08-18T18:15:52.587Z\n", "INSTANT_PATTERN character 24"},
           {"2026-02-30T18:15:52.587Z", "INSTANT_RANGE character 0"},
           {"2026-08-18T18:15:60.000Z", "INSTANT_RANGE character 17"}})
    EXPECT_EQ(Strict(text), refusal) << text;
}

TEST(CanonicalInstant, ReadsBackEveryInstantItWrites) {
  for (std::int64_t ms = -62'135'596'800'000; ms <= 253'402'300'799'999; ms += 9'876'543'211) {
    const auto read = ParseCanonicalInstant(Instant{ms}.Text());
    ASSERT_TRUE(read.has_value()) << ms;
    ASSERT_EQ(read->ms, ms);
  }
}

TEST(Instant, RefusalsAreInvalidInputWithAFix) {
  const auto read = ParseSourceInstant("yesterday");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().errc, Errc::kInvalid);
  EXPECT_FALSE(read.error().what.empty());
  EXPECT_FALSE(read.error().fix.empty());
}

}  // namespace
}  // namespace etl
