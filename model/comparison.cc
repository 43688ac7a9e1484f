#include "model/comparison.h"

#include "model/manifest_writer.h"

namespace etl {
namespace {

constexpr std::string_view kNoMetric = "none";

std::optional<PrimaryMeasurement> LatencyOf(const Timing& timing) {
  const LatencyNs& latency = timing.latency_ns;
  const auto& value = timing.primary_statistic == "mean" ? (latency.mean ? latency.mean : latency.median)
                                                         : (latency.median ? latency.median : latency.mean);
  if (!value) return std::nullopt;
  PrimaryMeasurement primary;
  primary.metric = "latency";
  // The statistic that the run names, even where another one stands in for its value: so the published keys
  // were made.
  primary.statistic = timing.primary_statistic;
  primary.unit = "ns";
  primary.value = static_cast<double>(*value);
  if (latency.confidence95 && latency.confidence95->size() == 2) {
    primary.low = static_cast<double>(latency.confidence95->front());
    primary.high = static_cast<double>(latency.confidence95->back());
  }
  return primary;
}

template <class Correctness>
Digest KeyOfCorrectness(const Correctness& correctness) {
  std::string bytes = "{\"correctness\":";
  manifest::AppendObject(bytes, correctness);
  bytes += '}';
  return Sha256(bytes);
}

}  // namespace

std::string PrimaryMeasurement::MetricKey() const {
  return metric + ":" + statistic + ":" + unit;
}

std::optional<PrimaryMeasurement> PrimaryMeasurementOf(const BenchmarkRun& run) {
  if (run.timing) {
    if (auto latency = LatencyOf(*run.timing)) return latency;
  }
  if (!run.measurements || run.measurements->empty()) return std::nullopt;
  const MeasurementValue& first = run.measurements->front();
  PrimaryMeasurement primary;
  primary.metric = first.metric;
  primary.statistic = first.statistic;
  primary.unit = first.unit;
  primary.value = first.value;
  return primary;
}

Digest CorrectnessKey(const SuiteCorrectness& correctness) {
  return KeyOfCorrectness(correctness);
}
Digest CorrectnessKey(const CaseCorrectness& correctness) {
  return KeyOfCorrectness(correctness);
}

Digest ComparisonKey(const ComparisonParts& parts) {
  thread_local std::string text;
  text.clear();
  {
    manifest::Bytes bytes(text);
    const auto put_hash = [&](std::string_view name, const Digest& digest) {
      bytes.Put(name);
      bytes.PutHash(digest);
    };
    put_hash("{\"correctness\":", parts.correctness);
    put_hash(",\"environment\":", parts.environment);
    bytes.Put(std::string_view(",\"metric\":"));
    bytes.PutText(parts.metric_key.empty() ? kNoMetric : std::string_view(parts.metric_key));
    put_hash(",\"operation\":", parts.operation);
    put_hash(",\"protocol\":", parts.protocol);
    put_hash(",\"v\":1,\"workload\":", parts.workload);
    bytes.Put('}');
  }
  return Sha256(text);
}

std::string_view ProfileOf(const BenchmarkRun& run) {
  return run.source_native ? "source_native" : "controlled";
}

}  // namespace etl
