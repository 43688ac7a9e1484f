#include "daemon/http_server.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/listen.h"
#include "serve/http.h"
#include "tests/support/http_client.h"

namespace etl {
namespace {

using serve::Request;
using test::HttpAnswer;
using test::HttpClient;
using test::HttpGet;

// Answers a request with what it was; "/wait" waits until `news` is set, "/throw" throws.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}) {
    auto socket = ListenOn("127.0.0.1", 0);
    ASSERT_TRUE(socket) << socket.error().Message();
    auto server = HttpServer::Start(
        *std::move(socket), options, [this](const Request& request) { return Answer(request); },
        [this] { return news_.load(); },
        [this](const HttpDone& done) {
          const std::lock_guard lock(mutex_);
          done_.push_back(done);
        });
    ASSERT_TRUE(server) << server.error().Message();
    server_ = *std::move(server);
    port_ = server_->port();
  }

  serve::Response Answer(const Request& request) {
    if (request.target == "/throw") throw std::runtime_error("secret");
    if (request.target == "/long") return serve::Answer(200, "text/plain", std::string(8 << 20, 'x'));
    if (request.target.starts_with("/wait") && news_ == 0 && request.may_wait) {
      serve::Response response;
      response.wait_ms = request.target == "/wait/short" ? 50 : 600'000;
      ++waiting_;
      return response;
    }
    std::string text = request.method + " " + request.target;
    if (!request.body.empty()) text += " " + request.body;
    if (request.target.starts_with("/wait")) text += request.may_wait ? " news" : " nothing";
    serve::Response response = serve::Answer(200, "text/plain", std::move(text));
    response.route = "echo";
    response.Header("Etag", "\"x\r\nInjected: 1\"");
    return response;
  }

  std::atomic<std::uint64_t> news_{0};
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::vector<HttpDone> done_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

TEST_F(HttpServerTest, AnswersRequestsOnOneConnectionUntilTheClientIsDone) {
  Start();
  HttpClient client(port_);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Get("/a?b=" + std::to_string(i));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "GET /a?b=" + std::to_string(i));
    EXPECT_EQ(answer->headers.at("x-content-type-options"), "nosniff");
    EXPECT_TRUE(answer->headers.at("date").ends_with(" GMT"));
    EXPECT_FALSE(answer->headers.contains("connection"));
  }
  EXPECT_EQ(server_->accepted(), 1U);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  Start();
  HttpClient client(port_);
  std::string requests;
  for (int i = 0; i < 50; ++i)
    requests += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nok";
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 50; ++i) {
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "POST /" + std::to_string(i) + " ok");
  }
}

TEST_F(HttpServerTest, LeavesTheBodyOutOfTheAnswerToHead) {
  Start();
  HttpClient client(port_);
  ASSERT_TRUE(client.Send("HEAD /x HTTP/1.1\r\nHost: t\r\n\r\n"));
  const auto answer = client.Read(true);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->headers.at("content-length"), "7");
  const auto next = client.Get("/y");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "GET /y");
}

TEST_F(HttpServerTest, ClosesWhenAskedTo) {
  Start();
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    HttpClient client(port_);
    ASSERT_TRUE(client.Send(request));
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->headers.at("connection"), "close");
    EXPECT_TRUE(client.ClosedByPeer());
  }
}

TEST_F(HttpServerTest, KeepsAnOldClientThatAsksForIt) {
  Start();
  HttpClient client(port_);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->headers.at("connection"), "keep-alive");
  }
}

TEST_F(HttpServerTest, AnswersAClientThatHasSaidAllItHasToSay) {
  Start();
  HttpClient client(port_);
  ASSERT_TRUE(client.Send("GET /1 HTTP/1.1\r\nHost: t\r\n\r\nGET /2 HTTP/1.1\r\nHost: t\r\n\r\n"));
  client.EndSending();
  EXPECT_EQ(client.Read().value_or(HttpAnswer()).body, "GET /1");
  EXPECT_EQ(client.Read().value_or(HttpAnswer()).body, "GET /2");
  EXPECT_TRUE(client.ClosedByPeer());
}

TEST_F(HttpServerTest, ReadsAChunkedBody) {
  Start();
  HttpClient client(port_);
  ASSERT_TRUE(client.Send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));
  ASSERT_TRUE(client.Send("2\r\nde\r\n0\r\n\r\n"));
  EXPECT_EQ(client.Read().value_or(HttpAnswer()).body, "POST / abcde");
}

TEST_F(HttpServerTest, LetsNoLineBreakIntoTheHeader) {
  Start();
  const auto answer = HttpGet(port_, "/");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->headers.contains("injected"));
  EXPECT_EQ(answer->headers.at("etag"), "\"x  Injected: 1\"");
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnswered500WithoutItsWords) {
  Start();
  const auto answer = HttpGet(port_, "/throw");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(answer->code(), "INTERNAL");
  EXPECT_EQ(answer->body.find("secret"), std::string::npos);
}

struct Wrong {
  const char* name;
  std::string bytes;
  int status;
  const char* code;
};

TEST_F(HttpServerTest, RefusesWhatBreaksTheRulesAndCloses) {
  Start();
  const std::string host = "Host: t\r\n";
  const std::vector<Wrong> cases{
      {"no HTTP", "hello there\r\n\r\n", 400, "REQUEST_SYNTAX"},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400, "REQUEST_SYNTAX"},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400, "HOST_FIELD"},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "HOST_FIELD"},
      {"another version", "GET / HTTP/3.1\r\n" + host + "\r\n", 505, "HTTP_VERSION"},
      {"expectation", "GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n", 417, "EXPECTATION"},
      {"two lengths", "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400,
       "REQUEST_SYNTAX"},
      {"length and chunks",
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       "REQUEST_SYNTAX"},
      {"long URL", "GET /" + std::string(8192, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414,
       "TARGET_TOO_LONG"},
      {"endless URL", "GET /" + std::string(40'000, 'a'), 414, "TARGET_TOO_LONG"},
      {"long field", "GET / HTTP/1.1\r\n" + host + "X: " + std::string(20'000, 'a') + "\r\n\r\n", 431,
       "HEADER_TOO_LARGE"},
      {"long body", "POST / HTTP/1.1\r\n" + host + "Content-Length: 65537\r\n\r\n" + std::string(65'537, 'a'),
       413, "BODY_TOO_LARGE"},
      {"long chunks",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n20000\r\n" +
           std::string(0x20000, 'a'),
       413, "BODY_TOO_LARGE"}};
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(wrong.name);
    HttpClient client(port_);
    (void)client.Send(wrong.bytes);
    const auto answer = client.Read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, wrong.status);
    EXPECT_EQ(answer->code(), wrong.code);
    EXPECT_EQ(answer->headers.at("content-type"), "application/problem+json");
    EXPECT_NE(answer->body.find("\"requestId\":\""), std::string::npos);
    EXPECT_EQ(answer->headers.at("connection"), "close");
  }
}

TEST_F(HttpServerTest, KeepsTheConnectionWhereOnlyTheTargetIsWrong) {
  Start();
  HttpClient client(port_);
  const auto wrong = client.Get("/a/../b");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->status, 400);
  EXPECT_EQ(wrong->code(), "TARGET_PATTERN");
  EXPECT_EQ(client.Get("/a").value_or(HttpAnswer()).body, "GET /a");
}

TEST_F(HttpServerTest, CutsARequestThatArrivesTooSlowly) {
  HttpOptions options;
  options.request_deadline_ms = 200;
  Start(options);
  HttpClient slow(port_);
  std::atomic<bool> done{false};
  // A byte now and then does not help.
  std::thread drip([&] {
    (void)slow.Send("GET / HTTP/1.1\r\nHost: t\r\nX: ");
    while (!done && slow.Send("a")) std::this_thread::yield();
  });
  const auto answer = slow.Read();
  done = true;
  drip.join();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->status == 408 || answer->status == 431);
}

TEST_F(HttpServerTest, ClosesAConnectionThatNeverAsks) {
  HttpOptions options;
  options.request_deadline_ms = 100;
  Start(options);
  HttpClient silent(port_);
  EXPECT_TRUE(silent.ClosedByPeer());
  HttpClient half(port_);
  ASSERT_TRUE(half.Send("GET / HT"));
  EXPECT_EQ(half.Read().value_or(HttpAnswer()).code(), "REQUEST_TIMEOUT");
}

TEST_F(HttpServerTest, ClosesAConnectionThatDoesNotTakeItsAnswer) {
  HttpOptions options;
  options.request_deadline_ms = 100;
  Start(options);
  HttpClient client(port_);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(client.Send("GET /long HTTP/1.1\r\nHost: t\r\n\r\n"));
  while (server_->connections() > 0) std::this_thread::yield();  // the test's own limit cuts a hang
  SUCCEED();
}

TEST_F(HttpServerTest, TurnsConnectionsAwayOverItsLimit) {
  HttpOptions options;
  options.connections_max = 2;
  Start(options);
  auto first = std::make_unique<HttpClient>(port_);
  HttpClient second(port_);
  ASSERT_TRUE(first->Get("/"));
  ASSERT_TRUE(second.Get("/"));
  HttpClient third(port_);
  const auto answer = third.Read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->code(), "CONNECTIONS_MAX");
  EXPECT_EQ(server_->turned_away(), 1U);
  first.reset();
  while (server_->connections() > 1) std::this_thread::yield();
  EXPECT_EQ(HttpGet(port_, "/").value_or(HttpAnswer()).status, 200);
}

TEST_F(HttpServerTest, SurvivesAFloodOfConnections) {
  HttpOptions options;
  options.connections_max = 50;
  Start(options);
  std::vector<std::unique_ptr<HttpClient>> flood;
  for (int i = 0; i < 400; ++i) flood.push_back(std::make_unique<HttpClient>(port_));
  flood.clear();
  while (server_->connections() > 0) std::this_thread::yield();
  EXPECT_EQ(HttpGet(port_, "/").value_or(HttpAnswer()).status, 200);
}

TEST_F(HttpServerTest, AWaitingRequestIsAnsweredWhenThereIsNews) {
  Start();
  HttpClient client(port_);
  ASSERT_TRUE(client.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\nGET /next HTTP/1.1\r\nHost: t\r\n\r\n"));
  while (waiting_ == 0) std::this_thread::yield();
  EXPECT_EQ(server_->in_flight(), 1U);
  news_ = 1;
  EXPECT_EQ(client.Read().value_or(HttpAnswer()).body, "GET /wait news");
  EXPECT_EQ(client.Read().value_or(HttpAnswer()).body, "GET /next");
}

TEST_F(HttpServerTest, AWaitingRequestIsAnsweredWhenItsTimeIsOver) {
  Start();
  EXPECT_EQ(HttpGet(port_, "/wait/short").value_or(HttpAnswer()).body, "GET /wait/short nothing");
}

TEST_F(HttpServerTest, ForgetsAWaitingClientThatIsGone) {
  Start();
  auto client = std::make_unique<HttpClient>(port_);
  ASSERT_TRUE(client->Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n"));
  while (waiting_ == 0) std::this_thread::yield();
  client.reset();
  while (server_->connections() > 0) std::this_thread::yield();
  EXPECT_EQ(server_->in_flight(), 0U);
}

TEST_F(HttpServerTest, StopsInTimeWithWhateverIsOpen) {
  Start();
  HttpClient rests(port_), waits(port_), half(port_);
  ASSERT_TRUE(rests.Get("/"));
  ASSERT_TRUE(half.Send("GET / HT"));
  ASSERT_TRUE(waits.Send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n"));
  while (waiting_ == 0) std::this_thread::yield();
  EXPECT_TRUE(server_->Stop(200));
  EXPECT_TRUE(rests.ClosedByPeer());
  EXPECT_EQ(waits.Read().value_or(HttpAnswer()).body, "GET /wait nothing");
  EXPECT_FALSE(HttpClient(port_).connected());
}

TEST_F(HttpServerTest, TellsWhatItAnswered) {
  Start();
  ASSERT_TRUE(HttpGet(port_, "/1234"));
  ASSERT_TRUE(server_->Stop(1000));
  const std::lock_guard lock(mutex_);
  ASSERT_EQ(done_.size(), 1U);
  EXPECT_EQ(done_[0].route, "echo");
  EXPECT_EQ(done_[0].status, 200);
  EXPECT_EQ(done_[0].bytes, 9U);
}

TEST(ListenOn, SaysWhichPortIsTakenAndWhoCouldFreeIt) {
  const auto first = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const auto second = ListenOn("127.0.0.1", first->Port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "SERVE_IN_USE");
  EXPECT_EQ(second.error().errc, Errc::kConflict);
  EXPECT_EQ(second.error().where, "127.0.0.1:" + std::to_string(first->Port()));
  EXPECT_NE(second.error().fix.find("listen_port"), std::string::npos);
}

TEST(TakeInherited, FindsTheSocketOfItsNameThatTheManagerListensOn) {
  const auto socket = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  EXPECT_LT(TakeInherited("api").fd(), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(socket->fd(), 3);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_FDNAMES", "api", 1);
    const bool other = TakeInherited("other").fd() < 0;
    ListeningSocket found = TakeInherited("api");
    const bool right = other && found.fd() == 3 && found.Port() != 0;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ListenOn, RefusesWhatIsNoAddressOfThisMachine) {
  for (const char* address : {"192.0.2.1", "2001:db8::1", "localhost", ""}) {
    const auto socket = ListenOn(address, 0);
    ASSERT_FALSE(socket) << address;
    EXPECT_EQ(socket.error().code, "SERVE_ADDRESS");
    EXPECT_EQ(socket.error().errc, Errc::kInvalid);
  }
}

}  // namespace
}  // namespace etl
