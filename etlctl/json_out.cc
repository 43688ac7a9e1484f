#include "etlctl/json_out.h"

#include <algorithm>
#include <cmath>

#include "etlctl/escape.h"
#include "model/canonical_json.h"

namespace etl::ctl {
namespace {

void AppendText(std::string& out, std::string_view text) {
  if (IsUtf8(text)) {
    json::AppendString(out, text);
  } else {
    json::AppendString(out, Safe(text));
  }
}

void AppendIndent(std::string& out, std::size_t indent) {
  out.append(2 * indent, ' ');
}

void AppendPretty(std::string& out, json::Value value, std::size_t indent);

void AppendMembers(std::string& out, json::Value object, std::size_t indent) {
  std::vector<json::Member> members;
  for (const json::Member member : object.members()) members.push_back(member);
  std::sort(members.begin(), members.end(), [](const json::Member& a, const json::Member& b) {
    return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name < b.name;
  });
  for (std::size_t i = 0; i < members.size(); ++i) {
    AppendIndent(out, indent);
    json::AppendString(out, members[i].name);
    out += ": ";
    AppendPretty(out, members[i].value, indent);
    out += i + 1 < members.size() ? ",\n" : "\n";
  }
}

void AppendElements(std::string& out, json::Value array, std::size_t indent) {
  std::size_t left = array.size();
  for (const json::Value element : array.elements()) {
    AppendIndent(out, indent);
    AppendPretty(out, element, indent);
    out += --left > 0 ? ",\n" : "\n";
  }
}

void AppendPretty(std::string& out, json::Value value, std::size_t indent) {
  const bool object = value.IsObject();
  if (value.size() == 0) {
    json::AppendCanonical(out, value, json::Integers::kExact);
    return;
  }
  out += object ? "{\n" : "[\n";
  if (object) {
    AppendMembers(out, value, indent + 1);
  } else {
    AppendElements(out, value, indent + 1);
  }
  AppendIndent(out, indent);
  out += object ? '}' : ']';
}

}  // namespace

void JsonObject::Name(std::string_view name) {
  if (text_.size() > 1) text_ += ',';
  json::AppendString(text_, name);
  text_ += ':';
}

JsonObject& JsonObject::Text(std::string_view name, std::string_view value) {
  Name(name);
  AppendText(text_, value);
  return *this;
}

JsonObject& JsonObject::Number(std::string_view name, double value) {
  if (!std::isfinite(value)) return Null(name);
  Name(name);
  json::AppendNumber(text_, value);
  return *this;
}

JsonObject& JsonObject::Count(std::string_view name, std::uint64_t value) {
  Name(name);
  text_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::Integer(std::string_view name, std::int64_t value) {
  Name(name);
  text_ += std::to_string(value);
  return *this;
}

JsonObject& JsonObject::Bool(std::string_view name, bool value) {
  return Raw(name, value ? "true" : "false");
}

JsonObject& JsonObject::Null(std::string_view name) {
  return Raw(name, "null");
}

JsonObject& JsonObject::Raw(std::string_view name, std::string_view json) {
  Name(name);
  text_ += json.empty() ? std::string_view("null") : json;
  return *this;
}

JsonObject& JsonObject::Texts(std::string_view name, const std::vector<std::string>& values) {
  std::vector<std::string> quoted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) AppendText(quoted[i], values[i]);
  return Raw(name, JsonArray(quoted));
}

std::string JsonArray(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out + "]";
}

std::string PrettyJson(json::Value value, std::size_t indent) {
  std::string out;
  AppendPretty(out, value, indent);
  return out;
}

std::string FaultJson(const Error& fault) {
  return JsonObject()
      .Text("code", fault.code)
      .Text("where", fault.where)
      .Text("what", fault.what)
      .Text("fix", fault.fix)
      .Done();
}

}  // namespace etl::ctl
