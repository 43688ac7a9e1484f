// The program's own HTTP port.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/listen.h"
#include "tests/support/etld_process.h"
#include "tests/support/http_client.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/temp_dir.h"

namespace etl {
namespace {

using test::EtldProcess;
using test::HttpAnswer;
using test::HttpClient;
using test::HttpGet;
using ::testing::HasSubstr;

class DaemonHttp : public testing::Test {
 protected:
  DaemonHttp() {
    test::LoopbackOptions options;
    options.folder = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/1";
    upstream_ = std::make_unique<test::LoopbackUpstream>(options);
  }
  std::unique_ptr<EtldProcess> Start(const std::string& settings) {
    test::EtldOptions options;
    options.program = ETLD_PATH;
    options.dir = dir_.path();
    options.settings = settings;
    return std::make_unique<EtldProcess>(std::move(options));
  }
  std::unique_ptr<EtldProcess> Ready() {
    auto daemon = Start(test::EtldSettings(dir_.path(), upstream_->base_url()));
    EXPECT_TRUE(daemon->Notified("READY=1")) << daemon->Log();
    return daemon;
  }
  // The port that the log names.
  static std::uint16_t PortOf(const EtldProcess& daemon) {
    const std::string log = daemon.Log();
    const std::string mark = "127.0.0.1:";
    const std::size_t at = log.find(mark, log.find("listen"));
    return static_cast<std::uint16_t>(
        at == std::string::npos ? 0 : std::strtoul(log.c_str() + at + mark.size(), nullptr, 10));
  }

  test::TempDir dir_{"http"};
  std::unique_ptr<test::LoopbackUpstream> upstream_;
};

TEST_F(DaemonHttp, AnswersOnItsPortAndTellsHowItIs) {
  const auto daemon = Ready();
  const std::uint16_t port = PortOf(*daemon);
  ASSERT_NE(port, 0) << daemon->Log();
  EXPECT_EQ(HttpGet(port, "/livez").value_or(HttpAnswer()).status, 200);
  ASSERT_TRUE(daemon->Until([&] { return HttpGet(port, "/readyz").value_or(HttpAnswer()).status == 200; }))
      << HttpGet(port, "/readyz").value_or(HttpAnswer()).body << daemon->Log();
  EXPECT_THAT(HttpGet(port, "/api/v1/runs?limit=1").value_or(HttpAnswer()).body, HasSubstr("\"digest\""));
  HttpAnswer metrics = HttpGet(port, "/metrics").value_or(HttpAnswer());
  EXPECT_EQ(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  for (const char* part :
       {"etld_visits_total{source=\"sol-execbench\",result=\"full\"}", "etld_store_open 1",
        "etld_requests_total{source=\"sol-execbench\",outcome=\"answered\"}", "etld_disk_free_bytes",
        "etld_http_requests_total{route=\"health\",status=\"200\"}",
        "etld_store_commit_duration_seconds_count"})
    EXPECT_THAT(metrics.body, HasSubstr(part));
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0) << daemon->Log();
}

TEST_F(DaemonHttp, IsNotReadyBeforeItsFirstVisitAndSaysWhy) {
  upstream_.reset();
  const auto daemon = Start(test::EtldSettings(dir_.path(), "http://127.0.0.1:9"));
  ASSERT_TRUE(daemon->Notified("READY=1")) << daemon->Log();
  const HttpAnswer answer = HttpGet(PortOf(*daemon), "/readyz").value_or(HttpAnswer());
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "NOT_READY");
  EXPECT_THAT(answer.body, HasSubstr("sol-execbench was never visited in full"));
}

TEST_F(DaemonHttp, StopsInTimeWithClientsThatHoldOn) {
  const auto daemon = Ready();
  const std::uint16_t port = PortOf(*daemon);
  HttpClient rests(port), waits(port), half(port);
  ASSERT_TRUE(rests.Get("/livez"));
  ASSERT_TRUE(half.Send("GET / HT"));
  ASSERT_TRUE(waits.Send("GET /api/v1/changes?wait=60&type=none HTTP/1.1\r\nHost: t\r\n\r\n"));
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0) << daemon->Log();
}

TEST_F(DaemonHttp, APortInUseIsOneLineAndExitStatusFive) {
  const auto taken = ListenOn("127.0.0.1", 0);
  ASSERT_TRUE(taken);
  std::string settings = test::EtldSettings(dir_.path(), upstream_->base_url());
  const std::string any = "listen_port = 0";
  settings.replace(settings.find(any), any.size(), "listen_port = " + std::to_string(taken->Port()));
  const auto daemon = Start(settings);
  EXPECT_EQ(daemon->Wait(), 5);
  EXPECT_THAT(daemon->Log(), HasSubstr("SERVE_IN_USE"));
  EXPECT_THAT(daemon->Log(), HasSubstr(std::to_string(taken->Port())));
}

}  // namespace
}  // namespace etl
