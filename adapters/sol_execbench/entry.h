#pragma once

#include <string>
#include <utility>

#include "model/digest.h"
#include "model/draft.h"
#include "model/manifest.h"

namespace etl::sol_execbench {

// Completes an entry of any manifest kind: identity, digest and metadata.
template <class S>
EntryDraft EntryOf(std::string external_id, const S& spec, const Metadata& metadata, Locator locator) {
  EntryDraft entry;
  entry.kind = S::kKind;
  entry.external_id = std::move(external_id);
  AppendIdentity(entry.identity, spec);
  entry.digest = Sha256(entry.identity);
  AppendMetadata(entry.metadata, metadata);
  entry.locator = locator;
  return entry;
}

}  // namespace etl::sol_execbench
