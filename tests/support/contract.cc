#include "tests/support/contract.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "model/canonical_json.h"
#include "tests/support/golden.h"

namespace etl::test {
namespace {

using Faults = std::vector<std::string>;

bool IsOfType(json::Value value, std::string_view type) {
  if (type == "null") return value.IsNull();
  if (type == "boolean") return value.IsBool();
  if (type == "number") return value.IsNumber();
  if (type == "integer") return value.AsInt64().has_value();
  if (type == "string") return value.IsString();
  if (type == "array") return value.IsArray();
  return type == "object" && value.IsObject();
}

bool TypeFits(json::Value type, json::Value value) {
  if (type.IsString()) return IsOfType(value, type.AsString());
  for (const json::Value one : type.elements())
    if (IsOfType(value, one.AsString())) return true;
  return false;
}

void Append(Faults& faults, Faults more) {
  for (std::string& fault : more) faults.push_back(std::move(fault));
}

void CheckObject(json::Value schema, json::Value value, const std::string& path, Faults& faults) {
  for (const json::Value name : schema.Find("required").elements())
    if (!value.Find(name.AsString())) faults.push_back(path + " lacks " + std::string(name.AsString()));
  const json::Value properties = schema.Find("properties"), others = schema.Find("additionalProperties");
  for (const json::Member member : value.members()) {
    const std::string inner = path + "." + std::string(member.name);
    if (const json::Value property = properties.Find(member.name)) {
      Append(faults, SchemaFaults(property, member.value, inner));
    } else if (others.IsObject()) {
      Append(faults, SchemaFaults(others, member.value, inner));
    } else if (others && !others.IsTrue()) {
      faults.push_back(inner + " is not allowed");
    }
  }
}

}  // namespace

std::optional<std::string> PeerContract() {
  const char* dir = std::getenv("ETL_PEER_DIR");
  if (dir == nullptr || *dir == '\0') return std::nullopt;
  const std::string path = std::string(dir) + "/openapi.json";
  if (!std::filesystem::exists(path)) return std::nullopt;
  return ReadFile(path);
}

std::vector<std::string> SchemaFaults(json::Value schema, json::Value value, const std::string& path) {
  Faults faults;
  if (const json::Value type = schema.Find("type"); type && !TypeFits(type, value))
    return {path + " is " + json::Canonical(value).substr(0, 80) + ", not " + json::Canonical(type)};
  const auto is = [&](json::Value one) { return json::Canonical(one) == json::Canonical(value); };
  if (const json::Value choice = schema.Find("enum")) {
    bool found = false;
    for (const json::Value one : choice.elements()) found = found || is(one);
    if (!found) faults.push_back(path + " is none of the values allowed: " + json::Canonical(value));
  }
  if (const json::Value one = schema.Find("const"); one && !is(one))
    faults.push_back(path + " is another value");
  for (const char* word : {"anyOf", "oneOf"}) {
    const json::Value choices = schema.Find(word);
    if (!choices) continue;
    std::size_t fitting = 0;
    Faults first;
    for (const json::Value choice : choices.elements()) {
      Faults inner = SchemaFaults(choice, value, path);
      fitting += inner.empty() ? 1 : 0;
      if (first.empty()) first = std::move(inner);
    }
    if (fitting == 0) Append(faults, first.empty() ? Faults{path + " fits no choice"} : std::move(first));
  }
  for (const json::Value part : schema.Find("allOf").elements())
    Append(faults, SchemaFaults(part, value, path));
  if (value.IsObject()) CheckObject(schema, value, path, faults);
  if (const json::Value items = schema.Find("items"); items && value.IsArray()) {
    std::size_t i = 0;
    for (const json::Value item : value.elements())
      Append(faults, SchemaFaults(items, item, path + "[" + std::to_string(i++) + "]"));
  }
  return faults;
}

json::Value AnswerSchema(json::Value openapi, std::string_view path, std::string_view method) {
  return openapi.At({"paths", path, method, "responses", "200", "content", "application/json", "schema"});
}

}  // namespace etl::test
