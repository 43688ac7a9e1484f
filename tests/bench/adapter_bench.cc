// What Accept costs per row: a page of 50 rows, read in full and for the walk alone.

#include <cstdlib>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "adapters/adapter.h"
#include "model/digest.h"

namespace {

constexpr std::int64_t kRows = 50;
const std::string kKey = "submissions?kernel_id=5&limit=50&offset=0";

// The members of a row that upstream writes, about 860 bytes.
std::string Row(std::int64_t id) {
  const std::string number = std::to_string(id);
  return R"({"id": )" + number + R"(, "type": "kernel", "user_id": )" + std::to_string(4000 + id % 37) +
         R"(, "username": "bench-user-)" + std::to_string(id % 37) +
         R"(", "kernel_id": 5, "kernel_name": "005_bench_fused_projection_with_residual", "kernel_title": )"
         R"("005_bench_fused_projection_with_residual", "collection_id": null, "collection_submission_id": null, )"
         R"("collection_title": null, "submission_mode": "release", "status": "COMPLETED", "is_correct": true, )"
         R"("sol_score": 0.)" +
         std::to_string(100000 + id) + R"(, "latency_ms": 0.)" + std::to_string(200000 + id * 7) +
         R"(, "benchmark_results": null, "fast_1_count": 16, "fast_1_total": 16, "avg_speedup": 3.88, )"
         R"("gpu_type": "B200", "worker_id": "bench-worker-)" +
         std::to_string(id % 3) +
         R"(", "evaluation_stack_version": "v1.1", "is_disqualified": false, "disqualification_reason": null, )"
         R"("disqualification_source": null, "disqualified_at": null, "submitted_at": "2026-08-12T02:40:23.566001", )"
         R"("finished_at": "2026-08-12T02:41:23.566001", "error_log": null, "original_filename": null})";
}

std::string Page() {
  std::string page = R"({"data": {"submissions": [)";
  for (std::int64_t i = 0; i < kRows; ++i) page += (i > 0 ? ", " : "") + Row(50'000 - i);
  return page + R"(], "total": 50, "offset": 0, "limit": 50}})";
}

std::string Context(etl::Adapter& adapter) {
  etl::Request request;
  request.key = "kernels/5";
  etl::Snapshot snapshot;
  snapshot.bytes =
      R"({"data": {"id": 5, "name": "005_bench_fused_projection_with_residual", "axes": {"n": {"type": "var"}}, "inputs":
          {"x": {"shape": ["n"], "dtype": "bfloat16"}, "w": {"shape": ["n"], "dtype": "float32"}},
          "outputs": {"y": {"shape": ["n"], "dtype": "bfloat16"}},
          "sol_is_dummy": false, "workloads": [{"axes": {"n": 4096}, "sol_ms": 0.001}]}})";
  const auto outcome = adapter.Accept(request, snapshot, "", etl::Reading::kFull, etl::Goal());
  if (!outcome || outcome->draft.contexts.empty()) std::abort();
  return outcome->draft.contexts[0].value;
}

void AcceptPage(benchmark::State& state, etl::Reading reading) {
  const auto adapter = etl::MakeAdapter("sol-execbench");
  const std::string context = Context(*adapter);
  etl::Snapshot snapshot;
  snapshot.request = kKey;
  snapshot.bytes = Page();
  for (auto _ : state) {
    etl::Request request;
    request.key = kKey;
    auto outcome = adapter->Accept(request, snapshot, context, reading, etl::Goal());
    if (!outcome || !outcome->scope_done) std::abort();
    benchmark::DoNotOptimize(outcome);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.counters["per_row"] =
      benchmark::Counter(static_cast<double>(kRows),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(AcceptPage, full, etl::Reading::kFull);
BENCHMARK_CAPTURE(AcceptPage, walk_only, etl::Reading::kWalkOnly);

}  // namespace

BENCHMARK_MAIN();
