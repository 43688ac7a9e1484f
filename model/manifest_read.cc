#include <algorithm>
#include <utility>

#include "model/manifest_reader.h"

namespace etl {
namespace manifest {
namespace {

constexpr std::size_t kFaultsCollectedMax = 100;

std::string_view TypeName(json::Type type) {
  switch (type) {
    case json::Type::kNull:
      return "null";
    case json::Type::kFalse:
    case json::Type::kTrue:
      return "true or false";
    case json::Type::kNumber:
      return "a number";
    case json::Type::kString:
      return "a text";
    case json::Type::kArray:
      return "a list";
    case json::Type::kObject:
      return "an object";
  }
  return "something else";
}

// A number whose value is whole, however it is written: 5, 5.0, 5e0. Beyond int64 it is out of every range we
// have, so the nearest bound stands for it.
std::optional<std::int64_t> WholeOf(json::Value value) {
  if (const auto exact = value.AsInt64()) return exact;
  const auto number = value.AsDouble();
  if (!number || std::trunc(*number) != *number) return std::nullopt;
  constexpr double kEdge = 9223372036854775808.0;  // 2^63
  if (*number >= kEdge) return std::numeric_limits<std::int64_t>::max();
  if (*number <= -kEdge) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(*number);
}

}  // namespace

void AddWrongType(json::Value value, std::string_view wanted, std::string fix, const Path& path,
                  Faults& faults) {
  if (value.IsNull()) fix = "leave the member out when nothing is known; null is never written";
  faults.Add("WRONG_TYPE", path,
             "this is " + std::string(TypeName(value.type())) + ", not " + std::string(wanted),
             std::move(fix));
}

void Read(json::Value value, std::string& out, const Text& rule, const Path& path, Faults& faults) {
  if (!value.IsString()) return AddWrongType(value, "a text", "write it in double quotes", path, faults);
  out = value.AsString();
  CheckText(out, rule, path, faults);
}

void Read(json::Value value, std::string& out, const OneOf& rule, const Path& path, Faults& faults) {
  if (!value.IsString()) return AddWrongType(value, "a text", "write it in double quotes", path, faults);
  out = value.AsString();
  CheckWord(out, rule, path, faults);
}

void Read(json::Value value, std::int64_t& out, const Whole& rule, const Path& path, Faults& faults) {
  const auto whole = value.IsNumber() ? WholeOf(value) : std::nullopt;
  if (!whole) {
    const std::string_view wanted = value.IsNumber() ? "a whole number" : "a number";
    return AddWrongType(
        value, wanted, rule.nanoseconds ? "write integer nanoseconds" : "write a whole number", path, faults);
  }
  out = *whole;
  CheckWhole(out, rule, path, faults);
}

void Read(json::Value value, double& out, const Number& rule, const Path& path, Faults& faults) {
  const auto number = value.AsDouble();
  if (!number) return AddWrongType(value, "a number", "write it without quotes", path, faults);
  out = *number;
  CheckNumber(out, rule, path, faults);
}

void Read(json::Value value, bool& out, const Flag&, const Path& path, Faults& faults) {
  if (!value.IsBool()) return AddWrongType(value, "true or false", "write true or false", path, faults);
  out = value.IsTrue();
}

void Read(json::Value value, Digest& out, const Hash&, const Path& path, Faults& faults) {
  constexpr std::string_view kFix = "write \"sha256:\" and 64 lower-case hex digits";
  if (!value.IsString()) return AddWrongType(value, "a text", std::string(kFix), path, faults);
  const auto digest = ParseDigest(value.AsString());
  if (!digest) {
    return faults.Add("WRONG_PATTERN", path, Quoted(value.AsString()) + " is not a digest",
                      std::string(kFix));
  }
  out = *digest;
}

void Read(json::Value value, Instant& out, const Moment&, const Path& path, Faults& faults) {
  constexpr std::string_view kFix = "write UTC with milliseconds: 2026-08-18T18:15:52.587Z";
  if (!value.IsString()) return AddWrongType(value, "a text", std::string(kFix), path, faults);
  const auto instant = ParseCanonicalInstant(value.AsString());
  if (!instant) {
    const bool impossible = instant.error().code == "INSTANT_RANGE";
    return faults.Add(
        impossible ? "OUT_OF_RANGE" : "WRONG_PATTERN", path,
        Quoted(value.AsString()) + (impossible ? " does not exist" : " is not a canonical instant"),
        std::string(kFix));
  }
  out = *instant;
}

void Read(json::Value value, Dimension& out, const DimensionOf&, const Path& path, Faults& faults) {
  if (value.IsString()) {
    Read(value, out.emplace<std::string>(), kToken, path, faults);
  } else if (value.IsNumber()) {
    Read(value, out.emplace<std::int64_t>(), kCount, path, faults);
  } else {
    AddWrongType(value, "a number or an axis name", "write a whole number or an axis name", path, faults);
  }
}

void Reader::Constant(std::string_view name, std::string_view word) {
  std::string text;
  Required(name, text, OneOf{{&word, 1}});
}

void AddUnknownMembers(json::Value object, const std::vector<std::string_view>& known, const Path& path,
                       Faults& faults) {
  for (const json::Member member : object.members()) {
    if (faults.Full()) return;
    if (std::find(known.begin(), known.end(), member.name) == known.end()) {
      AddUnknownMember(member.name, known, path, faults);
    }
  }
}

namespace {

// The kind that an envelope names; without one nothing more can be said about it.
std::optional<Kind> ReadKind(json::Value value, const Path& root, Faults& faults) {
  if (!value.IsObject()) {
    AddWrongType(value, "an object", "write {\"apiVersion\": ..., \"kind\": ..., ...}", root, faults);
    return std::nullopt;
  }
  const json::Value name = value.Find("kind");
  const Path path(root, "kind");
  if (!name) {
    AddMissingMember("kind", root, faults);
    return std::nullopt;
  }
  if (!name.IsString()) {
    AddWrongType(name, "a text", "write the kind's name in double quotes", path, faults);
    return std::nullopt;
  }
  const auto kind = ParseKind(name.AsString());
  if (!kind || *kind == Kind::kSubmission) {
    std::string kinds;
    for (int i = 1; i < static_cast<int>(Kind::kSubmission); ++i) {
      kinds.append(i > 1 ? ", " : "").append(KindName(static_cast<Kind>(i)));
    }
    faults.Add("UNKNOWN_KIND", path, "there is no kind " + Quoted(name.AsString()), "write one of: " + kinds);
    return std::nullopt;
  }
  faults.set_kind(KindName(*kind));
  return kind;
}

// Makes the struct of `kind` in `spec` and gives it to `then`.
template <std::size_t I = 0, class Then>
void WithSpecOf(Kind kind, Spec& spec, const Then& then) {
  if constexpr (I < std::variant_size_v<Spec>) {
    using S = std::variant_alternative_t<I, Spec>;
    if (S::kKind == kind) {
      then(spec.emplace<I>());
    } else {
      WithSpecOf<I + 1>(kind, spec, then);
    }
  }
}

void ReadWhole(json::Value value, Manifest& out, Faults& faults) {
  const Path root("$");
  const auto kind = ReadKind(value, root, faults);
  if (!kind) return;
  WithSpecOf(*kind, out.spec, [&]<class S>(S& spec) {
    Envelope<S> envelope{&out.metadata, &spec};
    Read(value, envelope, kObject, root, faults);
  });
}

}  // namespace
}  // namespace manifest

namespace {

Status First(manifest::Faults& faults) {
  if (faults.empty()) return {};
  return Fail(std::move(faults.Take().front()));
}

}  // namespace

Result<Manifest> ReadManifest(json::Value value) {
  manifest::Faults faults(1);
  Manifest out;
  manifest::ReadWhole(value, out, faults);
  ETL_CHECK_OK(First(faults));
  return out;
}

std::vector<Error> CheckManifest(json::Value value) {
  manifest::Faults faults(manifest::kFaultsCollectedMax);
  Manifest out;
  manifest::ReadWhole(value, out, faults);
  return faults.Take();
}

Result<Spec> ReadIdentity(json::Value value) {
  manifest::Faults faults(1);
  const manifest::Path root("$");
  Spec out;
  if (const auto kind = manifest::ReadKind(value, root, faults)) {
    manifest::WithSpecOf(*kind, out, [&]<class S>(S& spec) {
      manifest::Identity<S> identity{&spec};
      manifest::Read(value, identity, manifest::kObject, root, faults);
    });
  }
  ETL_CHECK_OK(First(faults));
  return out;
}

Result<Metadata> ReadMetadata(json::Value value) {
  manifest::Faults faults(1);
  Metadata out;
  manifest::Read(value, out, manifest::kObject, manifest::Path("$.metadata"), faults);
  ETL_CHECK_OK(First(faults));
  return out;
}

}  // namespace etl
