// How a kernel's detail becomes an operation, cases and a suite, and what is refused.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/sol_execbench/cases.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/canonical_json.h"
#include "model/json.h"
#include "model/manifest.h"
#include "tests/adapters/sol_execbench_fixtures.h"

namespace etl::test {
namespace {

const std::string kKey = "kernels/5";

Outcome Map(const JsonObject& kernel, const Goal& goal = {}) {
  auto adapter = MakeAdapter("sol-execbench");
  auto outcome = AcceptOne(*adapter, kKey, Detail(kernel), {}, goal);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().Message());
  return outcome ? *std::move(outcome) : Outcome();
}

std::string SpecOf(const Draft& draft, Kind kind, std::string_view external_id) {
  const EntryDraft* entry = Find(draft, kind, external_id);
  if (entry == nullptr) return "absent";
  const auto document = json::Document::Parse(entry->identity);
  return document ? json::Canonical(document->root().Find("spec")) : "no JSON";
}

// The member of the operation's spec.
std::string Operation(const JsonObject& kernel, std::string_view member) {
  const Outcome outcome = Map(kernel);
  const EntryDraft* entry = Find(outcome.draft, Kind::kOperationSpec, "005_toy");
  if (entry == nullptr) return "absent";
  const auto document = json::Document::Parse(entry->identity);
  const json::Value value = document->root().At({"spec", member});
  return value.exists() ? json::Canonical(value) : "absent";
}

TEST(SolExecbenchKernel, BecomesAnOperation) {
  EXPECT_EQ(Operation(PlainKernel(), "family"), "\"element-wise\"");
  EXPECT_EQ(Operation(PlainKernel(), "axes"),
            R"({"half":{"expression":"width // 2","role":"derived","type":"integer"},)"
            R"("rows":{"role":"variable","type":"integer"},)"
            R"("twice":{"expression":"half * 4","role":"derived","type":"integer"},)"
            R"("width":{"role":"constant","type":"integer","value":8}})");
  EXPECT_EQ(
      Operation(PlainKernel(), "inputs"),
      R"([{"name":"x","tensor":{"dtype":"bf16","shape":["rows","width"]}},)"
      R"({"name":"w_2","tensor":{"dtype":"fp32","shape":["twice",3]}},{"name":"eps","scalar":{"dtype":"fp32"}}])");
  EXPECT_EQ(Operation(PlainKernel(), "semantics"), R"({"determinism":"unspecified","mutation":"none"})");
  EXPECT_EQ(Operation(PlainKernel(), "reference"), "absent");
  EXPECT_EQ(Operation(PlainKernel().Set("reference", "\"def run(): pass\""), "reference"),
            R"({"language":"python"})");
  EXPECT_EQ(Operation(PlainKernel().Set("reference", "\"\""), "reference"), "absent");
  const Outcome outcome = Map(PlainKernel());
  EXPECT_EQ(
      Find(outcome.draft, Kind::kOperationSpec, "005_toy")->metadata,
      R"({"description":"Adds a row.","name":"005-toy","sourceRefs":)"
      R"([{"url":"https://research.nvidia.com/benchmarks/sol-execbench/api/kernels"}],"title":"005_toy"})");
}

TEST(SolExecbenchKernel, TakesItsFamilyFromTypeThenTags) {
  EXPECT_EQ(Operation(PlainKernel().Set("op_type", "\"Fused MoE\""), "family"), "\"fused-moe\"");
  EXPECT_EQ(Operation(PlainKernel().Set("op_type", "null"), "family"), "\"element-wise\"");
  EXPECT_EQ(Operation(PlainKernel().Set("op_type", "\"\""), "family"), "\"element-wise\"");
  EXPECT_EQ(
      Operation(PlainKernel().Set("tags", R"(["L2", "Quant", "FlashInfer-Bench", "model:x"])"), "family"),
      "\"uncategorized\"");
  EXPECT_EQ(Operation(PlainKernel().Set("tags", R"(["你好"])"), "family"), "\"uncategorized\"");
  EXPECT_EQ(Operation(PlainKernel().Set("tags", ""), "family"), "\"uncategorized\"");
}

TEST(SolExecbenchKernel, NamesItsTypesAsManifestsDo) {
  using sol_execbench::DtypeOf;
  const std::vector<std::pair<std::string, std::string>> types = {{"bfloat16", "bf16"},
                                                                  {"float16", "fp16"},
                                                                  {"half", "fp16"},
                                                                  {"float32", "fp32"},
                                                                  {"float", "fp32"},
                                                                  {"float64", "fp64"},
                                                                  {"double", "fp64"},
                                                                  {"float8_e4m3fn", "fp8_e4m3"},
                                                                  {"float8_e4m3", "fp8_e4m3"},
                                                                  {"float8_e5m2", "fp8_e5m2"},
                                                                  {"nvfp4", "nvfp4"},
                                                                  {"float4_e2m1", "fp4_e2m1"},
                                                                  {"int8", "int8"},
                                                                  {"int64", "int64"},
                                                                  {"uint8", "uint8"},
                                                                  {"bool", "bool"},
                                                                  {"Float4_E2M1FN_x2", "float4_e2m1fn_x2"},
                                                                  {"my-type é", "my_type__"}};
  for (const auto& [upstream, ours] : types) EXPECT_EQ(DtypeOf(upstream), ours) << upstream;
}

TEST(SolExecbenchKernel, NamesItsHardwareAsManifestsDo) {
  using sol_execbench::HardwareOf;
  const std::vector<std::array<std::string, 3>> gpus = {
      {"B200", "NVIDIA B200", "sm_100"},   {"NVIDIA_B200", "NVIDIA B200", "sm_100"},
      {"GB200", "NVIDIA GB200", "sm_100"}, {"H200", "NVIDIA H200", "sm_90"},
      {"H100", "NVIDIA H100", "sm_90"},    {"NVIDIA_H100", "NVIDIA H100", "sm_90"},
      {"A100", "NVIDIA A100", "sm_80"},    {"RTX_PRO_6000", "RTX PRO 6000", "unknown"}};
  for (const auto& [upstream, product, architecture] : gpus) {
    const Hardware hardware = HardwareOf(upstream);
    EXPECT_EQ(hardware.vendor, "nvidia");
    EXPECT_EQ(hardware.product, product);
    EXPECT_EQ(hardware.architecture, architecture);
  }
}

TEST(SolExecbenchKernel, ResolvesAxesThatAreDeclaredBeforeWhatTheyUse) {
  const Outcome outcome = Map(PlainKernel());
  EXPECT_TRUE(outcome.draft.quarantine.empty());
  EXPECT_EQ(Count(outcome.draft, Kind::kWorkloadCase), 2U);
  const std::string key = sol_execbench::CaseKeyOf({{"rows", 2}});
  const std::string spec = SpecOf(outcome.draft, Kind::kWorkloadCase, key);
  EXPECT_NE(
      spec.find(R"("tensors":{"w_2":{"dtype":"fp32","shape":[16,3]},"x":{"dtype":"bf16","shape":[2,8]}})"),
      std::string::npos)
      << spec;
  EXPECT_NE(spec.find(R"("axes":{"rows":2},"correctness":{"comparator":"sol_execbench_eval"})"),
            std::string::npos);
}

TEST(SolExecbenchKernel, MakesASuiteOfItsCasesInOrderWithRepeats) {
  const Outcome outcome = Map(PlainKernel().Set(
      "workloads", R"([{"axes": {"rows": 4}}, {"axes": {"rows": 2}}, {"axes": {"rows": 4}}])"));
  const std::string four = sol_execbench::CaseKeyOf({{"rows", 4}});
  const std::string two = sol_execbench::CaseKeyOf({{"rows", 2}});
  EXPECT_EQ(Count(outcome.draft, Kind::kWorkloadCase), 2U);
  const std::string suite = SpecOf(outcome.draft, Kind::kWorkloadSuite, "005_toy/suite");
  EXPECT_NE(suite.find("\"cases\":[{\"axes\":{\"rows\":4},\"externalId\":\"" + four +
                       "\"},{\"axes\":{\"rows\":2},\"externalId\":\"" + two +
                       "\"},{\"axes\":{\"rows\":4},\"externalId\":\"" + four + "\"}]"),
            std::string::npos)
      << suite;
  const EntryDraft* entry = Find(outcome.draft, Kind::kWorkloadCase, four);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->scope, "005_toy");
  EXPECT_EQ(entry->metadata,
            "{\"name\":\"005-toy-" + four.substr(0, 8) + "\",\"title\":\"005_toy · rows=4\"}");
  EXPECT_EQ(Find(outcome.draft, Kind::kWorkloadSuite, "005_toy/suite")->metadata,
            R"({"name":"005-toy-suite","title":"SOL workload suite: 005_toy"})");
}

TEST(SolExecbenchKernel, KeysACaseByCollatedNamesAndCutsItsTitle) {
  EXPECT_EQ(sol_execbench::CaseKeyOf({{"a_b", 1}, {"a1", 2}, {"aB", 3}}),
            Sha256(R"({"a_b":1,"a1":2,"aB":3})").Hex().substr(0, 12));
  JsonObject kernel = PlainKernel();
  std::string axes = "{\"rows\": 2.0, \"Zed\": 7";
  for (int i = 0; i < 30; ++i) axes += ", \"axis_" + std::to_string(100 + i) + "\": 1";
  const Outcome outcome = Map(kernel.Set("workloads", "[{\"axes\": " + axes + "}}]"));
  ASSERT_EQ(Count(outcome.draft, Kind::kWorkloadCase), 1U);
  for (const EntryDraft& entry : outcome.draft.entries) {
    if (entry.kind != Kind::kWorkloadCase) continue;
    EXPECT_NE(entry.metadata.find("005_toy · axis_100=1, axis_101=1"), std::string::npos);
    EXPECT_NE(entry.metadata.find("…\"}"), std::string::npos);
    EXPECT_NE(entry.identity.find("\"zed\":7"), std::string::npos);
  }
}

struct CaseFault {
  const char *row, *code, *path;
  bool listed;  // in the suite all the same
};

TEST(SolExecbenchCase, ThatCannotBeIsSetAsideAlone) {
  const CaseFault faults[] = {
      {"17", "CASE_NOT_AN_OBJECT", "", false},
      {R"({"sol_ms": 1})", "CASE_AXES", ".axes", false},
      {R"({"axes": [1]})", "CASE_AXES", ".axes", false},
      {R"({"axes": {"rows": "2"}})", "CASE_AXES", ".axes.rows", false},
      {R"({"axes": {"rows": 2.5}})", "CASE_AXES", ".axes.rows", false},
      {R"({"axes": {"rows": 9007199254740993}})", "CASE_AXES", ".axes.rows", false},
      {R"({"axes": {"rows": 2, "ROWS": 2}})", "CASE_AXES", ".axes.ROWS", false},
      {R"({"axes": {"rows": 2, "a-b": 2}})", "CASE_AXES", ".axes.a-b", false},
      {R"({"axes": {"rows": 2}, "uuid": 7})", "CASE_ID", ".uuid", false},
      {R"({"axes": {"rows": 2}, "uuid": "a\u0000b"})", "CASE_ID", ".uuid", false},
      {R"({"axes": {"other": 2}})", "CASE_UNBOUND", ".axes", true},
      {R"({"axes": {"rows": -2}})", "CASE_RULE", "", true},
      {R"({"axes": {"rows": 2}, "inputs": []})", "CASE_FIELD", ".inputs", true},
      {R"({"axes": {"rows": 2}, "inputs": {"X": {}}})", "CASE_FIELD", ".inputs.X", true},
      {R"({"axes": {"rows": 2}, "inputs": {"eps": {"type": "scalar"}}})", "CASE_FIELD", ".inputs.eps", true},
      {R"({"axes": {"rows": 2}, "tolerance": 1})", "CASE_FIELD", ".tolerance", true},
      {R"({"axes": {"rows": 2}, "tolerance": {"max_atol": "1"}})", "CASE_FIELD", ".tolerance", true},
      {R"({"axes": {"rows": 2}, "tolerance": {"max_atol": -1}})", "CASE_RULE", "", true},
      {R"({"axes": {"rows": 4}, "uuid": "good"})", "CASE_ID_REPEATED", ".uuid", true},
      {R"({"axes": {"rows": 2, "rows": 3}})", "CASE_JSON", "", false},
  };
  for (const CaseFault& fault : faults) {
    SCOPED_TRACE(fault.row);
    const std::string good = R"({"axes": {"rows": 2}, "uuid": "good"})";
    const Outcome outcome = Map(PlainKernel().Set("workloads", "[" + good + ", " + fault.row + "]"));
    ASSERT_EQ(outcome.draft.quarantine.size(), 1U);
    const QuarantineDraft& item = outcome.draft.quarantine[0];
    EXPECT_EQ(item.code, fault.code);
    EXPECT_EQ(item.where, kKey + " $.data.workloads[1]" + fault.path);
    EXPECT_EQ(item.bytes, fault.row);
    EXPECT_TRUE(outcome.shortfalls.empty());
    EXPECT_EQ(Count(outcome.draft, Kind::kWorkloadCase), 1U);
    const std::string suite = SpecOf(outcome.draft, Kind::kWorkloadSuite, "005_toy/suite");
    const auto document = json::Document::Parse(suite);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root().Find("cases").size(), fault.listed ? 2U : 1U);
    EXPECT_EQ(outcome.draft.contexts.size(), 1U);
  }
}

TEST(SolExecbenchCase, WithACyclicOrBrokenAxisNeverStopsTheKernel) {
  const std::pair<const char*, const char*> expressions[] = {{"twice + 1", "CASE_CYCLE"},
                                                             {"half // 0", "CASE_DIVISION"},
                                                             {"half +", "CASE_SYNTAX"},
                                                             {"nowhere * 2", "CASE_UNBOUND"},
                                                             {"9223372036854775807 * half", "CASE_OVERFLOW"}};
  for (const auto& [expression, code] : expressions) {
    SCOPED_TRACE(expression);
    const Outcome outcome = Map(PlainKernel().Set(
        "axes",
        std::string(R"({"rows": {"type": "var"}, "width": {"type": "const", "value": 8},)") +
            R"("half": {"type": "expr", "expression": "width // 2"}, "twice": {"type": "expr", "expression": ")" +
            expression + "\"}}"));
    ASSERT_EQ(outcome.draft.quarantine.size(), 2U);
    EXPECT_EQ(outcome.draft.quarantine[0].code, code);
    EXPECT_EQ(outcome.draft.quarantine[0].where, kKey + " $.data.workloads[0].axes");
    EXPECT_EQ(Count(outcome.draft, Kind::kOperationSpec), 1U);
    EXPECT_EQ(Count(outcome.draft, Kind::kWorkloadSuite), 1U);
    EXPECT_TRUE(outcome.shortfalls.empty());
  }
}

struct KernelFault {
  const char *member, *value, *code, *path;
};

TEST(SolExecbenchKernel, ThatCannotBeTakenFallsShortAlone) {
  const KernelFault faults[] = {
      {"id", "6", "KERNEL_ID", "id"},
      {"id", "", "KERNEL_ID", "id"},
      {"name", "null", "KERNEL_NAME", "name"},
      {"name", "\"\"", "KERNEL_NAME", "name"},
      {"name", "\"a\\u0000b\"", "KERNEL_NAME", "name"},
      {"op_type", "7", "KERNEL_FIELD", "op_type"},
      {"tags", "7", "KERNEL_FIELD", "tags"},
      {"reference", "7", "KERNEL_FIELD", "reference"},
      {"axes", "[]", "KERNEL_FIELD", "axes"},
      {"axes", R"({"rows": 7})", "KERNEL_AXIS", "axes.rows"},
      {"axes", R"({"rows": {"type": "vary"}})", "KERNEL_AXIS", "axes.rows"},
      {"axes", R"({"rows": {"type": "const"}})", "KERNEL_AXIS", "axes.rows"},
      {"axes", R"({"rows": {"type": "const", "value": 1.5}})", "KERNEL_AXIS", "axes.rows"},
      {"axes", R"({"rows": {"type": "expr"}})", "KERNEL_AXIS", "axes.rows"},
      {"axes", R"({"rows": {"type": "var"}, "ROWS": {"type": "var"}})", "KERNEL_AXIS", "axes.ROWS"},
      {"axes", R"({"a-b": {"type": "var"}})", "KERNEL_RULE", "axes"},
      {"axes", R"({"a": {"type": "expr", "expression": "b ^ 2"}})", "KERNEL_RULE", "axes"},
      {"inputs", "null", "KERNEL_FIELD", "inputs"},
      {"inputs", "{}", "KERNEL_RULE", "inputs"},
      {"inputs", R"({"x": {"shape": ["rows"]}})", "KERNEL_ARGUMENT", "inputs.x"},
      {"inputs", R"({"x": {"shape": 7, "dtype": "int8"}})", "KERNEL_ARGUMENT", "inputs.x"},
      {"inputs", R"({"x": {"shape": [null], "dtype": "int8"}})", "KERNEL_ARGUMENT", "inputs.x"},
      {"inputs", R"({"x": {"shape": ["99999999999999999999"], "dtype": "int8"}})", "KERNEL_ARGUMENT",
       "inputs.x"},
      {"inputs", R"({"x": {"shape": [1], "dtype": "int8"}, "X": {"shape": [1], "dtype": "int8"}})",
       "KERNEL_ARGUMENT", "inputs.X"},
      {"inputs", R"({"x": {"shape": ["rows * 2"], "dtype": "int8"}})", "KERNEL_RULE", "inputs"},
      {"inputs", R"({"x": {"shape": [1], "dtype": "4bit"}})", "KERNEL_RULE", "inputs"},
      {"outputs", "7", "KERNEL_FIELD", "outputs"},
      {"workloads", "null", "KERNEL_FIELD", "workloads"},
      {"workloads", "[]", "KERNEL_NO_CASES", "workloads"},
  };
  for (const KernelFault& fault : faults) {
    SCOPED_TRACE(std::string(fault.member) + " = " + fault.value);
    const Outcome outcome = Map(PlainKernel().Set(fault.member, fault.value));
    ASSERT_EQ(outcome.draft.quarantine.size(), 1U);
    EXPECT_EQ(outcome.draft.quarantine[0].code, fault.code);
    EXPECT_EQ(outcome.draft.quarantine[0].where, kKey + " $.data." + fault.path);
    EXPECT_FALSE(outcome.draft.quarantine[0].bytes.empty());
    EXPECT_EQ(outcome.draft.quarantine[0].bytes.find("secret code"), std::string::npos);
    ASSERT_EQ(outcome.shortfalls.size(), 1U);
    EXPECT_EQ(outcome.shortfalls[0].code, fault.code);
    EXPECT_TRUE(outcome.draft.contexts.empty());
  }
}

TEST(SolExecbenchKernel, NeverPassesOnTheBaseline) {
  const Outcome outcome = Map(PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}}, 7])"));
  for (const EntryDraft& entry : outcome.draft.entries) {
    EXPECT_EQ(entry.identity.find("secret"), std::string::npos);
    EXPECT_EQ(entry.metadata.find("secret"), std::string::npos);
  }
  EXPECT_EQ(outcome.draft.contexts[0].value.find("secret"), std::string::npos);
  for (const QuarantineDraft& item : outcome.draft.quarantine) {
    EXPECT_FALSE(item.bytes.empty());
    EXPECT_EQ(item.bytes.find("secret"), std::string::npos);
  }
}

TEST(SolExecbenchKernel, TellsItsRowsWhatTheyAreDerivedWith) {
  const Outcome outcome = Map(PlainKernel());
  ASSERT_EQ(outcome.draft.contexts.size(), 1U);
  EXPECT_EQ(outcome.draft.contexts[0].key, "kernel/5");
  const auto document = json::Document::Parse(outcome.draft.contexts[0].value);
  ASSERT_TRUE(document);
  EXPECT_EQ(json::Canonical(document->root()), outcome.draft.contexts[0].value);
  EXPECT_EQ(json::Canonical(document->root().Find("dtypes")), R"(["bf16","fp32"])");
  EXPECT_EQ(json::Canonical(document->root().Find("tags")), R"(["model:toy-1","element-wise"])");
  EXPECT_EQ(document->root().Find("solMsMin").AsDouble(), 0.01);
}

TEST(SolExecbenchKernel, BoundsLatenciesOnlyWhenEveryCaseHasABound) {
  const auto bound = [](const JsonObject& kernel) {
    const Outcome outcome = Map(kernel);
    const auto document = json::Document::Parse(outcome.draft.contexts.at(0).value);
    return document->root().Find("solMsMin").exists();
  };
  EXPECT_TRUE(bound(PlainKernel()));
  EXPECT_FALSE(bound(PlainKernel().Set("sol_is_dummy", "true")));
  EXPECT_FALSE(bound(PlainKernel().Set("sol_is_dummy", "null")));
  EXPECT_FALSE(bound(
      PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": 1}, {"axes": {"rows": 4}}])")));
  EXPECT_FALSE(bound(PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": 0}])")));
  EXPECT_FALSE(bound(PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": "1"}])")));
  EXPECT_FALSE(
      bound(PlainKernel().Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": 1}, {"a": 1, "a": 2}])")));
}

TEST(SolExecbenchKernel, AsksForALeaderboardPerGpuIfTheGoalWantsThem) {
  Goal goal;
  const JsonObject kernel = PlainKernel().Set("gpu_types", R"(["B200", "RTX 6000/x", "B200", ""])");
  const Outcome outcome = Map(kernel, goal);
  ASSERT_EQ(outcome.next.size(), 2U);
  EXPECT_EQ(outcome.next[0].key, "leaderboard/kernel/5/B200");
  EXPECT_EQ(outcome.next[1].key, "leaderboard/kernel/5/RTX%206000%2Fx");
  EXPECT_TRUE(outcome.next[0].optional);
  EXPECT_EQ(outcome.next[0].scope, "kernel/5");
  goal.leaderboards = false;
  EXPECT_TRUE(Map(kernel, goal).next.empty());
}

TEST(SolExecbenchKernel, ReportsWhatItDoesNotKnow) {
  JsonObject kernel = PlainKernel();
  kernel.Set("flux", "1")
      .Set("axes", R"({"rows": {"type": "var", "unit": "row"}, "width": {"type": "const", "value": 8},
    "half": {"type": "const", "value": 4}, "twice": {"type": "var"}})");
  kernel.Set("workloads", R"([{"axes": {"rows": 2, "twice": 1}, "seed": 4}])");
  const Outcome outcome = Map(kernel);
  std::vector<std::string> paths;
  for (const DriftDraft& drift : outcome.draft.drift) paths.push_back(drift.path);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"kernel.flux", "kernel.axes.*.unit", "kernel.workloads[].seed"}));
}

TEST(SolExecbenchKernel, ReportsKnownMembersOfAnotherType) {
  const std::pair<const char*, std::pair<const char*, const char*>> cases[] = {
      {"gpu_types", {"{\"B200\": 1}", "kernel.gpu_types is no list of names"}},
      {"gpu_types", {"[\"B200\", null]", "kernel.gpu_types is no list of names"}},
      {"sol_is_dummy", {"\"no\"", "kernel.sol_is_dummy is neither true nor false"}},
      {"sol_is_dummy", {"0", "kernel.sol_is_dummy is neither true nor false"}},
      {"latency_unit", {"\"us\"", "kernel.latency_unit=us"}},
      {"latency_unit", {"1", "kernel.latency_unit is no string"}},
      {"title", {"[]", "kernel.title is no string"}},
      {"description", {"7", "kernel.description is no string"}},
      {"hf_id", {"true", "kernel.hf_id is no string"}},
      {"baseline_latency_ms", {"\"0.9\"", "kernel.baseline_latency_ms is no number"}},
      {"submission_count", {"{}", "kernel.submission_count is no number"}},
  };
  for (const auto& [member, expected] : cases) {
    const Outcome outcome = Map(PlainKernel().Set(member, expected.first));
    ASSERT_EQ(outcome.draft.drift.size(), 1U) << expected.first;
    EXPECT_EQ(outcome.draft.drift[0].path, expected.second);
    EXPECT_EQ(outcome.draft.drift[0].sample, expected.first);
    EXPECT_FALSE(outcome.draft.entries.empty());
  }
  for (const char* member : {"gpu_types", "latency_unit", "title", "description", "hf_id", "baseline",
                             "baseline_latency_ms", "submission_count"})
    EXPECT_TRUE(Map(PlainKernel().Set(member, "null")).draft.drift.empty()) << member;
}

TEST(SolExecbenchKernel, NeverLosesItsBoundInSilence) {
  const auto drift = [](const std::string& dummy, const std::string& sol_ms) {
    const std::string bound = sol_ms.empty() ? "" : R"(, "sol_ms": )" + sol_ms;
    const Outcome outcome = Map(
        PlainKernel()
            .Set("sol_is_dummy", dummy)
            .Set("workloads", R"([{"axes": {"rows": 2}, "sol_ms": 1}, {"axes": {"rows": 4})" + bound + "}]"));
    std::vector<std::string> told;
    for (const DriftDraft& d : outcome.draft.drift) told.push_back(d.path + " " + d.sample);
    return Joined(told);
  };
  EXPECT_EQ(drift("false", "1"), "");
  EXPECT_EQ(drift("true", "1"), "");
  EXPECT_EQ(drift("false", ""), "") << "the one way in which a case says that it has none";
  EXPECT_EQ(drift("false", "null"), "");
  for (const char* sol_ms : {"0", "-1", "\"1\"", "true", "[]", "{}"})
    EXPECT_EQ(drift("false", sol_ms),
              "kernel.workloads[].sol_ms is no positive number " + std::string(sol_ms));
  EXPECT_EQ(drift("null", "1"), "kernel.sol_is_dummy is missing ");
  EXPECT_EQ(drift("", "1"), "kernel.sol_is_dummy is missing ");
  EXPECT_EQ(drift("7", "1"), "kernel.sol_is_dummy is neither true nor false 7");
}

TEST(SolExecbenchKernel, NeverSamplesABaselineOfAnotherType) {
  const Outcome outcome = Map(PlainKernel().Set("baseline", "[\"secret code\"]"));
  ASSERT_EQ(outcome.draft.drift.size(), 1U);
  EXPECT_EQ(outcome.draft.drift[0].path, "kernel.baseline is no string");
  EXPECT_EQ(outcome.draft.drift[0].sample, "");
}

}  // namespace
}  // namespace etl::test
