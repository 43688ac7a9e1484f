#include "store/health.h"

#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "store/store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

TEST(StoreHealth, CountsCommitsAndTellsTheSizesOfTheDatabase) {
  const TempDir dir("health");
  ManualClock clock;
  Store::Options options;
  options.mode = Store::Mode::kWrite;
  options.create = true;
  const auto store = Store::Open(dir.File("store"), options, clock);
  ASSERT_TRUE(store) << store.error().Message();
  SmallSource source;
  for (int page = 1; page <= 3; ++page)
    ASSERT_TRUE((*store)->Commit(source.Page(page, {{page, 100.0 + page}})));
  ASSERT_TRUE((*store)->Sync());
  const StoreHealth health = (*store)->Health();
  EXPECT_EQ(std::accumulate(health.commits.begin(), health.commits.end(), std::uint64_t{0}), 3U);
  EXPECT_GT(health.commit_seconds, 0);
  EXPECT_GT(health.memtable_bytes, 0U);
  EXPECT_GT(health.log_bytes, 0U);
  EXPECT_GT(health.estimated_keys, 0U);
  EXPECT_FALSE(health.writes_stopped);
  EXPECT_EQ(health.background_errors, 0U);
}

}  // namespace
}  // namespace etl::test
