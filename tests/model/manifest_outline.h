#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/manifest_fields.h"

namespace etl::test {

// What the manifest code says about one place of a manifest.
struct OutlineLine {
  bool required = true;
  std::string rule;  // "text max=200", "integer min=0 max=9007199254740991", "one of a|b", "object", "list
                     // min=1", "map"
  bool (*pattern)(std::string_view) = nullptr;
};

// All places of a struct by path: "$.spec.axes.*.role", "$.spec.inputs[].name"; the names of a map's members
// stand at
// "$.spec.axes.*name". `listed` has the member names of each object in the order in which Fields gives them.
struct Outline {
  std::map<std::string, OutlineLine> lines;
  std::map<std::string, std::vector<std::string>> listed;
};

class OutlineVisitor {
 public:
  template <class S>
  using Ref = S&;

  OutlineVisitor(std::string path, Outline& out) : path_(std::move(path)), out_(out) {}

  void Constant(std::string_view name, std::string_view word) {
    Line(name, true).rule = "one of " + std::string(word);
  }
  template <class T, class R>
  void Required(std::string_view name, T& member, const R& rule) {
    Line(name, true);
    Describe(Under(name), member, rule);
  }
  template <class T, class R>
  void Optional(std::string_view name, std::optional<T>& member, const R& rule) {
    Line(name, false);
    Describe(Under(name), member.emplace(), rule);
  }
  template <class A, class B>
  void ExactlyOne(std::string_view, const A&, std::string_view, const B&) {}

 private:
  std::string Under(std::string_view name) const { return path_ + "." + std::string(name); }
  OutlineLine& Line(std::string_view name, bool required) {
    out_.listed[path_].emplace_back(name);
    OutlineLine& line = out_.lines[Under(name)];
    line.required = required;
    return line;
  }
  static std::string Max(std::size_t max) {
    return max == manifest::kUnbounded ? std::string() : " max=" + std::to_string(max);
  }

  void Describe(const std::string& path, std::string&, const manifest::Text& rule) {
    out_.lines[path].rule = "text" + Max(rule.code_points_max);
    out_.lines[path].pattern = rule.pattern;
  }
  void Describe(const std::string& path, std::string&, const manifest::OneOf& rule) {
    std::string words;
    for (const std::string_view word : rule.words) words.append(words.empty() ? "" : "|").append(word);
    out_.lines[path].rule = "one of " + words;
  }
  void Describe(const std::string& path, std::int64_t&, const manifest::Whole& rule) {
    out_.lines[path].rule = "integer min=" + std::to_string(rule.min) + " max=" + std::to_string(rule.max);
  }
  void Describe(const std::string& path, double&, const manifest::Number& rule) {
    std::string text = "number";
    if (rule.min == 0) text += rule.above_min ? " above=0" : " min=0";
    if (rule.max < std::numeric_limits<double>::max()) text += " max=1";
    out_.lines[path].rule = text;
  }
  void Describe(const std::string& path, bool&, const manifest::Flag&) { out_.lines[path].rule = "boolean"; }
  void Describe(const std::string& path, Digest&, const manifest::Hash&) {
    out_.lines[path].rule = "text";
    out_.lines[path].pattern = [](std::string_view text) { return ParseDigest(text).has_value(); };
  }
  void Describe(const std::string& path, Instant&, const manifest::Moment&) {
    out_.lines[path].rule = "instant";
  }
  void Describe(const std::string& path, Dimension&, const manifest::DimensionOf&) {
    out_.lines[path].rule = "dimension";
  }
  template <class S>
  void Describe(const std::string& path, S& value, const manifest::Object&) {
    out_.lines[path].rule = "object";
    OutlineVisitor inner(path, out_);
    manifest::Fields(inner, value);
  }
  template <class T, class Each>
  void Describe(const std::string& path, std::vector<T>&, const manifest::List<Each>& rule) {
    out_.lines[path].rule = "list" + (rule.min > 0 ? " min=" + std::to_string(rule.min) : "") + Max(rule.max);
    T element{};
    Describe(path + "[]", element, rule.each);
  }
  template <class T, class Each>
  void Describe(const std::string& path, MapOf<T>&, const manifest::Keyed<Each>& rule) {
    out_.lines[path].rule = "map";
    std::string name;
    Describe(path + ".*name", name, rule.key);
    T element{};
    Describe(path + ".*", element, rule.each);
  }
  template <class T, class Inner>
  void Describe(const std::string& path, T& value, const manifest::Wrapped<Inner>& rule) {
    out_.lines[path].rule = "object";
    OutlineVisitor(path, out_).Required(rule.member, value, rule.inner);
  }

  std::string path_;
  Outline& out_;
};

template <class S>
Outline OutlineOf() {
  Outline out;
  Metadata metadata;
  S spec;
  OutlineVisitor visitor("$", out);
  manifest::Envelope<S> envelope{&metadata, &spec};
  manifest::Fields(visitor, envelope);
  return out;
}

// The outlines of all kinds, by kind name.
inline std::map<std::string, Outline> AllOutlines() {
  std::map<std::string, Outline> all;
  const auto add = [&]<class S>(const S*) { all[std::string(KindName(S::kKind))] = OutlineOf<S>(); };
  add(static_cast<const OperationSpec*>(nullptr));
  add(static_cast<const WorkloadCase*>(nullptr));
  add(static_cast<const WorkloadSuite*>(nullptr));
  add(static_cast<const SoftwareProject*>(nullptr));
  add(static_cast<const ImplementationRevision*>(nullptr));
  add(static_cast<const BenchmarkProtocol*>(nullptr));
  add(static_cast<const ExecutionEnvironment*>(nullptr));
  add(static_cast<const BenchmarkRun*>(nullptr));
  return all;
}

// A path of a document as the outline writes it: given the outline, elements become [] and members of maps
// become *. Takes the path as pieces: "" stands for an element.
inline std::string OutlinePath(const Outline& outline, const std::vector<std::string>& pieces) {
  std::string path = "$";
  for (const std::string& piece : pieces) {
    if (piece.empty()) {
      path += "[]";
      continue;
    }
    const auto line = outline.lines.find(path);
    const bool in_map = line != outline.lines.end() && line->second.rule == "map";
    path += in_map ? ".*" : "." + piece;
  }
  return path;
}

}  // namespace etl::test
