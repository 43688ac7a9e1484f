// Lists whose content the example leaderboard does not have.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/visit.h"
#include "store/store.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;

TEST(Gaps, SayWhereTheNumberOfRowsIsNotKnown) {
  const etl::test::TempDir dir("ctl");
  const std::string place = dir.File("s");
  {
    SystemClock clock;
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.create = true;
    const auto store = Store::Open(place, options, clock);
    ASSERT_TRUE(store);
    etl::test::SmallSource source;
    Ingest page = source.Page(1, {{1, 100}});
    page.draft.gaps = {{"kernel/5", "WINDOW_OUTRUN", 0, "the window ran ahead"},
                       {"kernel/6", "TOTAL_NOT_REACHED", 3, "three of ten"}};
    ASSERT_TRUE((*store)->Commit(page));
    ASSERT_TRUE((*store)->Close());
  }
  const Ran table = Ctl({"gaps", "--store", place});
  EXPECT_THAT(table.out, HasSubstr("WINDOW_OUTRUN      unknown  ")) << table.out;
  EXPECT_THAT(table.out, HasSubstr("TOTAL_NOT_REACHED        3  "));
  const Ran json = Ctl({"gaps", "--store", place, "-o", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"code\":\"WINDOW_OUTRUN\",\"missing\":null,"));
  EXPECT_THAT(json.out, HasSubstr("\"code\":\"TOTAL_NOT_REACHED\",\"missing\":3,"));
}

}  // namespace
}  // namespace etl::ctl
