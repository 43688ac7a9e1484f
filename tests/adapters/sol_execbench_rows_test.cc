// Which rows become runs, what the others become, and what one row's members do.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/json.h"
#include "model/manifest.h"
#include "tests/adapters/sol_execbench_fixtures.h"

namespace etl::test {
namespace {

// "passed", "excluded A B", "pending A", or "quarantined CODE where".
std::string FateOf(const std::string& row, std::string_view context) {
  const Draft draft = DraftRows({row}, context);
  if (!draft.quarantine.empty()) {
    EXPECT_TRUE(draft.entries.empty());
    EXPECT_EQ(draft.quarantine.size(), 1U);
    EXPECT_EQ(draft.quarantine[0].bytes, row);
    return "quarantined " + draft.quarantine[0].code + " " +
           draft.quarantine[0].where.substr(kRowsKey.size() + 1);
  }
  const EntryDraft* entry = Find(draft, Kind::kSubmission, "submission/100");
  if (entry == nullptr) return "nothing";
  const bool run = Find(draft, Kind::kBenchmarkRun, "submission/100") != nullptr;
  EXPECT_EQ(run, entry->state == EntryState::kPassed);
  EXPECT_EQ(Count(draft, Kind::kSoftwareProject), 1U);
  std::string fate(EntryStateName(entry->state));
  if (!entry->reasons.empty()) fate += " " + Joined(entry->reasons);
  return fate;
}

struct FieldCase {
  const char *member, *value, *fate;
};

TEST(SolExecbenchRow, EachMemberNullAbsentOrOfAWrongTypeHasItsOwnOutcome) {
  const std::string context = PlainContext();
  ASSERT_FALSE(context.empty());
  const FieldCase cases[] = {
      {"id", "null", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "\"100\"", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "0", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "-1", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "1.5", "quarantined ROW_ID $.data.submissions[0].id"},
      {"id", "9223372036854775808", "quarantined ROW_ID $.data.submissions[0].id"},
      {"user_id", "null", "quarantined ROW_FIELD $.data.submissions[0].user_id"},
      {"user_id", "", "quarantined ROW_FIELD $.data.submissions[0].user_id"},
      {"user_id", "\"7\"", "quarantined ROW_FIELD $.data.submissions[0].user_id"},
      {"username", "null", "quarantined ROW_FIELD $.data.submissions[0].username"},
      {"username", "", "quarantined ROW_FIELD $.data.submissions[0].username"},
      {"username", "7", "quarantined ROW_FIELD $.data.submissions[0].username"},
      {"kernel_id", "null", "quarantined ROW_FIELD $.data.submissions[0].kernel_id"},
      {"kernel_id", "", "passed"},
      {"kernel_id", "\"5\"", "quarantined ROW_FIELD $.data.submissions[0].kernel_id"},
      {"kernel_id", "6", "quarantined ROW_KERNEL $.data.submissions[0].kernel_id"},
      {"kernel_name", "null", "passed"},
      {"status", "null", "quarantined ROW_FIELD $.data.submissions[0].status"},
      {"status", "", "quarantined ROW_FIELD $.data.submissions[0].status"},
      {"status", "\"\"", "quarantined ROW_FIELD $.data.submissions[0].status"},
      {"status", "1", "quarantined ROW_FIELD $.data.submissions[0].status"},
      {"status", "\"QUEUED\"", "pending NOT_FINISHED"},
      {"status", "\"RUNNING\"", "pending NOT_FINISHED"},
      {"status", "\"PENDING_RESULT\"", "pending NOT_FINISHED"},
      {"status", "\"PAUSED\"", "pending NOT_FINISHED"},
      {"status", "\"FAILED\"", "excluded STATUS_FAILED"},
      {"status", "\"ERROR\"", "excluded STATUS_ERROR"},
      {"status", "\"REJECTED\"", "excluded STATUS_REJECTED"},
      {"status", "\"CANCELLED\"", "excluded STATUS_CANCELLED"},
      {"status", "\"TIMEOUT\"", "excluded STATUS_TIMEOUT"},
      {"is_correct", "null", "excluded NOT_CORRECT"},
      {"is_correct", "", "excluded NOT_CORRECT"},
      {"is_correct", "false", "excluded NOT_CORRECT"},
      {"is_correct", "1", "quarantined ROW_FIELD $.data.submissions[0].is_correct"},
      {"latency_ms", "null", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "0", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "-0.5", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "4.9e-7", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "0.009", "excluded BELOW_SPEED_OF_LIGHT"},
      {"latency_ms", "0.01", "passed"},
      {"latency_ms", "1e10", "quarantined MANIFEST_RULE $.data.submissions[0].latency_ms"},
      {"latency_ms", "1e300", "quarantined MANIFEST_RULE $.data.submissions[0].latency_ms"},
      {"latency_ms", "\"0.5\"", "quarantined ROW_FIELD $.data.submissions[0].latency_ms"},
      {"sol_score", "null", "passed"},
      {"sol_score", "", "passed"},
      {"sol_score", "\"high\"", "passed"},
      {"avg_speedup", "\"high\"", "passed"},
      {"fast_1_count", "[]", "passed"},
      {"fast_1_total", "{}", "passed"},
      {"gpu_type", "null", "quarantined ROW_FIELD $.data.submissions[0].gpu_type"},
      {"gpu_type", "", "quarantined ROW_FIELD $.data.submissions[0].gpu_type"},
      {"gpu_type", "\"\"", "quarantined ROW_FIELD $.data.submissions[0].gpu_type"},
      {"gpu_type", "\"B/200\"", "quarantined ROW_FIELD $.data.submissions[0].gpu_type"},
      {"gpu_type", "\"X9\"", "passed"},
      {"worker_id", "null", "passed"},
      {"worker_id", "", "passed"},
      {"worker_id", "7", "quarantined ROW_FIELD $.data.submissions[0].worker_id"},
      {"evaluation_stack_version", "null", "passed"},
      {"evaluation_stack_version", "", "passed"},
      {"evaluation_stack_version", "1.1",
       "quarantined ROW_FIELD $.data.submissions[0].evaluation_stack_version"},
      {"is_disqualified", "null", "quarantined ROW_FIELD $.data.submissions[0].is_disqualified"},
      {"is_disqualified", "", "passed"},
      {"is_disqualified", "true", "excluded DISQUALIFIED"},
      {"is_disqualified", "0", "quarantined ROW_FIELD $.data.submissions[0].is_disqualified"},
      {"submitted_at", "null", "passed"},
      {"submitted_at", "", "passed"},
      {"submitted_at", "\"nonsense\"", "passed"},
      {"submitted_at", "7", "quarantined ROW_FIELD $.data.submissions[0].submitted_at"},
      {"finished_at", "null", "passed"},
      {"finished_at", "", "passed"},
      {"finished_at", "\"nonsense\"", "quarantined ROW_TIME $.data.submissions[0].finished_at"},
      {"finished_at", "\"2026-02-30T00:00:00\"", "quarantined ROW_TIME $.data.submissions[0].finished_at"},
      {"finished_at", "7", "quarantined ROW_FIELD $.data.submissions[0].finished_at"},
      {"error_log", "\"boom\"", "passed"},
  };
  for (const FieldCase& field : cases) {
    SCOPED_TRACE(std::string(field.member) + " = " + field.value);
    EXPECT_EQ(FateOf(PlainRow().Set(field.member, field.value).Text(), context), field.fate);
  }
}

TEST(SolExecbenchRow, GivesEveryReasonThatAppliesInAFixedOrder) {
  const std::string context = PlainContext();
  JsonObject row = PlainRow();
  row.Set("status", "\"FAILED\"")
      .Set("is_correct", "null")
      .Set("is_disqualified", "true")
      .Set("latency_ms", "null");
  EXPECT_EQ(FateOf(row.Text(), context),
            "excluded DISQUALIFIED STATUS_FAILED NOT_CORRECT MISSING_PRIMARY_METRIC");
  row.Set("latency_ms", "0.001");
  EXPECT_EQ(FateOf(row.Text(), context),
            "excluded DISQUALIFIED STATUS_FAILED NOT_CORRECT BELOW_SPEED_OF_LIGHT");
  row.Set("status", "\"RUNNING\"");
  EXPECT_EQ(FateOf(row.Text(), context), "pending NOT_FINISHED");
}

TEST(SolExecbenchRow, WaitsWhenTheKernelIsUnknown) {
  EXPECT_EQ(FateOf(PlainRow().Text(), ""), "pending KERNEL_UNAVAILABLE");
  EXPECT_EQ(FateOf(PlainRow().Text(), "not json"), "pending KERNEL_UNAVAILABLE");
  EXPECT_EQ(FateOf(PlainRow().Set("status", "\"RUNNING\"").Text(), ""), "pending NOT_FINISHED");
  EXPECT_EQ(FateOf(PlainRow().Set("is_disqualified", "true").Text(), ""), "pending KERNEL_UNAVAILABLE");
}

TEST(SolExecbenchRow, IsNeverDatedByOurClock) {
  const std::string context = PlainContext();
  JsonObject row = PlainRow();
  row.Set("finished_at", "null").Set("submitted_at", "null");
  EXPECT_EQ(FateOf(row.Text(), context), "quarantined ROW_NO_TIME $.data.submissions[0].finished_at");
  row.Set("submitted_at", "\"soon\"");
  EXPECT_EQ(FateOf(row.Text(), context), "quarantined ROW_TIME $.data.submissions[0].submitted_at");
  row.Set("submitted_at", "\"2026-08-01T02:00:01.5+02:00\"");
  EXPECT_EQ(FateOf(row.Text(), context), "passed");
  const Draft draft = DraftRows({row.Text()}, context);
  EXPECT_EQ(Find(draft, Kind::kBenchmarkRun, "submission/100")->ranking->observed_at.Text(),
            "2026-08-01T00:00:01.500Z");
  row.Set("finished_at", "null").Set("submitted_at", "null").Set("is_correct", "false");
  EXPECT_EQ(FateOf(row.Text(), context), "excluded NOT_CORRECT");
}

TEST(SolExecbenchRow, ThatIsNoObjectOrNoJsonIsSetAsideAlone) {
  const std::string context = PlainContext();
  const std::string good = PlainRow().Text();
  const std::string twice = R"({"id": 3, "i\u0064": 4})";
  const std::string surrogate = R"({"id": 3, "username": "\udc00"})";
  const Draft draft = DraftRows({"null", good, twice, "17", surrogate, R"({"id": 1e999})"}, context);
  ASSERT_EQ(draft.quarantine.size(), 5U);
  const std::vector<std::string> expected = {
      "ROW_JSON $.data.submissions[2]", "ROW_JSON $.data.submissions[4]", "ROW_JSON $.data.submissions[5]",
      "ROW_NOT_AN_OBJECT $.data.submissions[0]", "ROW_NOT_AN_OBJECT $.data.submissions[3]"};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(draft.quarantine[i].code + draft.quarantine[i].where.substr(kRowsKey.size()), expected[i]);
  }
  EXPECT_EQ(draft.quarantine[0].bytes, twice);
  EXPECT_NE(draft.quarantine[0].what.find("JSON_DUPLICATE_MEMBER"), std::string::npos);
  EXPECT_EQ(draft.quarantine[1].bytes, surrogate);
  EXPECT_EQ(draft.quarantine[3].bytes, "null");
  const EntryDraft* run = Find(draft, Kind::kBenchmarkRun, "submission/100");
  ASSERT_NE(run, nullptr);
}

TEST(SolExecbenchRow, KeepsWhereItStandsInTheSnapshot) {
  const std::string row = PlainRow().Text();
  const std::string page = "\xEF\xBB\xBF" + PageOf({row, PlainRow(101).Text()}, 2);
  auto adapter = MakeAdapter("sol-execbench");
  const auto outcome = AcceptOne(*adapter, kRowsKey, page, PlainContext());
  ASSERT_TRUE(outcome);
  const EntryDraft* entry = Find(outcome->draft, Kind::kSubmission, "submission/100");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(page.substr(entry->locator.offset, entry->locator.bytes), row);
}

TEST(SolExecbenchRow, BecomesARunWithWhatTheSourceStates) {
  const Draft draft = DraftRows({PlainRow().Text()}, PlainContext());
  const EntryDraft* run = Find(draft, Kind::kBenchmarkRun, "submission/100");
  ASSERT_NE(run, nullptr);
  EXPECT_NE(
      run->identity.find(
          R"("sourceNative":{"benchmark":"005_toy","externalId":"100","metrics":{"avg_speedup":1.25,)"
          R"("fast_1_count":2,"fast_1_total":2,"latency_ms":0.5,"sol_score":0.75},"source":"sol-execbench"})"),
      std::string::npos)
      << run->identity;
  EXPECT_NE(run->identity.find(R"("timing":{"latencyNs":{"mean":500000},"primaryStatistic":"mean"})"),
            std::string::npos);
  EXPECT_NE(run->identity.find(R"("observedAt":"2026-08-01T00:00:02.123Z")"), std::string::npos);
  EXPECT_EQ(run->metadata,
            R"({"labels":{"worker":"w-1"},"name":"sol-submission-100","title":"Ada L. · 005_toy · B200"})");
  const EntryDraft* implementation = Find(draft, Kind::kImplementationRevision, "submission/100");
  ASSERT_NE(implementation, nullptr);
  EXPECT_EQ(implementation->metadata,
            R"({"authors":[{"name":"Ada L."}],"name":"sol-submission-100","title":"Ada L. · 005_toy"})");
  EXPECT_NE(implementation->identity.find(
                R"("support":{"dtypes":["bf16","fp32"],"hardwareArchitectures":["sm_100"],)"
                R"("productsTested":["NVIDIA B200"]})"),
            std::string::npos);
  EXPECT_NE(implementation->identity.find(R"("projectRevision":{"version":"submission-100"})"),
            std::string::npos);
  const EntryDraft* submission = Find(draft, Kind::kSubmission, "submission/100");
  ASSERT_NE(submission, nullptr);
  EXPECT_EQ(submission->metadata,
            R"({"kernel":"005_toy","status":"COMPLETED","user":"user/7","username":"Ada L."})");
  EXPECT_EQ(Find(draft, Kind::kBenchmarkProtocol, "evaluation-stack/v1.1")->metadata,
            R"({"name":"sol-execbench-leaderboard-v1-1","title":"SOL-ExecBench evaluation stack v1.1"})");
  EXPECT_EQ(Find(draft, Kind::kExecutionEnvironment, "environment/B200/v1.1")->metadata,
            R"({"name":"sol-execbench-b200-v1-1","title":"SOL-ExecBench NVIDIA B200, stack v1.1"})");
}

// The identities of implementations are spliced, and runs share one struct: each must be what a fresh struct
// gives.
TEST(SolExecbenchRow, IdentityReadsBackToItself) {
  const std::string context = PlainContext();
  JsonObject other = PlainRow(9'000'000'000'000'000'001);
  other.Set("gpu_type", "\"submission-0\"").Set("avg_speedup", "null").Set("sol_score", "null");
  const Draft draft = DraftRows({PlainRow(1).Text(), other.Text(), PlainRow(3).Text()}, context);
  EXPECT_EQ(Count(draft, Kind::kBenchmarkRun), 3U);
  for (const EntryDraft& entry : draft.entries) {
    EXPECT_EQ(entry.identity.empty(), entry.kind == Kind::kSubmission);
    if (entry.identity.empty()) continue;
    const auto document = json::Document::Parse(entry.identity);
    ASSERT_TRUE(document) << entry.identity;
    const auto spec = ReadIdentity(document->root());
    ASSERT_TRUE(spec) << spec.error().Message();
    std::string again;
    AppendIdentity(again, *spec);
    EXPECT_EQ(again, entry.identity);
    EXPECT_EQ(Sha256(again), entry.digest);
  }
}

TEST(SolExecbenchRow, SaysUnknownWhereTheSourceNamesNoStack) {
  const Draft draft = DraftRows(
      {PlainRow().Set("evaluation_stack_version", "null").Set("gpu_type", "\"X_9\"").Text()}, PlainContext());
  const EntryDraft* protocol = Find(draft, Kind::kBenchmarkProtocol, "evaluation-stack/unknown");
  ASSERT_NE(protocol, nullptr);
  EXPECT_NE(protocol->identity.find(R"("version":"unknown")"), std::string::npos);
  const EntryDraft* environment = Find(draft, Kind::kExecutionEnvironment, "environment/X_9/unknown");
  ASSERT_NE(environment, nullptr);
  EXPECT_NE(environment->identity.find(R"({"architecture":"unknown","product":"X 9","vendor":"nvidia"})"),
            std::string::npos);
}

TEST(SolExecbenchRow, WithAGpuOrStackNameBeyondTheRulesIsSetAside) {
  const std::string context = PlainContext();
  const std::string longer = "\"" + std::string(101, 'v') + "\"";
  EXPECT_EQ(FateOf(PlainRow().Set("evaluation_stack_version", longer).Text(), context),
            "quarantined MANIFEST_RULE $.data.submissions[0]");
  EXPECT_EQ(FateOf(PlainRow().Set("gpu_type", longer).Text(), context),
            "quarantined MANIFEST_RULE $.data.submissions[0]");
}

TEST(SolExecbenchRow, ChangesItsContentDigestWithAnyMember) {
  const std::string context = PlainContext();
  const auto content = [&](const JsonObject& row) {
    return *Find(DraftRows({row.Text()}, context), Kind::kSubmission, "submission/100")->content;
  };
  const Digest plain = content(PlainRow());
  EXPECT_NE(content(PlainRow().Set("review_status", "\"open\"")), plain);
  EXPECT_NE(content(PlainRow().Set("disqualified_at", "null")), plain);
  EXPECT_NE(content(PlainRow().Set("worker_id", "\"w-2\"")), plain);
  EXPECT_EQ(content(PlainRow().Set("sol_score", "0.750")), plain);
  const std::string big = "9007199254740993";
  EXPECT_NE(content(PlainRow().Set("user_id", big)), content(PlainRow().Set("user_id", "9007199254740992")));
}

TEST(SolExecbenchUser, IsTheUserIdWhateverTheName) {
  const std::string context = PlainContext();
  const auto row = [](std::int64_t id, const char* user, const char* name) {
    return PlainRow(id).Set("user_id", user).Set("username", name).Text();
  };
  const Draft draft = DraftRows(
      {row(1, "7", "\"A b\""), row(2, "8", "\"a-B\""), row(3, "9", "\"你好\""), row(4, "10", "\"再见\"")},
      context);
  EXPECT_EQ(Count(draft, Kind::kSoftwareProject), 4U);
  const EntryDraft* first = Find(draft, Kind::kSoftwareProject, "user/7");
  const EntryDraft* second = Find(draft, Kind::kSoftwareProject, "user/8");
  const EntryDraft* third = Find(draft, Kind::kSoftwareProject, "user/9");
  const EntryDraft* fourth = Find(draft, Kind::kSoftwareProject, "user/10");
  ASSERT_TRUE(first && second && third && fourth);
  EXPECT_EQ(first->metadata, R"({"name":"sol-user-a-b"})");
  EXPECT_EQ(second->metadata, R"({"name":"sol-user-a-b"})");
  EXPECT_EQ(third->metadata, R"({"name":"sol-user-"})");
  EXPECT_NE(first->digest, second->digest);
  EXPECT_NE(third->digest, fourth->digest);
  EXPECT_NE(
      third->identity.find(
          R"("spec":{"host":{"id":"sol-execbench/user/你好","kind":"other"},"kind":"individual","name":"你好"})"),
      std::string::npos);
}

TEST(SolExecbenchUser, HasTheNameOfTheNewestRowOfAPage) {
  const std::string context = PlainContext();
  const std::string older = PlainRow(1).Set("username", "\"old\"").Text();
  const std::string newer = PlainRow(2).Set("username", "\"new\"").Text();
  for (const auto& rows : {std::vector{older, newer}, std::vector{newer, older}}) {
    const Draft draft = DraftRows(rows, context);
    EXPECT_EQ(Count(draft, Kind::kSoftwareProject), 1U);
    const EntryDraft* user = Find(draft, Kind::kSoftwareProject, "user/7");
    ASSERT_NE(user, nullptr);
    EXPECT_EQ(user->major, 2U);
    EXPECT_EQ(user->metadata, R"({"name":"sol-user-new"})");
  }
}

TEST(SolExecbenchUser, WithAVeryLongNameIsCutToWhatManifestsHold) {
  std::string name;
  for (int i = 0; i < 300; ++i) name += "é";
  const Draft draft = DraftRows({PlainRow().Set("username", "\"" + name + "\"").Text()}, PlainContext());
  EXPECT_EQ(Count(draft, Kind::kBenchmarkRun), 1U);
  for (const EntryDraft& entry : draft.entries) {
    if (entry.kind == Kind::kSubmission) continue;
    const auto manifest = json::Document::Parse(JoinManifest(entry.identity, entry.metadata));
    ASSERT_TRUE(manifest);
    const auto faults = CheckManifest(manifest->root());
    EXPECT_TRUE(faults.empty()) << faults[0].Message();
  }
}

TEST(SolExecbenchDrift, IsReportedOnceWithASample) {
  const std::string context = PlainContext();
  auto adapter = MakeAdapter("sol-execbench");
  const std::string value = "\"" + std::string(300, 'x') + "\"";
  const std::string page = PageOf(
      {PlainRow(1).Set("flux", value).Text(), PlainRow(2).Set("flux", "2").Set("status", "\"PAUSED\"").Text(),
       PlainRow(3).Set("gpu_type", "\"X9\"").Set("sol_score", "\"high\"").Text()},
      3);
  const auto first = AcceptOne(*adapter, kRowsKey, page, context);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->draft.drift.size(), 4U);
  EXPECT_EQ(first->draft.drift[0].path, "submissions[].flux");
  EXPECT_EQ(first->draft.drift[0].sample, value.substr(0, 200));
  EXPECT_EQ(first->draft.drift[1].path, "submissions[].status=PAUSED");
  EXPECT_EQ(first->draft.drift[2].path, "submissions[].sol_score is no number");
  EXPECT_EQ(first->draft.drift[3].path, "submissions[].gpu_type=X9");
  const auto second = AcceptOne(*adapter, kRowsKey, page, context);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->draft.drift.empty());
}

TEST(SolExecbenchDrift, NeverSamplesSourceCodeAndFallsSilentInTheEnd) {
  auto adapter = MakeAdapter("sol-execbench");
  JsonObject row = PlainRow();
  row.Set("baseline_v2", "\"import torch\"");
  for (int i = 0; i < 1500; ++i) row.Set("m" + std::to_string(i), "1");
  const auto outcome = AcceptOne(*adapter, kRowsKey, PageOf({row.Text()}, 1), PlainContext());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->draft.drift.size(), 1000U);
  EXPECT_EQ(outcome->draft.drift[0].path, "submissions[].baseline_v2");
  EXPECT_EQ(outcome->draft.drift[0].sample, "");
  EXPECT_EQ(Count(outcome->draft, Kind::kBenchmarkRun), 1U);
}

}  // namespace
}  // namespace etl::test
