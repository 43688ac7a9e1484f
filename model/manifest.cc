#include "model/manifest.h"

#include <array>

#include "model/manifest_writer.h"

namespace etl {
namespace {

// In the order of Kind, from 1.
constexpr std::array<std::string_view, 9> kKindNames = {
    "OperationSpec",     "WorkloadCase",         "WorkloadSuite", "SoftwareProject", "ImplementationRevision",
    "BenchmarkProtocol", "ExecutionEnvironment", "BenchmarkRun",  "Submission"};

constexpr std::string_view kSpecMember = ",\"spec\":";

}  // namespace

std::string_view KindName(Kind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind) - 1;
  return index < kKindNames.size() ? kKindNames[index] : std::string_view("unknown");
}

std::optional<Kind> ParseKind(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i + 1);
  }
  return std::nullopt;
}

Kind Manifest::kind() const {
  return std::visit([]<class S>(const S&) { return S::kKind; }, spec);
}

template <class S>
void AppendIdentity(std::string& out, const S& spec) {
  manifest::AppendObject(out, manifest::Identity<const S>{&spec});
}

void AppendIdentity(std::string& out, const Spec& spec) {
  std::visit([&](const auto& s) { AppendIdentity(out, s); }, spec);
}

template <class S>
Digest DigestOf(const S& spec) {
  // One buffer a thread: a digest costs no allocation once the buffer has grown.
  thread_local std::string bytes;
  bytes.clear();
  AppendIdentity(bytes, spec);
  return Sha256(bytes);
}

Digest DigestOf(const Spec& spec) {
  return std::visit([](const auto& s) { return DigestOf(s); }, spec);
}

void AppendMetadata(std::string& out, const Metadata& metadata) {
  manifest::AppendObject(out, metadata);
}

std::string CanonicalManifest(const Manifest& manifest) {
  std::string out;
  std::visit(
      [&]<class S>(const S& spec) {
        manifest::AppendObject(out, manifest::Envelope<const S>{&manifest.metadata, &spec});
      },
      manifest.spec);
  return out;
}

Digest ManifestDigest(const Manifest& manifest) {
  return Sha256(CanonicalManifest(manifest));
}

std::string JoinManifest(std::string_view identity, std::string_view metadata) {
  // What precedes the spec are the apiVersion and the kind, which hold no quotes, so the first match is the
  // member itself.
  const std::size_t at = identity.find(kSpecMember);
  if (at == std::string_view::npos || metadata.empty()) return std::string(identity);
  constexpr std::string_view kMetadataMember = ",\"metadata\":";
  std::string out;
  out.reserve(identity.size() + metadata.size() + kMetadataMember.size());
  out.append(identity.substr(0, at)).append(kMetadataMember).append(metadata).append(identity.substr(at));
  return out;
}

#define ETL_INSTANTIATE(S)                              \
  template void AppendIdentity(std::string&, const S&); \
  template Digest DigestOf(const S&)
ETL_INSTANTIATE(OperationSpec);
ETL_INSTANTIATE(WorkloadCase);
ETL_INSTANTIATE(WorkloadSuite);
ETL_INSTANTIATE(SoftwareProject);
ETL_INSTANTIATE(ImplementationRevision);
ETL_INSTANTIATE(BenchmarkProtocol);
ETL_INSTANTIATE(ExecutionEnvironment);
ETL_INSTANTIATE(BenchmarkRun);
#undef ETL_INSTANTIATE

}  // namespace etl
