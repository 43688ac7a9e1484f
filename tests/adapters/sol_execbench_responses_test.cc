// Whole responses: what is refused, the list of kernels, leaderboards, request keys.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/sol_execbench/request_key.h"
#include "tests/adapters/sol_execbench_fixtures.h"

namespace etl::test {
namespace {

struct Refusal {
  const char *key, *body, *code, *where;
};

TEST(SolExecbenchResponse, ThatIsWrongAsAWholeIsRefusedWithItsPlace) {
  const std::string rows = kRowsKey;
  const Refusal refusals[] = {
      {"kernels", "", "RESPONSE_JSON", "kernels byte 0"},
      {"kernels", "{\"data\": ", "RESPONSE_JSON", nullptr},
      {"kernels", "Internal Server Error", "RESPONSE_JSON", "kernels byte 0"},
      {"kernels", "{\"data\": {\"kernels\": []}} x", "RESPONSE_JSON", nullptr},
      {"kernels", "{\"data\": {\"kernels\": [{\"a\": 1, \"a\": 2}]}, \"data\": 1}", "RESPONSE_JSON", nullptr},
      {"kernels", " <!DOCTYPE html><html>", "RESPONSE_SHAPE", "kernels $"},
      {"kernels", "[]", "RESPONSE_SHAPE", "kernels $"},
      {"kernels", "{}", "RESPONSE_SHAPE", "kernels $.data.kernels"},
      {"kernels", "{\"data\": {\"kernels\": {}}}", "RESPONSE_SHAPE", "kernels $.data.kernels"},
      {"kernels", "{\"detail\": \"slow down\"}", "RESPONSE_DETAIL", "kernels $.detail"},
      {"kernels/5", "{\"data\": []}", "RESPONSE_SHAPE", "kernels/5 $.data"},
      {"kernels/5", "{\"detail\": [{\"msg\": \"no\"}]}", "RESPONSE_DETAIL", "kernels/5 $.detail"},
      {kRowsKey.c_str(), "{\"data\": {\"total\": 3}}", "RESPONSE_SHAPE", nullptr},
      {kRowsKey.c_str(), "{\"data\": {\"submissions\": null}}", "RESPONSE_SHAPE", nullptr},
      {"leaderboard/kernel/5/B200", "{\"data\": {}}", "RESPONSE_SHAPE",
       "leaderboard/kernel/5/B200 $.data.rankings"},
      {"local", "{}", "RESPONSE_SHAPE", "local $.kernels"},
      {"local/x/definition.json", "17", "RESPONSE_SHAPE", "local/x/definition.json $"},
      {"nonsense", "{}", "REQUEST_KEY", "nonsense"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(std::string(refusal.key) + " " + refusal.body);
    auto adapter = MakeAdapter("sol-execbench");
    const auto outcome = AcceptOne(*adapter, refusal.key, refusal.body);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().errc, Errc::kInvalid);
    EXPECT_EQ(outcome.error().code, refusal.code);
    if (refusal.where != nullptr) {
      EXPECT_EQ(outcome.error().where, refusal.where);
    }
    EXPECT_FALSE(outcome.error().what.empty());
    EXPECT_FALSE(outcome.error().fix.empty());
  }
}

TEST(SolExecbenchResponse, OfUpstreamsOwnErrorSaysWhatUpstreamSaid) {
  auto adapter = MakeAdapter("sol-execbench");
  const auto outcome = AcceptOne(*adapter, "kernels/5", R"({"detail": "kernel is being rebuilt"})");
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("kernel is being rebuilt"), std::string::npos);
}

TEST(SolExecbenchResponse, NamesTheByteOfABadListElement) {
  auto adapter = MakeAdapter("sol-execbench");
  const std::string body = R"({"data": {"kernels": [{"id": 1, "name": "a"}, {"id": 2, "name": NaN}]}})";
  const auto outcome = AcceptOne(*adapter, "kernels", body);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->draft.quarantine.size(), 1U);
  EXPECT_EQ(outcome->draft.quarantine[0].code, "KERNEL_JSON");
  EXPECT_EQ(outcome->draft.quarantine[0].where, "kernels $.data.kernels[1]");
  EXPECT_EQ(outcome->draft.quarantine[0].bytes, R"({"id": 2, "name": NaN})");
  EXPECT_NE(outcome->draft.quarantine[0].what.find("byte " + std::to_string(body.find("NaN"))),
            std::string::npos)
      << outcome->draft.quarantine[0].what;
  EXPECT_EQ(outcome->scopes, 1U);
}

TEST(SolExecbenchKernels, AreAskedForByIdAndAllDetailsBeforeAnyRows) {
  auto adapter = MakeAdapter("sol-execbench");
  const auto outcome = AcceptOne(*adapter, "kernels", R"({"data": {"kernels": [
      {"id": 9, "name": "b", "title": "B", "gpu_types": ["B200"], "tags": [], "submission_count": 4},
      {"id": 5, "name": "a"}]}})");
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->next.size(), 4U);
  EXPECT_EQ(outcome->next[0].key, "kernels/5");
  EXPECT_EQ(outcome->next[0].scope, "kernel/5");
  EXPECT_EQ(outcome->next[0].context, "");
  EXPECT_EQ(outcome->next[1].key, "kernels/9");
  EXPECT_EQ(outcome->next[2].key, "submissions?kernel_id=5&limit=50&offset=0");
  EXPECT_EQ(outcome->next[2].scope, "kernel/5");
  EXPECT_EQ(outcome->next[2].context, "kernel/5");
  EXPECT_EQ(outcome->next[3].key, "submissions?kernel_id=9&limit=50&offset=0");
  EXPECT_EQ(outcome->scopes, 2U);
  EXPECT_TRUE(outcome->draft.drift.empty());
}

TEST(SolExecbenchKernels, AreFilteredByNameAndMissedByName) {
  auto adapter = MakeAdapter("sol-execbench");
  Goal goal;
  goal.kernels = {"b", "zed", "b"};
  const auto outcome =
      AcceptOne(*adapter, "kernels",
                R"({"data": {"kernels": [{"id": 9, "name": "b"}, {"id": 5, "name": "a"}]}})", {}, goal);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->next.size(), 2U);
  EXPECT_EQ(outcome->next[0].key, "kernels/9");
  ASSERT_EQ(outcome->shortfalls.size(), 1U);
  EXPECT_EQ(outcome->shortfalls[0].code, "NOT_THERE");
  EXPECT_NE(outcome->shortfalls[0].what.find("zed"), std::string::npos);
}

TEST(SolExecbenchKernels, ThatCannotBeListedFallShortAlone) {
  const std::pair<const char*, const char*> items[] = {
      {"7", "KERNEL_NOT_AN_OBJECT"},
      {"{\"name\": \"x\"}", "KERNEL_ID"},
      {"{\"id\": \"8\", \"name\": \"x\"}", "KERNEL_ID"},
      {"{\"id\": 8}", "KERNEL_NAME"},
      {"{\"id\": 8, \"name\": \"\"}", "KERNEL_NAME"},
      {"{\"id\": 8, \"name\": 8}", "KERNEL_NAME"},
      {"{\"id\": 5, \"name\": \"other\"}", "KERNEL_ID_REPEATED"},
      {"{\"id\": 8, \"name\": \"a\"}", "KERNEL_NAME_REPEATED"},
      {"{\"id\": 8, \"id\": 9}", "KERNEL_JSON"},
  };
  for (const auto& [item, code] : items) {
    SCOPED_TRACE(item);
    auto adapter = MakeAdapter("sol-execbench");
    const auto outcome = AcceptOne(
        *adapter, "kernels", std::string(R"({"data": {"kernels": [{"id": 5, "name": "a"}, )") + item + "]}}");
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->draft.quarantine.size(), 1U);
    EXPECT_EQ(outcome->draft.quarantine[0].code, code);
    EXPECT_EQ(outcome->draft.quarantine[0].where, "kernels $.data.kernels[1]");
    EXPECT_EQ(outcome->draft.quarantine[0].bytes, item);
    ASSERT_EQ(outcome->shortfalls.size(), 1U);
    EXPECT_EQ(outcome->shortfalls[0].code, code);
    ASSERT_EQ(outcome->next.size(), 2U);
    EXPECT_EQ(outcome->next[0].key, "kernels/5");
  }
}

TEST(SolExecbenchKernels, WithOneNameKeepTheLowerId) {
  auto adapter = MakeAdapter("sol-execbench");
  const auto outcome = AcceptOne(
      *adapter, "kernels", R"({"data": {"kernels": [{"id": 9, "name": "a"}, {"id": 5, "name": "a"}]}})");
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->next.size(), 2U);
  EXPECT_EQ(outcome->next[0].key, "kernels/5");
  EXPECT_EQ(outcome->draft.quarantine[0].bytes, R"({"id": 9, "name": "a"})");
}

TEST(SolExecbenchKernels, WhoseDetailTakesAnotherNameDoNotWriteUnderIt) {
  auto adapter = MakeAdapter("sol-execbench");
  const std::string list =
      R"({"data": {"kernels": [{"id": 5, "name": "005_toy"}, {"id": 9, "name": "009_toy"}]}})";
  ASSERT_TRUE(AcceptOne(*adapter, "kernels", list));
  JsonObject other = PlainKernel();
  other.Set("id", "9");
  const auto taken = AcceptOne(*adapter, "kernels/9", Detail(other));
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->draft.entries.empty());
  EXPECT_TRUE(taken->draft.contexts.empty());
  ASSERT_EQ(taken->draft.quarantine.size(), 1U);
  EXPECT_EQ(taken->draft.quarantine[0].code, "KERNEL_NAME_CONFLICT");
  EXPECT_EQ(taken->draft.quarantine[0].where, "kernels/9 $.data.name");
  EXPECT_EQ(taken->draft.quarantine[0].bytes, "\"005_toy\"");
  ASSERT_EQ(taken->shortfalls.size(), 1U);
  EXPECT_EQ(taken->shortfalls[0].code, "KERNEL_NAME_CONFLICT");
  EXPECT_FALSE(
      AcceptOne(*adapter, "kernels/9", Detail(other.Set("name", "\"009_toy\"")))->draft.entries.empty());
  EXPECT_FALSE(AcceptOne(*adapter, "kernels/5", Detail(PlainKernel()))->draft.entries.empty());
}

TEST(SolExecbenchKernels, WhoseGpuTypesAreNoNamesAreReportedOnce) {
  auto adapter = MakeAdapter("sol-execbench");
  const auto outcome = AcceptOne(*adapter, "kernels",
                                 R"({"data": {"kernels": [{"id": 5, "name": "a", "gpu_types": "B200"},
                                     {"id": 9, "name": "b", "gpu_types": ["B200", 7]},
                                     {"id": 10, "name": "c", "gpu_types": null}]}})");
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->draft.drift.size(), 1U);
  EXPECT_EQ(outcome->draft.drift[0].path, "kernels[].gpu_types is no list of names");
  EXPECT_EQ(outcome->draft.drift[0].sample, "\"B200\"");
}

TEST(SolExecbenchLeaderboard, IsReadInBothItsForms) {
  auto adapter = MakeAdapter("sol-execbench");
  const std::string rows = R"([{"rank": 1, "username": "a", "latency_ms": 0.5, "submitted_at": "2026-08-01"},
      {"rank": null, "username": "b", "latency_ms": 0.6}, {"rank": 2, "username": "SOL", "is_reference": true},
      {"rank": "3", "username": "c", "latency_ms": 0.7}, 7])";
  const auto list = AcceptOne(
      *adapter, "leaderboard/kernel/5/B200",
      R"({"data": {"kernel_name": "x", "evaluation_stack_version": "v1.1", "rankings": )" + rows + "}}",
      PlainContext());
  ASSERT_TRUE(list);
  ASSERT_EQ(list->upstream_ranks.size(), 1U);
  const UpstreamRank& rank = list->upstream_ranks[0];
  EXPECT_EQ(rank.kernel, "005_toy");
  EXPECT_EQ(rank.gpu, "B200");
  EXPECT_EQ(rank.stack_version, "v1.1");
  EXPECT_EQ(rank.username, "a");
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.latency_ms, 0.5);
  EXPECT_EQ(rank.submitted_at, "2026-08-01");
  ASSERT_EQ(list->draft.quarantine.size(), 2U);
  EXPECT_EQ(list->draft.quarantine[0].code, "RANKING_ROW");
  EXPECT_EQ(list->draft.quarantine[0].where, "leaderboard/kernel/5/B200 $.data.rankings[3]");

  const auto keyed = AcceptOne(*adapter, "leaderboard/kernel/5/B200?evaluation_stack_version=v1.0",
                               R"({"data": {"kernel_name": "x", "rankings": {"H100": )" + rows + "}}}");
  ASSERT_TRUE(keyed);
  ASSERT_EQ(keyed->upstream_ranks.size(), 1U);
  EXPECT_EQ(keyed->upstream_ranks[0].gpu, "H100");
  EXPECT_EQ(keyed->upstream_ranks[0].kernel, "x");
  EXPECT_EQ(keyed->upstream_ranks[0].stack_version, "v1.0");
  EXPECT_EQ(keyed->draft.quarantine[0].where,
            "leaderboard/kernel/5/B200?evaluation_stack_version=v1.0 $.data.rankings.H100[3]");
}

TEST(SolExecbenchLeaderboard, GivesItsRanksOnAWalkAloneToo) {
  auto adapter = MakeAdapter("sol-execbench");
  Request request;
  request.key = "leaderboard/kernel/5/B200";
  const Snapshot snapshot = SnapshotOf(
      request.key, R"({"data": {"rankings": [{"rank": 1, "username": "a", "latency_ms": 1}, 7]}})");
  const auto outcome = adapter->Accept(request, snapshot, "", Reading::kWalkOnly, Goal());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->upstream_ranks.size(), 1U);
  EXPECT_TRUE(outcome->draft.quarantine.empty());
}

TEST(SolExecbenchRequestKey, ReadsBackWhatItWrites) {
  using namespace sol_execbench;
  const auto rows = ParseRequestKey(SubmissionsKey(5, 50, 49));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->endpoint, Endpoint::kSubmissions);
  EXPECT_EQ(rows->kernel_id, 5);
  EXPECT_EQ(rows->limit, 50);
  EXPECT_EQ(rows->offset, 49);
  const auto board = ParseRequestKey(LeaderboardKey(5, "RTX 6000/é%"));
  ASSERT_TRUE(board);
  EXPECT_EQ(board->gpu_type, "RTX 6000/é%");
  EXPECT_EQ(ParseRequestKey(LocalWorkloadsKey("a b"))->folder, "a b");
  EXPECT_EQ(ParseRequestKey(LocalDefinitionKey("."))->folder, ".");
  EXPECT_EQ(ParseRequestKey(KernelKey(7))->kernel_id, 7);
}

TEST(SolExecbenchRequestKey, HasOneSpellingOnly) {
  using sol_execbench::ParseRequestKey;
  for (const char* key : {"",
                          "kernel",
                          "kernels/",
                          "kernels/05",
                          "kernels/-5",
                          "kernels/5x",
                          "kernels/99999999999999999999",
                          "submissions?kernel_id=5",
                          "submissions?kernel_id=5&offset=0&limit=50",
                          "submissions?kernel_id=5&limit=50&offset=",
                          "submissions?kernel_id=5&limit=50&offset=0&status=x",
                          "leaderboard/kernel/5",
                          "leaderboard/kernel/5/",
                          "leaderboard/kernel/5/%4",
                          "leaderboard/kernel/5/%zz",
                          "leaderboard/kernel/5/B200?x=1",
                          "local/",
                          "local/definition.json",
                          "local//definition.json",
                          "local/a/b/definition.json",
                          "local/a/other.json"}) {
    EXPECT_FALSE(ParseRequestKey(key)) << key;
  }
}

TEST(SolExecbenchRequestKey, TellsWhichStoredResponsesAContextConcerns) {
  const auto adapter = MakeAdapter("sol-execbench");
  EXPECT_EQ(adapter->ContextFor("submissions?kernel_id=5&limit=50&offset=49"), "kernel/5");
  EXPECT_EQ(adapter->ContextFor("kernels/5"), "");
  EXPECT_EQ(adapter->ContextFor("kernels"), "");
  EXPECT_EQ(adapter->ContextFor("local/x/workload.jsonl"), "local/x");
  EXPECT_EQ(adapter->ContextFor("nonsense"), "");
}

TEST(AdapterRegistry, KnowsItsSourcesBySlug) {
  EXPECT_EQ(AdapterSlugs(), std::vector<std::string>{"sol-execbench"});
  EXPECT_EQ(MakeAdapter("nobody"), nullptr);
  const auto adapter = MakeAdapter("sol-execbench");
  ASSERT_NE(adapter, nullptr);
  EXPECT_EQ(adapter->slug(), "sol-execbench");
  EXPECT_EQ(adapter->version(), "sol-execbench/1");
  Goal goal;
  EXPECT_EQ(adapter->Plan(goal).at(0).key, "kernels");
  goal.local = true;
  EXPECT_EQ(adapter->Plan(goal).at(0).key, "local");
}

}  // namespace
}  // namespace etl::test
