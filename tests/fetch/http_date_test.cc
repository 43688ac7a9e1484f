#include "fetch/http_date.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace etl::test {
namespace {

constexpr Instant kNow{1767225600000};  // 2026-01-01T00:00:00Z

std::string Read(std::string_view text) {
  const auto instant = ParseHttpDate(text, kNow);
  return instant ? instant->Text() : "none";
}

TEST(HttpDate, ReadsAllThreeForms) {
  for (const char* text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(Read(text), "1994-11-06T08:49:37.000Z") << text;
  }
  EXPECT_EQ(Read("Sun Nov 16 08:49:37 1994"), "1994-11-16T08:49:37.000Z");
  EXPECT_EQ(Read("Thu, 29 Feb 2024 23:59:60 GMT"), "2024-02-29T23:59:59.000Z");
}

TEST(HttpDate, AYearOfTwoDigitsIsAtMostFiftyYearsAhead) {
  EXPECT_EQ(Read("Sunday, 06-Nov-26 08:49:37 GMT"), "2026-11-06T08:49:37.000Z");
  EXPECT_EQ(Read("Sunday, 06-Nov-76 08:49:37 GMT"), "2076-11-06T08:49:37.000Z");
  EXPECT_EQ(Read("Sunday, 06-Nov-77 08:49:37 GMT"), "1977-11-06T08:49:37.000Z");
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const char* text :
       {"", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 nov 1994 08:49:37 gmt",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2026 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "784111777"}) {
    EXPECT_EQ(Read(text), "none") << text;
  }
}

TEST(RetryAfter, IsSecondsOrADate) {
  const std::vector<std::pair<const char*, std::optional<std::int64_t>>> cases = {
      {"0", 0},
      {"120", 120'000},
      {"99999999999999999999999", 1'000'000'000'000},
      {"Thu, 01 Jan 2026 00:02:00 GMT", 120'000},
      {"Thursday, 01-Jan-26 00:02:00 GMT", 120'000},
      {"Thu Jan  1 00:02:00 2026", 120'000},
      {"Wed, 31 Dec 2025 23:59:00 GMT", 0},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"+1", std::nullopt},
      {"1.5", std::nullopt},
      {"1 s", std::nullopt},
      {"tomorrow", std::nullopt}};
  for (const auto& [text, wait_ms] : cases) EXPECT_EQ(ParseRetryAfterMs(text, kNow), wait_ms) << text;
}

}  // namespace
}  // namespace etl::test
