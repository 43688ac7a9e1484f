// Manifests of every kind from any bytes: whatever is read is written, reads back as the same, and keeps its
// digest; and checking agrees with reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "model/canonical_json.h"
#include "model/json.h"
#include "model/manifest.h"

namespace {

// A broken promise ends the run, also where assert does nothing.
void Require(bool held) {
  if (!held) std::abort();
}

void CheckRoundTrip(const etl::Manifest& manifest) {
  const std::string written = etl::CanonicalManifest(manifest);
  Require(*etl::json::Canonicalize(written) == written);
  const auto document = etl::json::Document::Parse(written);
  Require(document.has_value());
  const auto again = etl::ReadManifest(document->root());
  Require(again.has_value());
  Require(etl::CanonicalManifest(*again) == written);
  Require(etl::DigestOf(again->spec) == etl::DigestOf(manifest.spec));
  Require(etl::CheckMetadata(manifest.metadata).has_value());
  Require(std::visit([](const auto& spec) { return etl::CheckSpec(spec).has_value(); }, manifest.spec));

  std::string identity;
  std::string metadata;
  etl::AppendIdentity(identity, manifest.spec);
  etl::AppendMetadata(metadata, manifest.metadata);
  Require(etl::JoinManifest(identity, metadata) == written);
  Require(etl::Sha256(identity) == etl::DigestOf(manifest.spec));
  const auto identity_document = etl::json::Document::Parse(identity);
  Require(identity_document.has_value() && etl::ReadIdentity(identity_document->root()).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = etl::json::Document::Parse(text);
  if (!document) return 0;
  const auto manifest = etl::ReadManifest(document->root());
  const auto faults = etl::CheckManifest(document->root());
  Require(faults.empty() == manifest.has_value());
  for (const etl::Error& fault : faults) {
    Require(!fault.code.empty() && !fault.where.empty() && !fault.what.empty() && !fault.fix.empty());
    Require(fault.where.front() == '$');
  }
  if (manifest) CheckRoundTrip(*manifest);
  return 0;
}
