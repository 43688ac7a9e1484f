// Answers that are wrong as a whole: what a visit says of them, what stays, and that the next good answer
// heals.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/daemon/hostile_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kBom = "\xEF\xBB\xBF";

// One request answered wrongly: in the first visit of an empty store, and after a good one.
struct WrongAnswer {
  const char* name;
  std::string key;
  Answer answer;
  std::string shortfall;   // of either visit
  std::string code;        // in quarantine, with the answer's bytes; "" for none
  std::string first_rows;  // what the first visit brings
};

void PrintTo(const WrongAnswer& wrong, std::ostream* out) {
  *out << wrong.name;
}

class HostileAnswer : public testing::TestWithParam<WrongAnswer> {
 protected:
  void CheckQuarantine() {
    std::vector<std::string> expected;
    if (!GetParam().code.empty()) expected.push_back(GetParam().code + " " + GetParam().answer.body);
    EXPECT_EQ(stage_.Quarantine(), expected);
  }
  void Hear() { stage_.upstream.Say(GetParam().key, {GetParam().answer}); }
  Stage stage_;
};

TEST_P(HostileAnswer, FallsShortAtFirstAndIsMadeUpFor) {
  Hear();
  EXPECT_EQ(stage_.Visit(), "partial " + GetParam().shortfall);
  EXPECT_EQ(stage_.Rows(), GetParam().first_rows);
  CheckQuarantine();
  EXPECT_EQ(stage_.Visit(), "partial " + GetParam().shortfall) << "as wrong as before";
  CheckQuarantine();
  stage_.SayGood();
  EXPECT_EQ(stage_.Visit(), "full");
  EXPECT_EQ(stage_.Rows(), kAllPassed);
}

TEST_P(HostileAnswer, TakesNothingAwayFromWhatIsKnown) {
  EXPECT_EQ(stage_.Visit(), "full");
  const std::string before = ExportOf(*stage_.store);
  Hear();
  EXPECT_EQ(stage_.Visit(), "partial " + GetParam().shortfall);
  EXPECT_EQ(Difference(ExportOf(*stage_.store), before), "");
  CheckQuarantine();
  stage_.SayGood();
  EXPECT_EQ(stage_.Visit(), "full");
  EXPECT_EQ(Difference(ExportOf(*stage_.store), before), "");
}

TEST_P(HostileAnswer, IsAskedForAgainByTheNextPoll) {
  Hear();
  EXPECT_EQ(stage_.Poll(), "partial " + GetParam().shortfall);
  stage_.SayGood();
  EXPECT_EQ(stage_.Poll(), "full");
  EXPECT_EQ(stage_.Rows(), kAllPassed);
}

const std::string kWaiting =
    "101 pending KERNEL_UNAVAILABLE, 102 pending KERNEL_UNAVAILABLE, 103 pending KERNEL_UNAVAILABLE";
const std::string kHtml = "<!DOCTYPE html><html><body>Under maintenance</body></html>";
const std::string kDetail = R"({"detail": "try again later"})";
const std::string kDetailList = R"({"detail": [{"loc": ["query"], "msg": "bad"}]})";

std::vector<WrongAnswer> WrongAnswers() {
  const std::string rows = RowsAt(5);
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string twice = R"({"data": {"submissions": [], "total": 0}, "d\u0061ta": {}})";
  const std::string refused = "RESPONSE_REFUSED", absent = "NOT_THERE";
  return {
      {"HtmlInPlaceOfTheList", "kernels", {200, kHtml}, refused, "RESPONSE_SHAPE", ""},
      {"HtmlInPlaceOfADetail", "kernels/5", {200, kHtml}, refused, "RESPONSE_SHAPE", kWaiting},
      {"HtmlInPlaceOfRows", rows, {200, kHtml}, refused, "RESPONSE_SHAPE", ""},
      {"HtmlBehindAByteOrderMark", rows, {200, kBom + kHtml}, refused, "RESPONSE_SHAPE", ""},
      {"AnErrorWith200InPlaceOfTheList", "kernels", {200, kDetail}, refused, "RESPONSE_DETAIL", ""},
      {"AnErrorWith200InPlaceOfADetail", "kernels/5", {200, kDetail}, refused, "RESPONSE_DETAIL", kWaiting},
      {"AnErrorWith200InPlaceOfRows", rows, {200, kDetailList}, refused, "RESPONSE_DETAIL", ""},
      {"AnErrorWith403InPlaceOfTheList", "kernels", {403, kDetail}, absent, "", ""},
      {"AnErrorWith404InPlaceOfADetail", "kernels/5", {404, kDetail}, absent, "", kWaiting},
      {"AnErrorWith422InPlaceOfRows", rows, {422, kDetailList}, absent, "", ""},
      {"AnErrorWith500InPlaceOfRows", rows, {500, "Internal Server Error"}, absent, "", ""},
      {"AnEmptyBody", rows, {200, ""}, refused, "RESPONSE_JSON", ""},
      {"AListWhereAnObjectBelongs", "kernels", {200, "[]"}, refused, "RESPONSE_SHAPE", ""},
      {"NullInPlaceOfTheList", "kernels", {200, R"({"data": null})"}, refused, "RESPONSE_SHAPE", ""},
      {"NullInPlaceOfADetail", "kernels/5", {200, R"({"data": null})"}, refused, "RESPONSE_SHAPE", kWaiting},
      {"NullInPlaceOfRows",
       rows,
       {200, R"({"data": {"submissions": null, "total": 0}})"},
       refused,
       "RESPONSE_SHAPE",
       ""},
      {"RowsByNameInPlaceOfAList",
       rows,
       {200, R"({"data": {"submissions": {}, "total": 0}})"},
       refused,
       "RESPONSE_SHAPE",
       ""},
      {"TwiceTheSameMemberSpeltInTwoWays", rows, {200, twice}, refused, "RESPONSE_JSON", ""},
      {"ATotalBeyondNumbers", rows, {200, Page({}, "1e400")}, refused, "RESPONSE_JSON", ""},
      {"InvalidUtf8AroundTheRows",
       rows,
       {200, R"({"data": {"submissions": []}, "x": ")"
             "\xff"
             "\"}"},
       refused,
       "RESPONSE_JSON",
       ""},
      {"ALoneSurrogateAroundTheRows",
       rows,
       {200, R"({"data": {"submissions": []}, "x": "\ud800"})"},
       refused,
       "RESPONSE_JSON",
       ""},
      {"AHundredThousandBrackets", rows, {200, deep}, refused, "RESPONSE_JSON", ""},
      {"AHundredThousandBracketsInADetail",
       "kernels/5",
       {200, R"({"data": )" + deep + "}"},
       refused,
       "RESPONSE_JSON",
       kWaiting},
      {"JsonWithSomethingBehindIt",
       rows,
       {200, Page({PlainRow(101).Text()}) + "}"},
       refused,
       "RESPONSE_JSON",
       ""},
      {"ABodyThatStopsHalfWay",
       rows,
       {200, Page({PlainRow(101).Text()}).substr(0, 200)},
       refused,
       "RESPONSE_JSON",
       ""},
  };
}

INSTANTIATE_TEST_SUITE_P(Scripts, HostileAnswer, testing::ValuesIn(WrongAnswers()),
                         [](const auto& script) { return std::string(script.param.name); });

TEST(HostileContent, OfAnotherKernelUnderTheRightAddressIsRefusedWithItsId) {
  Stage stage;
  stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("id", "6")));
  EXPECT_EQ(stage.Visit(), "partial KERNEL_ID");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNEL_ID 6"));
  EXPECT_THAT(stage.Names(Kind::kOperationSpec), IsEmpty());
}

TEST(HostileContent, BehindByteOrderMarksIsReadAsIfTheyWereNotThere) {
  Stage plain, marked;
  EXPECT_EQ(plain.Visit(), "full");
  marked.upstream.Say("kernels", kBom + ListOf({ListItem(5, "005_toy").Text()}));
  marked.upstream.Say("kernels/5", kBom + Detail(PlainKernel()));
  marked.upstream.Say(RowsAt(5),
                      kBom + kBom + Page({PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Text()}));
  EXPECT_EQ(marked.Visit(), "full");
  EXPECT_EQ(Difference(ExportOf(*marked.store, "group"), ExportOf(*plain.store, "group")), "");
  EXPECT_EQ(marked.Rows(), kAllPassed);
  EXPECT_THAT(marked.Quarantine(), IsEmpty());
}

TEST(HostileContent, ThatIsMissingFromTheStartAsksWhetherThisIsThePlace) {
  Stage stage;
  stage.upstream.Say("kernels", {Answer{404, ""}});
  EXPECT_EQ(stage.Poll(), "partial NOT_THERE");
  EXPECT_EQ(stage.last.shortfalls[0].what,
            "kernels was answered with 404 by hostile source; is that where the API begins (base_url, "
            "--base-url)?");
}

TEST(HostileContent, ThatIsMissingForOneKernelLeavesTheOthersWhole) {
  Stage stage;
  const auto row = [](std::int64_t id, const char* kernel) {
    return PlainRow(id).Set("kernel_id", kernel).Text();
  };
  stage.SayKernel(6, "006_toy", {row(201, "6")});
  stage.SayKernel(7, "007_toy", {row(301, "7")});
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text(), ListItem(6, "006_toy").Text(),
                                        ListItem(7, "007_toy").Text()}));
  stage.upstream.Say("kernels/6", {Answer{404, ""}});
  EXPECT_EQ(stage.Poll(), "partial NOT_THERE");
  EXPECT_EQ(stage.last.shortfalls[0].scope, "kernel/6");
  EXPECT_EQ(stage.last.shortfalls[0].what, "kernels/6 was answered with 404");
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 201 pending KERNEL_UNAVAILABLE, 301 passed");
  stage.upstream.Say("kernels/6", Detail(KernelOf(6, "006_toy")));
  EXPECT_EQ(stage.Poll(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 201 passed, 301 passed");
  EXPECT_THAT(stage.upstream.asked, ElementsAre("kernels", "kernels/6", RowsAt(6)));
}

TEST(HostileContent, WithUnknownMembersAroundItIsTakenAndToldOnce) {
  Stage stage;
  stage.upstream.Say("kernels", R"({"data": {"kernels": [)" +
                                    ListItem(5, "005_toy").Set("owner", "7").Text() +
                                    R"(], "next": null}, "server": "a"})");
  stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("hints", "[1]").Set("baseline_code", "\"code\"")));
  stage.upstream.Say(RowsAt(5), R"({"data": {"submissions": [)" +
                                    PlainRow(101).Set("flux", "{\"a\": 1}").Text() + ", " +
                                    PlainRow(102).Set("flux", "2").Text() +
                                    R"(], "total": 2, "cursor": "x"}, "took_ms": 5})");
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Drift(),
              testing::UnorderedElementsAre(
                  "kernels.envelope.server: \"a\"", "kernels.data.next: null", "kernels[].owner: 7",
                  "kernel.hints: [1]", "kernel.baseline_code: ", "submissions.envelope.took_ms: 5",
                  "submissions.data.cursor: \"x\"", "submissions[].flux: {\"a\": 1}"));
  EXPECT_EQ(stage.last.drift, 8u);
  stage.upstream.Say(RowsAt(5), Page({PlainRow(101).Set("flux", "3").Text(), PlainRow(102).Text()}));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.last.drift, 0u) << "with another sample it is no news";
  EXPECT_EQ(stage.Drift().size(), 8u);
  EXPECT_EQ(stage.Rows(), "101 passed, 102 passed");
}

// The most memory that the process has had so far.
std::int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * std::int64_t{1024};
}

TEST(HostileContent, WithOneHundredMegabytesInAStringIsTakenWholeInBoundedMemory) {
  constexpr std::int64_t kBytes = 100'000'000;
  Stage stage;
  std::string body = Page({PlainRow(102).Text(), PlainRow(101).Set("error_log", "\"@\"").Text()});
  body.insert(body.find('@'), kBytes, 'x');
  stage.upstream.Say(RowsAt(5), std::move(body));
  const std::int64_t before = PeakBytes();
  EXPECT_EQ(stage.Visit(), "full");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)before;  // a sanitizer keeps what was freed
#else
  EXPECT_LT(PeakBytes() - before, 8 * kBytes) << "a fixed number of copies";
#endif
  EXPECT_EQ(stage.Rows(), "101 passed, 102 passed");
  EXPECT_LT(stage.Newest("submission/101").metadata.size(), 1000u);
  EXPECT_GT(stage.Newest("submission/101").locator.bytes, static_cast<std::uint64_t>(kBytes));
}

TEST(HostileContent, WithTenMegabytesOfANameKeepsAShortOne) {
  Stage stage;
  stage.SayRows({PlainRow(101).Set("username", "\"" + std::string(10'000'000, 'n') + "\"").Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), "101 passed");
  EXPECT_LT(ExportOf(*stage.store).size(), 100'000u);
}

}  // namespace
}  // namespace etl::test
