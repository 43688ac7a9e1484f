// What upstream says differently from one visit to the next: nothing newer is lost, nothing known is
// forgotten, and the change log says what happened.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/hostile_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kHour = 3'600'000, kYear = 365 * 24 * kHour;

JsonObject RowOf6(std::int64_t id) {
  return PlainRow(id).Set("kernel_id", "6").Set("kernel_name", "\"006_toy\"");
}

TEST(HostileChange, OfARowsOwnerMakesAVersionAndLosesNeitherUser) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const auto run = stage.Newest("submission/101", Kind::kBenchmarkRun);
  stage.SayRows({PlainRow(103).Text(), PlainRow(102).Text(),
                 PlainRow(101).Set("user_id", "8").Set("username", "\"Bo\"").Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed);
  EXPECT_EQ(stage.Newest("submission/101").version, 2u);
  EXPECT_THAT(stage.Newest("submission/101").metadata, HasSubstr("\"user\":\"user/8\""));
  EXPECT_THAT(stage.Newest("submission/101", Kind::kImplementationRevision).metadata, HasSubstr("\"Bo\""));
  EXPECT_EQ(stage.Newest("submission/101", Kind::kBenchmarkRun).digest, run.digest)
      << "who owns it is no part of what was measured";
  EXPECT_THAT(stage.Names(Kind::kSoftwareProject), ElementsAre("user/7", "user/8"));
  EXPECT_THAT(stage.Newest("user/7", Kind::kSoftwareProject).metadata, HasSubstr("sol-user-ada-l"));
}

TEST(HostileChange, OfARowsKernelMovesItFromOneStandingToTheOther) {
  Stage stage;
  stage.SayKernel(6, "006_toy", {RowOf6(201).Text()});
  stage.upstream.Say("kernels/6", Detail(KernelOf(6, "006_toy").Set("op_type", "\"another\"")));
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text(), ListItem(6, "006_toy").Text()}));
  EXPECT_EQ(stage.Visit(), "full");
  const auto before = stage.Newest("submission/101", Kind::kBenchmarkRun);
  stage.SayRows({PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(104).Text()});
  stage.upstream.SayRows(6, {RowOf6(201).Text(), RowOf6(101).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 104 passed, 201 passed");
  const auto after = stage.Newest("submission/101", Kind::kBenchmarkRun);
  ASSERT_TRUE(before.ranked && after.ranked);
  EXPECT_NE(after.ranked->group, before.ranked->group);
  EXPECT_EQ(stage.store->GetStanding(*stage.store->GetGroup(before.ranked->group), 0, 100)->size(), 3u);
  EXPECT_EQ(stage.store->GetStanding(*stage.store->GetGroup(after.ranked->group), 0, 100)->size(), 2u);
}

TEST(HostileChange, ToARowOfAnotherKernelInsideAListIsSetAside) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  stage.SayRows({PlainRow(103).Text(), PlainRow(102).Text(), RowOf6(101).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("ROW_KERNEL " + RowOf6(101).Text()));
  EXPECT_EQ(stage.Rows(), kAllPassed);
  EXPECT_EQ(stage.Newest("submission/101").version, 1u);
}

TEST(HostileChange, OfAUsersNameBetweenPollsIsANewVersionOfTheUserAlone) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  for (const char* name : {"<script>", "你好", "a\\nb", "Ada L."}) {
    const std::string text = "\"" + std::string(name) + "\"";
    const std::uint32_t version = stage.Newest("user/7", Kind::kSoftwareProject).version;
    stage.SayRows({PlainRow(103).Set("username", text).Text(), PlainRow(102).Set("username", text).Text(),
                   PlainRow(101).Set("username", text).Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.Newest("user/7", Kind::kSoftwareProject).version, version + 1) << name;
    EXPECT_EQ(stage.Rows(), kAllPassed);
  }
  EXPECT_EQ(stage.Newest("submission/101", Kind::kBenchmarkRun).version, 5u) << "its title has the name";
  EXPECT_THAT(stage.Names(Kind::kSoftwareProject), ElementsAre("user/7"));
}

TEST(HostileChange, OfTheOrderAloneIsNone) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const std::string before = ExportOf(*stage.store);
  stage.SayRows({PlainRow(101).Text(), PlainRow(103).Text(), PlainRow(102).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.last.entries_changed, 0u);
  EXPECT_EQ(Difference(ExportOf(*stage.store), before), "");
}

TEST(HostileChange, ThatGoesAndComesBackEndsWhereItBegan) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  for (const char* what : {"true", "false"}) {
    stage.SayRows(
        {PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Set("is_disqualified", what).Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.StateOf("101"), what == std::string("true") ? "excluded DISQUALIFIED" : "passed");
  }
  EXPECT_EQ(stage.StandsAt("101"), 500'000);
  EXPECT_EQ(stage.Newest("submission/101").version, 3u);
}

// --- kernels ---

TEST(HostileChange, OfAKernelsNameIsToldAndFollowedWhenItsDetailIsRead) {
  Stage stage;
  EXPECT_EQ(stage.Poll(), "full");
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_new").Text()}));
  stage.upstream.Say("kernels/5", Detail(KernelOf(5, "005_new")));
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_THAT(stage.Changes("kernel"),
              ElementsAre(R"({"type":"kernel","what":"renamed","id":5,"externalId":"005_new"})"));
  stage.clock.AdvanceMs(7 * kHour);
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_EQ(stage.Changes("kernel").size(), 1u);
  EXPECT_THAT(stage.Names(Kind::kOperationSpec), ElementsAre("005_new", "005_toy"));
  EXPECT_EQ(stage.Rows(), kAllPassed);
  const auto run = stage.Newest("submission/101", Kind::kBenchmarkRun);
  EXPECT_THAT(stage.store->GetObject(*run.digest)->identity, HasSubstr(R"("benchmark":"005_new")"));
}

TEST(HostileChange, OfAKernelsNameInItsDetailAloneIsNotBelieved) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  stage.upstream.Say("kernels/5", Detail(KernelOf(5, "005_new")));
  EXPECT_EQ(stage.Visit(), "partial KERNEL_NAME_CONFLICT");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNEL_NAME_CONFLICT \"005_new\""));
  EXPECT_THAT(stage.Names(Kind::kOperationSpec), ElementsAre("005_toy"));
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileChange, ThatTakesAKernelAwayAndBringsItBackIsToldOnceEachWay) {
  Stage stage;
  std::vector<std::string> items = {ListItem(5, "005_toy").Text()};
  for (int id = 6; id < 16; ++id) {
    items.push_back(ListItem(id, "k" + std::to_string(id), 0).Text());
    stage.SayKernel(id, "k" + std::to_string(id), {});
  }
  stage.upstream.Say("kernels", ListOf(items));
  EXPECT_EQ(stage.Poll(), "full");
  const std::string before = ExportOf(*stage.store);
  stage.upstream.Say("kernels", ListOf({items.begin() + 1, items.end()}));
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_EQ(stage.Poll(), "full");
  const std::string withdrawn = R"({"type":"kernel","what":"withdrawn","id":5,"externalId":"005_toy"})";
  EXPECT_THAT(stage.Changes("kernel"), ElementsAre(withdrawn));
  EXPECT_EQ(Difference(ExportOf(*stage.store), before), "");
  stage.upstream.Say("kernels", ListOf(items));
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_THAT(stage.Changes("kernel"),
              ElementsAre(withdrawn, R"({"type":"kernel","what":"returned","id":5,"externalId":"005_toy"})"));
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileChange, ThatMakesAListedKernelUnreadableWithdrawsNothing) {
  Stage stage;
  std::vector<std::string> items = {ListItem(5, "005_toy").Text()};
  for (int id = 6; id < 16; ++id) {
    items.push_back(ListItem(id, "k" + std::to_string(id), 0).Text());
    stage.SayKernel(id, "k" + std::to_string(id), {});
  }
  stage.upstream.Say("kernels", ListOf(items));
  EXPECT_EQ(stage.Visit(), "full");
  for (const char* broken : {"{\"id\": 5, \"id\": 5}", "{\"id\": null}", "null"}) {
    items[0] = broken;
    stage.upstream.Say("kernels", ListOf(items));
    EXPECT_THAT(stage.Visit(), testing::StartsWith("partial KERNEL_")) << broken;
    EXPECT_THAT(stage.Changes("kernel"), IsEmpty());
  }
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileChange, OfABoundMovesRowsUnderItOutAndBack) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const auto with = [](const char* bound) {
    return Detail(PlainKernel().Set(
        "workloads", R"([{"axes": {"rows": 2}, "sol_ms": 9}, {"axes": {"rows": 4}, "sol_ms": )" +
                         std::string(bound) + "}]"));
  };
  stage.upstream.Say("kernels/5", with("0.6"));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(),
            "101 excluded BELOW_SPEED_OF_LIGHT, 102 excluded BELOW_SPEED_OF_LIGHT, "
            "103 excluded BELOW_SPEED_OF_LIGHT");
  stage.upstream.Say("kernels/5", with("0.4"));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

// --- the clock ---

TEST(HostileClock, AYearOffEitherWayLosesNoLaterEdit) {
  int latency = 100;
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  for (const std::int64_t jump : {kYear, -kYear, -kYear, kYear, 2 * kYear, -3 * kYear}) {
    stage.clock.AdvanceMs(jump);
    ++latency;
    stage.SayRows({PlainRow(103).Text(), PlainRow(102).Text(),
                   PlainRow(101).Set("latency_ms", "0." + std::to_string(latency)).Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.StandsAt("101"), latency * 1000.0) << jump / kYear;
    EXPECT_EQ(stage.ObservedAt("101"), "2026-08-01T00:00:02.123Z") << "upstream dates a row, not our clock";
  }
}

TEST(HostileClock, AYearOffEitherWayLosesNoLaterDefinition) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  int size = 8;
  for (const std::int64_t jump : {kYear, -kYear, -kYear, kYear}) {
    stage.clock.AdvanceMs(jump);
    stage.upstream.Say("kernels/5",
                       Detail(PlainKernel().Set("description", "\"as of " + std::to_string(++size) + "\"")));
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_THAT(stage.Newest("005_toy", Kind::kOperationSpec).metadata,
                HasSubstr("as of " + std::to_string(size)));
  }
}

TEST(HostileClock, AYearOffEitherWayHidesNoWithdrawal) {
  for (const std::int64_t jump : {kYear, -kYear}) {
    Stage stage;
    std::vector<std::string> items;
    for (int id = 5; id < 16; ++id) {
      items.push_back(ListItem(id, "k" + std::to_string(id), 0).Text());
      stage.SayKernel(id, "k" + std::to_string(id), {});
    }
    stage.upstream.Say("kernels", ListOf(items));
    EXPECT_EQ(stage.Poll(), "full");
    stage.clock.AdvanceMs(jump);
    stage.upstream.Say("kernels", ListOf({items.begin() + 1, items.end()}));
    EXPECT_EQ(stage.Poll(), "full");
    stage.clock.AdvanceMs(-jump);
    stage.upstream.Say("kernels", ListOf(items));
    EXPECT_EQ(stage.Poll(), "full");
    EXPECT_THAT(stage.Changes("kernel"), ElementsAre(HasSubstr("withdrawn"), HasSubstr("returned")));
  }
}

TEST(HostileClock, AYearAheadAndBackStillMakesRowsDueAgain) {
  Stage stage;
  EXPECT_EQ(stage.Poll(), "full");
  stage.clock.AdvanceMs(kYear);
  EXPECT_EQ(stage.Poll(), "full");
  stage.clock.AdvanceMs(-kYear);
  EXPECT_EQ(stage.Poll(), "full");
  stage.SayRows({PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Set("latency_ms", "0.25").Text()});
  for (int hour = 0; hour < 7; ++hour) {
    stage.clock.AdvanceMs(kHour);
    EXPECT_EQ(stage.Poll(), "full");
  }
  EXPECT_EQ(stage.StandsAt("101"), 250'000);
}

TEST(HostileClock, InTheFarFutureOfARowMakesItNoLessARow) {
  Stage stage;
  stage.SayRows({PlainRow(101).Set("finished_at", "\"9999-12-31T23:59:59\"").Text(), PlainRow(100).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StandsAt("101"), 500'000);
  stage.SayRows({PlainRow(101).Text(), PlainRow(100).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.ObservedAt("101"), "2026-08-01T00:00:02.123Z") << "corrected, though to an earlier time";
}

}  // namespace
}  // namespace etl::test
