#include <map>
#include <set>

// g++ 12 with sanitizers warns about uninitialised members inside its own <regex>.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <regex>
#pragma GCC diagnostic pop

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/manifest.h"
#include "tests/model/manifest_outline.h"
#include "tests/support/golden.h"

namespace etl {
namespace {

json::Document Parse(std::string_view text) {
  auto document = json::Document::Parse(text);
  if (!document) throw std::runtime_error(document.error().Message());
  return *std::move(document);
}

struct Seed {
  const char* page;
  const char* run_digest;
};
class GoldenSeed : public testing::TestWithParam<Seed> {};

TEST_P(GoldenSeed, ReadsStrictlyAndHasItsPublishedDigests) {
  ETL_GOLDEN(dir);
  const std::string page = test::ReadFile(dir + "/../seed/" + GetParam().page);
  const std::size_t begin = page.find('{', page.find("Show manifest"));
  const std::size_t end = page.rfind('}', page.find("Cite this record"));
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const auto document = Parse(page.substr(begin, end - begin + 1));

  std::map<std::string, Manifest> manifests;
  for (const char* part : {"run", "protocol", "environment"}) {
    auto manifest = ReadManifest(document.root().Find(part));
    ASSERT_TRUE(manifest) << manifest.error().Message();
    EXPECT_TRUE(CheckManifest(document.root().Find(part)).empty());
    manifests.emplace(part, *std::move(manifest));
  }
  const auto& run = std::get<BenchmarkRun>(manifests.at("run").spec);
  EXPECT_EQ(DigestOf(run).Text(), GetParam().run_digest);
  EXPECT_EQ(DigestOf(manifests.at("protocol").spec), run.protocol_digest);
  EXPECT_EQ(DigestOf(manifests.at("environment").spec), run.environment_digest);
}

INSTANTIATE_TEST_SUITE_P(
    Pages, GoldenSeed,
    testing::Values(
        Seed{"run-37749.txt", "sha256:db5f35ba20d6be3b13291966685408ca3300350db335d3a3a0eb135fce2aa685"},
        Seed{"run-14917.txt", "sha256:486a757a54ba25c8de2165e2dd2b9696c234d1147241426c430e6334870d0e2b"}));

// A JSON Schema as an outline, with the patterns beside it.
struct Schema {
  test::Outline outline;
  std::map<std::string, std::string> patterns;
};

std::string Bounds(json::Value schema) {
  const auto bound = [&](const char* name) { return std::string(schema.Find(name).NumberText()); };
  const std::string min = bound("exclusiveMinimum") == "0" ? "1" : bound("minimum");
  return "integer min=" + min + " max=" + bound("maximum");
}

void Flatten(json::Value schema, const std::string& path, bool required, Schema& out);

std::string ObjectRule(json::Value schema, const std::string& path, Schema& out) {
  if (const auto names = schema.Find("propertyNames")) {
    Flatten(names, path + ".*name", true, out);
    Flatten(schema.Find("additionalProperties"), path + ".*", true, out);
    return "map";
  }
  std::set<std::string_view> needed;
  for (const auto name : schema.Find("required").elements()) needed.insert(name.AsString());
  for (const auto member : schema.Find("properties").members()) {
    Flatten(member.value, path + "." + std::string(member.name), needed.contains(member.name), out);
  }
  return "object";
}

std::string ListRule(json::Value schema, const std::string& path, Schema& out) {
  // The only fixed-length list is the pair of an interval's ends.
  if (const auto pair = schema.Find("prefixItems")) {
    Flatten(*pair.elements().begin(), path + "[]", true, out);
    return "list min=" + std::to_string(pair.size()) + " max=" + std::to_string(pair.size());
  }
  Flatten(schema.Find("items"), path + "[]", true, out);
  const auto min = schema.Find("minItems");
  return min ? "list min=" + std::string(min.NumberText()) : "list";
}

std::string TextRule(json::Value schema, const std::string& path, Schema& out) {
  if (schema.Find("format")) return "instant";
  if (const auto word = schema.Find("const")) return "one of " + std::string(word.AsString());
  if (const auto words = schema.Find("enum")) {
    std::string joined;
    for (const auto word : words.elements()) joined.append(joined.empty() ? "" : "|").append(word.AsString());
    return "one of " + joined;
  }
  if (const auto pattern = schema.Find("pattern")) out.patterns[path] = pattern.AsString();
  const auto max = schema.Find("maxLength");
  return max ? "text max=" + std::string(max.NumberText()) : "text";
}

std::string NumberRule(json::Value schema) {
  std::string rule = "number";
  if (schema.Find("exclusiveMinimum")) rule += " above=0";
  if (schema.Find("minimum")) rule += " min=0";
  if (schema.Find("maximum")) rule += " max=1";
  return rule;
}

void Flatten(json::Value schema, const std::string& path, bool required, Schema& out) {
  test::OutlineLine& line = out.outline.lines[path];
  line.required = required;
  // Alternatives: a dimension is a number or a name; a duration is nanoseconds or, elsewhere, a text with a
  // unit.
  if (const auto alternatives = schema.Find("anyOf")) {
    line.rule = path.ends_with("shape[]") ? "dimension" : Bounds(*alternatives.elements().begin());
    return;
  }
  const std::string_view type = schema.Find("type").AsString();
  if (type == "object") line.rule = ObjectRule(schema, path, out);
  if (type == "array") line.rule = ListRule(schema, path, out);
  if (type == "string") line.rule = TextRule(schema, path, out);
  if (type == "integer") line.rule = Bounds(schema);
  if (type == "number") line.rule = NumberRule(schema);
  if (type == "boolean") line.rule = "boolean";
}

// Texts that tell two patterns apart: everything short over a telling alphabet, and the long forms.
std::vector<std::string> TellingTexts() {
  std::vector<std::string> texts = {""};
  const std::string alphabet = "az09AZ_-./ +*%()~\x7f\n:";
  for (const char a : alphabet) {
    texts.emplace_back(1, a);
    for (const char b : alphabet) {
      texts.push_back({a, b});
      texts.push_back({'a', a, b});
    }
  }
  for (const std::size_t length : {39U, 40U, 41U, 63U, 64U, 65U}) {
    for (const char* digit : {"a", "0", "g", "F"}) {
      std::string hex;
      for (std::size_t i = 0; i < length; ++i) hex += digit;
      texts.push_back(hex);
      texts.push_back("sha256:" + hex);
      texts.push_back("sha256:" + hex + "\n");
    }
  }
  return texts;
}

TEST(GoldenSchemas, DescribeWhatTheManifestCodeDescribes) {
  ETL_GOLDEN(dir);
  const std::map<std::string, std::string> files = {{"OperationSpec", "operation-spec"},
                                                    {"WorkloadCase", "workload-case"},
                                                    {"WorkloadSuite", "workload-suite"},
                                                    {"SoftwareProject", "software-project"},
                                                    {"ImplementationRevision", "implementation-revision"},
                                                    {"BenchmarkProtocol", "benchmark-protocol"},
                                                    {"ExecutionEnvironment", "execution-environment"},
                                                    {"BenchmarkRun", "benchmark-run"}};
  const std::vector<std::string> texts = TellingTexts();
  std::set<std::pair<std::string, bool (*)(std::string_view)>> compared;
  for (const auto& [kind, ours] : test::AllOutlines()) {
    const auto document = Parse(test::ReadFile(dir + "/schemas/" + files.at(kind) + ".v1alpha1.schema.json"));
    Schema published;
    Flatten(document.root(), "$", true, published);
    published.outline.lines.erase("$");
    for (const auto& [path, line] : ours.lines) {
      const auto theirs = published.outline.lines.find(path);
      ASSERT_NE(theirs, published.outline.lines.end()) << kind << " has no " << path;
      EXPECT_EQ(line.rule, theirs->second.rule) << kind << " " << path;
      EXPECT_EQ(line.required, theirs->second.required) << kind << " " << path;

      const bool address =
          path.ends_with(".url") || path.ends_with(".repository") || path.ends_with(".homepage");
      const bool patterned = published.patterns.contains(path);
      EXPECT_EQ(line.pattern != nullptr, patterned || address) << kind << " " << path;
      if (!patterned || !compared.insert({published.patterns.at(path), line.pattern}).second) continue;
      const std::regex pattern(published.patterns.at(path));
      for (const std::string& text : texts) {
        EXPECT_EQ(line.pattern(text), std::regex_match(text, pattern))
            << kind << " " << path << " '" << text << "'";
      }
    }
    EXPECT_EQ(ours.lines.size(), published.outline.lines.size()) << kind;
  }
}

}  // namespace
}  // namespace etl
