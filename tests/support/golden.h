#pragma once

#include <optional>
#include <string>

namespace etl::test {

// The golden data is not part of the project. $ETL_GOLDEN_DIR names it; without that, tests that need it
// skip. With $ETL_REQUIRE_GOLDEN=1 (CI) its absence is a failure instead. Use: ETL_GOLDEN(dir) at the top of
// a test.
std::optional<std::string> GoldenDir();
bool GoldenRequired();
// The whole file; throws std::runtime_error when it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace etl::test

#define ETL_GOLDEN(dir)                                                                                     \
  const auto golden_dir_found = ::etl::test::GoldenDir();                                                   \
  if (!golden_dir_found) {                                                                                  \
    if (::etl::test::GoldenRequired()) FAIL() << "ETL_GOLDEN_DIR is not set or is no folder, and required"; \
    GTEST_SKIP() << "golden data absent: set ETL_GOLDEN_DIR to run this";                                   \
  }                                                                                                         \
  const std::string& dir = *golden_dir_found
