#include "model/comparison.h"

#include <map>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/json.h"
#include "tests/support/golden.h"

namespace etl {
namespace {

Digest DigestLike(std::uint8_t byte) {
  Digest digest;
  digest.bytes.fill(byte);
  return digest;
}

BenchmarkRun RunWith(std::string statistic, LatencyNs latency) {
  BenchmarkRun run;
  run.status = "passed";
  run.timing.emplace();
  run.timing->primary_statistic = std::move(statistic);
  run.timing->latency_ns = std::move(latency);
  return run;
}

LatencyNs Latency(std::optional<std::int64_t> mean, std::optional<std::int64_t> median) {
  LatencyNs latency;
  latency.mean = mean;
  latency.median = median;
  latency.p95 = 99;
  return latency;
}

MeasurementValue Measured(std::string metric, double value) {
  MeasurementValue measured;
  measured.metric = std::move(metric);
  measured.unit = "gb_per_s";
  measured.statistic = "maximum";
  measured.value = value;
  return measured;
}

TEST(PrimaryMeasurement, IsThePrimaryStatisticOrItsStandIn) {
  struct Case {
    const char* statistic;
    std::optional<std::int64_t> mean, median;
    double value;
  };
  const Case cases[] = {{"mean", 10, 20, 10},   {"mean", {}, 20, 20},    {"median", 10, 20, 20},
                        {"median", 10, {}, 10}, {"minimum", 10, 20, 20}, {"minimum", 10, {}, 10}};
  for (const Case& c : cases) {
    const auto primary = PrimaryMeasurementOf(RunWith(c.statistic, Latency(c.mean, c.median)));
    ASSERT_TRUE(primary);
    EXPECT_EQ(primary->value, c.value) << c.statistic;
    EXPECT_EQ(primary->MetricKey(), std::string("latency:") + c.statistic + ":ns");
    EXPECT_FALSE(primary->low);
  }
}

TEST(PrimaryMeasurement, IsTheFirstMeasurementWhenNoLatencyServes) {
  BenchmarkRun run = RunWith("mean", Latency({}, {}));
  EXPECT_FALSE(PrimaryMeasurementOf(run));
  run.measurements.emplace();
  EXPECT_FALSE(PrimaryMeasurementOf(run));
  run.measurements->push_back(Measured("bandwidth", 812.25));
  run.measurements->push_back(Measured("energy", 1));
  EXPECT_EQ(PrimaryMeasurementOf(run)->MetricKey(), "bandwidth:maximum:gb_per_s");
  EXPECT_EQ(PrimaryMeasurementOf(run)->value, 812.25);
  run.timing.reset();
  EXPECT_EQ(PrimaryMeasurementOf(run)->value, 812.25);
  run.timing.emplace().primary_statistic = "mean";
  run.timing->latency_ns.mean = 7;
  EXPECT_EQ(PrimaryMeasurementOf(run)->value, 7);
}

TEST(PrimaryMeasurement, IsAbsentWithoutTimingAndMeasurements) {
  EXPECT_FALSE(PrimaryMeasurementOf(BenchmarkRun{}));
}

TEST(PrimaryMeasurement, CarriesTheIntervalOfTheLatencies) {
  LatencyNs latency = Latency(10, {});
  latency.confidence95 = std::vector<std::int64_t>{9, 12};
  const auto primary = PrimaryMeasurementOf(RunWith("mean", latency));
  EXPECT_EQ(primary->low, 9.0);
  EXPECT_EQ(primary->high, 12.0);
}

TEST(CorrectnessKey, IsTheDigestOfTheCanonicalWrapping) {
  SuiteCorrectness suite{"close", {}};
  EXPECT_EQ(CorrectnessKey(suite), Sha256("{\"correctness\":{\"comparator\":\"close\"}}"));
  suite.description = "All \"sizes\".";
  EXPECT_EQ(CorrectnessKey(suite),
            Sha256("{\"correctness\":{\"comparator\":\"close\",\"description\":\"All \\\"sizes\\\".\"}}"));
  CaseCorrectness workload;
  workload.comparator = "close";
  EXPECT_EQ(CorrectnessKey(workload), CorrectnessKey(SuiteCorrectness{"close", {}}));
  workload.max_absolute_error = 1e-7;
  workload.nan_policy = "reject";
  EXPECT_EQ(
      CorrectnessKey(workload),
      Sha256(
          "{\"correctness\":{\"comparator\":\"close\",\"maxAbsoluteError\":1e-7,\"nanPolicy\":\"reject\"}}"));
}

TEST(ComparisonKey, IsTheDigestOfTheCanonicalParts) {
  const ComparisonParts parts{DigestLike(1), DigestLike(2), DigestLike(3),
                              DigestLike(4), DigestLike(5), "latency:mean:ns"};
  const std::string json = "{\"v\":1,\"operation\":\"" + parts.operation.Text() + "\",\"workload\":\"" +
                           parts.workload.Text() + "\",\"protocol\":\"" + parts.protocol.Text() +
                           "\",\"environment\":\"" + parts.environment.Text() + "\",\"correctness\":\"" +
                           parts.correctness.Text() + "\",\"metric\":\"latency:mean:ns\"}";
  EXPECT_EQ(ComparisonKey(parts), Sha256(*json::Canonicalize(json)));
}

TEST(ComparisonKey, TakesAnAbsentMetricAsNone) {
  ComparisonParts parts{DigestLike(1), DigestLike(2), DigestLike(3), DigestLike(4), DigestLike(5), ""};
  const Digest absent = ComparisonKey(parts);
  parts.metric_key = "none";
  EXPECT_EQ(ComparisonKey(parts), absent);
}

TEST(ComparisonKey, ChangesWithEveryPart) {
  const ComparisonParts base{DigestLike(1), DigestLike(2), DigestLike(3), DigestLike(4), DigestLike(5), "m"};
  std::map<Digest, int> seen{{ComparisonKey(base), 0}};
  int changed = 0;
  const auto with = [&](auto change) {
    ComparisonParts parts = base;
    change(parts);
    seen.emplace(ComparisonKey(parts), ++changed);
  };
  with([](auto& p) { p.operation = DigestLike(9); });
  with([](auto& p) { p.workload = DigestLike(9); });
  with([](auto& p) { p.protocol = DigestLike(9); });
  with([](auto& p) { p.environment = DigestLike(9); });
  with([](auto& p) { p.correctness = DigestLike(9); });
  with([](auto& p) { p.metric_key = "n"; });
  EXPECT_EQ(seen.size(), 7U);
}

TEST(Profile, IsSourceNativeOnlyForARunOfASource) {
  BenchmarkRun run;
  EXPECT_EQ(ProfileOf(run), "controlled");
  run.source_native.emplace().source = "steady-bench";
  EXPECT_EQ(ProfileOf(run), "source_native");
}

// The value that a label introduces on a seed page.
std::string PageValue(const std::string& page, const std::string& label) {
  const std::size_t at = page.find("\n" + label);
  if (at == std::string::npos) throw std::runtime_error("no " + label);
  const std::size_t begin = at + 1 + label.size();
  return page.substr(begin, page.find('\n', begin) - begin);
}

TEST(GoldenComparison, EveryRunsKeyFollowsFromItsParts) {
  ETL_GOLDEN(dir);
  const std::string page = test::ReadFile(dir + "/../seed/run-37749.txt");
  const SuiteCorrectness correctness{PageValue(page, "definition comparator"),
                                     PageValue(page, "description")};
  const std::string lines = test::ReadFile(dir + "/sol-execbench/expected.jsonl");
  std::map<std::string, Digest> operations;
  std::size_t runs = 0;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const auto document = json::Document::Parse(std::string_view(lines).substr(begin, end - begin));
    begin = end + 1;
    ASSERT_TRUE(document);
    const auto text = [&](const char* name) { return document->root().Find(name).AsString(); };
    if (text("kind") == "OperationSpec")
      operations[std::string(text("kernel"))] = *ParseDigest(text("digest"));
    if (text("kind") != "BenchmarkRun") continue;
    ++runs;
    const ComparisonParts parts{operations.at(std::string(text("kernel"))),
                                *ParseDigest(text("workloadDigest")),
                                *ParseDigest(text("protocolDigest")),
                                *ParseDigest(text("environmentDigest")),
                                CorrectnessKey(correctness),
                                "latency:mean:ns"};
    EXPECT_EQ(ComparisonKey(parts).Text(), text("comparisonKey")) << text("externalId");
  }
  EXPECT_GT(runs, 300U);
}

}  // namespace
}  // namespace etl
