#include <functional>

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/manifest.h"
#include "tests/model/manifest_outline.h"
#include "tests/support/golden.h"

namespace etl {
namespace {

const char* const kFixtures[] = {
    "operation_spec",          "workload_case",      "workload_suite",        "software_project",
    "implementation_revision", "benchmark_protocol", "execution_environment", "benchmark_run"};

std::string Fixture(const std::string& name) {
  return test::ReadFile(std::string(ETL_SOURCE_DIR) + "/fixtures/manifests/" + name + ".json");
}

json::Document Parse(std::string_view text) {
  auto document = json::Document::Parse(text);
  if (!document) throw std::runtime_error(document.error().Message() + " in " + std::string(text));
  return *std::move(document);
}

// The text with the first `from` replaced by `to`.
std::string With(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no " + std::string(from));
  return text.replace(at, from.size(), to);
}

// "CODE where" of the only refusal, "" when the text is a valid manifest. Reading and checking must agree.
std::string Refusal(std::string_view text) {
  const auto document = Parse(text);
  const auto manifest = ReadManifest(document.root());
  const auto faults = CheckManifest(document.root());
  EXPECT_EQ(manifest.has_value(), faults.empty()) << text;
  if (manifest) return "";
  EXPECT_EQ(manifest.error().Message(), faults.empty() ? "" : faults.front().Message());
  EXPECT_EQ(manifest.error().errc, Errc::kInvalid);
  EXPECT_FALSE(manifest.error().what.empty());
  EXPECT_FALSE(manifest.error().fix.empty());
  return manifest.error().code + " " + manifest.error().where;
}

TEST(ManifestReader, TakesEveryKindOfWholeNumberAsAnInteger) {
  const std::string text = Fixture("workload_case");
  for (const char* number : {"64.0", "6.4e1", "640e-1", "64"}) {
    const auto document = Parse(With(text, "\"n\": 64", "\"n\": " + std::string(number)));
    const auto manifest = ReadManifest(document.root());
    ASSERT_TRUE(manifest) << manifest.error().Message();
    EXPECT_EQ(std::get<WorkloadCase>(manifest->spec).axes.at("n"), 64) << number;
  }
}

struct Edit {
  const char* fixture;
  const char* from;
  const char* to;
  const char* refusal;
};

TEST(ManifestReader, RefusesWhatTheRulesForbidAndNamesThePlace) {
  const Edit edits[] = {
      {"operation_spec", "kernelindex.dev/v1alpha1", "kernelindex.dev/v1", "WRONG_VALUE $.apiVersion"},
      {"operation_spec", "\"OperationSpec\"", "\"operationSpec\"", "UNKNOWN_KIND $.kind"},
      {"operation_spec", "\"OperationSpec\"", "\"Submission\"", "UNKNOWN_KIND $.kind"},
      {"operation_spec", "\"OperationSpec\"", "[]", "WRONG_TYPE $.kind"},
      {"operation_spec", "\"kind\":", "\"kin\":", "MISSING_MEMBER $.kind"},
      {"operation_spec", "\"scaled-add\"", "\"Scaled-add\"", "WRONG_PATTERN $.metadata.name"},
      {"operation_spec", "\"domain\"", "\"the domain\"", "WRONG_PATTERN $.metadata.labels[\"the domain\"]"},
      {"operation_spec", "\"domain\"", "\"Domain\"", "WRONG_PATTERN $.metadata.labels.Domain"},
      {"operation_spec", "https://bench", "http://bench", "WRONG_PATTERN $.metadata.sourceRefs[0].url"},
      {"operation_spec", "\"blas-1\"", "\"blas_1\"", "WRONG_PATTERN $.spec.family"},
      {"operation_spec", "\"variable\"", "\"var\"", "WRONG_VALUE $.spec.axes.n.role"},
      {"operation_spec", "\"integer\"", "\"float\"", "WRONG_VALUE $.spec.axes.n.type"},
      {"operation_spec", "(n + lanes", "(N + lanes", "WRONG_PATTERN $.spec.axes.padded.expression"},
      {"operation_spec", "(n + lanes - 1) // lanes * lanes", "",
       "WRONG_PATTERN $.spec.axes.padded.expression"},
      {"operation_spec", "1048576", "9007199254740992", "OUT_OF_RANGE $.spec.axes.n.maximum"},
      {"operation_spec", "1048576", "-9007199254740992", "OUT_OF_RANGE $.spec.axes.n.maximum"},
      {"operation_spec", "1048576", "1e300", "OUT_OF_RANGE $.spec.axes.n.maximum"},
      {"operation_spec", "1048576", "-1e300", "OUT_OF_RANGE $.spec.axes.n.maximum"},
      {"operation_spec", "1048576", "1048576.5", "WRONG_TYPE $.spec.axes.n.maximum"},
      {"operation_spec", "1048576", "true", "WRONG_TYPE $.spec.axes.n.maximum"},
      {"operation_spec", "\"scalar\": {\n          \"dtype\": \"fp32\"\n        }", "\"scalar\": {}",
       "MISSING_MEMBER $.spec.inputs[0].scalar.dtype"},
      {"operation_spec", "\"scalar\": {", "\"scalar\": {\"size\": 1,",
       "UNKNOWN_MEMBER $.spec.inputs[0].scalar.size"},
      {"operation_spec", "\"scalar\": {", "\"tensor\": {\"shape\": [1], \"dtype\": \"a\"}, \"scalar\": {",
       "WRONG_VALUE $.spec.inputs[0]"},
      {"operation_spec", "\"n\",\n            4", "", "OUT_OF_RANGE $.spec.inputs[1].tensor.shape"},
      {"operation_spec", "\"n\",\n            4", "-1", "OUT_OF_RANGE $.spec.inputs[1].tensor.shape[0]"},
      {"operation_spec", "\"n\",\n            4", "4, \"N\"",
       "WRONG_PATTERN $.spec.inputs[1].tensor.shape[1]"},
      {"operation_spec", "\"n\",\n            4", "null", "WRONG_TYPE $.spec.inputs[1].tensor.shape[0]"},
      {"operation_spec", "\"dtype\": \"bf16\"", "\"dtype\": \"BF16\"",
       "WRONG_PATTERN $.spec.inputs[1].tensor.dtype"},
      {"operation_spec", "\"row_major\"", "\"rowmajor\"", "WRONG_VALUE $.spec.inputs[1].tensor.layout"},
      {"operation_spec", "\"in_place\"", "\"inplace\"", "WRONG_VALUE $.spec.semantics.mutation"},
      {"workload_case", "\"alignmentBytes\": 256", "\"alignmentBytes\": 0",
       "OUT_OF_RANGE $.spec.tensors.x.alignmentBytes"},
      {"workload_case", "0.25", "\"0.25\"", "WRONG_TYPE $.spec.tensors.x.data.parameters.deviation"},
      {"workload_case", "0.99", "1.01", "OUT_OF_RANGE $.spec.correctness.requiredMatchedRatio"},
      {"workload_case", "0.001", "-0.001", "OUT_OF_RANGE $.spec.correctness.maxAbsoluteError"},
      {"workload_case", "\"exact_match\"", "\"exact\"", "WRONG_VALUE $.spec.correctness.infinityPolicy"},
      {"workload_case", "\"a\": {", "\"A\": {", "WRONG_PATTERN $.spec.scalars.A"},
      {"workload_case", "sha256:a1", "sha256:A1", "WRONG_PATTERN $.spec.operationSpecDigest"},
      {"workload_case", "sha256:a1", "sha512:a1", "WRONG_PATTERN $.spec.operationSpecDigest"},
      {"workload_suite", "\"n\": 64", "\"n\": \"64\"", "WRONG_TYPE $.spec.cases[0].axes.n"},
      {"software_project", "\"library\"", "\"tool\"", "WRONG_VALUE $.spec.kind"},
      {"software_project", "https://git", "git+https://git", "WRONG_PATTERN $.spec.repository"},
      {"software_project", "https://blas.example.org/", "https://blas example.org/",
       "WRONG_PATTERN $.spec.homepage"},
      {"implementation_revision", "0123456789abcdef01234567\"", "0123456789abcdef0123456\"",
       "WRONG_PATTERN $.spec.projectRevision.commit"},
      {"implementation_revision", "\"sm_80\"", "\"sm_91\"",
       "NOT_A_SET $.spec.support.hardwareArchitectures[1]"},
      {"implementation_revision", "\"Example A10\"", "\"Example H20\"",
       "NOT_A_SET $.spec.support.productsTested[1]"},
      {"implementation_revision", "\"bf16\"", "\"fp64\"", "NOT_A_SET $.spec.support.dtypes[1]"},
      {"implementation_revision", "\"contiguous\"", "\"row_major\"", "NOT_A_SET $.spec.support.layouts[1]"},
      {"implementation_revision", "\"n <= 1048576\"", "\"z\"", ""},
      {"implementation_revision", "\"bf16\"", "7", "WRONG_TYPE $.spec.support.dtypes[0]"},
      {"implementation_revision", "5120", "0", "OUT_OF_RANGE $.spec.source.sizeBytes"},
      {"implementation_revision", "\"pip\"", "\"wheel\"", "WRONG_VALUE $.spec.buildVariants[1].install.kind"},
      {"benchmark_protocol", "250000000", "\"250 ms\"", "WRONG_TYPE $.spec.measurement.warmupDuration"},
      {"benchmark_protocol", "250000000", "-1", "OUT_OF_RANGE $.spec.measurement.warmupDuration"},
      {"benchmark_protocol", "\"measuredIterations\": 100", "\"measuredIterations\": 0",
       "OUT_OF_RANGE $.spec.measurement.measuredIterations"},
      {"benchmark_protocol", "312.5", "0", "OUT_OF_RANGE $.spec.devicePolicy.powerLimitWatts"},
      {"benchmark_protocol", "\"clocksLocked\": true", "\"clocksLocked\": 1",
       "WRONG_TYPE $.spec.devicePolicy.clocksLocked"},
      {"execution_environment", "\"blas\": \"3.1\"", "\"BLAS\": \"3.1\"",
       "WRONG_PATTERN $.spec.software.libraries.BLAS"},
      {"execution_environment", "\"count\": 8", "\"count\": 0", "OUT_OF_RANGE $.spec.hardware.count"},
      {"benchmark_run", "\"passed\"", "\"PASSED\"", "WRONG_VALUE $.spec.status"},
      {"benchmark_run", "41350", "\"45 us\"", "WRONG_TYPE $.spec.timing.latencyNs.mean"},
      {"benchmark_run", "41350", "41350.5", "WRONG_TYPE $.spec.timing.latencyNs.mean"},
      {"benchmark_run", "41350", "-1", "OUT_OF_RANGE $.spec.timing.latencyNs.mean"},
      {"benchmark_run", "41050,", "", "OUT_OF_RANGE $.spec.timing.latencyNs.confidence95"},
      {"benchmark_run", "41050,", "1, 2,", "OUT_OF_RANGE $.spec.timing.latencyNs.confidence95"},
      {"benchmark_run", "41050,", "\"41 us\",", "WRONG_TYPE $.spec.timing.latencyNs.confidence95[0]"},
      {"benchmark_run", "\"steady-bench\"", "\"steady_bench\"", "WRONG_PATTERN $.spec.sourceNative.source"},
      {"benchmark_run", "\"score\"", "\"Score\"", "WRONG_PATTERN $.spec.sourceNative.metrics.Score"},
      {"benchmark_run", ".089Z", ".089", "WRONG_PATTERN $.spec.observedAt"},
      {"benchmark_run", ".089Z", "Z", "WRONG_PATTERN $.spec.observedAt"},
      {"benchmark_run", ".089Z", ".0890Z", "WRONG_PATTERN $.spec.observedAt"},
      {"benchmark_run", ".089Z", ".089+00:00", "WRONG_PATTERN $.spec.observedAt"},
      {"benchmark_run", "T05", " 05", "WRONG_PATTERN $.spec.observedAt"},
      {"benchmark_run", "03-04", "02-30", "OUT_OF_RANGE $.spec.observedAt"},
      {"benchmark_run", "\"gb_per_s\"", "\"GB/s\"", "WRONG_PATTERN $.spec.measurements[0].unit"},
  };
  for (const Edit& edit : edits) {
    EXPECT_EQ(Refusal(With(Fixture(edit.fixture), edit.from, edit.to)), edit.refusal)
        << edit.fixture << ": " << edit.from << " -> " << edit.to;
  }
}

TEST(ManifestReader, CountsCodePointsNotBytes) {
  const std::string text = Fixture("software_project");
  const auto named = [&](std::size_t code_points) {
    std::string name;
    for (std::size_t i = 0; i < code_points; ++i) name += "\xF0\x9F\x98\x80";
    return With(text, "\"name\": \"Quick BLAS\"", "\"name\": \"" + name + "\"");
  };
  EXPECT_EQ(Refusal(named(200)), "");
  EXPECT_EQ(Refusal(named(201)), "TOO_LONG $.spec.name");
}

// For every text of the fixtures that has a limit: a text over the limit is refused there.
TEST(ManifestReader, RefusesEveryTextOverItsLimit) {
  std::size_t limited = 0;
  for (const char* name : kFixtures) {
    const std::string text = Fixture(name);
    const auto document = Parse(text);
    const auto all = test::AllOutlines();
    const auto& outline = all.at(std::string(document.root().Find("kind").AsString()));
    const std::function<void(json::Value, std::string, std::vector<std::string>)> walk =
        [&](json::Value value, const std::string& path, auto pieces) {
          const auto line = outline.lines.find(test::OutlinePath(outline, pieces));
          ASSERT_NE(line, outline.lines.end()) << path;
          if (value.IsString() && line->second.rule.starts_with("text max=")) {
            ++limited;
            const auto max = static_cast<std::size_t>(std::stoul(line->second.rule.substr(9)));
            std::string longer(max + 1, 'a');
            std::string edited = text;
            edited.replace(value.begin_offset(), value.end_offset() - value.begin_offset(),
                           "\"" + longer + "\"");
            EXPECT_EQ(Refusal(edited), "TOO_LONG " + path);
          }
          pieces.emplace_back();
          std::size_t index = 0;
          for (const auto element : value.elements())
            walk(element, path + "[" + std::to_string(index++) + "]", pieces);
          for (const auto member : value.members()) {
            if (path.ends_with("environmentVariables")) continue;
            pieces.back() = std::string(member.name);
            walk(member.value, path + "." + pieces.back(), pieces);
          }
        };
    for (const auto member : document.root().members()) {
      walk(member.value, "$." + std::string(member.name), {std::string(member.name)});
    }
  }
  EXPECT_GT(limited, 60U);
}

TEST(ManifestReader, HelpsWithTheNameThatWasMeant) {
  const auto fix = [](const std::string& text) {
    const auto document = Parse(text);
    const auto manifest = ReadManifest(document.root());
    return manifest ? std::string() : manifest.error().fix;
  };
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "\"sampleCount\"", "\"samplecount\"")),
            "did you mean \"sampleCount\"? Otherwise remove it; BenchmarkRun.spec.measurements has: metric, "
            "sampleCount, "
            "statistic, unit, value");
  EXPECT_EQ(fix(With(Fixture("software_project"), "\"homepage\"", "\"popularity\"")),
            "remove it; SoftwareProject.spec has: homepage, host, kind, name, packages, repository");
  EXPECT_EQ(fix(With(Fixture("software_project"), "\"metadata\": {", "\"extra\": 1, \"metadata\": {")),
            "remove it; SoftwareProject has: apiVersion, kind, metadata, spec");
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "\"passed\"", "\"pased\"")).substr(0, 24),
            "did you mean \"passed\"? w");
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "41350", "\"45 us\"")), "write integer nanoseconds");
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "41350", "null")),
            "leave the member out when nothing is known; null is never written");
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "0.0005", "-1")), "write a number from 0");
  EXPECT_EQ(fix(With(Fixture("benchmark_run"), "\"matchedRatio\": 1", "\"matchedRatio\": 2")),
            "write a number from 0 to 1");
}

TEST(ManifestReader, CollectsEveryFaultUpToAHundred) {
  std::string text = With(Fixture("software_project"), "\"quick-blas\"", "\"Quick\"");
  text = With(text, "\"library\"", "\"tool\"");
  text = With(text, "\"homepage\"", "\"homePage2\"");
  text = With(text, "\"pypi\"", "null");
  std::vector<std::string> found;
  const auto document = Parse(text);
  for (const Error& error : CheckManifest(document.root())) found.push_back(error.code + " " + error.where);
  EXPECT_EQ(found, (std::vector<std::string>{"WRONG_PATTERN $.metadata.name", "WRONG_VALUE $.spec.kind",
                                             "WRONG_TYPE $.spec.packages[0].ecosystem",
                                             "UNKNOWN_MEMBER $.spec.homePage2"}));

  std::string packages;
  for (int i = 0; i < 500; ++i) packages += "{},";
  const auto flooded =
      Parse(With(Fixture("software_project"), "\"packages\": [", "\"packages\": [" + packages));
  EXPECT_EQ(CheckManifest(flooded.root()).size(), 100U);
}

TEST(ManifestReader, RefusesWhatIsNoObject) {
  for (const char* text : {"[]", "1", "null", "\"x\"", "true"})
    EXPECT_EQ(Refusal(text), "WRONG_TYPE $") << text;
  const auto document = Parse("[]");
  EXPECT_EQ(ReadIdentity(document.root()).error().code, "WRONG_TYPE");
  EXPECT_EQ(ReadMetadata(document.root()).error().where, "$.metadata");
}

TEST(ManifestReader, TakesNoMetadataInAnIdentity) {
  const auto document = Parse(Fixture("software_project"));
  const auto spec = ReadIdentity(document.root());
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().code + " " + spec.error().where, "UNKNOWN_MEMBER $.metadata");
}

}  // namespace
}  // namespace etl
