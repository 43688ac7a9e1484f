#include "daemon/rank_comparison.h"

#include <cmath>

#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

using json::ObjectWriter;

constexpr std::size_t kDifferencesKept = 100;
constexpr std::uint64_t kStandingRead = 100'000;

double Nanoseconds(double ms) {
  return std::floor(ms * 1e6 + 0.5);
}

// Why a user stands elsewhere here, as far as the two rows tell.
std::string_view WhyDifferent(double upstream_ms, double our_ns) {
  const double upstream_ns = Nanoseconds(upstream_ms);
  if (our_ns == upstream_ns)
    return "the same run; others stand above it here or there: only passing runs are ranked here, and ties "
           "share a rank";
  return our_ns < upstream_ns ? "a faster run of this user stands here"
                              : "the run that upstream ranks is not known here, or does not pass";
}

std::map<std::string, json::Value> ByUser(const json::Document& document) {
  std::map<std::string, json::Value> users;
  for (const json::Value item : document.root().Find("ranks").elements())
    users.emplace(item.Find("username").AsString(), item);
  return users;
}

bool SamePlaces(json::Value a, json::Value b) {
  return a.Find("upstream").AsInt64() == b.Find("upstream").AsInt64() &&
         a.Find("ours").AsInt64() == b.Find("ours").AsInt64() &&
         a.Find("why").AsString() == b.Find("why").AsString();
}

}  // namespace

// What the metadata of a run says: "<username> · <kernel> · <gpu>" names its user in the first author of its
// implementation, so the user is read from there.
std::string RankBook::UserOf(const StandingLine& line) const {
  const auto entry = store_.GetEntry({line.source, line.external_id, ""});
  if (!entry) return "";
  const auto it = entry->find(Kind::kImplementationRevision);
  if (it == entry->end()) return "";
  const auto metadata = json::Document::Parse(it->second.metadata);
  if (!metadata) return "";
  for (const json::Value author : metadata->root().Find("authors").elements())
    return std::string(author.Find("name").AsString());
  return "";
}

RankBook::BestByUser RankBook::BestOf(const GroupInfo& group) const {
  BestByUser best;
  const auto standing = store_.GetStanding(group, 0, kStandingRead);
  if (!standing) return best;
  std::int64_t rank = 0;
  double last = 0;
  for (const StandingLine& line : *standing) {
    std::string user = UserOf(line);
    if (best.contains(user)) continue;
    if (rank == 0 || line.contender.value != last) ++rank;
    last = line.contender.value;
    best.emplace(std::move(user), Best{rank, last, line.external_id});
  }
  return best;
}

// By what a leaderboard is about: the newest definition of the kernel, and the environment's own entry.
void RankBook::FindGroups() {
  if (std::exchange(found_, true)) return;
  // A store that cannot be read leaves the ranks unmatched; the visit itself tells its errors.
  (void)store_.ForEachGroup([&](const GroupInfo& g) {
    if (g.members > 0) groups_[{g.operation, g.environment}] = g.key;
    return true;
  });
}

const RankBook::BestByUser& RankBook::GroupOf(const UpstreamRank& rank) {
  FindGroups();
  auto [board, fresh] = boards_.try_emplace({rank.kernel, rank.gpu, rank.stack_version});
  if (!fresh) return board->second;
  const auto kernel = store_.GetEntry({source_, rank.kernel, ""});
  const auto environment =
      store_.GetEntry({source_, "environment/" + rank.gpu + "/" + rank.stack_version, ""});
  if (kernel && environment && kernel->contains(Kind::kOperationSpec) &&
      environment->contains(Kind::kExecutionEnvironment)) {
    const auto group = groups_.find({kernel->at(Kind::kOperationSpec).digest.value_or(Digest{}),
                                     environment->at(Kind::kExecutionEnvironment).digest.value_or(Digest{})});
    if (group != groups_.end())
      if (const auto info = store_.GetGroup(group->second)) board->second = BestOf(*info);
  }
  return board->second;
}

std::string RankBook::Compare(const std::vector<UpstreamRank>& board, RankComparison& result) {
  std::map<std::string, std::string> lines;  // by user
  for (const UpstreamRank& rank : board) {
    ++result.compared;
    const BestByUser& group = GroupOf(rank);
    const auto ours = group.find(rank.username);
    std::string line;
    ObjectWriter w(line);
    w.Text("username", rank.username).Integer("upstream", rank.rank).Number("latencyMs", rank.latency_ms);
    w.Text("submittedAt", rank.submitted_at);
    if (ours == group.end()) {
      ++result.unmatched;
      w.Text("why", "no run of this user stands here");
    } else {
      w.Integer("ours", ours->second.rank).Text("externalId", ours->second.external_id);
      if (ours->second.rank == rank.rank) {
        ++result.equal;
      } else {
        ++result.different;
        w.Text("why", WhyDifferent(rank.latency_ms, ours->second.value));
        if (result.differences.size() < kDifferencesKept)
          result.differences.push_back(rank.kernel + " on " + rank.gpu + " " + rank.stack_version + ": " +
                                       rank.username + " is " + std::to_string(rank.rank) + " upstream and " +
                                       std::to_string(ours->second.rank) + " here (" +
                                       ours->second.external_id + ")");
      }
    }
    w.End();
    lines.emplace(rank.username + '\0' + rank.gpu, std::move(line));
  }
  std::string text = "{\"ranks\":[";
  for (const auto& [user, line] : lines) {
    if (text.back() != '[') text += ',';
    text += line;
  }
  return text + "]}";
}

bool RankBook::Holds(const UpstreamRank& rank) {
  const BestByUser& group = GroupOf(rank);
  const auto ours = group.find(rank.username);
  return ours != group.end() && ours->second.value == Nanoseconds(rank.latency_ms);
}

std::vector<EventDraft> RankEvents(const std::string& request, const std::optional<std::string>& before,
                                   const std::string& after) {
  std::vector<EventDraft> events;
  const auto old_document = json::Document::Parse(before.value_or("{}"));
  const auto new_document = json::Document::Parse(after);
  if (!old_document || !new_document) return events;
  const auto known = ByUser(*old_document);
  for (const auto& [user, place] : ByUser(*new_document)) {
    const auto was = known.find(user);
    const bool differs = place.Find("why").IsString();
    const bool differed = was != known.end() && was->second.Find("why").IsString();
    if (differs ? differed && SamePlaces(was->second, place) : !differed) continue;
    std::string line;
    ObjectWriter w(line);
    w.Text("type", "rank").Text("what", differs ? "differs" : "agrees").Text("request", request);
    w.Text("username", user).Integer("upstream", place.Find("upstream").AsInt64().value_or(0));
    if (const auto ours = place.Find("ours").AsInt64())
      w.Integer("ours", *ours).Text("externalId", place.Find("externalId").AsString());
    if (differs) w.Text("why", place.Find("why").AsString());
    w.End();
    events.push_back({"rank", std::move(line)});
  }
  return events;
}

}  // namespace etl
