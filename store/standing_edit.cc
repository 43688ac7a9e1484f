#include <algorithm>
#include <cstring>
#include <utility>

#include "store/standing_impl.h"

namespace etl {
namespace {

using standing_node::Child;
using standing_node::Damage;
using standing_node::EncodedBytes;
using standing_node::Node;
using standing_node::Path;
using standing_node::Record;
using standing_node::SortKey;
using standing_node::Summarize;

std::size_t ItemsMax(const Node& node) {
  return node.leaf() ? standing_node::kLeafMembersMax : standing_node::kInnerChildrenMax;
}

bool Overfull(const Node& node) {
  return node.size() > 1 &&
         (node.size() > ItemsMax(node) || EncodedBytes(node) > standing_node::kNodeBytesMax);
}

bool Underfull(const Node& node) {
  return node.size() < ItemsMax(node) / 4 && EncodedBytes(node) < standing_node::kNodeBytesMax / 4;
}

// Leaves room, so that the next insertion does not split again what a removal has merged.
bool FitsMerged(const Node& node) {
  return node.size() <= ItemsMax(node) / 4 * 3 && EncodedBytes(node) <= standing_node::kNodeBytesMax / 4 * 3;
}

// Where to cut a node so that the left part has `quarters` quarters of its bytes; both parts get an item.
std::size_t CutAt(const Node& node, std::size_t quarters) {
  if (!node.leaf()) return node.children.size() * quarters / 4;
  const std::size_t target = EncodedBytes(node) * quarters / 4;
  std::size_t at = 0, bytes = 0;
  while (at < node.records.size() && bytes < target) bytes += node.records[at++].size;
  return std::clamp<std::size_t>(at, 1, node.records.size() - 1);
}

template <class Item>
void MoveTail(std::vector<Item>& from, std::size_t at, std::vector<Item>& to) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(at);
  to.insert(to.end(), begin, from.end());
  from.erase(begin, from.end());
}

void MoveItems(Node& from, std::size_t at, Node& to) {
  if (from.leaf())
    MoveTail(from.records, at, to.records);
  else
    MoveTail(from.children, at, to.children);
}

template <class Item>
void InsertAt(std::vector<Item>& items, std::size_t at, Item item) {
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), std::move(item));
}

template <class Item>
void EraseAt(std::vector<Item>& items, std::size_t at) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

Node& StandingTree::Impl::NewNode(std::uint32_t level) {
  Node& node = nodes[root.next_node];
  node.id = root.next_node++;
  node.level = level;
  node.dirty = true;
  return node;
}

void StandingTree::Impl::Kill(Node& node) {
  node.dead = true;
  node.dirty = true;
  node.records.clear();
  node.children.clear();
}

// The leaf that has the key or would take it, and the key's place there. The tree must have a root.
Result<Path> StandingTree::Impl::Descend(const SortKey& key) {
  ETL_TRY(Node * node, LoadRoot());
  Path path;
  while (!node->leaf()) {
    const std::size_t index = std::min(FindChild(*node, key), node->children.size() - 1);
    path.steps[path.size++] = {node, index};
    ETL_TRY(node, LoadChild(*node, index));
  }
  path.steps[path.size++] = {node, FindRecord(*node, key)};
  return path;
}

// Brings an edited leaf's path in order, from below: parents' summaries, nodes too full, too small or empty,
// then the root.
Status StandingTree::Impl::Settle(Path& path, bool shrunk) {
  chains.reset();
  for (std::size_t depth = path.size; depth-- > 0;) {
    Node& node = *path.steps[depth].node;
    node.dirty = true;
    if (node.size() == 0) {
      Kill(node);
      if (depth > 0) EraseAt(path.steps[depth - 1].node->children, path.steps[depth - 1].index);
      continue;
    }
    if (Overfull(node)) {
      ETL_CHECK_OK(Split(path, depth));
      continue;
    }
    Summarize(node);
    if (depth == 0) continue;
    auto& [parent, index] = path.steps[depth - 1];
    parent->children[index].summary = node.summary;
    if (shrunk && Underfull(node) && parent->children.size() > 1) ETL_CHECK_OK(Rebalance(*parent, index));
  }
  return LowerRoot();
}

// Ascending and descending insertion cut unevenly, as the large part will not grow again.
Status StandingTree::Impl::Split(Path& path, std::size_t depth) {
  const auto [node, index] = path.steps[depth];
  const std::size_t added = node->leaf() ? index : index + 1;
  const std::size_t quarters = added + 1 == node->size() ? 3 : index == 0 ? 1 : 2;
  Node& right = NewNode(node->level);
  MoveItems(*node, CutAt(*node, quarters), right);
  Summarize(*node);
  Summarize(right);
  if (depth > 0) {
    auto& [parent, at] = path.steps[depth - 1];
    parent->children[at].summary = node->summary;
    InsertAt(parent->children, at + 1, Child{right.id, right.summary});
    return {};
  }
  if (root.height >= standing_node::kHeightMax) return Fail(Damage(node->id, "the tree is too high"));
  Node& top = NewNode(node->level + 1);
  top.children = {Child{node->id, node->summary}, Child{right.id, right.summary}};
  Summarize(top);
  root.root = top.id;
  ++root.height;
  return {};
}

// Joins a node that became small with a neighbour, or evens the two out.
Status StandingTree::Impl::Rebalance(Node& parent, std::size_t index) {
  const std::size_t at = index + 1 < parent.children.size() ? index : index - 1;
  ETL_TRY(Node * left, LoadChild(parent, at));
  ETL_TRY(Node * right, LoadChild(parent, at + 1));
  left->dirty = right->dirty = true;
  MoveItems(*right, 0, *left);
  if (FitsMerged(*left)) {
    Kill(*right);
    EraseAt(parent.children, at + 1);
  } else {
    MoveItems(*left, CutAt(*left, 2), *right);
    Summarize(*right);
    parent.children[at + 1].summary = right->summary;
  }
  Summarize(*left);
  parent.children[at].summary = left->summary;
  return {};
}

// A root without items goes, and so does one with a single child.
Status StandingTree::Impl::LowerRoot() {
  Node* top = &nodes.at(root.root);
  if (top->dead) {
    root = StandingRoot{.next_node = root.next_node};
    return {};
  }
  while (!top->leaf() && top->children.size() == 1) {
    ETL_TRY(Node * child, LoadChild(*top, 0));
    Kill(*top);
    top = child;
    root.root = top->id;
    --root.height;
  }
  root.count = top->summary.count;
  root.distinct = top->summary.distinct;
  return {};
}

Status StandingTree::Insert(StandingMember member) {
  Impl& tree = *impl_;
  ETL_CHECK_OK(standing_node::CheckMember(member));
  if (tree.root.count >= standing_node::kMembersMax)
    return Fail(Errc::kInvalid, "STANDING_FULL", member.contender.digest.Text(),
                "the group has 4294967295 members", "split the comparison group");
  tree.scratch.clear();
  standing_node::EncodeMember(member, tree.scratch);
  const Record record = standing_node::RecordOver(tree.arena.Copy(tree.scratch));
  SortKey key;
  std::memcpy(key.data(), record.data, key.size());

  ETL_TRY(const Node* top, tree.LoadRoot());
  if (top == nullptr) {
    tree.root.root = tree.NewNode(1).id;
    tree.root.height = 1;
  }
  ETL_TRY(Path path, tree.Descend(key));
  const auto [leaf, index] = path.leaf();
  if (standing_node::HasRecord(*leaf, index, key))
    leaf->records[index] = record;
  else
    InsertAt(leaf->records, index, record);
  return tree.Settle(path, false);
}

Result<bool> StandingTree::Remove(const Contender& contender) {
  Impl& tree = *impl_;
  const SortKey key = standing_node::KeyOf(contender);
  ETL_TRY(const Node* top, tree.LoadRoot());
  if (top == nullptr) return false;
  ETL_TRY(Path path, tree.Descend(key));
  const auto [leaf, index] = path.leaf();
  if (!standing_node::HasRecord(*leaf, index, key)) return false;
  EraseAt(leaf->records, index);
  ETL_CHECK_OK(tree.Settle(path, true));
  return true;
}

// In the order of ids, so that equal edits write equal batches.
Result<StandingRoot> StandingTree::Flush() {
  std::vector<Node*> changed;
  for (auto& [id, node] : impl_->nodes)
    if (node.dirty) changed.push_back(&node);
  std::sort(changed.begin(), changed.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  for (Node* node : changed) {
    if (!node->dead)
      impl_->space.PutNode(node->id, standing_node::EncodeNode(*node));
    else if (node->stored)
      impl_->space.DeleteNode(node->id);
    node->stored = !node->dead;
    node->dirty = false;
  }
  return impl_->root;
}

}  // namespace etl
