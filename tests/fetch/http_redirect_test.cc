#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fetch/http_test_support.h"

namespace etl::test {
namespace {

using testing::HasSubstr;

class HttpRedirects : public HttpTransportTest {};

TEST_F(HttpRedirects, FollowsUpToThree) {
  Serve();
  for (const int status : {301, 302, 303, 307, 308}) {
    upstream_->ClearScripts();
    upstream_->Always("r1", Redirect(status, "/api/r2"));
    upstream_->Always("r2", Redirect(status, "r3?x=1"));
    upstream_->Always("r3?x=1", Redirect(status, upstream_->base_url() + "/a#part"));
    const auto response = Fetch("r1");
    ASSERT_TRUE(response) << response.error().Message();
    EXPECT_EQ(response->bytes, "alpha");
    EXPECT_EQ(response->origin, upstream_->base_url() + "/a");
  }
  upstream_->Always("r0", Redirect(301, "/api/r1"));
  EXPECT_EQ(Outcome("r0"), "HTTP_REDIRECTS");
}

TEST_F(HttpRedirects, EndsALoop) {
  Serve();
  upstream_->Always("loop", RedirectToItself());
  EXPECT_EQ(Outcome("loop"), "HTTP_REDIRECTS");
  EXPECT_EQ(Count("loop"), 4U);
}

TEST_F(HttpRedirects, TakesARedirectWithoutAPlaceForAnAnswer) {
  Serve();
  upstream_->Always("a", Reply(302, "nowhere"));
  EXPECT_EQ(Outcome("a"), "302 nowhere");
}

TEST_F(HttpRedirects, RefusesPlacesThatAreNotAllowed) {
  Serve();
  const std::string port = std::to_string(upstream_->port());
  for (const std::string& place :
       {std::string("http://169.254.169.254/latest/meta-data/"), std::string("https://example.org/"),
        "http://localhost:" + port + "/api/a", std::string("http://127.0.0.1:1/"),
        std::string("//example.org/a"), std::string("ftp://127.0.0.1/a"), std::string("file:///etc/passwd"),
        std::string("gopher://127.0.0.1/"), std::string("javascript:alert(1)"),
        std::string("http://user:secret@127.0.0.1:") + port + "/api/a",
        std::string("http://[::1]:") + port + "/api/a", std::string("http://\x01/")}) {
    upstream_->ClearScripts();
    upstream_->Always("r", Redirect(302, place));
    EXPECT_EQ(Outcome("r"), "HTTP_REDIRECT_FORBIDDEN") << place;
  }
  // Another way to write the same address is the same address.
  upstream_->ClearScripts();
  upstream_->Always("r", Redirect(302, "http://0x7f.1:" + port + "/api/a"));
  EXPECT_EQ(Outcome("r"), "200 alpha");
}

TEST_F(HttpRedirects, DoesNotGoFromHttpsToHttp) {
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  settings_.allowed_hosts = {"127.0.0.1:80"};
  upstream_->Always("r", Redirect(302, "http://127.0.0.1/"));
  EXPECT_EQ(Outcome("r"), "HTTP_REDIRECT_FORBIDDEN");
}

TEST_F(HttpRedirects, TellsNoValidatorToAnotherOriginAndTakesNoneFromIt) {
  Serve();
  LoopbackOptions options;
  options.etag = LoopbackOptions::Etag::kStrong;
  LoopbackUpstream other(options);
  other.Put("b", "beta");
  settings_.allowed_hosts = {"127.0.0.1:" + std::to_string(other.port())};
  upstream_->Always("r", Redirect(302, other.base_url() + "/b"));
  const auto response = Fetch("r", {"\"mine\"", ""});
  ASSERT_TRUE(response) << response.error().Message();
  EXPECT_EQ(response->bytes, "beta");
  EXPECT_TRUE(response->validators.empty());
  EXPECT_EQ(upstream_->log().back().Header("If-None-Match"), "\"mine\"");
  EXPECT_EQ(other.log().back().key, "b");
  EXPECT_EQ(other.log().back().Header("If-None-Match"), "");
  EXPECT_EQ(other.CountOf("/robots.txt"), 1U);
}

TEST_F(HttpRedirects, ALoopbackSourceReachesNothingButLoopback) {
  Serve();
  settings_.allowed_hosts = {"169.254.169.254", "93.184.216.34"};
  settings_.attempts_max = 1;
  for (const char* place : {"http://169.254.169.254/latest", "https://93.184.216.34/"}) {
    upstream_->ClearScripts();
    upstream_->Always("r", Redirect(302, place));
    EXPECT_EQ(Outcome("r"), "HTTP_ADDRESS_FORBIDDEN") << place;
  }
}

TEST_F(HttpRedirects, APublicNameThatLeadsInsideIsNotConnectedTo) {
  settings_.base_url = "https://leaderboard.example/api";
  settings_.contact = "operator@example.org";
  settings_.requests_per_second = 0;
  LoopbackOptions options;
  options.tls = true;
  LoopbackUpstream inside(options);
  for (const std::string& address :
       {std::string("127.0.0.1"), std::string("[::1]"), std::string("10.0.0.1"),
        std::string("169.254.169.254"), std::string("100.64.0.1"), std::string("[::ffff:127.0.0.1]"),
        std::string("[fd00:ec2::254]"), std::string("0.0.0.0"), std::string("[64:ff9b::7f00:1]")}) {
    transport_.reset();
    settings_.base_url = "https://leaderboard.example:" + std::to_string(inside.port()) + "/api";
    seams_.resolve = {"leaderboard.example:" + std::to_string(inside.port()) + ":" + address};
    const auto response = Fetch("a");
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, "HTTP_ADDRESS_FORBIDDEN") << address;
  }
  EXPECT_EQ(inside.connections(), 0U);
}

TEST_F(HttpRedirects, ReachesALoopbackNameOverTls) {
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  settings_.base_url = "https://localhost:" + std::to_string(upstream_->port()) + "/api";
  EXPECT_EQ(Outcome("a"), "200 alpha");
}

}  // namespace
}  // namespace etl::test
