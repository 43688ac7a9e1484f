#pragma once

#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "daemon/visit.h"
#include "store/store.h"

namespace etl {

// Holds upstream's own ranks against ours. Upstream lists one row per user, by best latency; so ours are
// reduced to the best run of each user in the group of the same kernel, GPU and stack version, and numbered
// densely. A user that we have no run of counts as unmatched. Reads only; a damaged or missing group leaves
// its ranks unmatched.
void CompareRanks(const Store& store, const std::string& source, const std::vector<UpstreamRank>& upstream,
                  RankComparison& result);

}  // namespace etl
