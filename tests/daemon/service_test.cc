#include "daemon/service.h"

#include <gtest/gtest.h>

namespace etl {
namespace {

TEST(ServiceExit, TellsASupervisorWhetherTryingAgainHelps) {
  const struct {
    Errc errc;
    const char* code;
    int exit;
  } cases[] = {
      {Errc::kInvalid, "CONFIG_RANGE", 2},       {Errc::kNotFound, "CONFIG_MISSING", 2},
      {Errc::kInvalid, "FETCH_BASE_URL", 2},     {Errc::kUnavailable, "STORE_LOCKED", 5},
      {Errc::kConflict, "CONTROL_IN_USE", 5},    {Errc::kConflict, "SERVE_IN_USE", 5},
      {Errc::kCorrupt, "STORE_DAMAGED", 6},      {Errc::kCorrupt, "STORE_LOST_COMMITS", 6},
      {Errc::kInvalid, "STORE_FORMAT", 6},       {Errc::kUnavailable, "STORE_IO", 1},
      {Errc::kUnavailable, "CONTROL_SOCKET", 1},
  };
  for (const auto& c : cases) EXPECT_EQ(ServiceExit({c.errc, c.code, "", "", ""}), c.exit) << c.code;
}

}  // namespace
}  // namespace etl
