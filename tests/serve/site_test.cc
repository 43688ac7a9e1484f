#include "serve/site.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/backfill.h"
#include "tests/support/manual_clock.h"

namespace etl::serve {
namespace {

Response Get(const Site& site, const char* target) {
  Request request;
  request.method = "GET";
  EXPECT_TRUE(SetTarget(request, target));
  return site.Answer(request);
}

TEST(Site, IsReadyWhenNothingSpeaksAgainstIt) {
  test::ManualClock clock;
  std::vector<std::string> reasons{"a was never visited in full", "the disk is full"};
  const auto store = test::OpenStore("", clock);
  Site site(SiteHooks{{}, [&] { return reasons; }});
  site.SetStore(store.get());
  const Response not_ready = Get(site, "/readyz");
  EXPECT_EQ(not_ready.status, 503);
  ASSERT_TRUE(not_ready.problem);
  EXPECT_EQ(not_ready.problem->what, "a was never visited in full; the disk is full");
  reasons.clear();
  EXPECT_EQ(*Get(site, "/readyz").body, "{\"ready\":true}\n");
}

TEST(Site, ShowsMetricsOnlyWhereThereAreSome) {
  EXPECT_EQ(Get(Site(SiteHooks{}), "/metrics").status, 404);
  const Response metrics = Get(Site(SiteHooks{[] { return "etld_x 1\n"; }, {}}), "/metrics");
  EXPECT_EQ(*metrics.body, "etld_x 1\n");
  EXPECT_EQ(metrics.route, "metrics");
}

TEST(Site, AFailingHookIsAnswered500WithoutItsWords) {
  const Site site(SiteHooks{[]() -> std::string { throw std::runtime_error("secret"); }, {}});
  Response response = Get(site, "/metrics");
  EXPECT_EQ(response.status, 500);
  Finish(response, "1");
  EXPECT_EQ(response.body->find("secret"), std::string::npos);
}

}  // namespace
}  // namespace etl::serve
