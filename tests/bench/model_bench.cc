// What the pure part costs per submission row: parse, canonical form, digest, numbers.

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "model/canonical_json.h"
#include "model/digest.h"
#include "model/expression.h"
#include "model/instant.h"
#include "model/json.h"

namespace etl {
namespace {

// A made-up row with the members, the order and about the length (860 bytes) of an upstream one.
std::string Row(int id) {
  const std::string number = std::to_string(id);
  return R"({"id": )" + number + R"(, "type": "kernel", "user_id": 71)" + number +
         R"(, "username": "somebody-)" + number +
         R"(", "kernel_id": 7, "kernel_name": "007_made_up_projection_and_gate_backward", "kernel_title": )"
         R"("007_made_up_projection_and_gate_backward", "collection_id": null, "collection_submission_id": null, )"
         R"("collection_title": null, "submission_mode": "public", "status": "COMPLETED", "is_correct": true, "sol_score": 0.6)" +
         number + R"(, "latency_ms": 0.23)" + number +
         R"(, "benchmark_results": null, "fast_1_count": 12, "fast_1_total": 16, "avg_speedup": 2.75, "gpu_type": "B200", )"
         R"("worker_id": "worker-pool-made-up-3", "evaluation_stack_version": "v1.1", "is_disqualified": false, )"
         R"("disqualification_reason": null, "disqualification_source": null, "disqualified_at": null, "submitted_at": )"
         R"("2026-05-06T07:08:09.123456", "finished_at": "2026-05-06T07:28:09.654321", "error_log": null, )"
         R"("original_filename": null})";
}

std::vector<std::string> Rows() {
  std::vector<std::string> rows;
  for (int i = 0; i < 250; ++i) rows.push_back(Row(1000 + i));
  return rows;
}

std::string Page(const std::vector<std::string>& rows) {
  std::string page = R"({"data": {"submissions": [)";
  for (const auto& row : rows) page.append(page.ends_with('[') ? "" : ", ").append(row);
  return page + R"(], "total": 250, "offset": 0, "limit": 250}})";
}

void BytesAndItems(benchmark::State& state, std::size_t bytes, std::size_t items) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(items) * state.iterations());
}

void ParseRow(benchmark::State& state) {
  const auto rows = Rows();
  std::size_t i = 0;
  for (auto _ : state) {
    auto document = json::Document::Parse(rows[i++ % rows.size()]);
    benchmark::DoNotOptimize(document->root().size());
  }
  BytesAndItems(state, rows[0].size(), 1);
}
BENCHMARK(ParseRow);

void ParsePage(benchmark::State& state) {
  const auto rows = Rows();
  const std::string page = Page(rows);
  for (auto _ : state) {
    auto document = json::Document::Parse(page);
    benchmark::DoNotOptimize(document->root().size());
  }
  BytesAndItems(state, page.size(), rows.size());
}
BENCHMARK(ParsePage);

void FindRowsLeniently(benchmark::State& state) {
  const auto rows = Rows();
  const std::string page = Page(rows);
  for (auto _ : state) {
    auto found = json::FindElements(page, {"data", "submissions"});
    benchmark::DoNotOptimize(found->size());
  }
  BytesAndItems(state, page.size(), rows.size());
}
BENCHMARK(FindRowsLeniently);

void CanonicalRow(benchmark::State& state) {
  std::vector<json::Document> documents;
  for (const auto& row : Rows()) documents.push_back(*json::Document::Parse(row));
  std::string out;
  std::size_t i = 0;
  for (auto _ : state) {
    out.clear();
    json::AppendCanonical(out, documents[i++ % documents.size()].root(), json::Integers::kExact);
    benchmark::DoNotOptimize(out.data());
  }
  BytesAndItems(state, out.size(), 1);
}
BENCHMARK(CanonicalRow);

void DigestRow(benchmark::State& state) {
  const auto rows = Rows();
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Sha256(rows[i++ % rows.size()]));
  BytesAndItems(state, rows[0].size(), 1);
}
BENCHMARK(DigestRow);

void DigestSmall(benchmark::State& state) {
  const std::string data(64, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Sha256(data));
}
BENCHMARK(DigestSmall);

std::vector<double> Doubles() {
  std::mt19937_64 random(1);
  std::vector<double> out;
  while (out.size() < 1000)
    if (const auto value = std::bit_cast<double>(random()); value - value == 0) out.push_back(value);
  return out;
}

void WriteAnyNumber(benchmark::State& state) {
  const auto values = Doubles();
  std::string out;
  std::size_t i = 0;
  for (auto _ : state) {
    out.clear();
    json::AppendNumber(out, values[i++ % values.size()]);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(WriteAnyNumber);

void WriteInteger(benchmark::State& state) {
  std::string out;
  double value = 0;
  for (auto _ : state) {
    out.clear();
    json::AppendNumber(out, value += 238'721);
    if (value > 1e9) value = 0;
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(WriteInteger);

void ReadInstant(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseSourceInstant("2026-05-06T07:08:09.123456"));
}
BENCHMARK(ReadInstant);

void WriteInstant(benchmark::State& state) {
  std::int64_t ms = 1'787'076'952'587;
  for (auto _ : state) benchmark::DoNotOptimize(Instant{ms++}.Text());
}
BENCHMARK(WriteInstant);

void Expression(benchmark::State& state) {
  const Bindings bindings = {{"num_heads", 80}, {"num_kv_heads", 8}};
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateExpression("num_heads // num_kv_heads", bindings));
}
BENCHMARK(Expression);

}  // namespace
}  // namespace etl

BENCHMARK_MAIN();
