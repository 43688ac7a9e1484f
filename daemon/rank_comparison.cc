#include "daemon/rank_comparison.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/json.h"

namespace etl {
namespace {

constexpr std::size_t kDifferencesKept = 100;
constexpr std::uint64_t kStandingRead = 100'000;

struct Best {
  std::int64_t rank = 0;
  std::string external_id;
};

// What the metadata of a run says: "<username> · <kernel> · <gpu>" names its user in the first author of its
// implementation, so the user is read from there.
std::string UserOf(const Store& store, const StandingLine& line) {
  const auto entry = store.GetEntry({line.source, line.external_id, ""});
  if (!entry) return "";
  const auto it = entry->find(Kind::kImplementationRevision);
  if (it == entry->end()) return "";
  const auto metadata = json::Document::Parse(it->second.metadata);
  if (!metadata) return "";
  for (const json::Value author : metadata->root().Find("authors").elements())
    return std::string(author.Find("name").AsString());
  return "";
}

std::unordered_map<std::string, Best> BestByUser(const Store& store, const GroupInfo& group) {
  std::unordered_map<std::string, Best> best;
  const auto standing = store.GetStanding(group, 0, kStandingRead);
  if (!standing) return best;
  std::int64_t rank = 0;
  double last = 0;
  for (const StandingLine& line : *standing) {
    std::string user = UserOf(store, line);
    if (best.contains(user)) continue;
    if (rank == 0 || line.contender.value != last) ++rank;
    last = line.contender.value;
    best.emplace(std::move(user), Best{rank, line.external_id});
  }
  return best;
}

}  // namespace

void CompareRanks(const Store& store, const std::string& source, const std::vector<UpstreamRank>& upstream,
                  RankComparison& result) {
  if (upstream.empty()) return;
  // Groups by what a leaderboard is about: the newest definition of the kernel, and the environment's own
  // entry.
  std::map<std::pair<Digest, Digest>, Digest> groups;  // (operation, environment) -> key
  const auto status = store.ForEachGroup([&](const GroupInfo& g) {
    if (g.members > 0) groups[{g.operation, g.environment}] = g.key;
    return true;
  });
  if (!status) return;
  std::map<std::tuple<std::string, std::string, std::string>, std::unordered_map<std::string, Best>> boards;
  for (const UpstreamRank& rank : upstream) {
    ++result.compared;
    auto [board, fresh] = boards.try_emplace({rank.kernel, rank.gpu, rank.stack_version});
    if (fresh) {
      const auto kernel = store.GetEntry({source, rank.kernel, ""});
      const auto environment =
          store.GetEntry({source, "environment/" + rank.gpu + "/" + rank.stack_version, ""});
      if (kernel && environment && kernel->contains(Kind::kOperationSpec) &&
          environment->contains(Kind::kExecutionEnvironment)) {
        const auto group =
            groups.find({kernel->at(Kind::kOperationSpec).digest.value_or(Digest{}),
                         environment->at(Kind::kExecutionEnvironment).digest.value_or(Digest{})});
        if (group != groups.end())
          if (const auto info = store.GetGroup(group->second)) board->second = BestByUser(store, *info);
      }
    }
    const auto ours = board->second.find(rank.username);
    if (ours == board->second.end()) {
      ++result.unmatched;
      continue;
    }
    if (ours->second.rank == rank.rank) {
      ++result.equal;
      continue;
    }
    ++result.different;
    if (result.differences.size() < kDifferencesKept)
      result.differences.push_back(rank.kernel + " on " + rank.gpu + " " + rank.stack_version + ": " +
                                   rank.username + " is " + std::to_string(rank.rank) + " upstream and " +
                                   std::to_string(ours->second.rank) + " here (" + ours->second.external_id +
                                   ")");
  }
}

}  // namespace etl
