// Standings in memory: what the tree itself costs, without the store below it.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "store/standing.h"

namespace etl {
namespace {

class MapSpace : public NodeSpace {
 public:
  Result<std::string> GetNode(std::uint64_t node) override { return nodes.at(node); }
  void PutNode(std::uint64_t node, std::string bytes) override {
    written += bytes.size();
    nodes[node] = std::move(bytes);
  }
  void DeleteNode(std::uint64_t node) override { nodes.erase(node); }

  std::unordered_map<std::uint64_t, std::string> nodes;
  std::uint64_t written = 0;
};

void Must(const Status& status) {
  if (!status) std::abort();
}

StandingMember Draw(std::mt19937_64& random) {
  StandingMember member;
  member.contender.value = 1000.0 + static_cast<double>(random() % 200'000);
  member.contender.observed_at.ms = 1'790'000'000'000 + static_cast<std::int64_t>(random() % 1'000'000'000);
  for (auto& byte : member.contender.digest.bytes) byte = static_cast<std::uint8_t>(random());
  member.source = "sol-execbench";
  member.external_id = "submission/" + std::to_string(10'000 + random() % 90'000);
  member.since = random() % 1'000'000;
  return member;
}

std::vector<StandingMember> DrawMany(std::size_t members, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<StandingMember> out(members);
  for (auto& member : out) member = Draw(random);
  return out;
}

struct Group {
  MapSpace space;
  StandingRoot root;
  std::vector<StandingMember> members;
};

Group Planted(std::size_t members) {
  Group group;
  group.members = DrawMany(members, 1);
  StandingTree tree(group.space, {});
  for (const auto& member : group.members) Must(tree.Insert(member));
  group.root = tree.Flush().value();
  return group;
}

// One edit as the daemon makes it: a session, one insertion (or the removal of the last one, so that the
// group keeps its size), a flush.
void EditOne(benchmark::State& state) {
  Group group = Planted(static_cast<std::size_t>(state.range(0)));
  group.space.written = 0;
  const auto fresh = DrawMany(20'000, 2);
  std::size_t next = 0;
  for (auto _ : state) {
    StandingTree tree(group.space, group.root);
    const StandingMember& member = fresh[next / 2 % fresh.size()];
    if (next++ % 2 == 0)
      Must(tree.Insert(member));
    else
      benchmark::DoNotOptimize(tree.Remove(member.contender).value());
    group.root = tree.Flush().value();
  }
  state.counters["bytes_written"] =
      static_cast<double>(group.space.written) / static_cast<double>(state.iterations());
  state.counters["height"] = group.root.height;
}
BENCHMARK(EditOne)->Arg(250)->Arg(10'000)->Arg(100'000);

// A new session for each read, as for a request.
void FindRank(benchmark::State& state) {
  Group group = Planted(static_cast<std::size_t>(state.range(0)));
  std::size_t next = 0;
  for (auto _ : state) {
    StandingTree tree(group.space, group.root);
    benchmark::DoNotOptimize(tree.Find(group.members[next].contender).value()->rank);
    next = (next + 7919) % group.members.size();
  }
}
BENCHMARK(FindRank)->Arg(250)->Arg(10'000)->Arg(100'000);

void ReadPageOf50(benchmark::State& state) {
  Group group = Planted(100'000);
  std::uint64_t offset = 0;
  for (auto _ : state) {
    StandingTree tree(group.space, group.root);
    benchmark::DoNotOptimize(tree.Page(offset, 50).value().size());
    offset = (offset + 7919) % 100'000;
  }
}
BENCHMARK(ReadPageOf50);

// A backfill's group: everything in one session.
void Fill(benchmark::State& state) {
  const auto members = DrawMany(static_cast<std::size_t>(state.range(0)), 1);
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    MapSpace space;
    StandingTree tree(space, {});
    for (const auto& member : members) Must(tree.Insert(member));
    benchmark::DoNotOptimize(tree.Flush().value().root);
    bytes = 0;
    for (const auto& [id, node] : space.nodes) bytes += node.size();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes_per_member"] = static_cast<double>(bytes) / static_cast<double>(members.size());
}
BENCHMARK(Fill)->Arg(250)->Arg(100'000);

void FullCheck(benchmark::State& state) {
  Group group = Planted(100'000);
  for (auto _ : state) {
    StandingTree tree(group.space, group.root);
    Must(tree.Check());
  }
}
BENCHMARK(FullCheck)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace etl

BENCHMARK_MAIN();
