// Standings, two ways by the first byte. Even: the bytes are edits and reads, compared with a std::map and
// Rank(). Odd: the bytes are the stored nodes themselves; nothing may crash, and what decodes must encode to
// the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/standing.h"
#include "store/standing_node.h"

namespace etl {
namespace {

constexpr std::size_t kOperationsMax = 32;

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

class MapSpace : public NodeSpace {
 public:
  Result<std::string> GetNode(std::uint64_t node) override {
    const auto it = nodes.find(node);
    if (it == nodes.end()) return Fail(Errc::kNotFound, "KEY", std::to_string(node), "no such key", "");
    return it->second;
  }
  void PutNode(std::uint64_t node, std::string bytes) override { nodes[node] = std::move(bytes); }
  void DeleteNode(std::uint64_t node) override {
    Require(nodes.erase(node) == 1, "deletes a node that is not there");
  }

  std::map<std::uint64_t, std::string> nodes;
};

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::uint8_t Byte() {
    if (done()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  std::string Bytes(std::size_t size) {
    const std::string out(bytes_.substr(0, size));
    bytes_.remove_prefix(out.size());
    return out;
  }

 private:
  std::string_view bytes_;
};

StandingMember Member(std::uint32_t id, std::uint8_t value) {
  StandingMember member;
  member.contender.value = value % 64;
  member.contender.evidence = static_cast<EvidenceLevel>(value >> 6);
  member.contender.observed_at.ms = static_cast<std::int64_t>(id % 3) - 1;
  member.contender.digest.bytes[0] = static_cast<std::uint8_t>(id * 31);
  member.contender.digest.bytes[1] = static_cast<std::uint8_t>(id >> 8);
  member.contender.digest.bytes[2] = static_cast<std::uint8_t>(id);
  member.source = "example";
  member.external_id = std::string(id % 17 == 0 ? 700 : id % 9, 'x');
  member.since = id;
  return member;
}

struct Before {
  bool operator()(const Contender& a, const Contender& b) const { return RanksBefore(a, b); }
};

// A tree and what it must equal.
class Twin {
 public:
  void Insert(const StandingMember& member) {
    Require(tree_->Insert(member).has_value(), "insert fails");
    model_.insert_or_assign(member.contender, member);
  }
  void Remove(const Contender& key) {
    const auto removed = tree_->Remove(key);
    Require(removed.has_value(), "remove fails");
    Require(*removed == (model_.erase(key) == 1), "remove disagrees");
  }
  void Reopen() {
    const auto root = tree_->Flush();
    Require(root.has_value(), "flush fails");
    Require(space_.nodes.empty() == model_.empty(), "nodes are left");
    tree_ = std::make_unique<StandingTree>(space_, *root);
  }
  void Compare(std::uint64_t offset, std::uint64_t limit) {
    std::vector<Contender> contenders;
    std::vector<const StandingMember*> members;
    std::set<double> values;
    for (const auto& [key, member] : model_) {
      contenders.push_back(member.contender);
      members.push_back(&member);
      values.insert(key.value);
    }
    Require(tree_->count() == model_.size(), "count differs");
    Require(tree_->distinct() == values.size(), "distinct differs");
    Require(tree_->Check().has_value(), "check fails");
    const auto ranked = Rank(contenders);
    const auto page = tree_->Page(offset, limit);
    Require(page.has_value(), "page fails");
    const std::uint64_t begin = std::min<std::uint64_t>(offset, ranked.size());
    Require(page->size() == std::min<std::uint64_t>(limit, ranked.size() - begin), "page size differs");
    for (std::size_t i = 0; i < page->size(); ++i) {
      const Ranked& want = ranked[begin + i];
      ComparePlaced((*page)[i], *members[want.index], want.rank, begin + i);
      const auto found = tree_->Find(contenders[want.index]);
      Require(found && *found, "find fails");
      ComparePlaced(**found, *members[want.index], want.rank, begin + i);
    }
  }

 private:
  static void ComparePlaced(const StandingTree::Placed& got, const StandingMember& want, std::uint32_t rank,
                            std::uint64_t position) {
    const Contender &a = got.member.contender, &b = want.contender;
    Require(got.rank == rank && got.position == position, "rank or place differs");
    Require(!RanksBefore(a, b) && !RanksBefore(b, a) && a.low == b.low && a.high == b.high,
            "contender differs");
    Require(got.member.source == want.source && got.member.external_id == want.external_id &&
                got.member.since == want.since,
            "member differs");
  }

  MapSpace space_;
  std::unique_ptr<StandingTree> tree_ = std::make_unique<StandingTree>(space_, StandingRoot{});
  std::map<Contender, StandingMember, Before> model_;
};

void Operate(Input in) {
  Twin twin;
  for (std::size_t i = 0; i < kOperationsMax && !in.done(); ++i) {
    const std::uint8_t what = in.Byte();
    const std::uint32_t id = in.Byte() * 8U;
    const std::uint8_t value = in.Byte();
    const auto step = static_cast<std::uint8_t>(what >> 4);  // 0: a run of equal values
    switch (what % 7) {
      case 0:
        twin.Insert(Member(id, value));
        break;
      case 1:
        twin.Remove(Member(id, value).contender);
        break;
      case 2:
        for (std::uint32_t k = 0; k < 150; ++k)
          twin.Insert(Member(id + k, static_cast<std::uint8_t>(value + k * step)));
        break;
      case 3:
        for (std::uint32_t k = 0; k < 150; ++k)
          twin.Remove(Member(id + k, static_cast<std::uint8_t>(value + k * step)).contender);
        break;
      case 4:
        twin.Reopen();
        break;
      case 5:
        twin.Compare(id, value);
        break;
      default: {
        auto member = Member(id, value);
        member.contender.low = member.contender.value - step;
        member.contender.high = member.contender.value + step;
        twin.Insert(member);
      }
    }
  }
  twin.Compare(0, 100'000);
}

// Nodes 1, 2, ... as (length u16, bytes); node 1 is the root.
void UseNodes(Input in) {
  MapSpace space;
  const std::uint32_t height = 1U + in.Byte() % 3U;
  for (std::uint64_t id = 1; id <= 64 && !in.done(); ++id) {
    const std::size_t low = in.Byte();
    space.nodes[id] = in.Bytes(low + in.Byte() * 256U);
  }
  standing_node::Node top;
  top.raw = space.nodes[1];
  const bool decodes = standing_node::DecodeNode(top, height).has_value();
  if (decodes) Require(standing_node::EncodeNode(top) == top.raw, "decoded bytes encode to others");
  const StandingRoot root{1, space.nodes.size() + 1, height, top.summary.count, top.summary.distinct};
  StandingTree reader(space, root);
  const bool sound = reader.Check().has_value();
  const auto page = reader.Page(0, 10'000);
  if (sound)
    Require(page && page->size() == std::min<std::uint64_t>(10'000, root.count),
            "a sound tree does not list");
  for (std::uint8_t i = 0; i < 8; ++i) {
    StandingTree writer(space, root);
    const auto member = Member(i, static_cast<std::uint8_t>(i * 8));
    if (!writer.Insert(member)) continue;
    if (page && i < page->size() && !writer.Remove((*page)[i].member.contender)) continue;
    if (sound) Require(writer.Check().has_value(), "an edit of a sound tree breaks it");
  }
}

}  // namespace
}  // namespace etl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  etl::Input in(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (data[0] % 2 == 0)
    etl::Operate(in);
  else
    etl::UseNodes(in);
  return 0;
}
