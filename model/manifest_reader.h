#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/json.h"
#include "model/manifest_faults.h"
#include "model/manifest_fields.h"

// JSON into structs, strictly. Private to the manifest code.
namespace etl::manifest {

// The names that a struct's Fields mention, in order. Runs only once a fault is certain.
class NameCollector {
 public:
  template <class S>
  using Ref = S&;

  explicit NameCollector(std::vector<std::string_view>& names) : names_(names) {}
  void Constant(std::string_view name, std::string_view) { names_.push_back(name); }
  template <class T, class R>
  void Required(std::string_view name, T&, const R&) {
    names_.push_back(name);
  }
  template <class T, class R>
  void Optional(std::string_view name, T&, const R&) {
    names_.push_back(name);
  }
  template <class A, class B>
  void ExactlyOne(std::string_view, const A&, std::string_view, const B&) {}

 private:
  std::vector<std::string_view>& names_;
};

// Adds WRONG_TYPE: what was wanted, and what stands there.
void AddWrongType(json::Value value, std::string_view wanted, std::string fix, const Path& path,
                  Faults& faults);

void Read(json::Value value, std::string& out, const Text& rule, const Path& path, Faults& faults);
void Read(json::Value value, std::string& out, const OneOf& rule, const Path& path, Faults& faults);
void Read(json::Value value, std::int64_t& out, const Whole& rule, const Path& path, Faults& faults);
void Read(json::Value value, double& out, const Number& rule, const Path& path, Faults& faults);
void Read(json::Value value, bool& out, const Flag& rule, const Path& path, Faults& faults);
void Read(json::Value value, Digest& out, const Hash& rule, const Path& path, Faults& faults);
void Read(json::Value value, Instant& out, const Moment& rule, const Path& path, Faults& faults);
void Read(json::Value value, Dimension& out, const DimensionOf& rule, const Path& path, Faults& faults);
template <class S>
void Read(json::Value value, S& out, const Object& rule, const Path& path, Faults& faults);
template <class T, class Each>
void Read(json::Value value, std::vector<T>& out, const List<Each>& rule, const Path& path, Faults& faults);
template <class T, class Each>
void Read(json::Value value, MapOf<T>& out, const Keyed<Each>& rule, const Path& path, Faults& faults);
template <class T, class Inner>
void Read(json::Value value, T& out, const Wrapped<Inner>& rule, const Path& path, Faults& faults);

// Fills one struct from one object. Every member that Fields mentions is looked up once; what is then left
// over is unknown.
class Reader {
 public:
  template <class S>
  using Ref = S&;

  Reader(json::Value object, const Path& path, Faults& faults)
      : object_(object), path_(path), faults_(faults) {}

  void Constant(std::string_view name, std::string_view word);

  template <class T, class R>
  void Required(std::string_view name, T& member, const R& rule) {
    if (faults_.Full()) return;
    if (const json::Value value = Take(name)) {
      Read(value, member, rule, Path(path_, name), faults_);
    } else {
      AddMissingMember(name, path_, faults_);
    }
  }

  template <class T, class R>
  void Optional(std::string_view name, std::optional<T>& member, const R& rule) {
    if (faults_.Full()) return;
    if (const json::Value value = Take(name)) Read(value, member.emplace(), rule, Path(path_, name), faults_);
  }

  template <class A, class B>
  void ExactlyOne(std::string_view name_a, const std::optional<A>& a, std::string_view name_b,
                  const std::optional<B>& b) {
    if (!faults_.Full()) CheckExactlyOne(name_a, a.has_value(), name_b, b.has_value(), path_, faults_);
  }

  bool FoundAll() const { return taken_ == object_.size(); }

 private:
  json::Value Take(std::string_view name) {
    const json::Value value = object_.Find(name);
    if (value) ++taken_;
    return value;
  }

  json::Value object_;
  const Path& path_;
  Faults& faults_;
  std::size_t taken_ = 0;
};

// Adds UNKNOWN_MEMBER for every member of `object` outside `known`.
void AddUnknownMembers(json::Value object, const std::vector<std::string_view>& known, const Path& path,
                       Faults& faults);

template <class S>
void Read(json::Value value, S& out, const Object&, const Path& path, Faults& faults) {
  if (!value.IsObject()) return AddWrongType(value, "an object", "write {...}", path, faults);
  Reader reader(value, path, faults);
  Fields(reader, out);
  if (reader.FoundAll() || faults.Full()) return;
  std::vector<std::string_view> known;
  NameCollector collector(known);
  Fields(collector, out);
  AddUnknownMembers(value, known, path, faults);
}

template <class T, class Each>
void Read(json::Value value, std::vector<T>& out, const List<Each>& rule, const Path& path, Faults& faults) {
  if (!value.IsArray()) return AddWrongType(value, "a list", "write [...]", path, faults);
  CheckCount(value.size(), rule.min, rule.max, path, faults);
  bool whole = true;
  for (const json::Value element : value.elements()) {
    if (faults.Full()) return;
    const std::size_t index = out.size();
    T& slot = out.emplace_back();
    Read(element, slot, rule.each, Path(path, index), faults);
    whole = whole && element.type() == json::Type::kString;
  }
  if constexpr (std::is_same_v<T, std::string>) {
    // The order of a list with an element of another type says nothing.
    if (rule.set && whole) CheckSet(out, path, faults);
  }
}

template <class T, class Each>
void Read(json::Value value, MapOf<T>& out, const Keyed<Each>& rule, const Path& path, Faults& faults) {
  if (!value.IsObject()) return AddWrongType(value, "an object", "write {...}", path, faults);
  for (const json::Member member : value.members()) {
    if (faults.Full()) return;
    const Path at(path, member.name);
    CheckKey(member.name, rule.key, at, faults);
    // A stored manifest is sorted, so the end is nearly always the right place.
    Read(member.value, out.emplace_hint(out.end(), member.name, T{})->second, rule.each, at, faults);
  }
}

template <class T, class Inner>
void Read(json::Value value, T& out, const Wrapped<Inner>& rule, const Path& path, Faults& faults) {
  if (!value.IsObject()) return AddWrongType(value, "an object", "write {...}", path, faults);
  Reader reader(value, path, faults);
  reader.Required(rule.member, out, rule.inner);
  if (!reader.FoundAll() && !faults.Full()) AddUnknownMembers(value, {rule.member}, path, faults);
}

}  // namespace etl::manifest
