#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/ranking.h"

namespace etl {

// One run in a group's standing.
struct StandingMember {
  Contender contender;
  std::string source, external_id;  // the entry that the run belongs to
  std::uint64_t since = 0;          // sequence of the commit that ranked it here
};

// Where a standing keeps its nodes: any key-value store. A node is at most about 16 KiB. Node ids are never
// reused in a group.
class NodeSpace {
 public:
  virtual ~NodeSpace() = default;
  // The bytes of a node; kNotFound is damage, as a node is only asked for when another names it.
  virtual Result<std::string> GetNode(std::uint64_t node) = 0;
  virtual void PutNode(std::uint64_t node, std::string bytes) = 0;
  virtual void DeleteNode(std::uint64_t node) = 0;
};

// What a group's record keeps for its tree. Zero-initialised: an empty standing.
struct StandingRoot {
  std::uint64_t root = 0;       // node id; 0: no node
  std::uint64_t next_node = 1;  // ids handed out so far
  std::uint32_t height = 0;     // 1: the root is a leaf
  std::uint64_t count = 0;      // members
  std::uint64_t distinct = 0;   // different values: the last dense rank
};

// A group's standing as a counted B+ tree: members in RanksBefore order in the leaves, and with every child
// of an inner node its count of members, its count of different values and its first and last member's sort
// key, so that a rank, a place or a page is found in height reads, and one new member rewrites height nodes.
//
// Dense ranks count different values, and equal values may lie on both sides of a node's edge: the count of a
// node is that of its children less one for each neighbour pair whose edge values are equal.
//
// An object of this class is one editing or reading session over `space`: nodes are read once and kept
// decoded; edits stay in memory until Flush writes every changed node once and returns the new root. Memory
// grows with what was read and edited, until the session ends. Not thread-safe. Errors: kCorrupt
// STANDING_NODE (a node missing, undecodable or not what its parent says: `where` names the node); what
// GetNode returns other than kNotFound is passed on. After an error on an edit the session must be dropped.
//
// Where contenders have confidence intervals, ranks and places depend on chains of neighbours: Find, Page and
// ForEach then read the whole group once per edit and answer as Rank() does. `has_intervals()` says so; it is
// kept per child too.
class StandingTree {
 public:
  StandingTree(NodeSpace& space, StandingRoot root);
  ~StandingTree();
  StandingTree(const StandingTree&) = delete;
  StandingTree& operator=(const StandingTree&) = delete;

  // Adds a member. A member with the same sort key (value, evidence, observed_at, digest) is replaced.
  // Errors, before anything changes, `where` being the digest: kInvalid STANDING_MEMBER (a value or bound
  // that is not finite, an unknown evidence level, a source or external id over 1024 bytes), STANDING_FULL
  // (2^32 - 1 members).
  Status Insert(StandingMember member);
  // Removes the member with this sort key. False: there was none.
  Result<bool> Remove(const Contender& key);
  // Writes what changed and returns the new root.
  Result<StandingRoot> Flush();

  std::uint64_t count() const;
  std::uint64_t distinct() const;
  // Whether some member has a confidence interval. Reads the root.
  Result<bool> has_intervals();

  struct Placed {
    StandingMember member;
    std::uint32_t rank = 0;      // dense, from 1
    std::uint64_t position = 0;  // place in the list, from 0
  };
  // The member with this sort key, with its rank; nothing if it is not there.
  Result<std::optional<Placed>> Find(const Contender& key);
  // `limit` members from place `offset`, best first.
  Result<std::vector<Placed>> Page(std::uint64_t offset, std::uint64_t limit);
  // Calls `visit` for every member in order; stops early when it returns false. `visit` must not use the
  // tree.
  Status ForEach(const std::function<bool(const Placed&)>& visit);

  // Reads the whole tree and checks it: order, counts, separators, that no node is reached twice. Errors:
  // kCorrupt STANDING_NODE with the first fault.
  Status Check();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace etl
