#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/standing.h"
#include "store/standing_node.h"

// The inside of a StandingTree: reading in standing.cc, editing in standing_edit.cc.
namespace etl {
namespace standing_node {

// Bytes of new members, kept until the session ends: a record is then a pointer, and moving it between nodes
// is free.
class Arena {
 public:
  std::string_view Copy(std::string_view bytes) {
    if (bytes.size() > left_) Grow(bytes.size());
    char* const to = next_;
    std::memcpy(to, bytes.data(), bytes.size());
    next_ += bytes.size();
    left_ -= bytes.size();
    return {to, bytes.size()};
  }

 private:
  static constexpr std::size_t kFirstChunkBytes = 4096, kChunkBytes = 64 * 1024;

  void Grow(std::size_t bytes) {
    left_ = std::max(bytes, chunks_.empty() ? kFirstChunkBytes : kChunkBytes);
    chunks_.push_back(std::make_unique<char[]>(left_));
    next_ = chunks_.back().get();
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

// The way from the root to a leaf; `index` is the child taken, or the place in the leaf.
struct Path {
  struct Step {
    Node* node = nullptr;
    std::size_t index = 0;
  };
  std::array<Step, standing_node::kHeightMax> steps;
  std::size_t size = 0;

  Step& leaf() { return steps[size - 1]; }
};

}  // namespace standing_node

struct StandingTree::Impl {
  // A group with intervals, ranked as a whole; made on the first read after an edit.
  struct Chains {
    std::vector<standing_node::Record> records;  // in tree order
    std::vector<Ranked> ranked;                  // best first, indices into records
    std::vector<std::size_t> place_of;           // of a record: its index in ranked
  };
  using Visit = std::function<bool(const standing_node::Record&, std::uint64_t rank, std::uint64_t position)>;

  Impl(NodeSpace& node_space, StandingRoot at) : space(node_space), root(at) {}

  NodeSpace& space;
  StandingRoot root;
  // Dead nodes stay: records that moved to a neighbour point into their bytes. References into the map are
  // stable.
  std::unordered_map<std::uint64_t, standing_node::Node> nodes;
  standing_node::Arena arena;
  std::string scratch;
  std::optional<Chains> chains;

  // Reading.
  Result<standing_node::Node*> Load(std::uint64_t id, std::uint32_t level);
  Result<standing_node::Node*> LoadChild(const standing_node::Node& parent, std::size_t index);
  Result<standing_node::Node*> LoadRoot();
  Result<bool> Walk(standing_node::Node& node, std::uint64_t& skip, standing_node::RankCursor& cursor,
                    const Visit& visit);
  Status WalkFrom(std::uint64_t offset, const Visit& visit);
  Status Each(std::uint64_t offset, const Visit& visit);
  Result<const Chains*> LoadChains();
  Status CheckBelow(standing_node::Node& node, std::unordered_set<std::uint64_t>& seen);

  // Editing.
  standing_node::Node& NewNode(std::uint32_t level);
  void Kill(standing_node::Node& node);
  Result<standing_node::Path> Descend(const standing_node::SortKey& key);
  Status Settle(standing_node::Path& path, bool shrunk);
  Status Split(standing_node::Path& path, std::size_t depth);
  Status Rebalance(standing_node::Node& parent, std::size_t index);
  Status LowerRoot();
};

}  // namespace etl
