#include <functional>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/json.h"
#include "model/manifest.h"
#include "tests/model/manifest_outline.h"
#include "tests/support/golden.h"

// Every place of every fixture, damaged in every way: each must be refused, at that place.
namespace etl {
namespace {

const char* const kFixtures[] = {
    "operation_spec",          "workload_case",      "workload_suite",        "software_project",
    "implementation_revision", "benchmark_protocol", "execution_environment", "benchmark_run"};

std::string Refusal(const std::string& text) {
  const auto document = json::Document::Parse(text);
  if (!document) return document.error().Message() + " in " + text;
  const auto manifest = ReadManifest(document->root());
  EXPECT_EQ(manifest.has_value(), CheckManifest(document->root()).empty());
  return manifest ? "" : manifest.error().code + " " + manifest.error().where;
}

class Mutations {
 public:
  explicit Mutations(const std::string& name)
      : text_(test::ReadFile(std::string(ETL_SOURCE_DIR) + "/fixtures/manifests/" + name + ".json")),
        document_(*json::Document::Parse(text_)),
        outline_(test::AllOutlines().at(std::string(document_.root().Find("kind").AsString()))) {}

  struct Place {
    json::Value value;
    std::string path;
    std::string rule;  // of the outline; "object" for the root
    std::string outline_path;
  };
  // Calls `visit` for every value, the root first.
  void ForEach(const std::function<void(const Place&)>& visit) const {
    Walk(document_.root(), "$", {}, visit);
  }

  // The text with one value replaced.
  std::string Replaced(json::Value value, const std::string& by) const {
    return text_.substr(0, value.begin_offset()) + by + text_.substr(value.end_offset());
  }
  // The text with one more member in an object.
  std::string Added(json::Value object, const std::string& member) const {
    const std::size_t at = object.begin_offset() + 1;
    return text_.substr(0, at) + member + (object.size() > 0 ? "," : "") + text_.substr(at);
  }
  // The text with one member less.
  std::string Dropped(json::Value object, std::string_view name) const {
    std::string members;
    for (const auto member : object.members()) {
      if (member.name == name) continue;
      members += members.empty() ? "" : ",";
      json::AppendString(members, member.name);
      members += ":" + text_.substr(member.value.begin_offset(),
                                    member.value.end_offset() - member.value.begin_offset());
    }
    return Replaced(object, "{" + members + "}");
  }
  const test::OutlineLine* Line(const std::string& outline_path) const {
    const auto line = outline_.lines.find(outline_path);
    return line == outline_.lines.end() ? nullptr : &line->second;
  }

 private:
  void Walk(json::Value value, const std::string& path, std::vector<std::string> pieces,
            const std::function<void(const Place&)>& visit) const {
    const std::string outline_path = test::OutlinePath(outline_, pieces);
    const auto* line = Line(outline_path);
    visit({value, path, line == nullptr ? "object" : line->rule, outline_path});
    pieces.emplace_back();
    std::size_t index = 0;
    for (const auto element : value.elements())
      Walk(element, path + "[" + std::to_string(index++) + "]", pieces, visit);
    // Free names may be anything; their path is tested elsewhere.
    if (path.ends_with("environmentVariables")) return;
    for (const auto member : value.members()) {
      pieces.back() = std::string(member.name);
      Walk(member.value, path + "." + pieces.back(), pieces, visit);
    }
  }

  std::string text_;
  json::Document document_;
  test::Outline outline_;
};

TEST(ManifestMutation, AValueOfAnotherTypeIsRefusedWhereItStands) {
  std::size_t mutations = 0;
  for (const char* name : kFixtures) {
    const Mutations fixture(name);
    fixture.ForEach([&](const Mutations::Place& place) {
      std::vector<std::string> others = {"null"};
      if (!place.value.IsString()) others.emplace_back("\"!\"");
      if (!place.value.IsNumber()) others.emplace_back("-1.5");
      if (!place.value.IsBool()) others.emplace_back("true");
      if (!place.value.IsArray()) others.emplace_back("[]");
      if (!place.value.IsObject()) others.emplace_back("{}");
      for (const std::string& other : others) {
        ++mutations;
        // A shape takes numbers and names, so there a text is of the right type and the wrong form.
        const bool wrong_form = place.rule == "dimension" && other == "\"!\"";
        EXPECT_EQ(Refusal(fixture.Replaced(place.value, other)),
                  (wrong_form ? "WRONG_PATTERN " : "WRONG_TYPE ") + place.path)
            << name << " " << other;
      }
    });
  }
  EXPECT_GT(mutations, 1000U);
}

TEST(ManifestMutation, AnUnknownMemberIsRefusedInEveryObject) {
  std::size_t mutations = 0;
  for (const char* name : kFixtures) {
    const Mutations fixture(name);
    fixture.ForEach([&](const Mutations::Place& place) {
      if (!place.value.IsObject()) return;
      ++mutations;
      const bool map = place.rule == "map";
      // In a map any member is known, but its name or its value has the wrong form.
      const std::string code = !map                                ? "UNKNOWN_MEMBER "
                               : place.path.ends_with("Variables") ? "WRONG_TYPE "
                                                                   : "WRONG_PATTERN ";
      EXPECT_EQ(Refusal(fixture.Added(place.value, "\"Un known\":[]")), code + place.path + "[\"Un known\"]")
          << name;
      if (!map) {
        EXPECT_EQ(Refusal(fixture.Added(place.value, "\"unknown\":null")),
                  "UNKNOWN_MEMBER " + place.path + ".unknown");
      }
    });
  }
  EXPECT_GT(mutations, 80U);
}

TEST(ManifestMutation, ARequiredMemberLeftOutIsMissedAndAnOptionalOneIsNot) {
  std::size_t required = 0, optional = 0;
  for (const char* name : kFixtures) {
    const Mutations fixture(name);
    fixture.ForEach([&](const Mutations::Place& place) {
      for (const auto member : place.value.members()) {
        const std::string member_name(member.name);
        const auto* line = fixture.Line(place.outline_path + "." + member_name);
        const std::string refusal = Refusal(fixture.Dropped(place.value, member.name));
        const std::string where = place.path + "." + member_name;
        if (place.rule == "map") {
          EXPECT_EQ(refusal, "") << where;
        } else if (member_name == "tensor" || member_name == "scalar") {
          EXPECT_EQ(refusal, "WRONG_VALUE " + place.path);
        } else if (line != nullptr && line->required) {
          ++required;
          EXPECT_EQ(refusal, "MISSING_MEMBER " + where);
        } else {
          ++optional;
          EXPECT_EQ(refusal, "") << where;
        }
      }
    });
  }
  EXPECT_GT(required, 100U);
  EXPECT_GT(optional, 100U);
}

}  // namespace
}  // namespace etl
