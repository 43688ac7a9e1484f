#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/manifest.h"
#include "store/store.h"

namespace etl::ctl {

// What people type for a thing, and what it names. An id is
//   a digest, or the first 4 or more hex digits of one ("sha256:" in front allowed, any case);
//   "source:external id", with " in SCOPE" behind it where the external id alone is not unique;
//   an external id alone: looked up in every source.
// Errors: kNotFound NOT_FOUND; kNotFound AMBIGUOUS, naming up to 10 candidates; kInvalid USAGE for an empty
// id; those of the store. None of these scans the store.

// An entry by name, or by the digest of an object it is or was in a state with.
Result<EntryName> ResolveEntry(const Store& store, std::string_view id);

// An object, of any kind or of one.
Result<Digest> ResolveObject(const Store& store, std::string_view id, std::optional<Kind> kind);

// A comparison group by its key or the first 4 or more hex digits of it.
Result<GroupInfo> ResolveGroup(const Store& store, std::string_view id);

// The entries of this kind with an external id, in every source or in one.
Result<std::vector<EntryName>> FindNamed(const Store& store, std::string_view source,
                                         std::string_view external_id, Kind kind);

}  // namespace etl::ctl
