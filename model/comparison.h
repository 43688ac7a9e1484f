#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/digest.h"
#include "model/manifest.h"

namespace etl {

// Which runs may be compared, by identity.md "Comparison groups". Pure functions.

// What a run is ranked by: the timing's primary statistic in ns (for "mean": mean, else median; otherwise
// median, else mean), else the first entry of `measurements`, else nothing.
struct PrimaryMeasurement {
  std::string metric, statistic, unit;
  double value = 0;
  std::optional<double> low, high;  // the 95 % confidence interval in the same unit, where the run states one
  std::string MetricKey() const;    // "latency:mean:ns"
};
std::optional<PrimaryMeasurement> PrimaryMeasurementOf(const BenchmarkRun& run);

// sha256(JCS({correctness: ...})) of a workload's correctness, a suite's or a case's.
Digest CorrectnessKey(const SuiteCorrectness& correctness);
Digest CorrectnessKey(const CaseCorrectness& correctness);

// The parts of a comparison key. `metric_key` is "none" for a run without a primary measurement.
struct ComparisonParts {
  Digest operation, workload, protocol, environment, correctness;
  std::string metric_key;
};
Digest ComparisonKey(const ComparisonParts& parts);

// "source_native" for a run with sourceNative, else "controlled".
std::string_view ProfileOf(const BenchmarkRun& run);

}  // namespace etl
