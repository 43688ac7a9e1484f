#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fetch/http_test_support.h"

namespace etl::test {
namespace {

using testing::HasSubstr;

// What a fault is answered with, and whether the attempt is repeated.
struct FaultCase {
  const char* name;
  LoopbackAction action;
  const char* code;
  bool repeated;
  LoopbackOptions options = {};
};

class HttpFaults : public HttpTransportTest {
 protected:
  void Check(const FaultCase& one) {
    SCOPED_TRACE(one.name);
    transport_.reset();
    Serve(one.options);
    upstream_->Put("a", Body());
    upstream_->Always("a", one.action);
    EXPECT_EQ(Outcome("a"), one.code);
    EXPECT_EQ(Count("a"), one.repeated ? static_cast<std::size_t>(settings_.attempts_max) : 1U);
    // One bad answer must not spoil the next.
    upstream_->ClearScripts();
    EXPECT_EQ(Outcome("a"), "200 " + Body());
  }
  static const std::string& Body() {
    static const std::string body = [] {
      std::string text;
      while (text.size() < 3000) text += "row " + std::to_string(text.size()) + ", ";
      return text;
    }();
    return body;
  }
  static LoopbackOptions Tls() {
    LoopbackOptions options;
    options.tls = true;
    return options;
  }
};

TEST_F(HttpFaults, ACutBodyIsNoAnswer) {
  for (const FaultCase& one : std::vector<FaultCase>{
           {"shorter than its length", CutBody(100), "HTTP_TRUNCATED", true},
           {"no byte of the body", CutBody(0), "HTTP_TRUNCATED", true},
           {"length too large by one", WrongLength(1), "HTTP_TRUNCATED", true},
           {"inside a chunk", CutBody(100, Framing::kChunked), "HTTP_TRUNCATED", true},
           {"before the last chunk", CutBody(Body().size(), Framing::kChunked), "HTTP_TRUNCATED", true},
           {"reset inside the body", ResetAfter(1000), "HTTP_TRUNCATED", true},
           {"TLS, shorter than its length", CutBody(100, Framing::kLength, true), "HTTP_TRUNCATED", true,
            Tls()},
           {"TLS without close_notify", CutTls(), "HTTP_TRUNCATED", true, Tls()},
           {"gzip without its trailer", TruncatedGzip(8), "HTTP_TRUNCATED", true},
           {"gzip without its last byte", TruncatedGzip(1), "HTTP_TRUNCATED", true},
           {"gzip with a wrong checksum", BadGzipCrc(), "HTTP_TRUNCATED", true},
           {"gzip with a wrong size", BadGzipSize(), "HTTP_TRUNCATED", true}}) {
    Check(one);
  }
}

TEST_F(HttpFaults, AnAnswerCutAnywhereIsNeverAnAnswer) {
  Serve();
  settings_.attempts_max = 1;
  upstream_->Put("a", "0123456789");
  for (const Framing framing : {Framing::kLength, Framing::kChunked}) {
    const std::size_t whole =
        WireBytes({200, false, false, {}, std::make_shared<const std::string>("0123456789")}, framing).size();
    for (std::size_t bytes = 0; bytes < whole; ++bytes) {
      upstream_->ClearScripts();
      upstream_->Always("a", CutWire(bytes, framing));
      const std::string outcome = Outcome("a");
      EXPECT_TRUE(outcome == "HTTP_RESET" || outcome == "HTTP_TRUNCATED") << outcome << " at " << bytes;
      settings_.breaker_threshold = 100000;
    }
    upstream_->ClearScripts();
    upstream_->Always("a", ReplyFramed(framing));
    EXPECT_EQ(Outcome("a"), "200 0123456789");
  }
}

TEST_F(HttpFaults, AnEndWithoutLengthIsBelievedWhereItIsProven) {
  Serve(Tls());
  upstream_->Always("a", ReplyFramed(Framing::kClose));
  EXPECT_EQ(Outcome("a"), "200 alpha");
}

TEST_F(HttpFaults, AConnectionThatEndsBeforeTheHeadIsRepeated) {
  for (const FaultCase& one : std::vector<FaultCase>{
           {"reset", Reset(), "HTTP_RESET", true},
           {"closed", CloseAtOnce(), "HTTP_RESET", true},
           {"inside the status line", CutWire(5), "HTTP_RESET", true},
           {"inside the head", CutWire(30), "HTTP_RESET", true},
       }) {
    Check(one);
  }
}

TEST_F(HttpFaults, WhatIsNoPlainHttpIsRefusedOnce) {
  settings_.header_bytes_max = 16 << 10;
  for (const FaultCase& one : std::vector<FaultCase>{
           {"no HTTP", Raw("SSH-2.0-OpenSSH\r\n"), "HTTP_PROTOCOL", false},
           {"a body alone", Raw("{\"data\": []}"), "HTTP_PROTOCOL", false},
           {"two lengths", Raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
            "HTTP_PROTOCOL", false},
           {"a length that is no number", Raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabcde"),
            "HTTP_PROTOCOL", false},
           {"a huge header", HugeHeader(20'000), "HTTP_HEADERS_TOO_LARGE", false},
           {"a header beyond what curl reads", HugeHeader(500'000), "HTTP_HEADERS_TOO_LARGE", false},
           {"too many headers", ManyHeaders(5000), "HTTP_HEADERS_TOO_LARGE", false},
           {"endless headers", EndlessHeaders(), "HTTP_HEADERS_TOO_LARGE", false},
           {"brotli", NamedCoding("br"), "HTTP_CODING", false},
           {"unknown coding", NamedCoding("quantum"), "HTTP_CODING", false},
           {"nested gzip", Compressed(Coding::kGzip, 2), "HTTP_CODING", false},
           {"nested by two headers",
            Raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: "
                "0\r\n\r\n"),
            "HTTP_CODING", false},
           {"a transfer coding", Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            "HTTP_CODING", false},
           {"gzip with bytes behind it", TrailingGarbageGzip(), "HTTP_CODING", false},
           {"plain bytes named gzip", NamedCoding("gzip"), "HTTP_CODING", false},
       }) {
    Check(one);
  }
}

TEST_F(HttpFaults, DecodesGzipAndDeflate) {
  Serve();
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate}) {
    upstream_->ClearScripts();
    upstream_->Always("a", Compressed(coding));
    EXPECT_EQ(Outcome("a"), "200 alpha");
  }
}

TEST_F(HttpFaults, LimitsTheSizeOfABody) {
  settings_.wire_bytes_max = 100'000;
  settings_.decoded_bytes_max = 200'000;
  settings_.decode_ratio_free_bytes = 100'000;
  for (const FaultCase& one : std::vector<FaultCase>{
           {"by its length", BodyOf(100'001), "HTTP_TOO_LARGE", false},
           {"in chunks", BodyOf(100'001, Framing::kChunked), "HTTP_TOO_LARGE", false},
           {"until the end", BodyOf(10'000'000'000, Framing::kClose), "HTTP_TOO_LARGE", false},
           {"decoded too far", Bomb(Coding::kGzip, 150'000), "HTTP_DECODE_RATIO", false},
       }) {
    Check(one);
  }
  settings_.decoded_bytes_max = 1 << 30;
  Check({"a bomb before its size shows", Bomb(Coding::kDeflate, 100'000'000), "HTTP_DECODE_RATIO", false});
}

TEST_F(HttpFaults, DeadlinesEndAnAttempt) {
  settings_.idle_ms = 60;
  for (const FaultCase& one :
       std::vector<FaultCase>{{"no byte at all", Silence(), "HTTP_TIMEOUT_IDLE", true},
                              {"then nothing", SilenceAfter(300), "HTTP_TIMEOUT_IDLE", true}}) {
    Check(one);
  }
  settings_.idle_ms = 5000;
  settings_.whole_ms = 60;
  Check({"a drip", Drip(1, 5), "HTTP_TIMEOUT", false});
}

TEST_F(HttpFaults, TellsAConnectionThatIsRefused) {
  Serve();
  settings_.base_url = "http://127.0.0.1:1/api";
  EXPECT_EQ(Outcome("a"), "HTTP_CONNECT");
  EXPECT_EQ(Transport().Report().requests, 4U);
}

TEST_F(HttpFaults, TellsANameThatIsNotThere) {
  settings_.base_url = "https://etl.invalid/api";
  settings_.contact = "a@example.org";
  settings_.requests_per_second = 0;
  settings_.attempts_max = 1;
  EXPECT_EQ(Outcome("a"), "HTTP_RESOLVE");
}

TEST_F(HttpFaults, RepeatsWhatIsBusyUntilItIsNot) {
  Serve();
  for (const int status : {429, 500, 502, 503, 504, 599}) {
    upstream_->ClearScripts();
    upstream_->ClearLog();
    upstream_->First("a", 3, Reply(status, "later"));
    EXPECT_EQ(Outcome("a"), "200 alpha") << status;
    EXPECT_EQ(Count("a"), 4U);
  }
}

TEST_F(HttpFaults, GivesUpOnWhatStaysBusyAndNamesTheStatus) {
  Serve();
  upstream_->Always("a", Reply(503, {{"Content-Encoding", "br"}}, "later"));
  const auto response = Fetch("a");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "HTTP_BUSY");
  EXPECT_EQ(response.error().errc, Errc::kUnavailable);
  EXPECT_EQ(response.error().where, upstream_->base_url() + "/a");
  EXPECT_THAT(response.error().what, HasSubstr("503"));
  EXPECT_EQ(Count("a"), 4U);
  // The waits between the attempts grow, and are not all alike.
  const auto waits = pacer_.waits_ms();
  ASSERT_EQ(waits.size(), 3U);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    EXPECT_GE(waits[i], settings_.backoff_base_ms * (1 << i) / 2);
    EXPECT_LE(waits[i], settings_.backoff_base_ms * (1 << i));
  }
}

TEST_F(HttpFaults, WaitsAsLongAsItIsAsked) {
  // ManualClock stands at 2026-01-01T00:00:00Z.
  const std::vector<std::pair<std::string, std::int64_t>> cases = {{"7", 7000},
                                                                   {"Thu, 01 Jan 2026 00:00:08 GMT", 8000},
                                                                   {"Thursday, 01-Jan-26 00:00:09 GMT", 9000},
                                                                   {"Thu Jan  1 00:00:10 2026", 10'000},
                                                                   {"1000000", 120'000},  // the cap
                                                                   {"Fri, 01 Jan 2027 00:00:00 GMT", 120'000},
                                                                   {"99999999999999999999999999", 120'000}};
  for (const auto& [text, wait_ms] : cases) {
    SCOPED_TRACE(text);
    transport_.reset();
    Serve();
    clock_.Set(ManualClock().Now());
    const std::size_t before = pacer_.waits_ms().size();
    upstream_->First("a", 1, Reply(429, {{"Retry-After", text}}, ""));
    EXPECT_EQ(Outcome("a"), "200 alpha");
    const auto waits = pacer_.waits_ms();
    ASSERT_EQ(waits.size(), before + 1);
    EXPECT_EQ(waits.back(), wait_ms);
  }
}

TEST_F(HttpFaults, IgnoresARetryAfterThatMeansNothing) {
  for (const std::string text : {"soon", "-5", "1.5", "Thu, 01 Jan 2026", "Thu, 32 Jan 2026 00:00:08 GMT",
                                 "Wed, 31 Dec 2025 23:59:59 GMT", "0"}) {
    SCOPED_TRACE(text);
    transport_.reset();
    Serve();
    clock_.Set(ManualClock().Now());
    upstream_->First("a", 1, Reply(503, {{"Retry-After", text}}, ""));
    EXPECT_EQ(Outcome("a"), "200 alpha");
    EXPECT_LE(pacer_.waits_ms().back(), settings_.backoff_base_ms);
  }
}

TEST_F(HttpFaults, SpendsNoMoreThanItsRetryBudget) {
  Serve();
  settings_.retry_budget = 4;
  settings_.retry_budget_refill = 0;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  upstream_->AlwaysUnder("k/", Reply(500));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Outcome("k/" + std::to_string(i)), "HTTP_BUSY");
  EXPECT_EQ(Transport().Report().retries, 4U);
  EXPECT_EQ(upstream_->count(), 2U + 10U + 4U);
}

TEST_F(HttpFaults, LeavesAHostAloneThatFailsTooOften) {
  Serve();
  settings_.breaker_threshold = 5;
  ASSERT_EQ(Outcome("a"), "200 alpha");
  upstream_->Always("a", Reply(500));
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");  // four attempts
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");  // the fifth opens, and is not repeated
  EXPECT_EQ(Count("a"), 6U);
  const auto refused = Fetch("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "HTTP_BREAKER_OPEN");
  EXPECT_EQ(Count("a"), 6U);
  HostReport report = Transport().Report();
  EXPECT_EQ(report.breaker, BreakerState::kOpen);
  EXPECT_EQ(report.breaker_until.ms, clock_.Now().ms + settings_.breaker_cooldown_ms);
  EXPECT_THAT(refused.error().what, HasSubstr(report.breaker_until.Text()));

  clock_.AdvanceMs(settings_.breaker_cooldown_ms);
  EXPECT_EQ(Transport().Report().breaker, BreakerState::kHalfOpen);
  EXPECT_EQ(Outcome("a"), "HTTP_BUSY");  // one probe
  EXPECT_EQ(Count("a"), 7U);
  EXPECT_EQ(Outcome("a"), "HTTP_BREAKER_OPEN");

  upstream_->ClearScripts();
  clock_.AdvanceMs(settings_.breaker_cooldown_ms);
  EXPECT_EQ(Outcome("a"), "HTTP_BREAKER_OPEN");  // the second time twice as long
  clock_.AdvanceMs(settings_.breaker_cooldown_ms);
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_EQ(Transport().Report().breaker, BreakerState::kClosed);
}

}  // namespace
}  // namespace etl::test
