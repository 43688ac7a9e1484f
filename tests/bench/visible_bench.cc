// How long a new submission takes from the arrival of its response until a reader sees it ranked, over
// loopback HTTP, in a store of 1 million rows (ETL_BENCH_ROWS for another number).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "daemon/source_visit.h"
#include "fetch/http_transport.h"
#include "model/json.h"
#include "tests/support/backfill.h"
#include "tests/support/generated_leaderboard.h"
#include "tests/support/loopback_upstream.h"
#include "tests/support/temp_dir.h"

namespace etl::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kKernels = 235, kNew = 250, kExtra = 2 * kNew, kWindow = 40;

std::uint32_t RowsPerKernel() {
  const char* rows = std::getenv("ETL_BENCH_ROWS");
  return static_cast<std::uint32_t>(
      (rows != nullptr ? std::strtoul(rows, nullptr, 10) : 1'000'000) / kKernels + 1);
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The upstream as a sliding window: `shown` of the new rows of the first kernel are there.
class Window {
 public:
  explicit Window(const std::string& dir) : list_(Read(dir + "/kernels.json")) {
    const std::string text = Read(dir + "/submissions/1.json");
    const auto document = json::Document::Parse(text);
    if (!document) throw std::runtime_error(document.error().Message());
    const json::Value rows = document->root().At({"data", "submissions"});
    std::size_t seen = 0;  // newest first: the new ones are in front
    for (const json::Value row : rows.elements()) {
      if (++seen > kExtra && rows_.size() >= new_ + kWindow) break;
      // Others would be asked for again and again.
      if (row.Find("status").AsString() != "COMPLETED") continue;
      rows_.push_back(text.substr(row.begin_offset(), row.end_offset() - row.begin_offset()));
      if (seen <= kExtra) ++new_;
    }
    count_at_ = list_.find(kCount) + kCount.size();
    count_end_ = list_.find_first_not_of("0123456789", count_at_);
    count_ = std::stoul(list_.substr(count_at_, count_end_ - count_at_)) - kExtra;
  }
  std::string Name() const {
    constexpr std::string_view kName = "\"name\": \"";
    const auto at = list_.find(kName) + kName.size();
    return list_.substr(at, list_.find('"', at) - at);
  }
  std::string List(std::uint32_t shown) const {
    return list_.substr(0, count_at_) + std::to_string(count_ + shown) + list_.substr(count_end_);
  }
  std::string Page(std::uint32_t shown) const {
    std::string page = R"({"data": {"submissions": [)";
    for (std::uint32_t i = 0; i < kWindow; ++i)
      page.append(i == 0 ? "" : ", ").append(rows_[new_ - shown + i]);
    return page + R"(], "total": 40, "offset": 0, "limit": 50}})";
  }

 private:
  static constexpr std::string_view kCount = "\"submission_count\": ";
  std::string list_;
  std::vector<std::string> rows_;
  std::size_t new_ = 0, count_at_ = 0, count_end_ = 0, count_ = 0;
};

FetchSettings Fetching(const LoopbackUpstream& upstream) {
  FetchSettings settings;
  settings.base_url = upstream.base_url();
  settings.contact = "bench@example.org";
  settings.requests_per_second = 0;
  return settings;
}

// Notes when the store's sequence moves, as a reader in another thread sees it.
class Watcher {
 public:
  explicit Watcher(const Store& store)
      : thread_([this, &store](const std::stop_token& done) {
          std::uint64_t seen = store.sequence();
          while (!done.stop_requested()) {
            const std::uint64_t now = store.sequence();
            if (now != seen) moved_ = Clock::now();
            seen = now;
          }
        }) {}
  Clock::time_point moved() const { return moved_; }

 private:
  std::atomic<Clock::time_point> moved_{};
  std::jthread thread_;
};

void UntilVisible(benchmark::State& state) {
  const TempDir dir("visible");
  LeaderboardShape shape;
  shape.kernels = kKernels;
  shape.rows_per_kernel = RowsPerKernel();
  WriteLeaderboard(dir.File("before"), shape);
  SystemClock clock;
  const auto store = OpenStore(dir.File("store"), clock);
  if (Backfill(*store, dir.File("before"), clock).visit != "full") return state.SkipWithError("not full");
  shape.extra_rows = kExtra;  // most of them are completed
  WriteLeaderboard(dir.File("after"), shape);
  const Window window(dir.File("after"));
  LoopbackOptions options;
  options.folder = dir.File("before");
  options.window_rows = kWindow;
  LoopbackUpstream upstream(options);
  const auto transport = OpenHttp(Fetching(upstream), clock);
  const auto adapter = MakeAdapter("sol-execbench");
  SourceSettings settings;
  settings.poll.interval_min_s = 0.1;
  VisitOptions visit = VisitOptionsOf(settings, true);
  visit.goal.kernels = {window.Name()};
  visit.goal.follow.accept_shrunken = true;  // the window holds less than the saved list
  upstream.Put("kernels", window.List(0));
  upstream.Put("submissions?kernel_id=1&limit=50&offset=0", window.Page(0));
  if (VisitOverNetwork(*adapter, **transport, store.get(), clock, visit).failure)
    return state.SkipWithError("the first poll failed");
  visit.goal.follow.accept_shrunken = false;
  const Watcher watcher(*store);
  std::vector<double> waits_ms;
  std::uint32_t shown = 0;
  for (auto _ : state) {
    if (++shown > kNew) return state.SkipWithError("no more new rows");
    upstream.Put("kernels", window.List(shown));
    upstream.Put("submissions?kernel_id=1&limit=50&offset=0", window.Page(shown));
    upstream.ClearLog();
    const VisitResult result = VisitOverNetwork(*adapter, **transport, store.get(), clock, visit);
    if (result.visit != "full" || result.entries_new == 0)
      return state.SkipWithError(("the new row was not taken in " + ErrorOf(result)).c_str());
    Clock::time_point asked{};
    for (const LoopbackRequest& request : upstream.log())
      if (request.key.starts_with("submissions?kernel_id=1")) asked = request.when;
    const std::chrono::duration<double> wait = watcher.moved() - asked;
    state.SetIterationTime(wait.count());
    waits_ms.push_back(wait.count() * 1000);
  }
  std::sort(waits_ms.begin(), waits_ms.end());
  const auto at = [&](double share) {
    return waits_ms[static_cast<std::size_t>(share * static_cast<double>(waits_ms.size() - 1))];
  };
  state.counters["p50_ms"] = at(0.5);
  state.counters["p99_ms"] = at(0.99);
  state.counters["worst_ms"] = waits_ms.back();
  state.counters["rows"] = static_cast<double>(kKernels) * static_cast<double>(RowsPerKernel());
}
BENCHMARK(UntilVisible)->Iterations(250)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace etl::test

BENCHMARK_MAIN();
