// Bodies that are not what their head says.

#include <string>

#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

// The usual answer for "a", as the server writes it.
LoopbackAnswer UsualAnswer(const std::string& body) {
  LoopbackAnswer answer;
  answer.headers = {{"Content-Type", "application/json"}};
  answer.body = std::make_shared<const std::string>(body);
  return answer;
}

class HostileCutTest : public HttpTransportTest, public testing::WithParamInterface<Framing> {
 protected:
  const std::string page_ = R"({"data":{"submissions":[{"id":1},{"id":2}],"total":2}})";
};

TEST_P(HostileCutTest, RefusesAnAnswerThatEndsAtAnyByte) {
  Serve();
  settings_.attempts_max = 1;
  upstream_->Put("a", page_);
  const std::string whole = WireBytes(UsualAnswer(page_), GetParam());
  const std::size_t head = whole.find("\r\n\r\n") + 4;
  // The line feed behind the last chunk says nothing more: the end was told before it.
  const std::size_t needed = whole.size() - (GetParam() == Framing::kChunked ? 1 : 0);
  for (std::size_t bytes = 0; bytes < needed; ++bytes) {
    upstream_->ClearScripts();
    upstream_->Always("a", CutWire(bytes, GetParam()));
    EXPECT_EQ(Outcome("a"), bytes < head ? "HTTP_RESET" : "HTTP_TRUNCATED") << "cut at byte " << bytes;
  }
  EXPECT_EQ(Count("a"), needed);
  for (std::size_t bytes = needed; bytes <= whole.size(); ++bytes) {
    upstream_->ClearScripts();
    upstream_->Always("a", CutWire(bytes, GetParam()));
    EXPECT_EQ(Outcome("a"), "200 " + page_) << "cut at byte " << bytes << ", behind a complete answer";
  }
}

TEST_P(HostileCutTest, AsksAgainWhereverAnAnswerEnded) {
  Serve();
  settings_.retry_budget = 1000;
  upstream_->Put("a", page_);
  const std::string whole = WireBytes(UsualAnswer(page_), GetParam());
  for (std::size_t bytes = 0; bytes < whole.size() - 1; bytes += 3) {
    upstream_->ClearScripts();
    upstream_->ClearLog();
    upstream_->First("a", 1, CutWire(bytes, GetParam()));
    EXPECT_EQ(Outcome("a"), "200 " + page_) << "cut at byte " << bytes;
    EXPECT_EQ(Count("a"), 2U) << "cut at byte " << bytes;
  }
}

std::string NameOfFraming(const testing::TestParamInfo<Framing>& framing) {
  return framing.param == Framing::kLength ? "ContentLength" : "Chunked";
}
INSTANTIATE_TEST_SUITE_P(Framing, HostileCutTest, testing::Values(Framing::kLength, Framing::kChunked),
                         NameOfFraming);

// Without a length nothing but TLS tells a cut from an end; a reader of JSON has to.
TEST_F(HttpTransportTest, TakesTheEndOfAPlainConnectionForTheEndOfABodyWithoutLength) {
  Serve();
  upstream_->Put("a", "0123456789");
  upstream_->Always("a", ReplyFramed(Framing::kClose));
  EXPECT_EQ(Outcome("a"), "200 0123456789");
  upstream_->ClearScripts();
  upstream_->Always("a", CutBody(4, Framing::kClose));
  EXPECT_EQ(Outcome("a"), "200 0123");
  EXPECT_EQ(Count("a"), 2U);
}

class HostileBodyTest : public HostileTest {};

TEST_P(HostileBodyTest, HasExactlyThisOutcome) {
  Serve();
  upstream_->Put("a", "0123456789");
  Check();
}

const std::string kOk = "HTTP/1.1 200 OK\r\n";

INSTANTIATE_TEST_SUITE_P(
    Bodies, HostileBodyTest,
    testing::Values(
        HostileCase{"LengthTooBig", WrongLength(+1), "HTTP_TRUNCATED", 4},
        HostileCase{"LengthFarTooBig", WrongLength(1'000'000), "HTTP_TRUNCATED", 4},
        HostileCase{"LengthOverTheLimit", WrongLength(std::int64_t{1} << 40), "HTTP_TOO_LARGE", 1},
        // What is behind the length belongs to no answer, and the connection is of no use any more.
        HostileCase{"LengthTooSmall", WrongLength(-3), "200 0123456", 1},
        HostileCase{"LengthZero", WrongLength(-10), "200 ", 1},
        HostileCase{"CutAfterTheHead", CutBody(0), "HTTP_TRUNCATED", 4},
        HostileCase{"CutInTheMiddle", CutBody(5), "HTTP_TRUNCATED", 4},
        HostileCase{"ChunkCutInTheMiddle", CutBody(5, Framing::kChunked), "HTTP_TRUNCATED", 4},
        HostileCase{"LastChunkMissing", CutBody(10, Framing::kChunked), "HTTP_TRUNCATED", 4},
        HostileCase{"ResetBeforeTheHead", Reset(), "HTTP_RESET", 4},
        HostileCase{"ResetInTheHead", ResetAfter(20), "HTTP_RESET", 4},
        HostileCase{"ResetInTheBody", ResetAfter(75), "HTTP_TRUNCATED", 4},
        HostileCase{"ClosedAtOnce", CloseAtOnce(), "HTTP_RESET", 4},
        HostileCase{"ChunkSizeIsNoNumber",
                    Raw(kOk + "Transfer-Encoding: chunked\r\n\r\nzz\r\n0123456789\r\n0\r\n\r\n"),
                    "HTTP_TRUNCATED", 4},
        HostileCase{"ChunkSizeIsTooLarge",
                    Raw(kOk + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n0\r\n\r\n"),
                    "HTTP_TRUNCATED", 4},
        HostileCase{"TwoLengthsThatDiffer",
                    Raw(kOk + "Content-Length: 10\r\nContent-Length: 5\r\n\r\n0123456789"), "HTTP_PROTOCOL",
                    1},
        // RFC 9112, section 6.3: ought to be handled as an error.
        HostileCase{"LengthAndChunks",
                    Raw(kOk + "Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "3\r\n012\r\n0\r\n\r\n"),
                    "HTTP_PROTOCOL", 1},
        HostileCase{"ChunksAndLength",
                    Raw(kOk + "Transfer-Encoding: chunked\r\nContent-Length: 10\r\n\r\n"
                              "3\r\n012\r\n0\r\n\r\n"),
                    "HTTP_PROTOCOL", 1},
        HostileCase{"NegativeLength", Raw(kOk + "Content-Length: -5\r\n\r\n0123456789"), "HTTP_PROTOCOL", 1},
        HostileCase{"LengthIsNoNumber", Raw(kOk + "Content-Length: ten\r\n\r\n0123456789"), "HTTP_PROTOCOL",
                    1},
        HostileCase{"LengthOver64Bits",
                    Raw(kOk + "Content-Length: 99999999999999999999999\r\n\r\n0123456789"), "HTTP_PROTOCOL",
                    1},
        HostileCase{"APartOfTheBody", Reply(206, {{"Content-Range", "bytes 0-3/10"}}, "0123"),
                    "HTTP_PROTOCOL", 1},
        HostileCase{"BodyOf10GbWithLength", BodyOf(10'000'000'000), "HTTP_TOO_LARGE", 1},
        HostileCase{"BodyOf10GbInChunks", BodyOf(10'000'000'000, Framing::kChunked), "HTTP_TOO_LARGE", 1},
        HostileCase{"BodyOf10GbWithoutLength", BodyOf(10'000'000'000, Framing::kClose), "HTTP_TOO_LARGE", 1}),
    NameOfCase);

class HostileTlsTest : public HostileTest {};

TEST_P(HostileTlsTest, HasExactlyThisOutcome) {
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  upstream_->Put("a", "0123456789");
  Check();
}

INSTANTIATE_TEST_SUITE_P(
    Tls, HostileTlsTest,
    testing::Values(
        HostileCase{"EndsInOrderWithoutLength", ReplyFramed(Framing::kClose), "200 0123456789", 1},
        HostileCase{"EndsWithoutCloseNotify", CutTls(), "HTTP_TRUNCATED", 4},
        HostileCase{"CutWithoutCloseNotify", CutBody(4, Framing::kClose, true), "HTTP_TRUNCATED", 4},
        HostileCase{"CompleteByLengthWithoutCloseNotify", CutTls(Framing::kLength), "200 0123456789", 1},
        HostileCase{"CompleteByChunksWithoutCloseNotify", CutTls(Framing::kChunked), "200 0123456789", 1},
        HostileCase{"CutInTheMiddle", CutBody(4, Framing::kLength, true), "HTTP_TRUNCATED", 4},
        HostileCase{"ResetInTheBody", ResetAfter(75), "HTTP_TRUNCATED", 4},
        HostileCase{"ClosedAtOnce", CloseAtOnce(), "HTTP_RESET", 4}),
    NameOfCase);

TEST_F(HttpTransportTest, RefusesAnAuthorityThatSignedAnother) {
  LoopbackOptions options;
  options.tls = true;
  const LoopbackUpstream other(options);
  Serve(options);
  settings_.ca_file = other.ca_file();
  EXPECT_EQ(Outcome("a"), "HTTP_TLS");
  EXPECT_EQ(Transport().Report().requests, 1U);
  EXPECT_EQ(upstream_->count(), 0U);
}

TEST_F(HttpTransportTest, RefusesACertificateOfAnotherHost) {
  for (const char* names : {"DNS:localhost", "DNS:127.0.0.1", "IP:127.0.0.2,DNS:*.0.0.1"}) {
    SCOPED_TRACE(names);
    transport_.reset();
    LoopbackOptions options;
    options.tls = true;
    options.tls_names = names;
    Serve(options);
    EXPECT_EQ(Outcome("a"), "HTTP_TLS");
    EXPECT_EQ(Transport().Report().requests, 1U) << "a second try would not mend it";
    EXPECT_EQ(upstream_->count(), 0U);
  }
}

TEST_F(HttpTransportTest, RefusesTlsOlderThan12) {
  LoopbackOptions options;
  options.tls = true;
  options.tls_old = true;
  Serve(options);
  EXPECT_EQ(Outcome("a"), "HTTP_TLS");
  EXPECT_EQ(Transport().Report().requests, 1U);
  EXPECT_EQ(upstream_->count(), 0U);
}

}  // namespace
}  // namespace etl::test
