// Reading groups: standings, ranks and record histories, now and as of a sequence.
#include <algorithm>
#include <tuple>

#include "store/store_impl.h"

namespace etl {
namespace {

StandingLine LineOf(const StandingTree::Placed& placed) {
  const StandingMember& m = placed.member;
  return {placed.rank, m.contender, m.source, m.external_id, m.since};
}

}  // namespace

std::vector<RecordStep> RecordStepsOf(const std::vector<StandingLine>& members) {
  std::vector<Contender> contenders;
  contenders.reserve(members.size());
  for (const StandingLine& m : members) contenders.push_back(m.contender);
  std::vector<RecordStep> steps;
  for (const std::size_t i : RecordHistory(contenders)) {
    std::optional<std::string> previous;
    if (!steps.empty()) previous = steps.back().external_id;
    steps.push_back({contenders[i].observed_at, contenders[i].digest, contenders[i].value, members[i].source,
                     members[i].external_id, std::move(previous)});
  }
  return steps;
}

Result<GroupInfo> StoreImpl::GetGroup(const Digest& key) const {
  const std::string group_key = keys::ByDigest(keys::kGroup, key);
  ETL_TRY(const auto stored, kv_->Get(group_key));
  if (!stored)
    return Fail(Errc::kNotFound, "GROUP_MISSING", key.Text(), "no comparison group has this key",
                "check the key");
  ETL_TRY(GroupInfo group, DecodeGroup(group_key, *stored));
  ETL_TRY(const StandingRoot root, LoadRoot(*kv_, group.number));
  group.members = root.count;
  group.distinct = root.distinct;
  return group;
}

Result<GroupInfo> StoreImpl::GetGroup(std::uint32_t number) const {
  const std::string key = keys::Group(keys::kGroupNumber, number);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored || stored->size() != 32) return Fail(Unreadable(key, "a group that a run names is missing"));
  return GetGroup(Digest::FromBytes(*stored));
}

Status StoreImpl::ForEachGroup(const std::function<bool(const GroupInfo&)>& visit) const {
  auto it = kv_->Scan(std::string(1, keys::kGroup), PrefixEnd(std::string(1, keys::kGroup)));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(GroupInfo group, DecodeGroup(it->key(), it->value()));
    ETL_TRY(const StandingRoot root, LoadRoot(*kv_, group.number));
    group.members = root.count;
    group.distinct = root.distinct;
    if (!visit(group)) return {};
  }
  return it->status();
}

Result<std::vector<StandingLine>> StoreImpl::StandingAt(std::uint32_t group, AsOf as_of) const {
  std::vector<StandingLine> out;
  KvNodeSpace nodes(*kv_, nullptr, group);
  ETL_TRY(const StandingRoot root, LoadRoot(*kv_, group));
  StandingTree tree(nodes, root);
  ETL_CHECK_OK(tree.ForEach([&](const StandingTree::Placed& placed) {
    if (placed.member.since <= as_of.sequence) out.push_back(LineOf(placed));
    return true;
  }));
  if (as_of.now()) return out;
  // Those who stood here then and have left since.
  const std::string prefix = keys::Group(keys::kFormerMember, group);
  auto it = kv_->Scan(prefix + keys::Big64(as_of.sequence + 1), PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    const Digest digest = Digest::FromBytes(it->key().substr(prefix.size() + 8));
    ETL_TRY(const StandingMember member, DecodeMember(it->key(), it->value(), digest));
    if (member.since <= as_of.sequence)
      out.push_back({0, member.contender, member.source, member.external_id, member.since});
  }
  ETL_CHECK_OK(it->status());
  std::vector<Contender> contenders;
  for (const StandingLine& line : out) contenders.push_back(line.contender);
  std::vector<StandingLine> ranked;
  for (const Ranked& r : Rank(contenders)) {
    ranked.push_back(out[r.index]);
    ranked.back().rank = r.rank;
  }
  return ranked;
}

Result<std::vector<StandingLine>> StoreImpl::GetStanding(const GroupInfo& group, std::uint64_t offset,
                                                         std::uint64_t limit, AsOf as_of) const {
  if (!as_of.now()) {
    ETL_TRY(auto all, StandingAt(group.number, as_of));
    if (offset >= all.size()) return std::vector<StandingLine>();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto count = std::min<std::uint64_t>(limit, all.size() - offset);
    return std::vector<StandingLine>(first, first + static_cast<std::ptrdiff_t>(count));
  }
  KvNodeSpace nodes(*kv_, nullptr, group.number);
  ETL_TRY(const StandingRoot root, LoadRoot(*kv_, group.number));
  StandingTree tree(nodes, root);
  ETL_TRY(const auto page, tree.Page(offset, limit));
  std::vector<StandingLine> out;
  out.reserve(page.size());
  for (const auto& placed : page) out.push_back(LineOf(placed));
  return out;
}

Result<std::optional<StandingLine>> StoreImpl::RankOf(const Version& run, AsOf as_of) const {
  if (!run.ranked) return std::optional<StandingLine>();
  if (!as_of.now()) {
    ETL_TRY(const auto all, StandingAt(run.ranked->group, as_of));
    for (const StandingLine& line : all)
      if (line.contender.digest == run.ranked->contender.digest) return std::optional<StandingLine>(line);
    return std::optional<StandingLine>();
  }
  KvNodeSpace nodes(*kv_, nullptr, run.ranked->group);
  ETL_TRY(const StandingRoot root, LoadRoot(*kv_, run.ranked->group));
  StandingTree tree(nodes, root);
  ETL_TRY(const auto placed, tree.Find(run.ranked->contender));
  if (!placed) return std::optional<StandingLine>();
  return std::optional<StandingLine>(LineOf(*placed));
}

Result<std::vector<RecordStep>> StoreImpl::GetRecords(const GroupInfo& group, AsOf as_of) const {
  if (!as_of.now()) {
    ETL_TRY(const auto all, StandingAt(group.number, as_of));
    return RecordStepsOf(all);
  }
  ETL_TRY(const RecordBook book, LoadRecordBook(*kv_, group.number));
  std::vector<RecordStep> steps;
  for (const auto& [key, holder] : book) {
    std::optional<std::string> previous;
    if (!steps.empty()) previous = steps.back().external_id;
    steps.push_back(
        {key.first, key.second, holder.value, holder.source, holder.external_id, std::move(previous)});
  }
  return steps;
}

// An object may belong to several entries with different editorial parts. The choice must not depend on who
// came first: the lowest name among the entries whose newest state has the object, else among those that ever
// had it.
Result<std::string> StoreImpl::MetadataOf(const ObjectRecord& object, const Digest& digest,
                                          std::vector<EntryName> entries, AsOf as_of) const {
  std::sort(entries.begin(), entries.end());
  std::optional<std::string> once;
  for (const EntryName& name : entries) {
    const std::string key = keys::Entry(name);
    ETL_TRY(const auto stored, kv_->Get(key));
    if (!stored) continue;
    ETL_TRY(const Bundle bundle, DecodeBundle(key, *stored));
    const auto state = bundle.find(object.kind);
    if (state == bundle.end()) continue;
    ETL_TRY(const auto newest, NewestAt(name, object.kind, state->second, as_of));
    if (newest && newest->digest == digest) return newest->metadata;
    if (once) continue;
    ETL_TRY(const auto versions, VersionsOf(name, object.kind, state->second));
    const Version* best = nullptr;
    for (const Version& v : versions) {
      if (v.digest != digest || v.sequence > as_of.sequence) continue;
      if (best == nullptr || std::tie(v.major, v.seen_at, v.context_at, v.metadata) >
                                 std::tie(best->major, best->seen_at, best->context_at, best->metadata))
        best = &v;
    }
    if (best != nullptr) once = best->metadata;
  }
  if (once) return *once;
  return Fail(Unreadable(keys::ByDigest(keys::kObject, digest), "no entry that it names has this object"));
}

}  // namespace etl
