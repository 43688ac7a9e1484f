// Answers that are slow, endless, or no HTTP at all.

#include <string>

#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

// Deadlines that a test can wait for. Those that are not to be met are far away.
void Impatient(FetchSettings& settings) {
  settings.idle_ms = 150;
  settings.attempts_max = 2;
}
void InAHurry(FetchSettings& settings) {
  settings.idle_ms = 60'000;
  settings.whole_ms = 300;
}

class HostileHeadTest : public HostileTest {};

TEST_P(HostileHeadTest, HasExactlyThisOutcome) {
  Serve();
  Check();
}

INSTANTIATE_TEST_SUITE_P(
    Slow, HostileHeadTest,
    testing::Values(HostileCase{"SlowFirstByteInTime", SlowFirstByte(100), "200 alpha", 1},
                    HostileCase{"SlowFirstByteTooLate", SlowFirstByte(60'000), "HTTP_TIMEOUT_IDLE", 2,
                                Impatient},
                    HostileCase{"Silence", Silence(), "HTTP_TIMEOUT_IDLE", 2, Impatient},
                    HostileCase{"SilenceInTheHead", SilenceAfter(20), "HTTP_TIMEOUT_IDLE", 2, Impatient},
                    HostileCase{"SilenceInTheBody", SilenceAfter(72), "HTTP_TIMEOUT_IDLE", 2, Impatient},
                    HostileCase{"SilenceForTheWholeTime", Silence(), "HTTP_TIMEOUT", 1, InAHurry},
                    HostileCase{"DripInTime", Drip(10, 5), "200 alpha", 1},
                    HostileCase{"DripThatNeverEnds", Drip(1, 100), "HTTP_TIMEOUT", 1, InAHurry}),
    NameOfCase);

std::string Repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

const std::string kRest = "Content-Length: 5\r\n\r\nalpha";

INSTANTIATE_TEST_SUITE_P(
    Heads, HostileHeadTest,
    testing::Values(
        HostileCase{"HeaderWithinTheLimit", HugeHeader(60'000), "200 alpha", 1},
        HostileCase{"HeaderOverTheLimit", HugeHeader(70'000), "HTTP_HEADERS_TOO_LARGE", 1},
        HostileCase{"HeaderOf10Mb", HugeHeader(10'000'000), "HTTP_HEADERS_TOO_LARGE", 1},
        HostileCase{"EndlessHeaders", EndlessHeaders(), "HTTP_HEADERS_TOO_LARGE", 1},
        HostileCase{"ManyHeaders", ManyHeaders(10'000), "HTTP_HEADERS_TOO_LARGE", 1},
        HostileCase{"ManyInterimAnswers", Raw(Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 10'000)),
                    "HTTP_HEADERS_TOO_LARGE", 1},
        HostileCase{"AnInterimAnswer", Raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n" + kRest),
                    "200 alpha", 1},
        HostileCase{"OnlyAnInterimAnswer", Raw("HTTP/1.1 100 Continue\r\n\r\n"), "HTTP_RESET", 4},
        HostileCase{"SwitchingProtocols", Raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
                    "HTTP_RESET", 4},
        HostileCase{"Nothing", Raw(""), "HTTP_RESET", 4},
        HostileCase{"Garbage", Raw("this is no HTTP at all\r\n\r\n"), "HTTP_PROTOCOL", 1},
        HostileCase{"BytesOfATlsAlert", Raw(std::string("\x15\x03\x01\x00\x02\x02\x28", 7)), "HTTP_PROTOCOL",
                    1},
        HostileCase{"GreetingOfAnotherProtocol", Raw("220 mail.example ESMTP\r\n"), "HTTP_PROTOCOL", 1},
        HostileCase{"Http09", Raw("<html>old</html>"), "HTTP_PROTOCOL", 1},
        HostileCase{"Http10", Raw("HTTP/1.0 200 OK\r\n" + kRest), "200 alpha", 1},
        HostileCase{"Http3", Raw("HTTP/3 200 OK\r\n" + kRest), "HTTP_PROTOCOL", 1},
        HostileCase{"StatusThatIsNoNumber", Raw("HTTP/1.1 OK 200\r\n" + kRest), "HTTP_PROTOCOL", 1},
        HostileCase{"BareLineFeeds", Raw("HTTP/1.1 200 OK\nContent-Length: 5\n\nalpha"), "200 alpha", 1},
        HostileCase{"NulInAHeader", Raw(std::string("HTTP/1.1 200 OK\r\nX-A: a\0b\r\n", 27) + kRest),
                    "HTTP_PROTOCOL", 1},
        HostileCase{"HtmlWith200", Reply(200, {{"Content-Type", "text/html"}}, "<html></html>"),
                    "200 <html></html>", 1},
        HostileCase{"NoBodyWith204", Raw("HTTP/1.1 204 No Content\r\n\r\n"), "204 ", 1}),
    NameOfCase);

// A server that accepts and never says a word of TLS.
TEST_F(HttpTransportTest, GivesUpOnTlsThatNeverBegins) {
  Serve();
  settings_.base_url = "https" + settings_.base_url.substr(4);
  settings_.connect_ms = 150;
  settings_.attempts_max = 2;
  EXPECT_EQ(Outcome("a"), "HTTP_TIMEOUT_CONNECT");
  EXPECT_EQ(upstream_->connections(), 2U);
  EXPECT_EQ(upstream_->count(), 0U);
}

TEST_F(HttpTransportTest, SaysThatNobodyListens) {
  Serve();
  const std::string base_url = settings_.base_url;
  upstream_.reset();
  settings_.base_url = base_url;
  EXPECT_EQ(Outcome("a"), "HTTP_CONNECT");
  EXPECT_EQ(Transport().Report().requests, 4U);
}

TEST_F(HttpTransportTest, SaysThatANameHasNoAddress) {
  Serve();
  settings_.base_url = "https://nobody.invalid/api";
  EXPECT_EQ(Outcome("a"), "HTTP_RESOLVE");
}

// One connection is spoilt after the other; none of them is kept, and none is lost.
TEST_F(HttpTransportTest, LosesNoConnectionToBrokenAnswers) {
  Serve();
  settings_.attempts_max = 1;
  for (const LoopbackAction& action : {Reset(), CloseAtOnce(), CutBody(2), WrongLength(5), BadGzipCrc(),
                                       Raw("no"), EndlessHeaders(), Bomb(Coding::kGzip, 100'000'000)}) {
    upstream_->ClearScripts();
    upstream_->Always("a", action);
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(Fetch("a"));
  }
  upstream_->ClearScripts();
  EXPECT_EQ(Outcome("a"), "200 alpha");
  EXPECT_LE(upstream_->open_connections(), static_cast<std::size_t>(settings_.connections_max) + 1);
}

}  // namespace
}  // namespace etl::test
