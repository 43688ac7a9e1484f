#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "daemon/visit.h"
#include "store/store.h"

namespace etl {

// Holds upstream's own ranks against ours. Upstream lists one row per user, by best latency; so ours are
// reduced to the best run of each user in the group of the same kernel, GPU and stack version, and numbered
// densely. A user that we have no run of counts as unmatched. Reads only; a damaged or missing group leaves
// its ranks unmatched.
class RankBook {
 public:
  RankBook(const Store& store, std::string source) : store_(store), source_(std::move(source)) {}

  // One leaderboard. Counts into `result`, and returns the cursor value that keeps both sides: canonical
  // {"ranks":[{"username","upstream","latencyMs","submittedAt","ours"?,"externalId"?,"why"?}]}, by username;
  // `why` where the two differ.
  std::string Compare(const std::vector<UpstreamRank>& board, RankComparison& result);
  // Whether the best run here of the user is as fast as the one that upstream ranks.
  bool Holds(const UpstreamRank& rank);

 private:
  struct Best {
    std::int64_t rank = 0;
    double value = 0;
    std::string external_id;
  };
  using BestByUser = std::map<std::string, Best, std::less<>>;
  const BestByUser& GroupOf(const UpstreamRank& rank);
  BestByUser BestOf(const GroupInfo& group) const;
  std::string UserOf(const StandingLine& line) const;
  void FindGroups();

  const Store& store_;
  std::string source_;
  bool found_ = false;
  std::map<std::pair<Digest, Digest>, Digest> groups_;  // (operation, environment) -> key
  std::map<std::tuple<std::string, std::string, std::string>, BestByUser> boards_;
};

// What a leaderboard's new value says that the one before did not: a line of the change log for each user
// whose place differs from ours in another way than before, or no longer does.
std::vector<EventDraft> RankEvents(const std::string& request, const std::optional<std::string>& before,
                                   const std::string& after);

}  // namespace etl
