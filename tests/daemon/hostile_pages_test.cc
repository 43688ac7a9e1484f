// Lists that lie about themselves or move while they are read: what a visit may call full, and what it
// refuses.

#include <algorithm>
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
using testing::StartsWith;

std::string RowOf(std::int64_t id) {
  return PlainRow(id).Text();
}
// Rows newest first, from `newest` down to `oldest`.
std::vector<std::string> RowsFrom(std::int64_t newest, std::int64_t oldest) {
  std::vector<std::string> rows;
  for (std::int64_t id = newest; id >= oldest; --id) rows.push_back(RowOf(id));
  return rows;
}
// The list with as many in the kernel's count as it has rows: nothing is hidden by a window.
void Show(Stage& stage, const std::vector<std::string>& rows) {
  stage.upstream.Say("kernels",
                     ListOf({ListItem(5, "005_toy", static_cast<std::int64_t>(rows.size())).Text()}));
  stage.SayRows(rows);
}
std::size_t RowsStored(const Stage& stage) {
  return stage.Names(Kind::kSubmission).size();
}

// --- the total ---

struct Total {
  const char *name, *text, *visit;
  std::int64_t missing;  // as the gap states it; -1: no gap
};
void PrintTo(const Total& total, std::ostream* out) {
  *out << total.name;
}
class HostileTotal : public testing::TestWithParam<Total> {};

TEST_P(HostileTotal, NeverMakesAVisitFullAndCostsNoRow) {
  Stage stage;
  stage.upstream.Say(RowsAt(5), Page(RowsFrom(103, 101), GetParam().text));
  stage.upstream.Say(RowsAt(5, 2), Page({RowOf(101)}, GetParam().text));
  EXPECT_EQ(stage.Visit(), GetParam().visit);
  EXPECT_EQ(stage.Rows(), kAllPassed);
  const auto gaps = stage.store->Gaps("");
  ASSERT_EQ(gaps->size(), GetParam().missing < 0 ? 0u : 1u);
  if (GetParam().missing >= 0) {
    EXPECT_EQ((*gaps)[0].code, "TOTAL_NOT_REACHED");
    EXPECT_EQ((*gaps)[0].missing, GetParam().missing);
  }
  EXPECT_LE(std::count(stage.upstream.asked.begin(), stage.upstream.asked.end(), RowsAt(5)), 3);
}

INSTANTIATE_TEST_SUITE_P(Scripts, HostileTotal,
                         testing::Values(Total{"ThatIsTooHigh", "1000", "partial TOTAL_NOT_REACHED", 997},
                                         Total{"ThatIsOneTooHigh", "4", "partial TOTAL_NOT_REACHED", 1},
                                         Total{"ThatIsOneTooLow", "2", "partial PAGING_UNSTABLE", -1},
                                         Total{"ThatIsZeroAboveRows", "0", "partial PAGING_UNSTABLE", -1},
                                         Total{"ThatIsNegative", "-1", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"ThatIsAText", "\"3\"", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"ThatIsAFraction", "3.5", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"WithAnExponent", "3e0", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"ThatIsNull", "null", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"ThatIsAbsent", "", "partial TOTAL_NOT_REACHED", -1},
                                         Total{"BeyondTheRangeOfIntegers", "99999999999999999999",
                                               "partial TOTAL_NOT_REACHED", -1}),
                         [](const auto& script) { return std::string(script.param.name); });

TEST(HostilePages, WithAStatedTotalAndNoRowsLowerNoMeasure) {
  Stage stage;
  Show(stage, RowsFrom(110, 101));
  EXPECT_EQ(stage.Visit(), "full");
  stage.upstream.Say(RowsAt(5), Page({RowOf(110), RowOf(109)}, "10"));
  stage.upstream.Say(RowsAt(5, 1), Page({RowOf(109)}, "10"));
  EXPECT_EQ(stage.Visit(), "partial TOTAL_NOT_REACHED");
  stage.upstream.Say(RowsAt(5), Page({RowOf(110)}));
  EXPECT_EQ(stage.Visit(), "partial RESPONSE_REFUSED") << "one lie must not make the next one credible";
  EXPECT_EQ(stage.QuarantineCodeOf(Page({RowOf(110)})), "ROWS_SHRUNK");
  EXPECT_EQ(RowsStored(stage), 10u);
}

// --- lists that lost rows ---

TEST(HostilePages, ThatAreEmptyWhereThereWereRowsAreRefusedUntilAnOperatorAgrees) {
  for (const std::string& empty : {Page({}), Page({}, "")}) {
    Stage stage;
    EXPECT_EQ(stage.Visit(), "full");
    stage.upstream.Say(RowsAt(5), empty);
    EXPECT_EQ(stage.Visit(), "partial RESPONSE_REFUSED");
    EXPECT_THAT(stage.Quarantine(), ElementsAre("ROWS_VANISHED " + empty));
    EXPECT_EQ(stage.Rows(), kAllPassed);
    const bool stated = empty == Page({});
    EXPECT_EQ(stage.VisitAcceptingShrunken(), stated ? "full" : "partial TOTAL_NOT_REACHED");
    EXPECT_EQ(stage.Visit(), stated ? "full" : "partial TOTAL_NOT_REACHED") << "the new measure";
    EXPECT_EQ(stage.Rows(), kAllPassed) << "a row out of sight is not gone";
  }
}

TEST(HostilePages, ThatAreEmptyFromTheStartAreNoFault) {
  Stage stage;
  stage.upstream.Say(RowsAt(5), Page({}));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), "");
  EXPECT_THAT(stage.Quarantine(), IsEmpty());
}

TEST(HostilePages, ThatShrinkAreRefusedBeyondTheShareAndNotAtIt) {
  for (const auto& [left, visit] : {std::pair(8, "full"), std::pair(7, "partial RESPONSE_REFUSED")}) {
    Stage stage;
    Show(stage, RowsFrom(110, 101));
    EXPECT_EQ(stage.Visit(), "full");
    const auto shrunk = RowsFrom(110, 111 - left);
    stage.upstream.Say(RowsAt(5), Page(shrunk));
    EXPECT_EQ(stage.Visit(), visit) << left << " of 10";
    EXPECT_EQ(stage.QuarantineCodeOf(Page(shrunk)), left == 8 ? "" : "ROWS_SHRUNK");
    EXPECT_EQ(RowsStored(stage), 10u);
    EXPECT_EQ(stage.VisitAcceptingShrunken(), "full");
    EXPECT_EQ(stage.Visit(), "full");
  }
}

// --- several pages ---

TEST(HostilePages, WithA500OnTheThirdOfFiveKeepWhatCameAndAreReadAgain) {
  Stage stage;
  const auto rows = RowsFrom(320, 101);  // pages at 0, 49, 98, 147, 196
  Show(stage, rows);
  stage.upstream.Say(RowsAt(5, 98), {Answer{500, "Internal Server Error"}, Answer{200, PageAt(rows, 98)}});
  EXPECT_EQ(stage.Poll(), "partial NOT_THERE");
  EXPECT_THAT(stage.last.shortfalls[0].what, HasSubstr(RowsAt(5, 98) + " was answered with 500"));
  EXPECT_EQ(stage.last.rows, 99u);
  EXPECT_EQ(RowsStored(stage), 99u);
  EXPECT_THAT(stage.Quarantine(), IsEmpty());
  EXPECT_EQ(stage.Poll(), "full") << "no cursor has moved";
  EXPECT_EQ(RowsStored(stage), 220u);
}

TEST(HostilePages, WithHtmlOnTheThirdOfFiveDoTheSameAndKeepThePage) {
  Stage stage;
  const auto rows = RowsFrom(320, 101);
  Show(stage, rows);
  stage.upstream.Say(RowsAt(5, 98), {Answer{200, "<html>"}, Answer{200, PageAt(rows, 98)}});
  EXPECT_EQ(stage.Poll(), "partial RESPONSE_REFUSED");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("RESPONSE_SHAPE <html>"));
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_EQ(RowsStored(stage), 220u);
}

TEST(HostilePages, ThatIgnoreTheOffsetFallShortByWhatTheyHide) {
  Stage stage;
  const auto rows = RowsFrom(220, 101);
  Show(stage, rows);
  stage.upstream.Say(RowsAt(5, 49), PageAt(rows, 0));
  EXPECT_THAT(stage.Visit(), StartsWith("partial "));
  const auto gaps = stage.store->Gaps("");
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ((*gaps)[0].missing, 70);
  EXPECT_EQ(RowsStored(stage), 50u);
}

TEST(HostilePages, ThatRepeatTheLastPageForEverEnd) {
  Stage stage;
  const auto rows = RowsFrom(160, 101);
  Show(stage, rows);
  const std::string endless = Page({rows.begin() + 49, rows.end()}, "1000000");
  stage.upstream.Say(RowsAt(5, 0), Page({rows.begin(), rows.begin() + 50}, "1000000"));
  for (std::int64_t offset = 49; offset < 2000; ++offset) stage.upstream.Say(RowsAt(5, offset), endless);
  EXPECT_EQ(stage.Visit(), "partial TOTAL_NOT_REACHED");
  EXPECT_EQ(RowsStored(stage), 60u);
  EXPECT_LT(stage.upstream.asked.size(), 20u);
}

TEST(HostilePages, WithARowInsertedBetweenThemAreReadAgainUntilTheyHold) {
  Stage stage;
  const auto before = RowsFrom(160, 101), after = RowsFrom(161, 101);
  Show(stage, after);
  stage.upstream.Say(RowsAt(5), {Answer{200, PageAt(before, 0)}, Answer{200, PageAt(after, 0)}});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(RowsStored(stage), 61u);
}

TEST(HostilePages, WithARowRemovedBetweenThemAreReadAgainUntilTheyHold) {
  Stage stage;
  const auto before = RowsFrom(160, 101);
  auto after = before;
  after.erase(after.begin() + 10);
  Show(stage, after);
  stage.upstream.Say(RowsAt(5), {Answer{200, PageAt(before, 0)}, Answer{200, PageAt(after, 0)}});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(RowsStored(stage), 60u) << "what was visible once is kept";
}

TEST(HostilePages, WithOneRowInsertedAndOneRemovedLeaveNoRowOut) {
  Stage stage;
  const auto before = RowsFrom(160, 101), after = RowsFrom(161, 102);  // the total does not tell
  Show(stage, after);
  stage.upstream.Say(RowsAt(5), {Answer{200, PageAt(before, 0)}, Answer{200, PageAt(after, 0)}});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StateOf("161"), "passed");
  EXPECT_EQ(RowsStored(stage), 60u);
}

TEST(HostilePages, WithARowReRankedAcrossTheirBorderLeaveItNotOut) {
  Stage stage;
  const auto before = RowsFrom(160, 101);
  auto after = before;  // the last row of all moves to the top, behind the reader's back
  std::rotate(after.begin(), after.end() - 1, after.end());
  Show(stage, after);
  stage.upstream.Say(RowsAt(5), {Answer{200, PageAt(before, 0)}, Answer{200, PageAt(after, 0)}});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StateOf("101"), "passed");
  EXPECT_EQ(RowsStored(stage), 60u);
}

TEST(HostilePages, WhoseTiesReshuffleAtEveryRequestAreNeverCalledFullWithARowLeftOut) {
  const auto rows = RowsFrom(160, 101);
  auto other = rows;  // one moment: the order means nothing
  std::rotate(other.begin(), other.begin() + 30, other.end());
  Stage unlucky;
  Show(unlucky, rows);
  unlucky.upstream.Say(RowsAt(5, 49), PageAt(other, 49));
  EXPECT_THAT(unlucky.Visit(), StartsWith("partial "));
  EXPECT_LT(RowsStored(unlucky), 60u);
  Stage settled;
  Show(settled, rows);
  settled.upstream.Say(RowsAt(5, 49), {Answer{200, PageAt(other, 49)}, Answer{200, PageAt(rows, 49)}});
  EXPECT_EQ(settled.Visit(), "full");
  EXPECT_EQ(RowsStored(settled), 60u);
}

TEST(HostilePages, WhoseSecondOneIsEmptyFallShort) {
  Stage stage;
  Show(stage, RowsFrom(160, 101));
  stage.upstream.Say(RowsAt(5, 49), Page({}, "60"));
  EXPECT_THAT(stage.Visit(), StartsWith("partial "));
  EXPECT_EQ(RowsStored(stage), 50u);
  Show(stage, RowsFrom(160, 101));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(RowsStored(stage), 60u);
}

// --- repeated ids ---

TEST(HostilePages, ThatRepeatARowWordForWordHoldOneFewerThanTheySay) {
  Stage stage;
  stage.SayRows({RowOf(102), RowOf(101), RowOf(101)});
  EXPECT_EQ(stage.Visit(), "partial TOTAL_NOT_REACHED");
  EXPECT_EQ(stage.Rows(), "101 passed, 102 passed");
  EXPECT_THAT(stage.Quarantine(), IsEmpty());
}

TEST(HostilePages, ThatSayTwoThingsOfOneIdTakeOneWhateverTheOrder) {
  const std::string fast = PlainRow(101).Set("latency_ms", "0.25").Text(), slow = RowOf(101);
  std::vector<double> taken;
  for (const auto& rows : {std::vector{fast, slow}, std::vector{slow, fast}}) {
    Stage stage;
    stage.upstream.Say(RowsAt(5), Page(rows, "1"));
    EXPECT_EQ(stage.Visit(), "full");
    taken.push_back(stage.StandsAt("101"));
    EXPECT_THAT(stage.Quarantine(),
                ElementsAre("ROW_ID_REPEATED " + (taken.back() == 250'000 ? slow : fast)));
    EXPECT_EQ(stage.Newest("submission/101").version, 1u);
  }
  EXPECT_EQ(taken[0], taken[1]);
}

TEST(HostilePages, ThatCountARowTwiceWithTwoContentsAreNotFull) {
  Stage stage;
  stage.SayRows({PlainRow(101).Set("latency_ms", "0.25").Text(), RowOf(101)});
  EXPECT_EQ(stage.Visit(), "partial TOTAL_NOT_REACHED");
  EXPECT_EQ(stage.Rows(), "101 passed");
}

TEST(HostilePages, ThatSayAnotherThingOfARowOnALaterPageTakeTheLaterWord) {
  Stage stage;
  auto rows = RowsFrom(160, 101);
  Show(stage, rows);
  rows[49] = PlainRow(111).Set("latency_ms", "0.25").Text();  // the row that both pages hold
  stage.upstream.Say(RowsAt(5, 49), PageAt(rows, 49));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StandsAt("111"), 250'000);
  EXPECT_EQ(stage.Newest("submission/111").version, 2u);
}

TEST(HostilePages, ThatRepeatADistantRowInPlaceOfAnotherFallShort) {
  Stage stage;
  auto rows = RowsFrom(160, 101);
  rows[57] = rows[3];
  Show(stage, rows);
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy", 59).Text()}));
  EXPECT_EQ(stage.Visit(), "partial TOTAL_NOT_REACHED");
  EXPECT_EQ(RowsStored(stage), 59u);
  const auto gaps = stage.store->Gaps("");
  ASSERT_EQ(gaps->size(), 1u);
  EXPECT_EQ((*gaps)[0].missing, 1);
}

// --- the clock ---

TEST(HostilePages, OnWhichARowIsEditedWhileTheClockIsSetBackEndWithTheEdit) {
  Stage stage;
  auto rows = RowsFrom(160, 101);
  Show(stage, rows);
  rows[49] = PlainRow(111).Set("latency_ms", "0.25").Text();
  stage.upstream.Say(RowsAt(5, 49), PageAt(rows, 49));
  stage.clock.AdvanceMs(86'400'000);
  stage.upstream.before = [&](std::string_view key) {
    if (key == RowsAt(5, 49)) stage.clock.AdvanceMs(-3'600'000);
  };
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StandsAt("111"), 250'000) << "the second page was answered later than the first";
}

}  // namespace
}  // namespace etl::test
