#include "store/standing.h"

#include <cstring>
#include <unordered_set>
#include <utility>

#include "store/standing_impl.h"

namespace etl {
namespace {

using standing_node::Damage;
using standing_node::Node;
using standing_node::RankCursor;
using standing_node::Record;
using standing_node::SortKey;
using standing_node::Summary;

StandingTree::Placed Place(const Record& record, std::uint64_t rank, std::uint64_t position) {
  return {standing_node::DecodeMember(record), static_cast<std::uint32_t>(rank), position};
}

}  // namespace

Result<Node*> StandingTree::Impl::Load(std::uint64_t id, std::uint32_t level) {
  const auto [it, added] = nodes.try_emplace(id);
  Node& node = it->second;
  if (!added) {
    if (node.dead || node.level != level) return Fail(Damage(id, "the node is named twice"));
    return &node;
  }
  node.id = id;
  auto bytes = space.GetNode(id);
  Status status;
  if (bytes) {
    node.raw = *std::move(bytes);
    node.stored = true;
    status = standing_node::DecodeNode(node, level);
  } else if (bytes.error().errc == Errc::kNotFound) {
    status = Fail(Damage(id, "the node is missing"));
  } else {
    status = Fail(std::move(bytes).error());
  }
  if (status) return &node;
  nodes.erase(it);
  return Fail(std::move(status).error());
}

// Every step down compares what the parent says with what is there. As children's ranges do not overlap, this
// also means that no node can be used through two parents, however damaged the bytes are.
Result<Node*> StandingTree::Impl::LoadChild(const Node& parent, std::size_t index) {
  const standing_node::Child& child = parent.children[index];
  if (child.id >= root.next_node) return Fail(Damage(child.id, "the node's number was never handed out"));
  ETL_TRY(Node * node, Load(child.id, parent.level - 1));
  if (node->summary != child.summary) return Fail(Damage(child.id, "the node is not what its parent says"));
  return node;
}

Result<Node*> StandingTree::Impl::LoadRoot() {
  if (root.next_node == 0) return Fail(Damage(0, "the group's record hands out node number 0"));
  if (root.root == 0) {
    if (root.height != 0 || root.count != 0 || root.distinct != 0)
      return Fail(Damage(0, "the standing has members but no root"));
    return nullptr;
  }
  if (root.height == 0 || root.height > standing_node::kHeightMax || root.root >= root.next_node)
    return Fail(Damage(root.root, "the root's height or number is out of range"));
  ETL_TRY(Node * node, Load(root.root, root.height));
  if (node->summary.count != root.count || node->summary.distinct != root.distinct)
    return Fail(Damage(root.root, "the root does not have the members that the group's record says"));
  return node;
}

Result<bool> StandingTree::Impl::Walk(Node& node, std::uint64_t& skip, RankCursor& cursor,
                                      const Visit& visit) {
  for (const Record& record : node.records) {
    cursor.Step(record.value);
    if (skip > 0)
      --skip;
    else if (!visit(record, cursor.rank, cursor.position - 1))
      return false;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Summary& below = node.children[i].summary;
    if (skip >= below.count) {
      skip -= below.count;
      cursor.Skip(below);
      continue;
    }
    ETL_TRY(Node * child, LoadChild(node, i));
    ETL_TRY(const bool more, Walk(*child, skip, cursor, visit));
    if (!more) return false;
  }
  return true;
}

Status StandingTree::Impl::WalkFrom(std::uint64_t offset, const Visit& visit) {
  ETL_TRY(Node * top, LoadRoot());
  if (top == nullptr || offset >= root.count) return {};
  RankCursor cursor;
  ETL_TRY([[maybe_unused]] const bool more, Walk(*top, offset, cursor, visit));
  return {};
}

Result<const StandingTree::Impl::Chains*> StandingTree::Impl::LoadChains() {
  if (chains) return &*chains;
  Chains made;
  std::vector<Contender> contenders;
  ETL_CHECK_OK(WalkFrom(0, [&](const Record& record, std::uint64_t, std::uint64_t) {
    made.records.push_back(record);
    contenders.push_back(standing_node::DecodeContender(record));
    return true;
  }));
  made.ranked = Rank(contenders);
  made.place_of.resize(made.ranked.size());
  for (std::size_t i = 0; i < made.ranked.size(); ++i) made.place_of[made.ranked[i].index] = i;
  chains = std::move(made);
  return &*chains;
}

// As ranked: the tree's order, except with intervals.
Status StandingTree::Impl::Each(std::uint64_t offset, const Visit& visit) {
  ETL_TRY(Node * top, LoadRoot());
  if (top == nullptr || !top->summary.intervals) return WalkFrom(offset, visit);
  ETL_TRY(const Chains* all, LoadChains());
  for (std::uint64_t i = offset; i < all->ranked.size(); ++i)
    if (!visit(all->records[all->ranked[i].index], all->ranked[i].rank, i)) break;
  return {};
}

Status StandingTree::Impl::CheckBelow(Node& node, std::unordered_set<std::uint64_t>& seen) {
  if (!seen.insert(node.id).second) return Fail(Damage(node.id, "the node is reached twice"));
  if (node.size() == 0) return Fail(Damage(node.id, "the node is empty"));
  ETL_CHECK_OK(standing_node::CheckOrder(node));
  const Summary kept = node.summary;
  standing_node::Summarize(node);
  if (node.summary != kept) return Fail(Damage(node.id, "the node's counts are not those of its items"));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    ETL_TRY(Node * child, LoadChild(node, i));
    ETL_CHECK_OK(CheckBelow(*child, seen));
  }
  return {};
}

StandingTree::StandingTree(NodeSpace& space, StandingRoot root)
    : impl_(std::make_unique<Impl>(space, root)) {}
StandingTree::~StandingTree() = default;

std::uint64_t StandingTree::count() const {
  return impl_->root.count;
}
std::uint64_t StandingTree::distinct() const {
  return impl_->root.distinct;
}

Result<bool> StandingTree::has_intervals() {
  ETL_TRY(const Node* top, impl_->LoadRoot());
  return top != nullptr && top->summary.intervals;
}

Result<std::optional<StandingTree::Placed>> StandingTree::Find(const Contender& contender) {
  using Found = std::optional<Placed>;
  const SortKey key = standing_node::KeyOf(contender);
  ETL_TRY(const Node* node, impl_->LoadRoot());
  if (node == nullptr) return Found();
  const bool intervals = node->summary.intervals;
  RankCursor cursor;
  while (!node->leaf()) {
    const std::size_t index = standing_node::FindChild(*node, key);
    if (index == node->children.size()) return Found();
    for (std::size_t i = 0; i < index; ++i) cursor.Skip(node->children[i].summary);
    ETL_TRY(node, impl_->LoadChild(*node, index));
  }
  const std::size_t index = standing_node::FindRecord(*node, key);
  if (!standing_node::HasRecord(*node, index, key)) return Found();
  for (std::size_t i = 0; i <= index; ++i) cursor.Step(node->records[i].value);
  if (!intervals) return Found(Place(node->records[index], cursor.rank, cursor.position - 1));
  ETL_TRY(const Impl::Chains* all, impl_->LoadChains());
  const std::size_t place = all->place_of[cursor.position - 1];
  return Found(Place(node->records[index], all->ranked[place].rank, place));
}

Result<std::vector<StandingTree::Placed>> StandingTree::Page(std::uint64_t offset, std::uint64_t limit) {
  std::vector<Placed> page;
  if (limit == 0) return page;
  ETL_CHECK_OK(impl_->Each(offset, [&](const Record& record, std::uint64_t rank, std::uint64_t position) {
    page.push_back(Place(record, rank, position));
    return page.size() < limit;
  }));
  return page;
}

Status StandingTree::ForEach(const std::function<bool(const Placed&)>& visit) {
  return impl_->Each(0, [&](const Record& record, std::uint64_t rank, std::uint64_t position) {
    return visit(Place(record, rank, position));
  });
}

Status StandingTree::Check() {
  ETL_TRY(Node * top, impl_->LoadRoot());
  if (top == nullptr) return {};
  if (!top->leaf() && top->children.size() == 1) return Fail(Damage(top->id, "the root has a single child"));
  std::unordered_set<std::uint64_t> seen;
  return impl_->CheckBelow(*top, seen);
}

}  // namespace etl
