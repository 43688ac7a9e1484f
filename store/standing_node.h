#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "store/standing.h"

// The nodes of a StandingTree: their bytes (described in standing_node.cc) and their decoded form. Only
// standing.cc and its tests need this header.
namespace etl::standing_node {

// Limits. A node splits when it has more items or bytes than these; decoding takes up to kItemsMax items, so
// that the fan-out can be tuned without a new format.
inline constexpr std::size_t kLeafMembersMax = 96;
inline constexpr std::size_t kInnerChildrenMax = 64;
inline constexpr std::size_t kNodeBytesMax = 16 * 1024;
inline constexpr std::size_t kItemsMax = 1024;
inline constexpr std::size_t kTextBytesMax = 1024;  // of a member's source, and of its external id
inline constexpr std::uint32_t kHeightMax = 12;     // 16 children at least on each level: 2^32 members need 9
inline constexpr std::uint64_t kMembersMax = 0xffff'ffff;

// The bytes that order members: comparing them as unsigned bytes is RanksBefore.
inline constexpr std::size_t kKeyBytes = 49;
using SortKey = std::array<char, kKeyBytes>;

SortKey KeyOf(const Contender& contender) noexcept;

// The part of a key that decides equal values: equal doubles (also 0 and -0) have equal parts.
inline std::uint64_t ValueOf(const char* key) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, key, sizeof(value));
  return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
}

// Values differ mostly, so they are looked at first.
inline int CompareKeys(const char* a, const char* b) noexcept {
  const std::uint64_t x = ValueOf(a), y = ValueOf(b);
  if (x != y) return x < y ? -1 : 1;
  return std::memcmp(a + sizeof(x), b + sizeof(x), kKeyBytes - sizeof(x));
}

// A member as its bytes in a leaf. The bytes belong to the node they were read from, or to the session's
// arena.
struct Record {
  const char* data = nullptr;
  std::uint64_t value = 0;  // ValueOf(data), here so that a search and a count touch no other memory
  std::uint32_t size = 0;
  bool interval = false;
};

// What a parent knows of a node. Two nodes under one root never have equal summaries, as their keys differ.
struct Summary {
  std::uint64_t count = 0, distinct = 0;
  bool intervals = false;
  SortKey first{}, last{};

  friend bool operator==(const Summary&, const Summary&) = default;
};

struct Child {
  std::uint64_t id = 0;
  Summary summary;
};

struct Node {
  std::uint64_t id = 0;
  std::uint32_t level = 1;      // 1: a leaf
  std::vector<Record> records;  // of a leaf
  std::vector<Child> children;  // of an inner node
  Summary summary;
  std::string raw;      // as read; records point into it, also after they moved to a neighbour
  bool stored = false;  // the space has (an older state of) this node
  bool dirty = false;
  bool dead = false;  // merged away or emptied

  bool leaf() const noexcept { return level == 1; }
  std::size_t size() const noexcept { return leaf() ? records.size() : children.size(); }
};

// Places members in order and ranks them: fed with whole children or single members, it knows the dense rank
// and the place of the last one.
struct RankCursor {
  std::uint64_t rank = 0;
  std::uint64_t position = 0;  // members seen
  std::uint64_t value = 0;     // of the last one seen

  void Step(std::uint64_t next) noexcept {
    if (position == 0 || next != value) ++rank;
    value = next;
    ++position;
  }
  void Skip(const Summary& child) noexcept {
    rank += child.distinct;
    if (position != 0 && ValueOf(child.first.data()) == value) --rank;
    value = ValueOf(child.last.data());
    position += child.count;
  }
};

// kInvalid STANDING_MEMBER for what the format cannot hold: a value or bound that is not finite, an unknown
// evidence level, a text over kTextBytesMax. `where` is the contender's digest.
Status CheckMember(const StandingMember& member);
// Appends the bytes of a checked member to `out`.
void EncodeMember(const StandingMember& member, std::string& out);
// A record over bytes that EncodeMember made.
Record RecordOver(std::string_view bytes) noexcept;
StandingMember DecodeMember(const Record& record);
Contender DecodeContender(const Record& record);

// Recomputes the summary from the items. The node must have some.
void Summarize(Node& node) noexcept;
// The bytes of a node's items.
std::size_t EncodedBytes(const Node& node) noexcept;
std::string EncodeNode(const Node& node);
// Fills records or children and the summary from node.raw. Any bytes are safe; all that EncodeNode would not
// have written is kCorrupt STANDING_NODE. `level`: what the parent says.
Status DecodeNode(Node& node, std::uint32_t level);
// The first pair of items out of order is the same error.
Status CheckOrder(const Node& node);

// The place of the first record not before the key, and of the first child that does not end before it;
// size() if none.
std::size_t FindRecord(const Node& leaf, const SortKey& key) noexcept;
std::size_t FindChild(const Node& inner, const SortKey& key) noexcept;
bool HasRecord(const Node& leaf, std::size_t index, const SortKey& key) noexcept;

Error Damage(std::uint64_t node, std::string what);

}  // namespace etl::standing_node
