#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

// What is offered for these words, without the descriptions.
Words Offered(Words words) {
  words.insert(words.begin(), {"complete", "--"});
  const Ran ran = Ctl(words);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  std::istringstream in(ran.out);
  Words list;
  for (std::string line; std::getline(in, line);) list.push_back(line.substr(0, line.find('\t')));
  return list;
}

TEST(Complete, OffersCommandsWithWhatTheyDo) {
  EXPECT_THAT(Offered({""}), IsSupersetOf({"get", "ranks", "config", "backfill", "status"}));
  EXPECT_THAT(Offered({""}), Not(Contains("complete")));
  EXPECT_THAT(Offered({"rec"}), ElementsAre("records"));
  EXPECT_THAT(Offered({"get", ""}), ElementsAre("run", "entry", "object"));
  EXPECT_THAT(Offered({"-o", "json", "config", ""}), ElementsAre("check", "show"));
  EXPECT_THAT(Offered({"get", "run", "r"}), IsEmpty());
  EXPECT_EQ(Ctl({"complete", "--", "recor"}).out, "records\tWho took the lead when, newest first\n");
}

TEST(Complete, OffersTheOptionsOfACommandAndOfAll) {
  EXPECT_THAT(Offered({"ranks", "--"}),
              IsSupersetOf({"--kernel", "--as-of", "--top", "--all", "--store", "--output", "--help"}));
  EXPECT_THAT(Offered({"ranks", "--a"}), ElementsAre("--as-of", "--all"));
  EXPECT_THAT(Offered({"get", "--t"}), IsEmpty());
  EXPECT_THAT(Offered({"ranks", "--", "--a"}), IsEmpty());
}

TEST(Complete, OffersTheFormatsThatACommandHas) {
  EXPECT_THAT(Offered({"status", "-o", ""}), ElementsAre("table", "json", "jsonl"));
  EXPECT_THAT(Offered({"get", "run", "abcd", "--output", ""}),
              ElementsAre("table", "json", "jsonl", "manifest", "page"));
  EXPECT_THAT(Offered({"status", "--output=js"}), ElementsAre("--output=json", "--output=jsonl"));
  EXPECT_THAT(Offered({"status", "--output", "=", "js"}), ElementsAre("json", "jsonl"));
  EXPECT_THAT(Offered({"status", "--output", "="}), ElementsAre("table", "json", "jsonl"));
}

TEST(Complete, LeavesFilesToTheShell) {
  EXPECT_THAT(Offered({"digest", ""}), ElementsAre("@files"));
  EXPECT_THAT(Offered({"digest", "a", "b", ""}), ElementsAre("@files"));
  EXPECT_THAT(Offered({"--config", ""}), ElementsAre("@files"));
  EXPECT_THAT(Offered({"config", "check", ""}), ElementsAre("@files"));
  EXPECT_THAT(Offered({"config", "check", "a", ""}), IsEmpty());
  EXPECT_THAT(Offered({"rebuild", ""}), ElementsAre("@folders"));
  EXPECT_THAT(Offered({"backfill", "--from", "x"}), ElementsAre("@folders"));
}

TEST(Complete, OffersLiveNames) {
  const etl::test::TempDir dir("ctl");
  const std::string store = dir.File("s");
  const Ran filled = Ctl({"backfill", "--source", "sol-execbench", "--from",
                          std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/1", "--store", store});
  ASSERT_EQ(filled.exit, 0) << filled.err;
  EXPECT_THAT(Offered({"backfill", "--source", ""}), ElementsAre("sol-execbench"));
  EXPECT_THAT(Offered({"--store", store, "ranks", "--kernel", "005"}), ElementsAre("005_scalar_drift_adam"));
  EXPECT_THAT(Offered({"ranks", "--store=" + store, "--kernel", "99"}), IsEmpty());
  const Words groups = Offered({"--store", store, "ranks", "53ed"});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0], StartsWith("53edf08f295c503ff9fb63ca8c57af46b7cfd42cd0e52cf652268aae9cc338e8"));
  EXPECT_THAT(Offered({"--store", store, "get", "run", "97ba"}), Contains(StartsWith("97baf37392a2")));
  EXPECT_THAT(Offered({"--store", store, "get", "run", "97b"}), IsEmpty()) << "four digits name an object";
}

TEST(Complete, IsSilentWhereThereIsNothingToSay) {
  for (const Words& words :
       {Words{"--store", "/nonexistent-store", "ranks", "--kernel", ""}, Words{"nonsense", ""},
        Words{"status", "--nonsense", "x"}, Words{"changes", "--since", ""}}) {
    EXPECT_THAT(Offered(words), IsEmpty()) << ::testing::PrintToString(words);
  }
  EXPECT_EQ(Ctl({"complete"}).exit, 0);
}

}  // namespace
}  // namespace etl::ctl
