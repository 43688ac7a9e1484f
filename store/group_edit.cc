#include "store/group_edit.h"

#include <set>

#include "model/json_writer.h"
#include "store/keys.h"
#include "store/record.h"
#include "store/record_reader.h"

namespace etl {
namespace {

using json::ObjectWriter;
using StepKey = std::pair<Instant, Digest>;

constexpr std::size_t kBookStepsMax = 200'000;  // about 30 MiB

// The record steps that a commit takes away and adds, net.
struct BookChange {
  RecordBook added;
  RecordBook removed;

  void Add(RecordBook& book, const StepKey& key, RecordHolder holder) {
    book[key] = holder;
    removed.erase(key);
    added[key] = std::move(holder);
  }
  RecordBook::iterator Remove(RecordBook& book, RecordBook::iterator it) {
    if (added.erase(it->first) == 0) removed.insert(*it);
    return book.erase(it);
  }
};

// A new run takes the record at its time if it is below what held before; what came later and is not below it
// loses its step.
void InsertStep(RecordBook& book, BookChange& change, const StandingMember& member) {
  const Contender& c = member.contender;
  auto it = book.upper_bound({c.observed_at, c.digest});
  if (it != book.begin() && std::prev(it)->second.value <= c.value) return;
  while (it != book.end() && it->second.value >= c.value) it = change.Remove(book, it);
  change.Add(book, {c.observed_at, c.digest}, {c.value, member.source, member.external_id});
}

// After a holder left, someone who never held the record may do so: only the whole group can tell.
Status RecomputeBook(StandingTree& tree, RecordBook& book, BookChange& change) {
  std::vector<Contender> contenders;
  std::vector<StandingMember> members;
  ETL_CHECK_OK(tree.ForEach([&](const StandingTree::Placed& placed) {
    contenders.push_back(placed.member.contender);
    members.push_back(placed.member);
    return true;
  }));
  RecordBook fresh;
  for (const std::size_t i : RecordHistory(contenders))
    fresh[{contenders[i].observed_at, contenders[i].digest}] = {contenders[i].value, members[i].source,
                                                                members[i].external_id};
  for (auto it = book.begin(); it != book.end();)
    it = fresh.contains(it->first) ? std::next(it) : change.Remove(book, it);
  for (auto& [key, holder] : fresh)
    if (!book.contains(key)) change.Add(book, key, std::move(holder));
  return {};
}

std::string EncodeHolder(const RecordHolder& holder) {
  std::string out;
  ObjectWriter w(out);
  w.Text("source", holder.source).Text("externalId", holder.external_id).Number("value", holder.value).End();
  return out;
}

std::string RecordLine(const GroupChange& change, std::string_view op, const StepKey& key,
                       const RecordHolder& holder, const RecordBook& book) {
  std::string out;
  ObjectWriter w(out);
  w.Text("type", "record").Text("op", op).Text("group", change.key.Text()).Text("source", holder.source);
  w.Text("externalId", holder.external_id).Text("digest", key.second.Text()).Number("value", holder.value);
  w.Text("at", key.first.Text());
  const auto it = book.lower_bound(key);
  if (op == "set" && it != book.begin()) w.Text("previous", std::prev(it)->second.external_id);
  w.End();
  return out;
}

std::string StandingChange(const GroupChange& change, std::size_t joined, std::size_t left,
                           StandingTree& tree, const std::vector<StandingTree::Placed>& leader) {
  std::string out;
  ObjectWriter w(out);
  w.Text("type", "standing").Text("group", change.key.Text()).Count("joined", joined).Count("left", left);
  w.Count("members", tree.count());
  if (!leader.empty()) {
    const auto& m = leader.front().member;
    w.Text("leader", m.external_id)
        .Text("leaderDigest", m.contender.digest.Text())
        .Number("value", m.contender.value);
  }
  w.End();
  return out;
}

}  // namespace

Result<std::string> KvNodeSpace::GetNode(std::uint64_t node) {
  const std::string key = keys::Node(group_, node);
  ETL_TRY(auto bytes, kv_.Get(key));
  if (!bytes) return Fail(Unreadable(key, "a node that its parent names is missing"));
  return *std::move(bytes);
}
void KvNodeSpace::PutNode(std::uint64_t node, std::string bytes) {
  batch_->Put(keys::Node(group_, node), bytes);
}
void KvNodeSpace::DeleteNode(std::uint64_t node) {
  batch_->Delete(keys::Node(group_, node));
}

Result<StandingRoot> LoadRoot(const Kv& kv, std::uint32_t group) {
  const std::string key = keys::Group(keys::kStandingRoot, group);
  ETL_TRY(const auto bytes, kv.Get(key));
  if (!bytes) return StandingRoot{};
  return DecodeRoot(key, *bytes);
}

Result<RecordBook> LoadRecordBook(const Kv& kv, std::uint32_t group) {
  RecordBook book;
  const std::string prefix = keys::Group(keys::kRecordStep, group);
  auto it = kv.Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    const std::string_view key = it->key();
    if (key.size() != prefix.size() + 8 + 32) return Fail(Unreadable(key, "key"));
    const auto biased = keys::ReadBig64(key.substr(prefix.size(), 8));
    const Instant at{static_cast<std::int64_t>(biased ^ (std::uint64_t{1} << 63))};
    ETL_TRY(const auto document, ParseStored(key, it->value()));
    RecordReader r(key, document.root());
    RecordHolder holder{r.Number("value"), r.Text("source"), r.Text("externalId")};
    ETL_TRY(holder, r.Done(std::move(holder)));
    book[{at, Digest::FromBytes(key.substr(prefix.size() + 8))}] = std::move(holder);
  }
  ETL_CHECK_OK(it->status());
  return book;
}

Result<RecordBook*> RecordBooks::Of(const Kv& kv, std::uint32_t group) {
  if (const auto it = books_.find(group); it != books_.end()) return &it->second;
  std::size_t steps = 0;
  for (const auto& [number, book] : books_) steps += book.size() + 1;
  if (steps > kBookStepsMax) books_.clear();
  ETL_TRY(books_[group], LoadRecordBook(kv, group));
  return &books_[group];
}

Status EditGroup(const Kv& kv, Kv::Batch& batch, RecordBooks& books, const GroupChange& change,
                 std::uint64_t sequence, std::vector<Change>& lines) {
  ETL_TRY(const StandingRoot root, LoadRoot(kv, change.number));
  KvNodeSpace nodes(kv, &batch, change.number);
  StandingTree tree(nodes, root);
  ETL_TRY(RecordBook* const book, books.Of(kv, change.number));
  BookChange steps;
  bool holder_left = false;
  std::size_t left = 0;
  for (const Contender& c : change.leave) {
    ETL_TRY(const auto placed, tree.Find(c));
    if (!placed) continue;
    batch.Put(keys::Former(change.number, sequence, c.digest), EncodeMember(placed->member));
    ETL_TRY(const bool removed, tree.Remove(c));
    left += removed ? 1 : 0;
    holder_left = holder_left || book->contains({c.observed_at, c.digest});
  }
  for (const StandingMember& member : change.join) {
    ETL_CHECK_OK(tree.Insert(member));
    if (!holder_left) InsertStep(*book, steps, member);
  }
  if (holder_left) ETL_CHECK_OK(RecomputeBook(tree, *book, steps));
  ETL_TRY(const auto leader, tree.Page(0, 1));
  lines.push_back({0, "standing", StandingChange(change, change.join.size(), left, tree, leader)});
  for (const auto& [key, holder] : steps.removed) {
    batch.Delete(keys::Step(change.number, key.first, key.second));
    lines.push_back({0, "record", RecordLine(change, "removed", key, holder, *book)});
  }
  for (const auto& [key, holder] : steps.added) {
    batch.Put(keys::Step(change.number, key.first, key.second), EncodeHolder(holder));
    lines.push_back({0, "record", RecordLine(change, "set", key, holder, *book)});
  }
  ETL_TRY(const StandingRoot after, tree.Flush());
  batch.Put(keys::Group(keys::kStandingRoot, change.number), EncodeRoot(after));
  return {};
}

}  // namespace etl
