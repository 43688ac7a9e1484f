#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/fetch/http_test_support.h"

namespace etl::test {

// What a server does to every request of the key "a", and what comes of it.
struct HostileCase {
  std::string name;
  LoopbackAction action;
  std::string outcome;       // as HttpTransportTest::Outcome says it
  std::size_t requests = 1;  // of "a", as the server counted them
  std::function<void(FetchSettings&)> tune = nullptr;

  friend std::ostream& operator<<(std::ostream& out, const HostileCase& c) { return out << c.name; }
};

// TEST_P over HostileCase calls Check(); the server must be up by then.
class HostileTest : public HttpTransportTest, public testing::WithParamInterface<HostileCase> {
 protected:
  void Check() {
    const HostileCase& c = GetParam();
    if (c.tune) c.tune(settings_);
    upstream_->Always("a", c.action);
    EXPECT_EQ(Outcome("a"), c.outcome);
    EXPECT_EQ(Count("a"), c.requests);
    CheckUsable();
  }
  // Whatever was done to one request, the next is answered.
  void CheckUsable() {
    upstream_->ClearScripts();
    upstream_->Put("next", "as ever");
    EXPECT_EQ(Outcome("next"), "200 as ever");
  }
};

inline std::string NameOfCase(const testing::TestParamInfo<HostileCase>& of) {
  return of.param.name;
}

}  // namespace etl::test
