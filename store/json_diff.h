#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etl {

// The paths below which two JSON texts differ ("spec.timing.latencyNs.mean", "metadata.labels"), each with
// `prefix` in front, at most `max` and sorted. Objects are compared member by member, everything else as a
// whole by its canonical form. A text that is no JSON gives `prefix` alone.
std::vector<std::string> ChangedPaths(std::string_view before, std::string_view after,
                                      const std::string& prefix, std::size_t max);

}  // namespace etl
