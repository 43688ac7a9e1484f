// The main job on a generated leaderboard of 235 kernels x 250 rows, and the store's work in a large group.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "model/ranking.h"
#include "tests/support/backfill.h"
#include "tests/support/generated_leaderboard.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

constexpr double kRows = 58'750;

TempDir& Scratch() {
  static TempDir dir("bench");
  return dir;
}

const std::string& Leaderboard(std::uint32_t extra_rows) {
  static std::map<std::uint32_t, std::string> made;
  auto [it, fresh] = made.try_emplace(extra_rows);
  if (fresh) {
    it->second = Scratch().File("leaderboard" + std::to_string(extra_rows));
    LeaderboardShape shape;
    shape.extra_rows = extra_rows;
    WriteLeaderboard(it->second, shape);
  }
  return it->second;
}

double PeakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Parse, normalise and compute every digest, from responses in memory.
void ComputeWithoutTheStore(benchmark::State& state) {
  const auto responses = ResponsesOf(Leaderboard(0));
  const auto adapter = MakeAdapter("sol-execbench");
  const Goal goal;
  for (auto _ : state) {
    std::map<std::string, std::string> contexts;
    for (const Snapshot& snapshot : responses) {
      Request request;
      request.key = snapshot.request;
      request.context = adapter->ContextFor(snapshot.request);
      const auto outcome =
          adapter->Accept(request, snapshot, contexts[request.context], Reading::kFull, goal);
      if (!outcome) return state.SkipWithError("refused");
      for (const ContextDraft& c : outcome->draft.contexts) contexts[c.key] = c.value;
    }
  }
  state.counters["us_per_row"] = benchmark::Counter(
      kRows * 1e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ComputeWithoutTheStore)->Unit(benchmark::kMillisecond);

void Backfill58750Rows(benchmark::State& state) {
  SystemClock clock;
  std::uint64_t disk = 0;
  for (auto _ : state) {
    const std::string dir = Scratch().File("backfill");
    std::filesystem::remove_all(dir);
    const auto store = OpenStore(dir, clock);
    if (Backfill(*store, Leaderboard(0), clock).visit != "full") state.SkipWithError("not full");
    state.PauseTiming();
    (void)store->Close();
    disk = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(dir))
      if (file.is_regular_file()) disk += file.file_size();
    state.ResumeTiming();
  }
  state.counters["rows_per_s"] = benchmark::Counter(kRows, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["disk_bytes_per_row"] = static_cast<double>(disk) / kRows;
  state.counters["peak_mib"] = PeakMib();
}
BENCHMARK(Backfill58750Rows)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void BackfillAgainUnchanged(benchmark::State& state) {
  SystemClock clock;
  const std::string dir = Scratch().File("again");
  std::filesystem::remove_all(dir);
  const auto store = OpenStore(dir, clock);
  Backfill(*store, Leaderboard(0), clock);
  for (auto _ : state)
    if (Backfill(*store, Leaderboard(0), clock).changes != 0) state.SkipWithError("something changed");
}
BENCHMARK(BackfillAgainUnchanged)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

// From the page's bytes to the durable commit with the new rank.
void OneNewRowInAKnownKernel(benchmark::State& state) {
  SystemClock clock;
  const std::string dir = Scratch().File("one_row");
  std::vector<Snapshot> page;
  for (Snapshot& s : ResponsesOf(Leaderboard(1)))
    if (s.request.starts_with("submissions?kernel_id=1&") && s.request.ends_with("offset=0"))
      page.push_back(std::move(s));
  for (auto _ : state) {
    state.PauseTiming();
    std::filesystem::remove_all(dir);
    const auto store = OpenStore(dir, clock);
    Backfill(*store, Leaderboard(0), clock);
    page[0].captured_at = clock.Now();
    state.ResumeTiming();
    TakeIn(*store, page);
    (void)store->Sync();
    state.PauseTiming();
    (void)store->Close();
    state.ResumeTiming();
  }
}
BENCHMARK(OneNewRowInAKnownKernel)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

constexpr int kLargeGroup = 100'000;

struct LargeGroup {
  SystemClock clock;
  SmallSource source;
  std::unique_ptr<Store> store;
  GroupInfo group;
  int next = kLargeGroup + 1;

  LargeGroup() {
    store = OpenStore(Scratch().File("large_group"), clock);
    for (int first = 1; first <= kLargeGroup; first += 500) {
      std::vector<std::pair<int, double>> rows;
      for (int id = first; id < first + 500; ++id) rows.emplace_back(id, 1'000'000.0 + id * 7919 % 100'003);
      (void)store->Commit(source.Page(first, rows));
    }
    (void)store->ForEachGroup([&](const GroupInfo& g) { return group = g, false; });
  }
};
LargeGroup& TheLargeGroup() {
  static LargeGroup large;
  return large;
}

// One commit of a page with 50 new runs; the figure is per run.
void InsertIntoAGroupOf100000(benchmark::State& state) {
  LargeGroup& large = TheLargeGroup();
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<std::pair<int, double>> rows;
    for (int i = 0; i < 50; ++i, ++large.next)
      rows.emplace_back(large.next, 1'000'000.0 + static_cast<double>(large.next * 7919LL % 100'003));
    const Ingest page = large.source.Page(large.next, rows);
    state.ResumeTiming();
    if (!large.store->Commit(page)) state.SkipWithError("commit");
  }
  state.counters["us_per_run"] =
      benchmark::Counter(50e-6, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(InsertIntoAGroupOf100000)->Unit(benchmark::kMicrosecond)->Iterations(200);

void ReadARankInAGroupOf100000(benchmark::State& state) {
  LargeGroup& large = TheLargeGroup();
  std::vector<Version> runs;
  for (int id = 17; id < kLargeGroup; id += 997)
    runs.push_back(
        large.store->GetEntry({"small", "submission/" + std::to_string(id), ""})->at(Kind::kBenchmarkRun));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(large.store->RankOf(runs[i++ % runs.size()]));
}
BENCHMARK(ReadARankInAGroupOf100000)->Unit(benchmark::kMicrosecond);

void RecomputeAllRuns(benchmark::State& state) {
  std::vector<Contender> all;
  for (int i = 0; i < 58'750; ++i) {
    Contender c;
    c.value = static_cast<double>(1000 + i * 7919LL % 50'021);
    c.observed_at = Instant{i * 104'729LL % 1'000'003};
    c.digest = Sha256(std::to_string(i));
    all.push_back(c);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(Rank(all));
    benchmark::DoNotOptimize(RecordHistory(all));
  }
}
BENCHMARK(RecomputeAllRuns)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace etl::test

BENCHMARK_MAIN();
