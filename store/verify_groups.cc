// Verify: groups, who stands in them, who did, and their record histories.
#include <algorithm>
#include <set>

#include "store/verifier.h"

namespace etl {
namespace {

bool SameContender(const Contender& a, const Contender& b) {
  return a.digest == b.digest && a.value == b.value && a.evidence == b.evidence &&
         a.observed_at == b.observed_at && a.low == b.low && a.high == b.high;
}

// Counts the nodes that a tree reaches: each is read once.
class CountingSpace final : public NodeSpace {
 public:
  CountingSpace(const Kv& kv, std::uint32_t group) : nodes_(kv, nullptr, group) {}
  Result<std::string> GetNode(std::uint64_t node) override {
    ++read;
    return nodes_.GetNode(node);
  }
  void PutNode(std::uint64_t, std::string) override {}
  void DeleteNode(std::uint64_t) override {}
  std::uint64_t read = 0;

 private:
  KvNodeSpace nodes_;
};

std::uint32_t GroupOf(std::string_view key) {
  constexpr std::size_t kNumberEnd = 5;
  return key.size() < kNumberEnd ? 0 : keys::ReadBig32(key.substr(1));
}

}  // namespace

Status Verifier::CheckGroups() {
  ETL_CHECK_OK(Each(keys::kGroup, [&](std::string_view key, std::string_view value) {
    ++report_.groups;
    const auto group = DecodeGroup(key, value);
    if (!Keep(group)) return;
    CheckSpelling(key, value, EncodeGroup(*group));
    const Digest computed = ComparisonKey({group->operation, group->workload, group->protocol,
                                           group->environment, group->correctness, group->metric_key});
    if (computed != group->key) Fault("STANDING", group->key.Text(), "its parts have another key");
    if (!groups_.emplace(group->number, *group).second)
      Fault("STANDING", group->key.Text(), "another group has its number");
  }));
  std::set<std::uint32_t> numbered;
  ETL_CHECK_OK(Each(keys::kGroupNumber, [&](std::string_view key, std::string_view value) {
    const auto group = groups_.find(GroupOf(key));
    if (group == groups_.end() || key != keys::Group(keys::kGroupNumber, group->first) ||
        value != group->second.key.View())
      return KeyFault("INDEX", key, "it leads to a group that does not have this number");
    numbered.insert(group->first);
  }));
  for (const auto& [number, group] : groups_)
    if (!numbered.contains(number))
      KeyFault("INDEX", keys::Group(keys::kGroupNumber, number),
               "it does not lead to the group " + group.key.Text());
  return {};
}

Status Verifier::CheckStandings() {
  PlayMoves();
  std::map<std::uint32_t, std::uint64_t> nodes;
  for (const auto prefix : {keys::kStandingRoot, keys::kStandingNode, keys::kRecordStep, keys::kFormerMember})
    ETL_CHECK_OK(Each(prefix, [&](std::string_view key, std::string_view value) {
      if (!groups_.contains(GroupOf(key)))
        return KeyFault("STANDING", key, "it belongs to a group that is not there");
      if (prefix == keys::kStandingNode) ++nodes[GroupOf(key)];
      if (prefix == keys::kStandingRoot)
        if (const auto root = DecodeRoot(key, value); Keep(root))
          CheckSpelling(key, value, EncodeRoot(*root));
    }));
  for (const auto& [number, group] : groups_) CheckStanding(group, nodes[number]);
  for (const auto& [number, members] : members_)
    if (!groups_.contains(number))
      Fault("STANDING", "group " + std::to_string(number), "runs stand in a group that is missing");
  return {};
}

// Who joined and left which group when, from the versions of all entries; then the standings and the lists of
// former members that must have come of it.
void Verifier::PlayMoves() {
  std::sort(holders_.begin(), holders_.end());
  std::sort(moves_.begin(), moves_.end());
  for (std::size_t begin = 0; begin < moves_.size();) {
    std::size_t end = begin;
    while (end < moves_.size() && moves_[end].group == moves_[begin].group &&
           moves_[end].object == moves_[begin].object)
      ++end;
    PlayRun(begin, end);
    begin = end;
  }
  moves_.clear();
  moves_.shrink_to_fit();
}

// The moves of one run in one group. It may be several entries' at once; it stands once, under the name of
// the last that joined, and leaves with the last that holds it.
void Verifier::PlayRun(std::size_t begin, std::size_t end) {
  const std::uint32_t group = moves_[begin].group, object = moves_[begin].object;
  const Digest& digest = objects_[object].digest;
  StandingMember member;
  member.contender = runs_.at(digest).contender;
  std::set<std::uint32_t> holding;
  bool stands = false;
  for (std::size_t at = begin; at < end;) {
    const std::uint64_t sequence = moves_[at].sequence;
    bool left = false;
    std::optional<std::uint32_t> joined;
    for (; at < end && moves_[at].sequence == sequence; ++at) {
      if (moves_[at].joins) {
        holding.insert(moves_[at].entry);
        joined = moves_[at].entry;
      } else {
        holding.erase(moves_[at].entry);
        left = true;
      }
    }
    const bool held = std::any_of(holding.begin(), holding.end(),
                                  [&](std::uint32_t entry) { return HeldBefore(object, entry, sequence); });
    if (left && stands && !held) {
      former_[keys::Former(group, sequence, digest)] = EncodeMember(member);
      stands = false;
    }
    if (joined) {
      const EntryName name = NameOf(*joined);
      member.source = name.source;
      member.external_id = name.external_id;
      member.since = sequence;
      stands = true;
    }
  }
  if (stands) members_[group].push_back(std::move(member));
}

// Whether an entry had the object before a commit: only then does the commit know that it holds it too.
bool Verifier::HeldBefore(std::uint32_t object, std::uint32_t entry, std::uint64_t sequence) const {
  const auto it = std::lower_bound(holders_.begin(), holders_.end(), Holder{object, entry, 0});
  return it != holders_.end() && it->object == object && it->entry == entry && it->since < sequence;
}

// Whether an entry of this name has or had the object.
bool Verifier::Holds(const Digest& digest, std::string_view source, std::string_view external_id) const {
  const std::uint32_t object = object_index_.at(digest);
  auto it = std::lower_bound(holders_.begin(), holders_.end(), Holder{object, 0, 0});
  for (; it != holders_.end() && it->object == object; ++it) {
    const EntryName name = NameOf(it->entry);
    if (name.source == source && name.external_id == external_id) return true;
  }
  return false;
}

void Verifier::CheckStanding(const GroupInfo& group, std::uint64_t nodes) {
  const std::string where = group.key.Text();
  const auto root = LoadRoot(kv_, group.number);
  if (!root) return;  // told by its key
  CountingSpace space(kv_, group.number);
  StandingTree tree(space, *root);
  if (const auto checked = tree.Check(); !checked) return Fault(checked.error());
  if (space.read != nodes)
    Fault("STANDING", where,
          std::to_string(nodes) + " nodes are stored, " + std::to_string(space.read) + " are reached");
  const std::vector<StandingMember>& members = members_[group.number];
  std::vector<Contender> contenders;
  contenders.reserve(members.size());
  for (const StandingMember& m : members) contenders.push_back(m.contender);
  const auto ranked = Rank(contenders);
  std::size_t i = 0;
  std::optional<Digest> wrong;
  const auto walked = tree.ForEach([&](const StandingTree::Placed& placed) {
    const StandingMember& stored = placed.member;
    const StandingMember* expected = i < ranked.size() ? &members[ranked[i].index] : nullptr;
    const bool same = expected != nullptr && placed.rank == ranked[i].rank &&
                      SameContender(stored.contender, expected->contender) &&
                      stored.source == expected->source && stored.external_id == expected->external_id &&
                      stored.since == expected->since;
    if (!same) wrong = stored.contender.digest;
    ++i;
    return same;
  });
  if (!walked) return Fault(walked.error());
  if (wrong || i != ranked.size())
    return Fault("STANDING", where,
                 "the stored standing is not the one of its runs, from " +
                     (wrong ? wrong->Text() : "place " + std::to_string(i + 1)) + " on");
  CheckRecords(group, contenders);
}

void Verifier::CheckRecords(const GroupInfo& group, const std::vector<Contender>& contenders) {
  const auto book = LoadRecordBook(kv_, group.number);
  if (!book) return Fault(book.error());
  const auto fresh = RecordHistory(contenders);
  bool equal = fresh.size() == book->size();
  std::size_t i = 0;
  for (const auto& [at, holder] : *book) {
    if (!equal) break;
    const Contender& c = contenders[fresh[i++]];
    equal = at.first == c.observed_at && at.second == c.digest && holder.value == c.value;
    if (equal && !Holds(c.digest, holder.source, holder.external_id))
      KeyFault("RECORDS", keys::Step(group.number, at.first, at.second),
               "the run is not that of " + holder.source + ":" + holder.external_id);
  }
  if (!equal) Fault("RECORDS", group.key.Text(), "the stored record history is not the one of its runs");
}

Status Verifier::CheckFormer() {
  ETL_CHECK_OK(Each(keys::kFormerMember, [&](std::string_view key, std::string_view value) {
    const auto it = former_.find(std::string(key));
    if (it == former_.end()) return KeyFault("STANDING", key, "no run left the group then");
    if (it->second != value) KeyFault("STANDING", key, "the run that left is not as its versions say");
    former_.erase(it);
  }));
  for (const auto& [key, value] : former_)
    KeyFault("STANDING", key, "missing or unreadable, though its run left the group");
  return {};
}

}  // namespace etl
