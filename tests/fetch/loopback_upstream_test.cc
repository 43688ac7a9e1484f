// The server that the other tests trust.

#include "tests/support/loopback_upstream.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fetch/transport.h"
#include "model/json.h"
#include "tests/support/loopback_actions.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Sends the bytes on a connection of its own and gives everything that comes back until it ends. The last
// request has to ask for the end.
std::string Exchange(const LoopbackUpstream& upstream, const std::string& bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(upstream.port());
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
      send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size())) {
    char piece[4096];
    for (ssize_t got = 0; (got = recv(fd, piece, sizeof piece, 0)) > 0;)
      answer.append(piece, static_cast<std::size_t>(got));
  }
  if (fd >= 0) close(fd);
  return answer;
}

std::string Get(const LoopbackUpstream& upstream, const std::string& target, const std::string& headers = "",
                const std::string& method = "GET") {
  return Exchange(upstream,
                  method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "Connection: close\r\n\r\n");
}

std::string BodyOfAnswer(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "no head" : answer.substr(end + 4);
}

std::string GetBody(const LoopbackUpstream& upstream, const std::string& target) {
  return BodyOfAnswer(Get(upstream, target));
}

// A leaderboard of one kernel with seven rows.
class LoopbackUpstreamTest : public testing::Test {
 protected:
  LoopbackUpstreamTest() {
    std::filesystem::create_directories(dir_.File("kernels"));
    std::filesystem::create_directories(dir_.File("submissions"));
    std::filesystem::create_directories(dir_.File("leaderboard/kernel/5"));
    Write("kernels.json", R"({"data": {"kernels": [{"id": 5}]}})");
    Write("kernels/5.json", R"({"data": {"id": 5}})");
    Write("leaderboard/kernel/5/B200.json", R"({"data": {"gpu": "B200"}})");
    Write("leaderboard/kernel/5/B200@evaluation_stack_version=v2.json", R"({"data": {"stack": "v2"}})");
    std::string rows;
    for (int id = 7; id >= 1; --id) {
      rows += id < 7 ? ",\n  " : "";
      rows += R"({"id": )" + std::to_string(id) + R"(, "gpu_type": ")" + (id % 2 == 1 ? "B200" : "H100") +
              R"(", "evaluation_stack_version": ")" + (id > 4 ? "v2" : "v1") + R"(", "status": ")" +
              (id == 7 ? "RUNNING" : "COMPLETED") + R"("})";
    }
    Write("submissions/5.json", R"({"data": {"submissions": [)" + rows + R"(], "total": 7, "offset": 0}})");
    options_.folder = dir_.path();
    options_.prefix = "/api";
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_.File(name), std::ios::binary | std::ios::trunc) << text;
  }
  // The ids of a page, and its total behind a slash.
  static std::string Rows(const std::string& body) {
    const auto document = json::Document::Parse(body);
    if (!document) return document.error().Message();
    std::string text;
    for (const json::Value row : document->root().At({"data", "submissions"}).elements())
      text += std::string(row.Find("id").NumberText()) + " ";
    return text + "/ " + std::string(document->root().At({"data", "total"}).NumberText());
  }
  static std::string Rows(const LoopbackUpstream& upstream, const std::string& query) {
    return Rows(GetBody(upstream, "/api/submissions?kernel_id=5" + query));
  }

  TempDir dir_{"upstream"};
  LoopbackOptions options_;
};

TEST_F(LoopbackUpstreamTest, AnswersWhatTheFolderAnswers) {
  const LoopbackUpstream upstream(options_);
  auto folder = OpenFolder(dir_.path());
  ASSERT_TRUE(folder) << folder.error().Message();
  for (const std::string key :
       {"kernels", "kernels/5", "leaderboard/kernel/5/B200",
        "leaderboard/kernel/5/B200?evaluation_stack_version=v2", "submissions?kernel_id=5",
        "submissions?kernel_id=5&limit=3&offset=0", "submissions?kernel_id=5&limit=3&offset=3",
        "submissions?kernel_id=5&limit=3&offset=6", "submissions?kernel_id=5&limit=3&offset=9"}) {
    const auto saved = (*folder)->Fetch(key);
    ASSERT_TRUE(saved) << saved.error().Message();
    for (int again = 0; again < 2; ++again) EXPECT_EQ(GetBody(upstream, "/api/" + key), saved->bytes) << key;
  }
}

TEST_F(LoopbackUpstreamTest, SaysWhatIsNotThere) {
  const LoopbackUpstream upstream(options_);
  EXPECT_THAT(Get(upstream, "/api/kernels/6"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(Get(upstream, "/kernels"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get(upstream, "/apikernels"), StartsWith("HTTP/1.1 404 "));
  EXPECT_EQ(GetBody(upstream, "/api/kernels/6"), R"({"detail":"Not Found"})");
  EXPECT_THAT(Get(upstream, "/api/submissions?limit=3"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Get(upstream, "/api/submissions?kernel_id=5&colour=red"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Get(upstream, "/api/../secret"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Get(upstream, "/api/kernels", "", "POST"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Get(upstream, "/robots.txt"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(LoopbackUpstreamTest, FiltersRowsAndCountsThem) {
  const LoopbackUpstream upstream(options_);
  EXPECT_EQ(Rows(upstream, ""), "7 6 5 4 3 2 1 / 7");
  EXPECT_EQ(Rows(upstream, "&gpu_type=B200"), "7 5 3 1 / 4");
  EXPECT_EQ(Rows(upstream, "&gpu_type=B200&limit=2&offset=1"), "5 3 / 4");
  EXPECT_EQ(Rows(upstream, "&gpu_type=B200&evaluation_stack_version=v1"), "3 1 / 2");
  EXPECT_EQ(Rows(upstream, "&status=RUNNING"), "7 / 1");
  EXPECT_EQ(Rows(upstream, "&status=FAILED"), "/ 0");
}

TEST_F(LoopbackUpstreamTest, ShowsNoMoreThanItsWindow) {
  options_.window_rows = 3;
  LoopbackUpstream upstream(options_);
  EXPECT_EQ(Rows(upstream, ""), "7 6 5 / 3");
  EXPECT_EQ(Rows(upstream, "&limit=2&offset=2"), "5 / 3");
  EXPECT_EQ(Rows(upstream, "&limit=2&offset=3"), "/ 3");
  EXPECT_EQ(Rows(upstream, "&gpu_type=H100"), "6 4 2 / 3");
  EXPECT_EQ(Rows(upstream, "&evaluation_stack_version=v1"), "4 3 2 / 3");
  upstream.SetWindow(0);
  EXPECT_EQ(Rows(upstream, "&limit=2&offset=5"), "2 1 / 7");
}

TEST_F(LoopbackUpstreamTest, CutsPagesToItsOwnLimit) {
  options_.limit_max = 2;
  const LoopbackUpstream upstream(options_);
  EXPECT_EQ(Rows(upstream, "&limit=100"), "7 6 / 7");
  EXPECT_EQ(Rows(upstream, "&limit=1&offset=6"), "1 / 7");
}

TEST_F(LoopbackUpstreamTest, SeesFilesThatChange) {
  const LoopbackUpstream upstream(options_);
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), R"({"data": {"id": 5}})");
  Write("kernels/5.json", "changed, and longer than before");
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), "changed, and longer than before");
  std::filesystem::remove(dir_.File("kernels/5.json"));
  EXPECT_THAT(Get(upstream, "/api/kernels/5"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(LoopbackUpstreamTest, PrefersWhatWasPut) {
  LoopbackUpstream upstream(options_);
  upstream.Put("kernels/5", "mine");
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), "mine");
  upstream.Put("kernels/5", "mine again");
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), "mine again");
  upstream.Remove("kernels/5");
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), R"({"data": {"id": 5}})");
  upstream.SetRobots("User-agent: *\n");
  EXPECT_EQ(GetBody(upstream, "/robots.txt"), "User-agent: *\n");
}

TEST_F(LoopbackUpstreamTest, AnswersNotModifiedToItsOwnTag) {
  for (const auto etag : {LoopbackOptions::Etag::kStrong, LoopbackOptions::Etag::kWeak}) {
    options_.etag = etag;
    LoopbackUpstream upstream(options_);
    const std::string first = Get(upstream, "/api/kernels");
    const std::size_t begin = first.find("ETag: ");
    ASSERT_NE(begin, std::string::npos);
    const std::string tag = first.substr(begin + 6, first.find("\r\n", begin) - begin - 6);
    EXPECT_EQ(tag.starts_with("W/\""), etag == LoopbackOptions::Etag::kWeak);
    const std::string again = Get(upstream, "/api/kernels", "If-None-Match: " + tag + "\r\n");
    EXPECT_THAT(again, StartsWith("HTTP/1.1 304 Not Modified\r\n"));
    EXPECT_THAT(again, HasSubstr("ETag: " + tag));
    EXPECT_THAT(again, Not(HasSubstr("Content-Length")));
    EXPECT_EQ(BodyOfAnswer(again), "");
    upstream.Put("kernels", "new");
    EXPECT_EQ(BodyOfAnswer(Get(upstream, "/api/kernels", "If-None-Match: " + tag + "\r\n")), "new");
  }
}

TEST_F(LoopbackUpstreamTest, AnswersNotModifiedToItsOwnDate) {
  options_.last_modified = true;
  const LoopbackUpstream upstream(options_);
  const std::string first = Get(upstream, "/api/kernels");
  const std::size_t begin = first.find("Last-Modified: ");
  ASSERT_NE(begin, std::string::npos);
  const std::string date = first.substr(begin + 15, first.find("\r\n", begin) - begin - 15);
  EXPECT_THAT(Get(upstream, "/api/kernels", "If-Modified-Since: " + date + "\r\n"),
              StartsWith("HTTP/1.1 304 "));
  EXPECT_THAT(Get(upstream, "/api/kernels", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(LoopbackUpstreamTest, CompressesForWhoAccepts) {
  options_.gzip = true;
  const LoopbackUpstream upstream(options_);
  const std::string body = R"({"data": {"id": 5}})";
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), body);
  const std::string coded = Get(upstream, "/api/kernels/5", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(coded, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_EQ(BodyOfAnswer(coded), GzipText(body));
}

TEST_F(LoopbackUpstreamTest, KeepsAConnectionAndLogsWhatItRead) {
  LoopbackUpstream upstream(options_);
  const std::string both = Exchange(upstream,
                                    "HEAD /api/kernels/5 HTTP/1.1\r\nX-A:  one\r\n\r\n"
                                    "GET /api/kernels/5 HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(both, EndsWith(R"({"data": {"id": 5}})"));
  EXPECT_EQ(both.find(R"({"data")"), both.rfind(R"({"data")")) << "no body to HEAD";
  Get(upstream, "/elsewhere");
  const auto log = upstream.log();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0].method, "HEAD");
  EXPECT_EQ(log[0].target, "/api/kernels/5");
  EXPECT_EQ(log[0].key, "kernels/5");
  EXPECT_EQ(log[0].Header("x-a"), "one");
  EXPECT_EQ(log[0].Header("x-b"), "");
  EXPECT_EQ(log[0].connection, 1);
  EXPECT_EQ(log[1].connection, 1);
  EXPECT_EQ(log[2].connection, 2);
  EXPECT_EQ(log[2].key, "");
  EXPECT_EQ(upstream.CountOf("kernels/5"), 2U);
  EXPECT_EQ(upstream.CountOf("/elsewhere"), 1U);
  upstream.ClearLog();
  EXPECT_EQ(upstream.count(), 0U);
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST_F(LoopbackUpstreamTest, CountsWhatItDoesNotLog) {
  options_.log_max = 2;
  const LoopbackUpstream upstream(options_);
  for (int i = 0; i < 5; ++i) Get(upstream, "/api/kernels");
  EXPECT_EQ(upstream.log().size(), 2U);
  EXPECT_EQ(upstream.count(), 5U);
}

TEST_F(LoopbackUpstreamTest, ClosesAfterEveryAnswerIfTold) {
  options_.keep_alive = false;
  const LoopbackUpstream upstream(options_);
  EXPECT_THAT(Exchange(upstream, "GET /api/kernels/5 HTTP/1.1\r\n\r\n"), HasSubstr("Connection: close\r\n"));
}

TEST_F(LoopbackUpstreamTest, TakesTheFirstRuleThatIsDue) {
  LoopbackUpstream upstream(options_);
  upstream.Nth("kernels", 2, Substitute("second"));
  upstream.First("kernels", 3, Substitute("early"));
  upstream.Script({"kern", true, 5, 0, Substitute("late")});
  std::string seen;
  for (int i = 0; i < 6; ++i) {
    const std::string body = GetBody(upstream, "/api/kernels");
    seen += body.starts_with("{") ? "usual " : body + " ";
  }
  EXPECT_EQ(seen, "early second early usual late late ");
  upstream.ClearScripts();
  upstream.AlwaysUnder("/api/", Substitute("all"));
  EXPECT_EQ(GetBody(upstream, "/api/kernels/5"), "all");
  EXPECT_THAT(Get(upstream, "/robots.txt"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(LoopbackUpstreamTest, SaysThatItCannotBegin) {
  options_.folder = dir_.File("nothing");
  EXPECT_THROW(LoopbackUpstream{options_}, std::runtime_error);
  options_.folder = dir_.path();
  const LoopbackUpstream first(options_);
  EXPECT_THAT(first.origin(), StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(first.base_url(), first.origin() + "/api");
  EXPECT_EQ(first.ca_file(), "");
}

// Ends with a client that still waits.
TEST_F(LoopbackUpstreamTest, EndsWithConnectionsOpen) {
  auto upstream = std::make_unique<LoopbackUpstream>(options_);
  upstream->Always("kernels", Silence());
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(upstream->port());
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
  const std::string request = "GET /api/kernels HTTP/1.1\r\n\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  upstream.reset();
  char ignored = 0;
  EXPECT_LE(recv(fd, &ignored, 1, 0), 0);
  close(fd);
}

}  // namespace
}  // namespace etl::test
