#include "fetch/http_transport.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fetch/http_test_support.h"

namespace etl::test {
namespace {

using testing::HasSubstr;

TEST_F(HttpTransportTest, AnswersWithTheBytesAndTheUrl) {
  Serve();
  const auto response = Fetch("a");
  ASSERT_TRUE(response) << response.error().Message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->bytes, "alpha");
  EXPECT_EQ(response->origin, upstream_->base_url() + "/a");
  EXPECT_TRUE(response->validators.empty());
  EXPECT_TRUE(Transport().live());
  EXPECT_EQ(Transport().Describe(), upstream_->base_url());
}

TEST_F(HttpTransportTest, SaysWhoAsksAndNothingMore) {
  Serve();
  ASSERT_EQ(Outcome("a"), "200 alpha");
  const auto log = upstream_->log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].target, "/robots.txt");
  EXPECT_EQ(log[1].target, "/api/a");
  EXPECT_EQ(log[1].method, "GET");
  EXPECT_EQ(log[1].Header("User-Agent"), "etld/0.1.0 (+operator@example.org)");
  EXPECT_EQ(log[1].Header("Accept-Encoding"), "gzip, deflate");
  for (const char* name : {"Cookie", "Authorization", "If-None-Match", "If-Modified-Since", "Referer"})
    EXPECT_EQ(log[1].Header(name), "") << name;
}

TEST_F(HttpTransportTest, KeepsItsConnection) {
  Serve();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(upstream_->connections(), 1U);
}

TEST_F(HttpTransportTest, TakesAnyOtherStatusForAnAnswer) {
  Serve();
  for (const int status : {201, 203, 300, 305, 400, 401, 403, 404, 410, 418, 451}) {
    upstream_->ClearScripts();
    upstream_->Always("a", Reply(status, "said"));
    EXPECT_EQ(Outcome("a"), std::to_string(status) + " said");
  }
  upstream_->ClearScripts();
  upstream_->Always("a", Reply(204));
  EXPECT_EQ(Outcome("a"), "204 ");
}

TEST_F(HttpTransportTest, RefusesKeysThatAreNoPlainRelativePath) {
  Serve();
  for (const std::string& key :
       {std::string(""), std::string("/a"), std::string("../a"), std::string("a/../b"), std::string("a/.."),
        std::string("a/%2E%2e/b"), std::string("a/.%2e"), std::string("./a"), std::string("a//b"),
        std::string("a b"), std::string("a#b"), std::string("a\r\nHost: x"), std::string("a\0b", 3),
        std::string("caf\xC3\xA9"), std::string(3000, 'a')}) {
    const auto response = Fetch(key);
    ASSERT_FALSE(response) << key;
    EXPECT_EQ(response.error().code, "HTTP_KEY") << key;
    EXPECT_EQ(response.error().errc, Errc::kInvalid) << key;
  }
  EXPECT_EQ(upstream_->count(), 0U);
  upstream_->Put("k/5?x=%2F..&y=a/b", "odd");
  EXPECT_EQ(Outcome("k/5?x=%2F..&y=a/b"), "200 odd");
}

TEST_F(HttpTransportTest, SendsValidatorsAndTakesNotModified) {
  LoopbackOptions options;
  options.etag = LoopbackOptions::Etag::kStrong;
  options.last_modified = true;
  Serve(options);
  const auto first = Fetch("a");
  ASSERT_TRUE(first);
  ASSERT_FALSE(first->validators.etag.empty());
  ASSERT_FALSE(first->validators.last_modified.empty());
  const auto second = Fetch("a", first->validators);
  ASSERT_TRUE(second) << second.error().Message();
  EXPECT_EQ(second->status, 304);
  EXPECT_EQ(second->bytes, "");
  EXPECT_EQ(second->validators.etag, first->validators.etag);
  const auto log = upstream_->log();
  EXPECT_EQ(log.back().Header("If-None-Match"), first->validators.etag);
  EXPECT_EQ(log.back().Header("If-Modified-Since"), first->validators.last_modified);
  EXPECT_EQ(Transport().Report().not_modified, 1U);
  upstream_->Put("a", "changed");
  EXPECT_EQ(Outcome("a", first->validators), "200 changed");
  EXPECT_EQ(Outcome("a"), "200 changed");
  EXPECT_EQ(upstream_->log().back().Header("If-None-Match"), "");
}

TEST_F(HttpTransportTest, TakesNewValidatorsFromANotModified) {
  Serve();
  upstream_->Always("a", NotModified({{"ETag", "\"new\""}}));
  const auto response = Fetch("a", {"\"old\"", ""});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 304);
  EXPECT_EQ(response->validators.etag, "\"new\"");
}

TEST_F(HttpTransportTest, RefusesANotModifiedThatWasNotAskedFor) {
  Serve();
  upstream_->Always("a", NotModified());
  EXPECT_EQ(Outcome("a"), "HTTP_304_UNASKED");
  // Validators that cannot be sent are not sent.
  EXPECT_EQ(Outcome("a", {"\"x\"\r\nHost: y", std::string(5000, 'z')}), "HTTP_304_UNASKED");
  EXPECT_EQ(Outcome("a", {"", "Sun, 06 Nov 1994 08:49:37 GMT"}), "304 ");
}

TEST_F(HttpTransportTest, RefusesAPartOfABody) {
  Serve();
  upstream_->Always("a", Reply(206, {{"Content-Range", "bytes 0-3/100"}}, "part"));
  EXPECT_EQ(Outcome("a"), "HTTP_PROTOCOL");
}

TEST_F(HttpTransportTest, SaysWhenItsCertificatesCannotBeRead) {
  Serve();
  settings_.ca_file = dir_.File("missing.pem");
  const auto opened = OpenHttp(settings_, clock_, seams_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "FETCH_CA_FILE");
  EXPECT_EQ(opened.error().errc, Errc::kInvalid);
}

TEST_F(HttpTransportTest, SpeaksTlsToWhomItTrusts) {
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  EXPECT_EQ(Outcome("a"), "200 alpha");
}

TEST_F(HttpTransportTest, RefusesACertificateItDoesNotTrust) {
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  settings_.ca_file.clear();
  EXPECT_EQ(Outcome("a"), "HTTP_TLS");
  EXPECT_EQ(Transport().Report().requests, 1U);
  EXPECT_EQ(upstream_->count(), 0U);
}

TEST_F(HttpTransportTest, EndsAHandshakeThatIsNotAnswered) {
  Serve();  // waits for a head that never comes
  settings_.connect_ms = 100;
  settings_.base_url = "https://127.0.0.1:" + std::to_string(upstream_->port()) + "/api";
  EXPECT_EQ(Outcome("a"), "HTTP_TIMEOUT_CONNECT");
  EXPECT_EQ(Transport().Report().requests, 4U);
}

TEST_F(HttpTransportTest, ReportsWhatItDid) {
  Serve();
  upstream_->First("a", 1, Reply(503));
  ASSERT_EQ(Outcome("a"), "200 alpha");
  const HostReport report = Transport().Report();
  EXPECT_EQ(report.host, "127.0.0.1:" + std::to_string(upstream_->port()));
  EXPECT_EQ(report.requests, 3U);  // with robots.txt
  EXPECT_EQ(report.retries, 1U);
  EXPECT_EQ(report.failures, 1U);
  EXPECT_GE(report.wire_bytes, 5U);
  EXPECT_GE(report.body_bytes, 5U);
  EXPECT_EQ(report.breaker, BreakerState::kClosed);
  EXPECT_EQ(report.bucket_level, settings_.burst);
  EXPECT_THAT(report.last_error, HasSubstr("HTTP_BUSY"));
  EXPECT_THAT(report.last_error, HasSubstr("503"));
}

TEST_F(HttpTransportTest, FetchesAheadWhatIsExpected) {
  Serve();
  upstream_->Put("b", "beta");
  Transport().Expect("a", {});
  Transport().Expect("b", {});
  Transport().Expect("b", {});
  EXPECT_EQ(Outcome("b"), "200 beta");
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(Count("a"), 1U);
  EXPECT_EQ(Count("b"), 1U);
  EXPECT_EQ(Outcome("a"), "200 alpha");  // given once
  EXPECT_EQ(Count("a"), 2U);
}

TEST_F(HttpTransportTest, GivesAnExpectedAnswerOnlyToTheSameValidators) {
  Serve();
  Transport().Expect("a", {"\"v1\"", ""});
  EXPECT_EQ(Outcome("a", {"\"v2\"", ""}), "200 alpha");
  EXPECT_EQ(Outcome("a", {"\"v1\"", ""}), "200 alpha");
  EXPECT_EQ(Count("a"), 2U);
}

TEST_F(HttpTransportTest, FetchesAgainWhatWasExpectedTooLongAgo) {
  Serve();
  settings_.expected_age_ms = 0;
  settings_.connections_max = 1;  // so that "b" is there only after "a"
  upstream_->Put("b", "beta");
  Transport().Expect("a", {});
  Transport().Expect("b", {});
  EXPECT_EQ(Outcome("b"), "200 beta");
  EXPECT_EQ(Count("a"), 1U);
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(Count("a"), 2U);
}

TEST_F(HttpTransportTest, DropsTheOldestOfTooManyExpected) {
  Serve();
  settings_.expected_max = 2;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  upstream_->Always("first", Silence());
  upstream_->Put("second", "2");
  upstream_->Put("third", "3");
  Transport().Expect("first", {});
  while (Count("first") < 1) std::this_thread::yield();
  Transport().Expect("second", {});
  Transport().Expect("third", {});  // ends the first, whose answer never comes
  EXPECT_EQ(Outcome("second"), "200 2");
  EXPECT_EQ(Outcome("third"), "200 3");
  upstream_->ClearScripts();
  upstream_->Put("first", "1");
  EXPECT_EQ(Outcome("first"), "200 1");
  EXPECT_EQ(Count("first"), 2U);
}

TEST_F(HttpTransportTest, BoundsTheBytesOfExpectedAnswers) {
  Serve();
  settings_.expected_bytes_max = 10;
  settings_.connections_max = 1;  // so that each is there only after the one before
  for (const char* key : {"b", "c", "d"}) upstream_->Put(key, "four");
  for (const char* key : {"a", "b", "c", "d"}) Transport().Expect(key, {});
  EXPECT_EQ(Outcome("d"), "200 four");  // the others are thirteen bytes: the oldest has gone
  for (const char* key : {"b", "c"}) {
    EXPECT_EQ(Outcome(key), "200 four");
    EXPECT_EQ(Count(key), 1U);
  }
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(Count("a"), 2U);
}

TEST_F(HttpTransportTest, HoldsItsConnectionLimit) {
  Serve();
  settings_.connections_max = 2;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  for (int i = 0; i < 8; ++i) {
    upstream_->Put("k/" + std::to_string(i), "x");
    upstream_->Always("k/" + std::to_string(i), SlowFirstByte(10));
    Transport().Expect("k/" + std::to_string(i), {});
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Outcome("k/" + std::to_string(i)), "200 x");
  EXPECT_EQ(upstream_->connections(), 2U);
}

TEST_F(HttpTransportTest, StopsWhereverItWaits) {
  struct Case {
    const char* name;
    LoopbackAction action;
    bool real_waits;
  };
  const std::vector<Case> cases = {{"for an answer", Silence(), false},
                                   {"for the rest of an answer", SilenceAfter(60), false},
                                   {"for its next attempt", Reply(503, {{"Retry-After", "100"}}, ""), true}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    transport_.reset();
    Serve();
    seams_.pacer = one.real_waits ? nullptr : &pacer_;
    upstream_->Always("a", one.action);
    HttpTransport& transport = Transport();
    std::thread stopper([&] {
      while (Count("a") < 1) std::this_thread::yield();
      transport.Stop();
    });
    const auto response = Fetch("a");
    stopper.join();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().errc, Errc::kStopped);
    EXPECT_EQ(response.error().code, "STOPPED");
    EXPECT_EQ(Outcome("a"), "STOPPED");
  }
}

TEST_F(HttpTransportTest, EndsWithRequestsUnderWay) {
  Serve();
  ASSERT_EQ(Outcome("a"), "200 alpha");
  upstream_->AlwaysUnder("k/", Silence());
  for (int i = 0; i < 10; ++i) Transport().Expect("k/" + std::to_string(i), {});
  while (upstream_->CountOf("k/0") < 1) std::this_thread::yield();
  transport_.reset();
}

}  // namespace
}  // namespace etl::test
