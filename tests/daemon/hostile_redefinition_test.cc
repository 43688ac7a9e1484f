// A kernel's detail that was good once and is read again with one member spoilt: its runs stand where they
// stood, and the damage is told.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/hostile_support.h"

namespace etl::test {
namespace {

const std::vector<std::string> kValues = {"null", "", "true", "7", "1.5", "\"x\"", "[]", "{}"};

// What comes of it, for each value a letter:
//   k  the last good state is kept, and every visit falls short until the detail is right
//   q  an item of it is in quarantine; what ranks by it is the same
//   d  reported as drift; what ranks by it is the same
//   p  upstream may say so: taken, and what ranks by it is the same
//   c  upstream may say so: another definition, which moves the runs
struct Member {
  const char *name, *fates;
};

// Everything that the runs of the kernel stand by.
std::string Standing(const Stage& stage) {
  std::string text = stage.Rows();
  for (const char* id : {"101", "102", "103"})
    text += " " + stage.Newest("submission/" + std::string(id), Kind::kBenchmarkRun).digest->Hex();
  return text;
}

std::string Summary(const Stage& stage) {
  return Standing(stage) + " " + stage.Newest("005_toy/suite", Kind::kWorkloadSuite).digest->Hex() + " " +
         stage.store->FindContext("sol-execbench", "kernel/5")->value().value;
}

char FateOf(const std::string& detail) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const std::string before = Summary(stage), standing = Standing(stage);
  stage.upstream.Say("kernels/5", detail);
  const std::string result = stage.Visit();
  const std::size_t quarantined = stage.Quarantine().size(), drift = stage.Drift().size();
  const bool moved = Standing(stage) != standing;
  char fate = moved ? 'c' : quarantined > 0 ? 'q' : drift > 0 ? 'd' : 'p';
  if (result != "full") {
    fate = 'k';
    EXPECT_TRUE(result.starts_with("partial KERNEL_")) << result;
    EXPECT_EQ(Summary(stage), before);
    EXPECT_GT(quarantined + drift, 0u) << "never in silence";
    EXPECT_EQ(stage.Visit(), result) << "no visit is full while it cannot be taken";
  }
  stage.SayGood();
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(Summary(stage), before) << "right again";
  return fate;
}

class Redefinition : public testing::TestWithParam<Member> {};

TEST_P(Redefinition, WithAMemberOfTheDetailOfEveryTypeNeverMovesARunInSilence) {
  std::string fates;
  for (const std::string& value : kValues) {
    SCOPED_TRACE(value);
    fates += FateOf(Detail(PlainKernel().Set(GetParam().name, value)));
  }
  EXPECT_EQ(fates, GetParam().fates);
}

std::string NameOf(const testing::TestParamInfo<Member>& script) {
  return script.param.name;
}
void PrintTo(const Member& member, std::ostream* out) {
  *out << member.name;
}

INSTANTIATE_TEST_SUITE_P(
    Detail, Redefinition,
    testing::Values(Member{"id", "kkkkkkkk"}, Member{"name", "kkkkkkkk"}, Member{"title", "ppdddpdd"},
                    Member{"description", "ppdddpdd"}, Member{"gpu_types", "ppddddpd"},
                    Member{"tags", "cckkkkck"}, Member{"axes", "kkkkkkkc"}, Member{"inputs", "kkkkkkkk"},
                    Member{"outputs", "kkkkkkkk"}, Member{"baseline", "ppdddpdd"},
                    Member{"baseline_latency_ms", "ppdppddd"}, Member{"latency_unit", "ppdddddd"},
                    Member{"sol_is_dummy", "kkpkkkkk"}, Member{"workloads", "kkkkkkkk"},
                    Member{"op_type", "ppkkkckk"}, Member{"hf_id", "ppdddpdd"},
                    Member{"reference", "ppkkkckk"}, Member{"submission_count", "ppdppddd"},
                    Member{"constraints", "pppppppp"}, Member{"custom_inputs_entrypoint", "pppppppp"}),
    NameOf);

class RedefinedCase : public testing::TestWithParam<Member> {};

TEST_P(RedefinedCase, WithAMemberOfEveryTypeNeverMovesARunInSilence) {
  std::string fates;
  for (const std::string& value : kValues) {
    SCOPED_TRACE(value);
    const std::string workload =
        JsonObject({{"axes", R"({"rows": 2})"}, {"sol_ms", "0.02"}}).Set(GetParam().name, value).Text();
    fates += FateOf(Detail(
        PlainKernel().Set("workloads", "[" + workload + R"(, {"axes": {"rows": 4}, "sol_ms": 0.01}])")));
  }
  EXPECT_EQ(fates, GetParam().fates);
}

INSTANTIATE_TEST_SUITE_P(Workload, RedefinedCase,
                         testing::Values(Member{"axes", "kkkkkkkc"}, Member{"uuid", "ppkkkckk"},
                                         Member{"inputs", "ppqqqqqp"}, Member{"tolerance", "ppqqqqqp"},
                                         Member{"sol_ms", "ppkppkkk"},
                                         Member{"baseline_latency_ms", "ppdppddd"}),
                         NameOf);

TEST(RedefinedKernel, WithAWorkloadThatTheStrictReaderRefusesKeepsItsSuite) {
  for (const char* damaged : {R"({"axes": {"rows": 2}, "axes": {"rows": 3}})", R"({"axes": {"rows": 1e999}})",
                              R"({"uuid": "\ud800"})", "5", "null", "\"\""}) {
    EXPECT_EQ(FateOf(Detail(PlainKernel().Set(
                  "workloads", "[" + std::string(damaged) + R"(, {"axes": {"rows": 4}, "sol_ms": 0.01}])"))),
              'k')
        << damaged;
  }
}

TEST(RedefinedKernel, ThatIsDamagedIsRebuiltTheSameAndRowsAreStillTaken) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  stage.upstream.Say("kernels/5", Detail(PlainKernel().Set("workloads", R"([5, {"axes": {"rows": 4}}])")));
  stage.SayRows({PlainRow(104).Text(), PlainRow(103).Text(), PlainRow(102).Text(), PlainRow(101).Text()});
  EXPECT_EQ(stage.Visit(), "partial KERNEL_DAMAGED");
  EXPECT_EQ(stage.Rows(), kAllPassed + ", 104 passed");
  EXPECT_THAT(stage.Quarantine(), testing::ElementsAre("CASE_NOT_AN_OBJECT 5"));
  EXPECT_EQ(stage.VisitAcceptingShrunken(), "partial KERNEL_DAMAGED") << "nobody can say what the case was";
  ReplayClock replay_clock;
  const auto rebuilt = OpenStore("", replay_clock);
  ASSERT_TRUE(Rebuild(*stage.store, *rebuilt, replay_clock, nullptr).has_value());
  EXPECT_EQ(Difference(ExportOf(*rebuilt), ExportOf(*stage.store)), "");
}

}  // namespace
}  // namespace etl::test
