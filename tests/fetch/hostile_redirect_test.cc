// Redirects that lead nowhere, or where nobody should go.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fetch/hostile_support.h"

namespace etl::test {
namespace {

class HostileRedirectTest : public HostileTest {};

TEST_P(HostileRedirectTest, HasExactlyThisOutcome) {
  Serve();
  upstream_->Put("there", "arrived");
  upstream_->Always("loop", Redirect(302, "/api/a"));
  Check();
}

INSTANTIATE_TEST_SUITE_P(
    Places, HostileRedirectTest,
    testing::Values(
        HostileCase{"ToItself", RedirectToItself(301), "HTTP_REDIRECTS", 4},
        HostileCase{"InACircleOfTwo", Redirect(302, "/api/loop"), "HTTP_REDIRECTS", 2},
        HostileCase{"MovedPermanently", Redirect(301, "/api/there"), "200 arrived", 1},
        HostileCase{"Found", Redirect(302, "/api/there"), "200 arrived", 1},
        HostileCase{"SeeOther", Redirect(303, "/api/there"), "200 arrived", 1},
        HostileCase{"Temporary", Redirect(307, "/api/there"), "200 arrived", 1},
        HostileCase{"Permanent", Redirect(308, "/api/there"), "200 arrived", 1},
        HostileCase{"ToARelativePlace", Redirect(301, "there"), "200 arrived", 1},
        HostileCase{"ToWhatIsNotThere", Redirect(301, "/api/nowhere"), R"(404 {"detail":"Not Found"})", 1},
        HostileCase{"WithoutAPlace", Reply(301, "moved"), "301 moved", 1},
        HostileCase{"ToAMetadataAddress", Redirect(301, "http://169.254.169.254/latest/meta-data/"),
                    "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAMetadataAddressWithoutScheme", Redirect(301, "//169.254.169.254/latest"),
                    "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAMetadataAddressThatWasAllowed", Redirect(301, "http://169.254.169.254/latest"),
                    "HTTP_ADDRESS_FORBIDDEN", 1,
                    [](FetchSettings& settings) { settings.allowed_hosts = {"169.254.169.254"}; }},
        HostileCase{"ToAPrivateAddressThatWasAllowed", Redirect(301, "https://10.0.0.1/"),
                    "HTTP_ADDRESS_FORBIDDEN", 1,
                    [](FetchSettings& settings) { settings.allowed_hosts = {"10.0.0.1"}; }},
        HostileCase{"ToAnotherHost", Redirect(301, "https://example.org/a"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAnotherHostOverHttp", Redirect(301, "http://example.org/a"), "HTTP_REDIRECT_FORBIDDEN",
                    1},
        HostileCase{"ToAnotherPort", Redirect(301, "http://127.0.0.1:1/a"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAFile", Redirect(301, "file:///etc/hostname"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToFtp", Redirect(301, "ftp://127.0.0.1/a"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToGopher", Redirect(301, "gopher://127.0.0.1:70/1"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAScript", Redirect(301, "javascript:alert(1)"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAHostNameOfNothing", Redirect(301, "http:///a"), "HTTP_REDIRECT_FORBIDDEN", 1},
        HostileCase{"ToAPortThatIsNone", Redirect(301, "http://127.0.0.1:99999/a"), "HTTP_REDIRECT_FORBIDDEN",
                    1}),
    NameOfCase);

// a -> hop/1 -> hop/2 -> ... -> hop/n, which has the answer.
void PutChain(LoopbackUpstream& upstream, int hops) {
  const auto place = [](int n) { return n == 0 ? std::string("a") : "hop/" + std::to_string(n); };
  for (int n = 0; n < hops; ++n) upstream.Always(place(n), Redirect(301, "/api/" + place(n + 1)));
  upstream.Put(place(hops), "arrived");
}

TEST_F(HttpTransportTest, FollowsThreeRedirects) {
  Serve();
  PutChain(*upstream_, 3);
  const auto response = Fetch("a");
  ASSERT_TRUE(response) << response.error().Message();
  EXPECT_EQ(response->bytes, "arrived");
  EXPECT_EQ(response->origin, upstream_->base_url() + "/hop/3");
  EXPECT_EQ(upstream_->count(), 5U) << "robots.txt and four";
}

TEST_F(HttpTransportTest, RefusesTheFourthRedirect) {
  Serve();
  PutChain(*upstream_, 4);
  EXPECT_EQ(Outcome("a"), "HTTP_REDIRECTS");
  EXPECT_EQ(Count("hop/3"), 1U);
  EXPECT_EQ(Count("hop/4"), 0U);
}

TEST_F(HttpTransportTest, NeverReachesAnotherPortThatWasNotAllowed) {
  Serve();
  LoopbackUpstream other;
  other.Put("a", "not yours");
  upstream_->Always("a", Redirect(301, other.base_url() + "/a"));
  EXPECT_EQ(Outcome("a"), "HTTP_REDIRECT_FORBIDDEN");
  EXPECT_EQ(other.connections(), 0U);
}

TEST_F(HttpTransportTest, TakesNoValidatorsToOrFromAnAllowedHost) {
  LoopbackOptions options;
  options.etag = LoopbackOptions::Etag::kStrong;
  LoopbackUpstream other(options);
  other.Put("a", "elsewhere");
  Serve(options);
  settings_.allowed_hosts = {"127.0.0.1:" + std::to_string(other.port())};
  upstream_->Always("a", Redirect(301, other.base_url() + "/a"));
  Validators held;
  held.etag = "\"mine\"";
  const auto response = Fetch("a", held);
  ASSERT_TRUE(response) << response.error().Message();
  EXPECT_EQ(response->bytes, "elsewhere");
  EXPECT_TRUE(response->validators.empty());
  for (const LoopbackRequest& request : other.log()) EXPECT_EQ(request.Header("If-None-Match"), "");
  EXPECT_EQ(other.CountOf("a"), 1U);
  EXPECT_EQ(other.CountOf("/robots.txt"), 1U) << "every host has its own rules";
}

TEST_F(HttpTransportTest, NeverGoesFromHttpsToHttp) {
  LoopbackUpstream plain;
  plain.Put("a", "in the open");
  LoopbackOptions options;
  options.tls = true;
  Serve(options);
  settings_.allowed_hosts = {"127.0.0.1:" + std::to_string(plain.port())};
  upstream_->Always("a", Redirect(301, plain.base_url() + "/a"));
  EXPECT_EQ(Outcome("a"), "HTTP_REDIRECT_FORBIDDEN");
  EXPECT_EQ(plain.connections(), 0U);
}

// An allowed name is no allowed address: what it resolves to is looked at when the connection is made.
TEST_F(HttpTransportTest, RefusesAnAllowedNameWithAForbiddenAddress) {
  for (const char* address : {"10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
                              "0.0.0.0", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]", "93.184.216.34"}) {
    Serve();
    settings_.allowed_hosts = {"name.example"};
    seams_.resolve = {std::string("name.example:443:") + address};
    upstream_->Always("a", Redirect(301, "https://name.example/a"));
    EXPECT_EQ(Outcome("a"), "HTTP_ADDRESS_FORBIDDEN") << address << " is not the loopback that the source is";
    transport_.reset();
  }
}

TEST_F(HttpTransportTest, AsksRobotsAboutThePlaceOfARedirect) {
  Serve();
  upstream_->SetRobots("User-agent: *\nDisallow: /private/\n");
  upstream_->Always("a", Redirect(301, "/private/a"));
  EXPECT_EQ(Outcome("a"), "ROBOTS_DISALLOWED");
  EXPECT_EQ(Count("/private/a"), 0U);
}

}  // namespace
}  // namespace etl::test
