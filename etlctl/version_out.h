#pragma once

#include <string>
#include <vector>

#include "etlctl/output.h"
#include "store/store.h"

namespace etl::ctl {

// How states of entries and where they come from are shown, the same in every command.

// One state as a JSON object.
std::string VersionJson(const Version& version);

// Snapshot, request, origin, capture time, byte range and adapter, with the commit; from the commit that
// holds the snapshot.
std::string ProvenanceJson(const Version& version, const CommitInfo& commit);

// The same as a table section, with its heading.
void WriteProvenance(Output& out, const Version& version, const CommitInfo& commit);

// The states as a table section, newest first, with its heading.
void WriteVersions(Output& out, const std::vector<Version>& versions);

}  // namespace etl::ctl
