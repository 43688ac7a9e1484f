#include <optional>
#include <utility>

#include "model/manifest_faults.h"
#include "model/manifest_fields.h"

namespace etl {
namespace manifest {
namespace {

// Structs that our own code filled, against the same rules that reading applies.
class Checker {
 public:
  template <class S>
  using Ref = const S&;

  Checker(const Path& path, Faults& faults) : path_(path), faults_(faults) {}

  void Constant(std::string_view, std::string_view) {}

  template <class T, class R>
  void Required(std::string_view name, const T& member, const R& rule) {
    if (!faults_.Full()) Check(member, rule, Path(path_, name));
  }
  template <class T, class R>
  void Optional(std::string_view name, const std::optional<T>& member, const R& rule) {
    if (member && !faults_.Full()) Check(*member, rule, Path(path_, name));
  }
  template <class A, class B>
  void ExactlyOne(std::string_view name_a, const std::optional<A>& a, std::string_view name_b,
                  const std::optional<B>& b) {
    if (!faults_.Full()) CheckExactlyOne(name_a, a.has_value(), name_b, b.has_value(), path_, faults_);
  }

  template <class S>
  void Check(const S& value, const Object&, const Path& path) {
    Checker inner(path, faults_);
    Fields(inner, value);
  }

 private:
  // A reader's texts are UTF-8 already; ours may have been cut in the middle.
  bool Utf8(const std::string& text, const Path& path) {
    if (IsUtf8(text)) return true;
    faults_.Add("WRONG_PATTERN", path, "the text is not UTF-8", "cut texts between code points");
    return false;
  }

  void Check(const std::string& value, const Text& rule, const Path& path) {
    if (Utf8(value, path)) CheckText(value, rule, path, faults_);
  }
  void Check(const std::string& value, const OneOf& rule, const Path& path) {
    CheckWord(value, rule, path, faults_);
  }
  void Check(std::int64_t value, const Whole& rule, const Path& path) {
    CheckWhole(value, rule, path, faults_);
  }
  void Check(double value, const Number& rule, const Path& path) { CheckNumber(value, rule, path, faults_); }
  void Check(bool, const Flag&, const Path&) {}
  void Check(const Digest&, const Hash&, const Path&) {}
  void Check(const Instant& value, const Moment&, const Path& path) {
    constexpr std::int64_t kFirst = -62135596800000;  // 0001-01-01T00:00:00.000Z
    constexpr std::int64_t kLast = 253402300799999;   // 9999-12-31T23:59:59.999Z
    if (value.ms >= kFirst && value.ms <= kLast) return;
    faults_.Add("OUT_OF_RANGE", path, std::to_string(value.ms) + " ms is outside the years 0001 to 9999",
                "leave the record out");
  }
  void Check(const Dimension& value, const DimensionOf&, const Path& path) {
    const auto* name = std::get_if<std::string>(&value);
    if (name == nullptr || Utf8(*name, path)) CheckDimension(value, path, faults_);
  }

  template <class T, class Each>
  void Check(const std::vector<T>& values, const List<Each>& rule, const Path& path) {
    CheckCount(values.size(), rule.min, rule.max, path, faults_);
    for (std::size_t i = 0; i < values.size() && !faults_.Full(); ++i)
      Check(values[i], rule.each, Path(path, i));
    if constexpr (std::is_same_v<T, std::string>) {
      if (rule.set && !faults_.Full()) CheckSet(values, path, faults_);
    }
  }
  template <class T, class Each>
  void Check(const MapOf<T>& values, const Keyed<Each>& rule, const Path& path) {
    for (const auto& [key, value] : values) {
      if (faults_.Full()) return;
      const Path at(path, key);
      if (Utf8(key, at)) CheckKey(key, rule.key, at, faults_);
      Check(value, rule.each, at);
    }
  }
  template <class T, class Inner>
  void Check(const T& value, const Wrapped<Inner>& rule, const Path& path) {
    Check(value, rule.inner, Path(path, rule.member));
  }

  const Path& path_;
  Faults& faults_;
};

template <class S>
Status CheckFrom(const S& value, std::string_view root, std::string_view kind) {
  Faults faults(1);
  faults.set_kind(kind);
  const Path path(root);
  Checker(path, faults).Check(value, kObject, path);
  if (faults.empty()) return {};
  return Fail(std::move(faults.Take().front()));
}

}  // namespace
}  // namespace manifest

template <class S>
Status CheckSpec(const S& spec) {
  return manifest::CheckFrom(spec, "$.spec", KindName(S::kKind));
}

Status CheckMetadata(const Metadata& metadata) {
  return manifest::CheckFrom(metadata, "$.metadata", "manifest");
}

template Status CheckSpec(const OperationSpec&);
template Status CheckSpec(const WorkloadCase&);
template Status CheckSpec(const WorkloadSuite&);
template Status CheckSpec(const SoftwareProject&);
template Status CheckSpec(const ImplementationRevision&);
template Status CheckSpec(const BenchmarkProtocol&);
template Status CheckSpec(const ExecutionEnvironment&);
template Status CheckSpec(const BenchmarkRun&);

}  // namespace etl
