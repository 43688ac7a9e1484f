#include "model/manifest.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/draft.h"
#include "model/json.h"
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

Manifest ReadFixture(const std::string& name) {
  const auto document = Parse(Fixture(name));
  auto manifest = ReadManifest(document.root());
  if (!manifest) throw std::runtime_error(manifest.error().Message());
  return *std::move(manifest);
}

TEST(ManifestFields, ListEveryStructsMembersInTheOrderInWhichTheyAreWritten) {
  std::size_t objects = 0;
  for (const auto& [kind, outline] : test::AllOutlines()) {
    for (const auto& [path, names] : outline.listed) {
      ++objects;
      EXPECT_TRUE(std::is_sorted(names.begin(), names.end(), json::Utf16Less)) << kind << " " << path;
      EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << kind << " " << path;
    }
  }
  EXPECT_GT(objects, 60U);
}

TEST(ManifestFixtures, StateEveryMemberThereIs) {
  for (const char* name : kFixtures) {
    const auto document = Parse(Fixture(name));
    const auto all = test::AllOutlines();
    const auto& outline = all.at(std::string(document.root().Find("kind").AsString()));
    std::map<std::string, bool> seen;
    const std::function<void(json::Value, std::vector<std::string>)> walk = [&](json::Value value,
                                                                                auto pieces) {
      seen[test::OutlinePath(outline, pieces)] = true;
      pieces.emplace_back();
      for (const auto element : value.elements()) walk(element, pieces);
      for (const auto member : value.members()) {
        pieces.back() = std::string(member.name);
        if (!member.name.empty()) walk(member.value, pieces);
      }
    };
    walk(document.root(), {});
    for (const auto& [path, line] : outline.lines) {
      // The parts of the editorial metadata are the same everywhere; one fixture states them all.
      const bool elsewhere = path.starts_with("$.metadata.") && std::string_view(name) != "operation_spec";
      if (elsewhere || path.ends_with("*name")) continue;
      EXPECT_TRUE(seen.contains(path)) << name << " lacks " << path;
    }
  }
}

TEST(Manifest, ReadAndWrittenIsTheCanonicalFormOfTheSameJson) {
  for (const char* name : kFixtures) {
    const std::string text = Fixture(name);
    const Manifest manifest = ReadFixture(name);
    EXPECT_EQ(CanonicalManifest(manifest), *json::Canonicalize(text)) << name;
    EXPECT_EQ(ManifestDigest(manifest), Sha256(*json::Canonicalize(text))) << name;
  }
}

TEST(Manifest, IdentityIsTheEnvelopeWithoutMetadata) {
  for (const char* name : kFixtures) {
    Manifest manifest = ReadFixture(name);
    std::string identity;
    AppendIdentity(identity, manifest.spec);
    std::string metadata;
    AppendMetadata(metadata, manifest.metadata);
    EXPECT_EQ(JoinManifest(identity, metadata), CanonicalManifest(manifest)) << name;
    EXPECT_EQ(DigestOf(manifest.spec), Sha256(identity)) << name;

    const Digest before = DigestOf(manifest.spec);
    manifest.metadata.title = "another title";
    EXPECT_EQ(DigestOf(manifest.spec), before) << name;
    EXPECT_EQ(identity.find("metadata"), std::string::npos) << name;

    const auto document = Parse(identity);
    const auto again = ReadIdentity(document.root());
    ASSERT_TRUE(again) << again.error().Message();
    EXPECT_EQ(DigestOf(*again), before) << name;
    const auto metadata_document = Parse(metadata);
    const auto metadata_again = ReadMetadata(metadata_document.root());
    ASSERT_TRUE(metadata_again) << metadata_again.error().Message();
  }
}

TEST(Manifest, IdentityIsAppendedToWhatIsThere) {
  std::string out = "before ";
  AppendIdentity(
      out,
      SoftwareProject{.name = "p", .kind = {}, .repository = {}, .homepage = {}, .host = {}, .packages = {}});
  EXPECT_EQ(
      out,
      "before "
      "{\"apiVersion\":\"kernelindex.dev/v1alpha1\",\"kind\":\"SoftwareProject\",\"spec\":{\"name\":\"p\"}}");
}

TEST(Manifest, WithoutMetadataJoinsToTheIdentityItself) {
  EXPECT_EQ(JoinManifest("{\"a\":1}", ""), "{\"a\":1}");
}

TEST(Manifest, WritesTextsOfAnyLengthAndEscape) {
  for (const std::size_t length : {0U, 1U, 253U, 254U, 255U, 256U, 257U, 2046U, 2047U, 2048U, 2049U, 5000U}) {
    SoftwareProject project;
    project.name = std::string(length, 'x');
    project.homepage = "https://a.example/\"\\\n\x01" + project.name;  // the writer does not judge
    std::string out, name, homepage;
    AppendIdentity(out, project);
    json::AppendString(name, project.name);
    json::AppendString(homepage, *project.homepage);
    EXPECT_TRUE(out.ends_with("\"spec\":{\"homepage\":" + homepage + ",\"name\":" + name + "}}")) << length;
  }
}

TEST(Manifest, EscapesEveryByteThatNeedsItAtEveryPosition) {
  for (int byte = 0; byte < 128; ++byte) {
    for (std::size_t length = 1; length < 20; ++length) {
      for (std::size_t position = 0; position < length; ++position) {
        SoftwareProject project;
        project.name = std::string(length, '~');
        project.name[position] = static_cast<char>(byte);
        std::string out, name;
        AppendIdentity(out, project);
        json::AppendString(name, project.name);
        ASSERT_TRUE(out.ends_with("\"name\":" + name + "}}"))
            << byte << " at " << position << " of " << length;
      }
    }
  }
}

TEST(Manifest, WritesEmptyObjectsAndLists) {
  ImplementationRevision revision;
  revision.callable.language = "c";
  std::string out;
  AppendIdentity(out, revision);
  EXPECT_NE(out.find("\"licensing\":{},"), std::string::npos);
  EXPECT_NE(out.find("\"projectRevision\":{},\"support\":{\"dtypes\":[],\"hardwareArchitectures\":[]}}}"),
            std::string::npos);
}

TEST(Manifest, WritesEnvironmentVariablesByUtf16CodeUnit) {
  ExecutionEnvironment environment;
  environment.settings.emplace().environment_variables.emplace() = {
      {"\xEE\x80\x80", "private use"}, {"\xF0\x9F\x98\x80", "supplementary"}, {"a", ""}, {"Z", ""}};
  std::string out;
  AppendIdentity(out, environment);
  EXPECT_NE(
      out.find(
          "{\"Z\":\"\",\"a\":\"\",\"\xF0\x9F\x98\x80\":\"supplementary\",\"\xEE\x80\x80\":\"private use\"}"),
      std::string::npos);
}

TEST(Manifest, WritesNumbersAsCanonicalJsonDoes) {
  for (const double value : {0.0, -0.0, 1.0, -16.0, 0.5, 1e-7, 9.5367431640625e-7, 1e20, 1e21,
                             9007199254740991.0, 9007199254740992.0, 9007199254740994.0, -9007199254740992.0,
                             5e-324, std::numeric_limits<double>::max()}) {
    WorkloadCase workload;
    workload.scalars.emplace()["a"] = {"f", value};
    std::string out, number;
    AppendIdentity(out, workload);
    json::AppendNumber(number, value);
    EXPECT_NE(out.find("\"value\":" + number + "}"), std::string::npos) << number;
  }
}

TEST(ManifestChecker, AcceptsWhatTheReaderAccepts) {
  for (const char* name : kFixtures) {
    const Manifest manifest = ReadFixture(name);
    const Status status = std::visit([](const auto& spec) { return CheckSpec(spec); }, manifest.spec);
    EXPECT_TRUE(status) << status.error().Message();
    EXPECT_TRUE(CheckMetadata(manifest.metadata));
  }
}

std::string Fault(const Status& status) {
  return status ? "" : status.error().code + " " + status.error().where;
}

TEST(ManifestChecker, RefusesAFilledStructThatBreaksTheRules) {
  auto operation = std::get<OperationSpec>(ReadFixture("operation_spec").spec);
  operation.inputs[1].tensor->shape[0] = std::string("N");
  EXPECT_EQ(Fault(CheckSpec(operation)), "WRONG_PATTERN $.spec.inputs[1].tensor.shape[0]");
  operation.inputs[1].tensor.reset();
  EXPECT_EQ(Fault(CheckSpec(operation)), "WRONG_VALUE $.spec.inputs[1]");
  operation.inputs.clear();
  EXPECT_EQ(Fault(CheckSpec(operation)), "OUT_OF_RANGE $.spec.inputs");
  operation.axes["No"] = {};
  EXPECT_EQ(Fault(CheckSpec(operation)), "WRONG_PATTERN $.spec.axes.No");

  auto run = std::get<BenchmarkRun>(ReadFixture("benchmark_run").spec);
  run.observed_at.ms = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Fault(CheckSpec(run)), "OUT_OF_RANGE $.spec.observedAt");
  run.measurements->at(1).value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Fault(CheckSpec(run)), "OUT_OF_RANGE $.spec.measurements[1].value");
  run.measurements->at(1).value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Fault(CheckSpec(run)), "OUT_OF_RANGE $.spec.measurements[1].value");
  run.correctness->comparator = "half a character \xE4\xBD";
  EXPECT_EQ(Fault(CheckSpec(run)), "WRONG_PATTERN $.spec.correctness.comparator");

  auto environment = std::get<ExecutionEnvironment>(ReadFixture("execution_environment").spec);
  environment.settings->environment_variables->emplace("\xFF", "x");
  EXPECT_EQ(Fault(CheckSpec(environment)),
            "WRONG_PATTERN $.spec.settings.environmentVariables[text that is not UTF-8]");

  auto revision = std::get<ImplementationRevision>(ReadFixture("implementation_revision").spec);
  revision.support.dtypes = {"b", "a"};
  EXPECT_EQ(Fault(CheckSpec(revision)), "NOT_A_SET $.spec.support.dtypes[1]");

  Metadata metadata;
  EXPECT_EQ(Fault(CheckMetadata(metadata)), "WRONG_PATTERN $.metadata.name");
  metadata.name = "m";
  metadata.title = std::string(201, 'x');
  EXPECT_EQ(Fault(CheckMetadata(metadata)), "TOO_LONG $.metadata.title");
}

TEST(ManifestChecker, TellsUtf8FromOtherBytes) {
  const auto valid = [](std::string text) {
    SoftwareProject project;
    project.name = std::move(text);
    return CheckSpec(project).has_value();
  };
  for (const char* text : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(valid(text));
  }
  for (const char* text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE0\xA0",
                           "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xE1\x80\x41"}) {
    EXPECT_FALSE(valid(text));
  }
}

TEST(Kind, NamesReadBack) {
  for (int i = 1; i <= static_cast<int>(Kind::kSubmission); ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(ParseKind(KindName(kind)), kind);
  }
  EXPECT_EQ(ParseKind("benchmarkRun"), std::nullopt);
  EXPECT_EQ(KindName(Kind::kBenchmarkRun), "BenchmarkRun");
}

TEST(EntryState, NamesReadBack) {
  for (const EntryState state : {EntryState::kPassed, EntryState::kExcluded, EntryState::kPending}) {
    EXPECT_EQ(ParseEntryState(EntryStateName(state)), state);
  }
  EXPECT_EQ(EntryStateName(EntryState::kExcluded), "excluded");
  EXPECT_EQ(ParseEntryState("Passed"), std::nullopt);
}

}  // namespace
}  // namespace etl
