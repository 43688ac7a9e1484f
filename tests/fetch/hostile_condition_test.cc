// Validators that lie, change or say little.

#include <string>

#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

const Validators kHeld{"\"v1\"", "Thu, 01 Jan 2026 00:00:00 GMT"};

struct ConditionCase {
  std::string name;
  LoopbackAction action;
  Validators held;
  std::string outcome;
  Validators told;  // by the answer

  friend std::ostream& operator<<(std::ostream& out, const ConditionCase& c) { return out << c.name; }
};

class HostileConditionTest : public HttpTransportTest, public testing::WithParamInterface<ConditionCase> {};

TEST_P(HostileConditionTest, HasExactlyThisOutcome) {
  const ConditionCase& c = GetParam();
  Serve();
  upstream_->Always("a", c.action);
  const auto response = Fetch("a", c.held);
  EXPECT_EQ(Text(response), c.outcome);
  EXPECT_EQ(Count("a"), 1U);
  EXPECT_EQ(response ? response->validators : Validators(), c.told);
  upstream_->ClearScripts();
  EXPECT_EQ(Outcome("a"), "200 alpha") << "the connection is as good as before";
}

INSTANTIATE_TEST_SUITE_P(
    Answers, HostileConditionTest,
    testing::Values(
        ConditionCase{"NotModifiedWithoutCause", NotModified(), {}, "HTTP_304_UNASKED", {}},
        ConditionCase{"NotModifiedWithoutCauseButWithATag",
                      NotModified({{"ETag", "\"v1\""}}),
                      {},
                      "HTTP_304_UNASKED",
                      {}},
        ConditionCase{"NotModified", NotModified({{"ETag", "\"v1\""}}), kHeld, "304 ", {"\"v1\"", ""}},
        ConditionCase{"NotModifiedWithoutHeaders", NotModified(), kHeld, "304 ", {}},
        ConditionCase{
            "NotModifiedWithANewTag", NotModified({{"ETag", "\"v2\""}}), kHeld, "304 ", {"\"v2\"", ""}},
        ConditionCase{"NotModifiedWithANewDate",
                      NotModified({{"Last-Modified", "Fri, 02 Jan 2026 00:00:00 GMT"}}),
                      kHeld,
                      "304 ",
                      {"", "Fri, 02 Jan 2026 00:00:00 GMT"}},
        ConditionCase{"NotModifiedWithABodyBehindIt",
                      Raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nalpha"),
                      kHeld,
                      "304 ",
                      {}},
        ConditionCase{"NotModifiedThatTellsTheLengthOfTheBody",
                      NotModified({{"Content-Length", "5"}}),
                      kHeld,
                      "304 ",
                      {}},
        ConditionCase{
            "TheSameBodyInFull", WithHeaders({{"ETag", "\"v1\""}}), kHeld, "200 alpha", {"\"v1\"", ""}},
        ConditionCase{"AnotherBodyUnderTheSameTag",
                      Reply(200, {{"ETag", "\"v1\""}}, "beta"),
                      kHeld,
                      "200 beta",
                      {"\"v1\"", ""}},
        ConditionCase{"AWeakTag", WithHeaders({{"ETag", "W/\"v1\""}}), kHeld, "200 alpha", {"W/\"v1\"", ""}},
        ConditionCase{"NoTagAnyMore", Reply(200, "alpha"), kHeld, "200 alpha", {}},
        ConditionCase{"ADateOnly",
                      WithHeaders({{"Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"}}),
                      {},
                      "200 alpha",
                      {"", "Thu, 01 Jan 2026 00:00:00 GMT"}},
        // Sent back as it is: the server knows what it means.
        ConditionCase{"ADateThatIsNone",
                      WithHeaders({{"Last-Modified", "yesterday"}}),
                      {},
                      "200 alpha",
                      {"", "yesterday"}},
        ConditionCase{
            "ANotFoundWithATag", Reply(404, {{"ETag", "\"v9\""}}, "no"), kHeld, "404 no", {"\"v9\"", ""}},
        ConditionCase{"PreconditionFailed", Reply(412), kHeld, "412 ", {}}),
    [](const testing::TestParamInfo<ConditionCase>& of) { return of.param.name; });

TEST_F(HttpTransportTest, SendsTheNewestOfTagsThatAlwaysChange) {
  Serve();
  upstream_->Always("a", FlappingEtag());
  Validators held;
  for (int i = 1; i <= 5; ++i) {
    const auto response = Fetch("a", held);
    ASSERT_EQ(Text(response), "200 alpha");
    held = response->validators;
    EXPECT_EQ(held.etag, "\"flap-" + std::to_string(i) + "\"");
  }
  const auto log = upstream_->log();
  ASSERT_EQ(log.size(), 6U);
  for (std::size_t i = 2; i < log.size(); ++i)
    EXPECT_EQ(log[i].Header("If-None-Match"), "\"flap-" + std::to_string(i - 1) + "\"");
}

TEST_F(HttpTransportTest, KnowsABodyAgainByItsTagOrDate) {
  using Etag = LoopbackOptions::Etag;
  struct Offer {
    Etag etag;
    bool date;
    bool gzip;
  };
  for (const Offer offer : {Offer{Etag::kStrong, false, false}, Offer{Etag::kWeak, false, false},
                            Offer{Etag::kNone, true, false}, Offer{Etag::kWeak, true, true}}) {
    LoopbackOptions options;
    options.etag = offer.etag;
    options.last_modified = offer.date;
    options.gzip = offer.gzip;
    Serve(options);
    const auto first = Fetch("a");
    ASSERT_EQ(Text(first), "200 alpha");
    EXPECT_EQ(first->validators.etag.empty(), offer.etag == Etag::kNone);
    EXPECT_EQ(first->validators.etag.starts_with("W/"), offer.etag == Etag::kWeak);
    EXPECT_EQ(first->validators.last_modified.empty(), !offer.date);
    EXPECT_EQ(Outcome("a", first->validators), "304 ");
    if (offer.etag != Etag::kNone) {
      upstream_->Put("a", "changed");
      EXPECT_EQ(Outcome("a", first->validators), "200 changed");
    }
    transport_.reset();
  }
}

}  // namespace
}  // namespace etl::test
