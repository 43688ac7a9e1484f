// The control socket: what goes over it, who may, and what a bad caller gets.
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/control_client.h"
#include "daemon/control_message.h"
#include "daemon/control_server.h"
#include "daemon/peer.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ControlCall, ComesBackAsItWasSent) {
  ControlCall call;
  call.arguments = {"get", "run", "a \"quoted\"\n名", ""};
  call.store_dir = "/srv/etld";
  call.directory = "/home/me";
  call.data_is_terminal = call.color = true;
  call.columns = 132;
  const auto parsed = ControlCall::Parse(call.Json());
  ASSERT_TRUE(parsed) << parsed.error().Message();
  EXPECT_EQ(parsed->arguments, call.arguments);
  EXPECT_EQ(parsed->store_dir, call.store_dir);
  EXPECT_EQ(parsed->directory, call.directory);
  EXPECT_TRUE(parsed->data_is_terminal && parsed->color && !parsed->talk_is_terminal);
  EXPECT_EQ(parsed->columns, 132);
}

TEST(ControlCall, IsRefusedWhereItIsNoCommand) {
  for (const std::string text :
       {"", "[]", "{}", R"({"arguments":"status","store":"","terminal":{}})",
        R"({"arguments":[1],"store":"","terminal":{}})",
        R"({"arguments":["a\u0000b"],"store":"","terminal":{}})", R"({"arguments":[],"terminal":{}})",
        R"({"arguments":[],"store":""})", R"({"arguments":[],"arguments":[],"store":"","terminal":{}})"}) {
    const auto call = ControlCall::Parse(text);
    ASSERT_FALSE(call) << text;
    EXPECT_EQ(call.error().code, "CONTROL_REQUEST") << text;
  }
}

TEST(ControlFrames, AreTakenApartHoweverTheyArrive) {
  std::string wire;
  AppendFrames(wire, ControlFrame::Kind::kData, "hello");
  AppendFrames(wire, ControlFrame::Kind::kTalk, "");
  AppendFrames(wire, ControlFrame::Kind::kData, std::string(kControlFrameBytesMax + 1, 'x'));
  AppendFrames(wire, ControlFrame::Kind::kExit, "3");
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, wire.size()}) {
    FrameReader reader;
    std::string data, exit;
    int frames = 0;
    for (std::size_t at = 0; at < wire.size(); at += step) {
      reader.Append(std::string_view(wire).substr(at, step));
      for (;;) {
        const auto frame = reader.Next();
        ASSERT_TRUE(frame) << frame.error().Message();
        if (!*frame) break;
        ++frames;
        if ((*frame)->kind == ControlFrame::Kind::kData) data += (*frame)->bytes;
        if ((*frame)->kind == ControlFrame::Kind::kExit) exit = (*frame)->bytes;
      }
    }
    EXPECT_EQ(frames, 5);
    EXPECT_EQ(data.size(), 5 + kControlFrameBytesMax + 1);
    EXPECT_EQ(exit, "3");
  }
}

TEST(ControlFrames, AreRefusedWhereTheyAreNone) {
  for (const std::string& wire : {std::string("q\0\0\0\1x", 6), std::string("d\xff\0\0\0", 5)}) {
    FrameReader reader;
    reader.Append(wire);
    const auto frame = reader.Next();
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, "CONTROL_FRAME");
  }
}

TEST(ControlAccess, IsByWhoAsks) {
  const struct group* root_group = ::getgrgid(0);
  ASSERT_NE(root_group, nullptr);
  const AccessRules rules{777, "no-such-group-of-readers", root_group->gr_name};
  EXPECT_EQ(AccessOf({0, 1, {}}, rules), Access::kChange) << "root";
  EXPECT_EQ(AccessOf({777, 1, {}}, rules), Access::kChange) << "who runs the daemon";
  EXPECT_EQ(AccessOf({5, 1, {0}}, rules), Access::kChange) << "a member of the admin group";
  EXPECT_EQ(AccessOf({5, 1, {4}}, rules), Access::kNone);
  const AccessRules readers{777, root_group->gr_name, "no-such-group-of-admins"};
  EXPECT_EQ(AccessOf({5, 1, {4, 0}}, readers), Access::kRead) << "a member of the read group";
}

// A server whose commands do what the test wants.
class Control : public testing::Test {
 protected:
  void Listen(ControlHandler handler) {
    auto listening = ControlServer::Listen(options_, std::move(handler));
    ASSERT_TRUE(listening) << listening.error().Message();
    server_ = *std::move(listening);
  }
  Result<int> Call(const ControlCall& call = {}) {
    return CallDaemon(options_.path, call, [this](ControlFrame::Kind kind, std::string_view bytes) {
      (kind == ControlFrame::Kind::kData ? data_ : talk_) += bytes;
    });
  }
  int Connect() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, options_.path.c_str(), options_.path.size() + 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  // Everything that comes back for these bytes, until the server closes.
  std::string Raw(const std::string& bytes) const {
    const int fd = Connect();
    (void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string answer;
    char block[4096];
    for (ssize_t n = 0; (n = ::recv(fd, block, sizeof block, 0)) > 0;)
      answer.append(block, static_cast<std::size_t>(n));
    ::close(fd);
    return answer;
  }

  test::TempDir dir_{"control"};
  ControlOptions options_{dir_.File("socket"), {::geteuid(), "", ""}, 4, 300};
  std::unique_ptr<ControlServer> server_;
  std::string data_, talk_;
};

TEST_F(Control, RunsACommandAndHandsOnWhatItWrites) {
  Listen([](ControlSession& session) {
    EXPECT_EQ(session.call().arguments, std::vector<std::string>{"status"});
    EXPECT_EQ(session.peer().pid, ::getpid());
    EXPECT_EQ(session.access(), Access::kChange);
    EXPECT_TRUE(session.Write(ControlFrame::Kind::kTalk, "talk"));
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(session.Write(ControlFrame::Kind::kData, std::string(10'000, 'a')));
    return 3;
  });
  ControlCall call;
  call.arguments = {"status"};
  const auto exit = Call(call);
  ASSERT_TRUE(exit) << exit.error().Message();
  EXPECT_EQ(*exit, 3);
  EXPECT_EQ(data_.size(), 1'000'000U);
  EXPECT_EQ(talk_, "talk");
  struct stat socket {};
  ASSERT_EQ(::stat(options_.path.c_str(), &socket), 0);
  EXPECT_EQ(socket.st_mode & 0777U, 0666U) << "who may is decided by who asks";
}

TEST_F(Control, AnswersABadRequestWithAProblem) {
  Listen([](ControlSession&) { return 0; });
  const struct {
    std::string request;
    int status;
    const char* code;
  } cases[] = {
      {"GET /v1/command HTTP/1.1\r\nHost: etld\r\n\r\n", 405, "CONTROL_METHOD"},
      {"POST / HTTP/1.1\r\nHost: etld\r\nContent-Length: 2\r\n\r\n{}", 404, "CONTROL_TARGET"},
      {"POST /v1/command HTTP/1.1\r\nHost: etld\r\nContent-Length: 2\r\n\r\n{}", 400, "CONTROL_REQUEST"},
      {"POST /v1/command HTTP/1.1\r\nHost: etld\r\nContent-Length: 99999999\r\n\r\n", 413, "CONTROL_REQUEST"},
      {"nonsense\r\n\r\n", 400, "CONTROL_REQUEST"},
      {"GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n", 400, "CONTROL_REQUEST"},
  };
  for (const auto& c : cases) {
    const std::string answer = Raw(c.request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(c.status))) << c.request.substr(0, 40);
    EXPECT_THAT(answer, HasSubstr(c.code)) << c.request.substr(0, 40);
  }
}

TEST_F(Control, WaitsForNoRequestThatDoesNotCome) {
  Listen([](ControlSession&) { return 0; });
  EXPECT_THAT(Raw("POST /v1/comm"), Not(HasSubstr("200"))) << "the connection is ended";
}

TEST_F(Control, TellsTheCommandThatItsCallerIsGone) {
  std::promise<void> running, stopped;
  Listen([&](ControlSession& session) {
    running.set_value();
    while (!session.stop()) std::this_thread::yield();
    stopped.set_value();
    return 0;
  });
  ControlCall call;
  const std::string body = call.Json();
  const int fd = Connect();
  const std::string request =
      "POST /v1/command HTTP/1.1\r\nHost: etld\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  ASSERT_EQ(::send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  running.get_future().get();
  ::close(fd);
  EXPECT_EQ(stopped.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST_F(Control, TurnsAwayMoreThanItCanServe) {
  std::atomic<int> running{0};
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  Listen([&, gone](ControlSession&) {
    ++running;
    gone.wait();
    return 0;
  });
  std::vector<std::future<Result<int>>> calls;
  for (std::size_t i = 0; i < options_.sessions_max; ++i)
    calls.push_back(std::async(std::launch::async, [&] {
      return CallDaemon(options_.path, {}, [](ControlFrame::Kind, std::string_view) {});
    }));
  while (running < static_cast<int>(options_.sessions_max)) std::this_thread::yield();
  const auto refused = Call();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "CONTROL_BUSY");
  go.set_value();
  for (auto& call : calls) EXPECT_EQ(call.get().value_or(-1), 0);
}

TEST_F(Control, StopsWhatRunsAndSaysWhetherItEnded) {
  std::promise<void> running;
  Listen([&](ControlSession& session) {
    running.set_value();
    while (!session.stop()) std::this_thread::yield();
    (void)session.Write(ControlFrame::Kind::kTalk, "stopped early");
    return 3;
  });
  auto call = std::async(std::launch::async, [&] { return Call(); });
  running.get_future().get();
  EXPECT_TRUE(server_->Stop(60'000));
  EXPECT_EQ(call.get().value_or(-1), 3);
  EXPECT_EQ(talk_, "stopped early");
  EXPECT_NE(::access(options_.path.c_str(), F_OK), 0) << "the socket is gone";
  const auto after = Call();
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, "CONTROL_SOCKET");
}

TEST_F(Control, DoesNotHangOnACallerThatReadsNothing) {
  std::promise<void> running, done;
  Listen([&](ControlSession& session) {
    running.set_value();
    while (session.Write(ControlFrame::Kind::kData, std::string(100'000, 'a'))) {
    }
    done.set_value();
    return 0;
  });
  const std::string body = ControlCall().Json();
  const int fd = Connect();
  const std::string request =
      "POST /v1/command HTTP/1.1\r\nHost: etld\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  ASSERT_EQ(::send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  running.get_future().get();
  EXPECT_TRUE(server_->Stop(60'000));
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  ::close(fd);
}

TEST_F(Control, LetsNobodyInWhoIsInNoGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to ask as somebody else";
  Listen([](ControlSession&) { return 0; });
  ::chmod(dir_.path().c_str(), 0755);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool changed = ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const auto exit = CallDaemon(options_.path, {}, [](ControlFrame::Kind, std::string_view) {});
    ::_exit(changed && !exit && exit.error().code == "CONTROL_FORBIDDEN" ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Control, IsNotTakenFromWhoAnswersThere) {
  Listen([](ControlSession&) { return 0; });
  const auto second = ControlServer::Listen(options_, [](ControlSession&) { return 0; });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "CONTROL_IN_USE");
  EXPECT_EQ(Call().value_or(-1), 0) << "the first answers on";
}

}  // namespace
}  // namespace etl
