#include "serve/http.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace etl::serve {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(SetTarget, DecodesPathAndQuery) {
  Request request;
  ASSERT_TRUE(SetTarget(request, "/api/v1/runs/a%2Fb%20c?limit=5&q=%C3%A9+x&flag&&=v"));
  EXPECT_EQ(request.path, (std::vector<std::string>{"api", "v1", "runs", "a/b c"}));
  EXPECT_EQ(request.query, (Pairs{{"limit", "5"}, {"q", "\xC3\xA9 x"}, {"flag", ""}, {"", "v"}}));
  EXPECT_EQ(request.Param("limit"), "5");
  EXPECT_EQ(request.Param("none"), std::nullopt);
  ASSERT_TRUE(SetTarget(request, "/"));
  EXPECT_TRUE(request.path.empty());
  EXPECT_TRUE(request.query.empty());
  ASSERT_TRUE(SetTarget(request, "/runs/"));
  EXPECT_EQ(request.path, std::vector<std::string>{"runs"});
}

TEST(SetTarget, RefusesWhatIsNoPath) {
  const std::vector<std::string> wrong{
      "",           "runs",          "http://x/runs", "*",         "//",
      "/a//b",      "/a/./b",        "/..",           "/%2e%2e/x", "/%",
      "/%4",        "/%zz",          "/%00",          "/%ff",      "/%c0%af",
      "/%ed%a0%80", "/%f4%90%80%80", "/a?x=%1f",      "/a?x=%c3",  "/a b",
      "/a#b",       "/\x80",         "/%f0%80%80%80", "/%e2%82",   "/a?%e9=1"};
  for (const std::string& target : wrong) {
    Request request;
    const Status read = SetTarget(request, target);
    ASSERT_FALSE(read) << target;
    EXPECT_EQ(read.error().code, "TARGET_PATTERN") << target;
    EXPECT_TRUE(request.path.empty() && request.query.empty()) << target;
  }
}

TEST(SetTarget, LimitsLengthSegmentsAndParameters) {
  Request request;
  EXPECT_TRUE(SetTarget(request, "/" + std::string(kTargetBytesMax - 1, 'a')));
  std::string segments, parameters = "/?";
  for (std::size_t i = 0; i <= kSegmentsMax; ++i) segments += "/a";
  for (std::size_t i = 0; i <= kQueryPairsMax; ++i) parameters += "a=1&";
  for (const std::string& target : {"/" + std::string(kTargetBytesMax, 'a'), segments, parameters}) {
    const Status read = SetTarget(request, target);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "TARGET_TOO_LONG");
  }
}

TEST(Problem, SaysWhatIsWrongInProblemDetails) {
  Response response =
      Problem(Error{Errc::kNotFound, "NOT_FOUND", "runs/\"x\"", "no such run", "look closer"});
  Finish(response, "7f-1");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(*response.body,
            R"({"type":"urn:etld:problem:NOT_FOUND","title":"Not Found","status":404,"code":"NOT_FOUND",)"
            R"("detail":"no such run","requestId":"7f-1","where":"runs/\"x\"","fix":"look closer"})"
            "\n");
}

TEST(Problem, TellsTheCallerNothingOfFilesOrKeys) {
  for (const Errc errc : {Errc::kCorrupt, Errc::kUnavailable, Errc::kStopped}) {
    Response response = Problem(Error{errc, "VALUE_CHECKSUM", "/var/lib/etld/db", "key o12", "see /etc"});
    Finish(response, "1");
    EXPECT_EQ(response.status, errc == Errc::kCorrupt ? 500 : 503);
    EXPECT_NE(response.body->find("VALUE_CHECKSUM"), std::string::npos);
    for (const char* inside : {"/var", "o12", "/etc"})
      EXPECT_EQ(response.body->find(inside), std::string::npos) << inside;
  }
}

}  // namespace
}  // namespace etl::serve
