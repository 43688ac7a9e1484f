// Kernels: their list, their details, and what becomes of rows whose kernel cannot be taken.

#include <cctype>
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

// For each of these values a letter.
const std::vector<std::string> kValues = {"null", "", "true", "7", "1.5", "\"x\"", "[]", "{}"};
struct Member {
  const char *name, *fates;
};
void PrintTo(const Member& member, std::ostream* out) {
  *out << member.name;
}
std::string NameOf(const testing::TestParamInfo<Member>& script) {
  return script.param.name;
}

// --- every member of the detail ---

// p: the kernel and its row pass. c: they do, and a case of the kernel is set aside. Others: the kernel is
// refused with this code, and its row waits.
std::string CodeOf(char letter) {
  switch (letter) {
    case 'I':
      return "KERNEL_ID";
    case 'N':
      return "KERNEL_NAME";
    case 'C':
      return "KERNEL_NAME_CONFLICT";
    case 'F':
      return "KERNEL_FIELD";
    case 'R':
      return "KERNEL_RULE";
    case 'E':
      return "KERNEL_NO_CASES";
    default:
      return "";
  }
}

class HostileDetail : public testing::TestWithParam<Member> {};

TEST_P(HostileDetail, WithAMemberNullAbsentAndOfEveryTypeEndsAsItMust) {
  const std::string fates = GetParam().fates;
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    SCOPED_TRACE(kValues[i]);
    Stage stage;
    stage.upstream.Say("kernels/5", Detail(PlainKernel().Set(GetParam().name, kValues[i])));
    stage.SayRows({PlainRow(101).Text()});
    const std::string code = CodeOf(fates[i]);
    EXPECT_EQ(stage.Visit(), code.empty() ? "full" : "partial " + code);
    EXPECT_EQ(stage.Rows(), code.empty() ? "101 passed" : "101 pending KERNEL_UNAVAILABLE");
    EXPECT_EQ(stage.last.quarantined, code.empty() ? 0u : 1u);
    // Never more than the member at fault: a detail holds source code.
    if (!code.empty()) {
      const bool hidden = kValues[i].empty() || GetParam().name == std::string("reference");
      EXPECT_THAT(stage.Quarantine(), ElementsAre(code + " " + (hidden ? "null" : kValues[i])));
    }
    // The operation does not hang on its workloads.
    const bool read = code.empty() || GetParam().name == std::string("workloads");
    EXPECT_EQ(stage.Names(Kind::kOperationSpec).size(), read ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, HostileDetail,
    testing::Values(Member{"id", "IIIIIIII"}, Member{"name", "NNNNNCNN"}, Member{"title", "pppppppp"},
                    Member{"description", "pppppppp"}, Member{"gpu_types", "pppppppp"},
                    Member{"tags", "ppFFFFpF"}, Member{"inputs", "FFFFFFFR"}, Member{"outputs", "FFFFFFFR"},
                    Member{"baseline", "pppppppp"}, Member{"baseline_latency_ms", "pppppppp"},
                    Member{"latency_unit", "pppppppp"}, Member{"sol_is_dummy", "pppppppp"},
                    Member{"workloads", "FFFFFFEF"}, Member{"op_type", "ppFFFpFF"},
                    Member{"hf_id", "pppppppp"}, Member{"reference", "ppFFFpFF"}),
    NameOf);

TEST(HostileKernel, WhoseAxesAreNothingAtAllIsRefused) {
  for (const std::string& value : kValues) {
    if (value == "{}") continue;
    Stage stage;
    stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("axes", value)));
    EXPECT_EQ(stage.Visit(), "partial KERNEL_FIELD") << value;
    EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNEL_FIELD " + (value.empty() ? "null" : value)));
  }
}

TEST(HostileKernel, WithoutASingleAxisHasNoCaseWithASizeAndStands) {
  Stage stage;
  stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("axes", "{}")));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.QuarantineCodeOf(R"({"axes": {"rows": 2}, "sol_ms": 0.02})"), "CASE_UNBOUND");
  EXPECT_EQ(stage.QuarantineCodeOf(R"({"axes": {"rows": 4}, "sol_ms": 0.01})"), "CASE_UNBOUND");
  EXPECT_THAT(stage.Names(Kind::kWorkloadCase), IsEmpty());
  EXPECT_EQ(stage.Rows(), kAllPassed) << "the suite is what upstream ranks by";
}

// --- every member of a workload ---

struct CaseMember {
  const char *name, *codes[8];
};
TEST(HostileKernel, SetsAsideAWorkloadWithAMemberThatCannotBeReadAndKeepsTheOthers) {
  const char *const p = "", *const a = "CASE_AXES", *const d = "CASE_ID", *const f = "CASE_FIELD";
  const CaseMember members[] = {
      {"axes", {a, a, a, a, a, a, a, "CASE_UNBOUND"}},
      {"uuid", {p, p, d, d, d, p, d, d}},
      {"inputs", {p, p, f, f, f, f, f, p}},
      {"tolerance", {p, p, f, f, f, f, f, p}},
      {"sol_ms", {p, p, p, p, p, p, p, p}},
      {"baseline_latency_ms", {p, p, p, p, p, p, p, p}},
  };
  for (const CaseMember& member : members) {
    for (std::size_t i = 0; i < kValues.size(); ++i) {
      SCOPED_TRACE(std::string(member.name) + " " + kValues[i]);
      const std::string bad =
          JsonObject({{"axes", R"({"rows": 2})"}, {"sol_ms", "0.02"}}).Set(member.name, kValues[i]).Text();
      Stage stage;
      stage.upstream.Say(
          "kernels/5",
          Detail(PlainKernel().Set("workloads", R"([{"axes": {"rows": 4}, "sol_ms": 0.01}, )" + bad + "]")));
      EXPECT_EQ(stage.Visit(), "full");
      EXPECT_EQ(stage.Rows(), kAllPassed);
      const std::string code = member.codes[i];
      EXPECT_EQ(stage.QuarantineCodeOf(bad), code);
      EXPECT_EQ(stage.last.quarantined, code.empty() ? 0u : 1u);
      EXPECT_EQ(stage.Names(Kind::kWorkloadCase).size(), code.empty() ? 2u : 1u);
    }
  }
}

TEST(HostileKernel, WithoutABoundForEachCaseHasNone) {
  for (const auto& [sol_ms, state] :
       {std::pair("0.01", "excluded BELOW_SPEED_OF_LIGHT"), std::pair("null", "passed"),
        std::pair("", "passed"), std::pair("0", "passed"), std::pair("-1", "passed"),
        std::pair("\"0.01\"", "passed"), std::pair("1e-7", "passed")}) {
    Stage stage;
    const std::string other = JsonObject({{"axes", R"({"rows": 4})"}, {"sol_ms", sol_ms}}).Text();
    stage.upstream.Say(
        "kernels/5",
        Detail(PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": 0.02}, )" + other + "]")));
    stage.SayRows({PlainRow(101).Set("latency_ms", "0.009").Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.StateOf("101"), state) << sol_ms;
  }
}

TEST(HostileKernel, WithANewDtypeIsTakenAndWithNoneThatCanBeWrittenRefused) {
  const auto with = [](const char* dtype) {
    return Detail(PlainKernel().Set(
        "outputs", R"({"out": {"shape": ["rows"], "dtype": ")" + std::string(dtype) + "\"}}"));
  };
  for (const char* dtype : {"float6_e3m2", "MXFP4", "complex64", "int4 x2"}) {
    Stage stage;
    stage.upstream.Say("kernels/5", with(dtype));
    EXPECT_EQ(stage.Visit(), "full") << dtype;
    EXPECT_EQ(stage.Rows(), kAllPassed);
  }
  for (const char* dtype : {"4bit", "你好", "-"}) {
    Stage stage;
    stage.upstream.Say("kernels/5", with(dtype));
    EXPECT_EQ(stage.Visit(), "partial KERNEL_RULE") << dtype;
  }
}

TEST(HostileKernel, WithAnElementThatTheStrictReaderRefusesLosesThatCaseAlone) {
  const std::string good = R"({"axes": {"rows": 4}, "sol_ms": 0.01})";
  for (const std::string& bad :
       {std::string(R"({"axes": {"rows": 2}, "axes": {"rows": 3}})"),
        std::string(R"({"axes": {"rows": 1e999}})"),
        std::string("{\"axes\": {\"rows\": 2}, \"uuid\": \"\xff\"}"), std::string(R"({"uuid": "\ud800"})")}) {
    Stage stage;
    stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("workloads", "[" + bad + ", " + good + "]")));
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_THAT(stage.Quarantine(), ElementsAre("CASE_JSON " + bad));
    EXPECT_EQ(stage.Names(Kind::kWorkloadCase).size(), 1u);
    EXPECT_EQ(stage.Rows(), kAllPassed);
  }
}

TEST(HostileKernel, ThatIsDamagedLaterKeepsItsLastGoodStateAndTakesRowsWithIt) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("inputs", "null")));
  stage.SayRows({PlainRow(104).Text(), PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Text()});
  EXPECT_EQ(stage.Visit(), "partial KERNEL_FIELD");
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 104 passed");
  EXPECT_EQ(stage.Newest("005_toy", Kind::kOperationSpec).version, 1u);
  EXPECT_EQ(stage.Poll(), "partial KERNEL_FIELD");
  EXPECT_EQ(stage.Poll(), "partial KERNEL_FIELD") << "no poll is full while the kernel cannot be taken";
  stage.upstream.Say("kernels/5", Detail(PlainKernel()));
  EXPECT_EQ(stage.Poll(), "full");
}

// --- every member of the list's item ---

class HostileListItem : public testing::TestWithParam<Member> {};

TEST_P(HostileListItem, WithAMemberNullAbsentAndOfEveryTypeEndsAsItMust) {
  const std::string fates = GetParam().fates;
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    SCOPED_TRACE(kValues[i]);
    Stage stage;
    const std::string item = ListItem(6, "006_toy").Set(GetParam().name, kValues[i]).Text();
    stage.SayKernel(6, "006_toy", {PlainRow(201).Set("kernel_id", "6").Text()});
    stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text(), item}));
    if (fates[i] == 'o') {  // it is listed as another kernel, which is not there
      EXPECT_EQ(stage.Visit(), "partial NOT_THERE NOT_THERE");
    } else if (fates[i] == 'p') {
      EXPECT_EQ(stage.Visit(), "full");
    } else {
      EXPECT_EQ(stage.Visit(), "partial " + CodeOf(fates[i]));
    }
    EXPECT_EQ(stage.Rows(), kAllPassed + (fates[i] == 'p'   ? ", 201 passed"
                                          : fates[i] == 'C' ? ", 201 pending KERNEL_UNAVAILABLE"
                                                            : ""));
    const std::string set_aside = fates[i] == 'I' || fates[i] == 'N' ? CodeOf(fates[i]) : "";
    EXPECT_EQ(stage.QuarantineCodeOf(item), set_aside);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, HostileListItem,
                         testing::Values(Member{"id", "IIIoIIII"}, Member{"name", "NNNNNCNN"},
                                         Member{"title", "pppppppp"}, Member{"gpu_types", "pppppppp"},
                                         Member{"tags", "pppppppp"}, Member{"submission_count", "pppppppp"}),
                         NameOf);

// --- the list ---

TEST(HostileKernels, ThatAreNoneAtTheFirstVisitMakeItFallShort) {
  Stage stage;
  stage.upstream.Say("kernels", ListOf({}));
  EXPECT_EQ(stage.Visit(), "partial NO_KERNELS");
  EXPECT_THAT(stage.Quarantine(), IsEmpty());
  EXPECT_EQ(stage.Visit(), "partial NO_KERNELS");
  stage.SayGood();
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileKernels, ThatAreNoneAfterAGoodVisitAreRefusedUntilAnOperatorAgrees) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const std::string before = ExportOf(*stage.store);
  stage.upstream.Say("kernels", ListOf({}));
  EXPECT_EQ(stage.Visit(), "partial RESPONSE_REFUSED");
  EXPECT_EQ(stage.Poll(), "partial RESPONSE_REFUSED");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNELS_VANISHED " + ListOf({})));
  EXPECT_THAT(stage.upstream.asked, ElementsAre("kernels"));
  EXPECT_THAT(stage.Changes("kernel"), IsEmpty());
  EXPECT_EQ(Difference(ExportOf(*stage.store), before), "");
  EXPECT_EQ(stage.VisitAcceptingShrunken(), "partial NO_KERNELS");
  EXPECT_THAT(stage.Changes("kernel"),
              ElementsAre(R"({"type":"kernel","what":"withdrawn","id":5,"externalId":"005_toy"})"));
  EXPECT_EQ(Difference(ExportOf(*stage.store), before), "") << "what is withdrawn is kept";
  stage.SayGood();
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Changes("kernel").back(), HasSubstr("\"what\":\"returned\""));
}

TEST(HostileKernels, ThatAreFewerAreBelievedAtTenPercentAndNotAbove) {
  for (const auto& [listed, gone, believed] : {std::tuple(10, 1, true), std::tuple(9, 1, false),
                                               std::tuple(20, 2, true), std::tuple(19, 2, false)}) {
    SCOPED_TRACE(std::to_string(gone) + " of " + std::to_string(listed));
    Stage stage;
    std::vector<std::string> items;
    for (int id = 5; id < 5 + listed; ++id) {
      const std::string name = "k" + std::to_string(id);
      items.push_back(ListItem(id, name, 0).Text());
      stage.SayKernel(id, name, {});
    }
    stage.upstream.Say("kernels", ListOf(items));
    EXPECT_EQ(stage.Visit(), "full");
    const std::string shrunk = ListOf({items.begin() + gone, items.end()});
    stage.upstream.Say("kernels", shrunk);
    EXPECT_EQ(stage.Poll(), believed ? "full" : "partial RESPONSE_REFUSED");
    EXPECT_EQ(stage.QuarantineCodeOf(shrunk), believed ? "" : "KERNELS_VANISHED");
    EXPECT_EQ(stage.Changes("kernel").size(), believed ? static_cast<std::size_t>(gone) : 0u);
    EXPECT_EQ(stage.Names(Kind::kOperationSpec).size(), static_cast<std::size_t>(listed));
  }
}

TEST(HostileKernels, WithOneNameKeepTheLowerId) {
  Stage stage;
  stage.SayKernel(6, "005_toy", {PlainRow(201).Set("kernel_id", "6").Text()});
  const std::string second = ListItem(6, "005_toy").Text();
  stage.upstream.Say("kernels", ListOf({second, ListItem(5, "005_toy").Text()}));
  EXPECT_EQ(stage.Visit(), "partial KERNEL_NAME_REPEATED");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNEL_NAME_REPEATED " + second));
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileKernels, WithOneIdAreTakenOnce) {
  Stage stage;
  const std::string second = ListItem(5, "other").Text();
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text(), second}));
  EXPECT_EQ(stage.Visit(), "partial KERNEL_ID_REPEATED");
  EXPECT_THAT(stage.Quarantine(), ElementsAre("KERNEL_ID_REPEATED " + second));
  EXPECT_EQ(stage.Rows(), kAllPassed);
}

TEST(HostileKernels, WhoseNamesDifferInCaseAloneStayApart) {
  Stage stage;
  stage.SayKernel(6, "005_TOY", {PlainRow(201).Set("kernel_id", "6").Text()});
  stage.upstream.Say("kernels", ListOf({ListItem(5, "005_toy").Text(), ListItem(6, "005_TOY").Text()}));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Names(Kind::kOperationSpec), ElementsAre("005_TOY", "005_toy"));
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 201 passed");
}

TEST(HostileKernels, WithAnIdBeyondTheRangeOfADoubleAreAskedForByIt) {
  Stage stage;
  constexpr std::int64_t kId = 9007199254740993;
  stage.SayKernel(kId, "big", {PlainRow(201).Set("kernel_id", std::to_string(kId)).Text()});
  stage.upstream.Say("kernels", ListOf({ListItem(kId, "big").Text()}));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), "201 passed");
}

}  // namespace
}  // namespace etl::test
