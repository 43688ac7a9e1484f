// Local mode: folders of definition.json and workload.jsonl.

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "fetch/transport.h"
#include "model/canonical_json.h"
#include "tests/adapters/sol_execbench_fixtures.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

void WriteFile(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Definition(const std::string& name) {
  JsonObject kernel = PlainKernel();
  kernel.Set("id", "")
      .Set("name", "\"" + name + "\"")
      .Set("workloads", "")
      .Set("reference", "\"def run(): pass\"");
  kernel.Set("baseline", "")
      .Set("constraints", "[]")
      .Set("custom_inputs_entrypoint", "null")
      .Set("op_type", "\"Toy\"");
  return kernel.Text();
}

Visited VisitFolder(const std::string& dir, Goal goal = {}) {
  auto transport = OpenFolder(dir);
  EXPECT_TRUE(transport);
  goal.local = (*transport)->local();
  EXPECT_TRUE(goal.local);
  auto adapter = MakeAdapter("sol-execbench");
  return Visit(
      *adapter,
      [&](const std::string& key) {
        const auto response = (*transport)->Fetch(key);
        EXPECT_TRUE(response);
        return response && response->status == 200 ? response->bytes : std::string();
      },
      goal);
}

TEST(SolExecbenchLocal, ReadsAFolderOfOneKernel) {
  const TempDir dir("local");
  WriteFile(dir.File("definition.json"), Definition("toy"));
  WriteFile(
      dir.File("workload.jsonl"),
      "\xEF\xBB\xBF"
      R"({"uuid": "11111111-aaaa", "axes": {"rows": 2}, "inputs": {"X": {"type": "random"},)"
      R"( "w-2": {"type": "safetensors", "path": "w.st", "tensor_key": "w"}, "eps": {"type": "scalar", "value": 1e-6}},)"
      R"( "tolerance": {"max_atol": 0.01, "max_rtol": 0.02, "required_matched_ratio": 0.99}})"
      "\r\n\n"
      R"({"definition": "toy", "workload": {"uuid": "22222222-bbbb", "axes": {"rows": 4}, "inputs": {"X": {"type": "custom"}}},)"
      R"( "solution": null, "evaluation": null})");
  const Visited visited = VisitFolder(dir.path());
  EXPECT_EQ(visited.asked,
            (std::vector<std::string>{"local", "local/./definition.json", "local/./workload.jsonl"}));
  EXPECT_TRUE(visited.errors.empty());
  EXPECT_TRUE(visited.shortfalls.empty());
  EXPECT_TRUE(visited.draft.quarantine.empty());
  EXPECT_TRUE(visited.draft.drift.empty()) << visited.draft.drift[0].path;
  EXPECT_EQ(visited.scopes_done, 1U);
  const EntryDraft* operation = Find(visited.draft, Kind::kOperationSpec, "toy");
  ASSERT_NE(operation, nullptr);
  EXPECT_NE(operation->identity.find(R"("family":"toy")"), std::string::npos);
  EXPECT_NE(operation->identity.find(R"("reference":{"language":"python"})"), std::string::npos);
  const EntryDraft* first = Find(visited.draft, Kind::kWorkloadCase, "11111111-aaaa");
  ASSERT_NE(first, nullptr);
  EXPECT_NE(
      first->identity.find(
          R"("correctness":{"comparator":"sol_execbench_eval","maxAbsoluteError":0.01,"maxRelativeError":0.02})"),
      std::string::npos);
  EXPECT_NE(first->identity.find(operation->digest.Text()), std::string::npos);
  EXPECT_NE(first->identity.find(R"("scalars":{"eps":{"dtype":"fp32","value":0.000001}})"),
            std::string::npos);
  EXPECT_NE(first->identity.find(
                R"("tensors":{"w_2":{"data":{"generator":"safetensors"},"dtype":"fp32","shape":[16,3]},)"
                R"("x":{"data":{"generator":"random"},"dtype":"bf16","shape":[2,8]}})"),
            std::string::npos)
      << first->identity;
  EXPECT_EQ(first->metadata, R"({"name":"toy-11111111","title":"toy · rows=2"})");
  const EntryDraft* second = Find(visited.draft, Kind::kWorkloadCase, "22222222-bbbb");
  ASSERT_NE(second, nullptr);
  EXPECT_GE(second->locator.offset, first->locator.offset + first->locator.bytes);
  EXPECT_EQ(second->identity.find("scalars"), std::string::npos);
  EXPECT_NE(Find(visited.draft, Kind::kWorkloadSuite, "toy/suite"), nullptr);
}

TEST(SolExecbenchLocal, ReadsSubFoldersByNameAndOnlyThoseWanted) {
  const TempDir dir("local");
  for (const char* name : {"b", "a"}) {
    WriteFile(dir.File(std::string(name) + "/definition.json"), Definition(name));
    WriteFile(dir.File(std::string(name) + "/workload.jsonl"), R"({"axes": {"rows": 2}})");
  }
  WriteFile(dir.File("notes/readme.txt"), "x");
  const Visited all = VisitFolder(dir.path());
  EXPECT_EQ(all.scopes, 2U);
  EXPECT_EQ(all.asked[1], "local/a/definition.json");
  EXPECT_EQ(Count(all.draft, Kind::kOperationSpec), 2U);
  Goal goal;
  goal.kernels = {"b", "c"};
  const Visited some = VisitFolder(dir.path(), goal);
  EXPECT_EQ(some.scopes, 1U);
  ASSERT_EQ(some.shortfalls.size(), 1U);
  EXPECT_EQ(some.shortfalls[0].code, "NOT_THERE");
}

TEST(SolExecbenchLocal, SetsABadLineAsideAlone) {
  const TempDir dir("local");
  WriteFile(dir.File("definition.json"), Definition("toy"));
  WriteFile(dir.File("workload.jsonl"), "{\"axes\": {\"rows\": 2}}\n{broken\n{\"axes\": {}}\n");
  const Visited visited = VisitFolder(dir.path());
  ASSERT_EQ(visited.draft.quarantine.size(), 2U);
  EXPECT_EQ(visited.draft.quarantine[0].code, "CASE_JSON");
  EXPECT_EQ(visited.draft.quarantine[0].where, "local/./workload.jsonl line 2");
  EXPECT_EQ(visited.draft.quarantine[0].bytes, "{broken");
  EXPECT_EQ(visited.draft.quarantine[1].code, "CASE_UNBOUND");
  EXPECT_EQ(visited.draft.quarantine[1].where, "local/./workload.jsonl line 3.axes");
  EXPECT_EQ(Count(visited.draft, Kind::kWorkloadCase), 1U);
}

TEST(SolExecbenchLocal, FallsShortWithoutADefinitionOrCases) {
  const TempDir dir("local");
  WriteFile(dir.File("a/definition.json"), "{\"name\": \"a\"}");
  WriteFile(dir.File("a/workload.jsonl"), "{\"axes\": {\"rows\": 2}}");
  WriteFile(dir.File("b/definition.json"), Definition("b"));
  WriteFile(dir.File("b/workload.jsonl"), "7\n");
  const Visited visited = VisitFolder(dir.path());
  ASSERT_EQ(visited.shortfalls.size(), 3U);
  EXPECT_EQ(visited.shortfalls[0].code, "KERNEL_FIELD");
  EXPECT_EQ(visited.shortfalls[1].code, "KERNEL_UNAVAILABLE");
  EXPECT_EQ(visited.shortfalls[1].scope, "local/a");
  EXPECT_EQ(visited.shortfalls[2].code, "KERNEL_NO_CASES");
  EXPECT_EQ(visited.scopes_done, 0U);
}

}  // namespace
}  // namespace etl::test
