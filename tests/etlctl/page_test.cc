#include "etlctl/page.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/digest.h"
#include "model/json.h"

namespace etl::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Digest Filled(std::uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

template <class S>
Loaded Make(S spec, std::string name, std::string external_id) {
  Loaded loaded;
  loaded.manifest.metadata.name = std::move(name);
  loaded.manifest.spec = std::move(spec);
  loaded.digest = DigestOf(loaded.manifest.spec);
  loaded.text = CanonicalManifest(loaded.manifest);
  loaded.external_id = std::move(external_id);
  return loaded;
}

// A run as a source would give it, made by hand; nothing of it came from a store.
RunRecord HandMade() {
  RunRecord record;
  record.entry = {"sol-execbench", "submission/4711", ""};
  OperationSpec operation;
  operation.family = "norm";
  record.operation = Make(operation, "fused-rms", "012_fused_rms_gate");
  WorkloadSuite suite;
  suite.cases = {{"aa", {}}, {"bb", {}}};
  suite.correctness = {"made_up_eval", "Every case must pass."};
  suite.aggregation = {"latency", "mean"};
  record.workload = Make(suite, "suite", "012_fused_rms_gate/suite");
  BenchmarkProtocol protocol;
  protocol.harness = {"Made-up stack", "v9", {}, {}};
  protocol.measurement.timer = "harness_reported";
  protocol.measurement.primary_statistic = "mean";
  protocol.comparability = Comparability{"made_up", {}};
  record.protocol = Make(protocol, "protocol", "v9");
  ExecutionEnvironment environment;
  environment.hardware = {"nvidia", "NVIDIA B200", "sm_100", {}, {}, {}, {}};
  record.environment = Make(environment, "environment", "b200/v9");
  ImplementationRevision implementation;
  implementation.project_revision.version = "submission-4711";
  implementation.callable.language = "unknown";
  record.implementation = Make(implementation, "implementation", "submission/4711");
  record.implementation.manifest.metadata.authors = {{{"otter", {}}}};
  BenchmarkRun run;
  run.status = "passed";
  run.timing = Timing{"mean", {}, {}, {}};
  run.timing->latency_ns.mean = 45344;
  run.source_native = SourceNative{
      "sol-execbench", "012_fused_rms_gate", "4711",
      MapOf<double>{
          {"sol_score", 0.57492}, {"avg_speedup", 1.264}, {"fast_1_count", 1}, {"fast_1_total", 2}}};
  run.observed_at = Instant{1787000000000};
  record.run = Make(run, "run", "submission/4711");
  record.primary = PrimaryMeasurementOf(record.spec());
  record.group = GroupInfo{};
  record.group->key = Filled(0x3e);
  record.place = StandingLine{};
  record.place->rank = 7;
  record.leader = StandingLine{};
  record.leader->contender.digest = Filled(0x11);
  record.newest = record.version;
  record.newest->digest = record.run.digest;
  record.introduced.time = Instant{1787100000000};
  return record;
}

std::string PageOf(const RunRecord& record) {
  return RenderPage(record, Instant{1790000000000});
}

// Whether these lines stand in the page in this order, each somewhere after the one before.
void ExpectInOrder(const std::string& page, const std::vector<std::string>& lines) {
  std::size_t at = 0;
  for (const std::string& line : lines) {
    const std::size_t found = page.find(line, at);
    ASSERT_NE(found, std::string::npos) << "missing, or out of order: " << line << "\n" << page;
    at = found + line.size();
  }
}

TEST(RunPage, HasTheSectionsInTheirOrder) {
  const RunRecord record = HandMade();
  ExpectInOrder(PageOf(record),
                {"Run " + record.run.digest.Hex().substr(0, 8) + " · KernelIndex\n",
                 "\nPrimary measurement\n",
                 "\n45.3 µs mean\n",
                 "\nRank 7 in its comparison group · source-native comparison · observed 2026-08-17\n",
                 "\nCompare with #1 →",
                 "\nSOL 0.5749 · 1.26× reference · 1/2 cases faster\n",
                 "\nIdentity\n",
                 "\nimplementation   otter\n",
                 "project          otter\n",
                 "revision         submission-4711\n",
                 "suite of 2 cases · mean latency\n",
                 "comparison key   sha256:3e3e3e3e3e3e3e3e…\n",
                 "source           NVIDIA SOL-ExecBench\n",
                 "external id      submission/4711\n",
                 "\nsha256:" + record.run.digest.Hex().substr(0, 23) + "…\n",
                 "\nCorrectness\n",
                 "\nMarked passed by the source; the correctness policy was not published.\n",
                 "\nWorkload\n",
                 "definition comparator   made_up_eval\n",
                 "description             Every case must pass.\n",
                 "\nMeasurements\n",
                 "latency · mean   45.3 µs\n",
                 "\nProtocol\n",
                 "harness               Made-up stack v9\n",
                 "timer                 harness_reported\n",
                 "primaryStatistic      mean\n",
                 "comparabilityFamily   made_up\n",
                 "\nEnvironment\n",
                 "gpu   NVIDIA B200 (sm_100)\n",
                 "\nArtifacts\n",
                 "No artifacts published with this run.",
                 "\nReplications and notes\n",
                 "\nNo attestations yet.\n",
                 "\nCanonical manifest\n",
                 "\nShow manifest",
                 "\n{\n  \"run\": {\n    \"kind\": \"BenchmarkRun\",\n    \"spec\": {",
                 "\n  \"protocol\": {",
                 "\n  \"environment\": {",
                 "\nCite this record (permalink, digest, access date)\n",
                 "otter. Fused RMS gate on NVIDIA B200: 45.3 µs mean. NVIDIA SOL-ExecBench, submission/4711.",
                 "digest      " + record.run.digest.Text() + "\n",
                 "accessed    2026-09-21\n",
                 "\nPublished 2026-08-19",
                 "\nAll results for Fused RMS gate →"});
}

TEST(RunPage, EmbedsManifestsThatReadBackTheSame) {
  const RunRecord record = HandMade();
  const std::string page = PageOf(record);
  const std::size_t begin = page.find("\n{\n") + 1, end = page.find("\n}\n", begin) + 2;
  const auto document = json::Document::Parse(page.substr(begin, end - begin));
  ASSERT_TRUE(document) << document.error().Message();
  const auto run = ReadManifest(document->root().Find("run"));
  ASSERT_TRUE(run) << run.error().Message();
  EXPECT_EQ(DigestOf(run->spec), record.run.digest);
}

TEST(RunPage, OffersNoComparisonToTheLeaderItself) {
  RunRecord record = HandMade();
  record.place->rank = 1;
  record.leader->contender.digest = record.run.digest;
  EXPECT_THAT(PageOf(record), HasSubstr("Rank 1 in its comparison group"));
  EXPECT_THAT(PageOf(record), Not(HasSubstr("Compare with #1")));
}

TEST(RunPage, SaysAtTheTopThatARunWasRetracted) {
  RunRecord record = HandMade();
  record.place.reset();
  record.newest->state = EntryState::kExcluded;
  record.newest->reasons = {"RETRACTED", "DISQUALIFIED"};
  record.newest->captured_at = Instant{1788000000000};
  record.reasons = {"RETRACTED"};
  const std::string page = PageOf(record);
  ExpectInOrder(page, {"· KernelIndex\n", "!! RETRACTED: DISQUALIFIED, seen 2026-08-29T",
                       "Primary measurement", "Not ranked: RETRACTED · source-native comparison"});
}

TEST(RunPage, SaysAtTheTopWhichRunSupersededIt) {
  RunRecord record = HandMade();
  record.place.reset();
  record.newer = Filled(0x77);
  record.newest->digest = record.newer;
  record.reasons = {"SUPERSEDED"};
  const std::string page = PageOf(record);
  ExpectInOrder(page,
                {"!! SUPERSEDED", record.newer->Text(), "Primary measurement", "Not ranked: SUPERSEDED"});
}

TEST(RunPage, LeavesOutSourceMetricsThatAreNotThere) {
  BenchmarkRun run = HandMade().spec();
  run.source_native->metrics = MapOf<double>{{"avg_speedup", 2.0}, {"fast_1_count", 3}};
  EXPECT_EQ(SourceMetricsText(run), "2.00× reference");
  run.source_native->metrics.reset();
  EXPECT_EQ(SourceMetricsText(run), "");
  run.source_native.reset();
  EXPECT_EQ(SourceMetricsText(run), "");
}

TEST(RunPage, MakesUpstreamTextHarmless) {
  RunRecord record = HandMade();
  record.implementation.manifest.metadata.authors = {{{"ot\nter\x1b[2J\u202e", {}}}};
  record.run.manifest.metadata.title =
      "a\u202e"
      "b";
  record.run.text = CanonicalManifest(record.run.manifest);
  const std::string page = PageOf(record);
  EXPECT_THAT(page, HasSubstr("implementation   ot\\nter\\x1b[2J\\u{202e}\n"));
  EXPECT_THAT(page, HasSubstr("\"title\": \"a\\u202eb\""));
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
}

TEST(RunPage, ShowsCorrectnessAndCaseWhereTheRunStatesThem) {
  RunRecord record = HandMade();
  WorkloadCase one;
  one.correctness.comparator = "close";
  one.correctness.max_absolute_error = 0.001;
  record.workload = Make(one, "case", "0123456789ab");
  BenchmarkRun run = record.spec();
  run.correctness = RunCorrectness{"close", 1e-7, {}, 1.0};
  run.source_native.reset();
  run.timing->latency_ns.median = 45000;
  run.timing->samples = 30;
  record.run.manifest.spec = run;
  ExpectInOrder(PageOf(record),
                {"controlled comparison", "workload         case 0123456789ab", "\nCorrectness\n",
                 "maximumAbsoluteError   1e-7\n", "matchedRatio           1\n", "\nWorkload\n",
                 "maxAbsoluteError        0.001\n", "\nMeasurements\n", "latency · mean     45.3 µs\n",
                 "latency · median   45.0 µs\n", "samples            30\n"});
}

}  // namespace
}  // namespace etl::ctl
