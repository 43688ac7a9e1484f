#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/manifest.h"
#include "serve/run_record.h"

namespace etl::serve {

// What pages say of a run in words of their own.

// "1.74 ms mean"; "no primary measurement".
std::string PrimaryText(const RunRecord& record);

// "Rank 7 in its comparison group", or "Not ranked: RETRACTED".
std::string RankText(const RunRecord& record);

// "source-native" for the profile source_native, else the profile with "-" for "_".
std::string ProfileText(std::string_view profile);

// "SOL 0.5749 · 1.26× reference · 14/16 cases faster"; empty where the source gave none of it.
std::string SourceMetricsText(const BenchmarkRun& run);

// "suite of 16 cases · mean latency", or "case <id>".
std::string WorkloadText(const Loaded& workload);

// "NVIDIA B200 (sm_100)".
std::string HardwareText(const ExecutionEnvironment& environment);

// "SOL-ExecBench evaluation stack v1.1".
std::string HarnessText(const BenchmarkProtocol& protocol);

// The source's name for this revision, else its commit, else its tree.
std::string RevisionText(const ImplementationRevision& implementation);

// What became of the run since, one line each: retracted with its reasons, superseded by which. Empty: it
// holds.
std::vector<std::string> Banners(const RunRecord& record);

}  // namespace etl::serve
