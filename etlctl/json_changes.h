#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etl::ctl {

// One place where two JSON texts differ. Values are canonical JSON; empty: not there.
struct ValueChange {
  std::string path;  // "spec.timing.latencyNs.mean"
  std::string before, after;
};

// Where `before` and `after` differ, by path, at most `max`. Objects are compared member by member, arrays
// and the rest as a whole. A text that is no JSON counts as not there. Recurses over depth, which the reader
// bounds.
std::vector<ValueChange> ChangesBetween(std::string_view before, std::string_view after, std::size_t max);

}  // namespace etl::ctl
