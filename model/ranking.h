#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/digest.h"
#include "model/instant.h"
#include "model/manifest.h"

namespace etl {

// Ranking policy "ranking-v1" of identity.md as pure functions: the definition that the store's incremental
// standings must equal, bit for bit.
inline constexpr std::string_view kRankingPolicy = "ranking-v1";

// Derived, never set by hand; a larger value is better evidence. An import never yields more than
// kReproducible.
enum class EvidenceLevel : std::uint8_t { kReported = 0, kReproducible = 1, kVerified = 2, kReplicated = 3 };
std::string_view EvidenceName(EvidenceLevel level) noexcept;
// kReproducible only with source, complete identity (a commit or a tree digest) and raw evidence; else
// kReported.
EvidenceLevel EvidenceOf(const BenchmarkRun& run, const ImplementationRevision* implementation);

// One run of a group, as far as ranking looks at it.
struct Contender {
  double value = 0;  // lower is better
  EvidenceLevel evidence = EvidenceLevel::kReported;
  Instant observed_at;
  Digest digest;
  std::optional<double> low, high;  // confidence interval; set only outside profile source_native
};

// Eligibility of a run in its group. The codes come in a fixed order: STATUS_<STATUS>, RETRACTED, SUPERSEDED,
// MISSING_PRIMARY_METRIC. Empty: eligible. A value of 0, or below, is no primary metric.
struct Standing {
  std::string_view status;  // of the run, as in the manifest
  bool retracted = false, superseded = false;
  std::optional<double> value;
};
std::vector<std::string> IneligibleReasons(const Standing& standing);

// Display and rank order: value; inside a tie better evidence, then newer observation, then digest. A strict
// total order over different digests.
bool RanksBefore(const Contender& a, const Contender& b) noexcept;

struct Ranked {
  std::size_t index = 0;   // into the input
  std::uint32_t rank = 0;  // dense, from 1
};
// The standing of the contenders, best first. O(n log n). Contenders must be eligible.
std::vector<Ranked> Rank(const std::vector<Contender>& contenders);

// The record history: the strict running minimum in (observed_at, digest) order. Indices into the input,
// oldest first; the first has no previous holder. An equal value never takes the record.
std::vector<std::size_t> RecordHistory(const std::vector<Contender>& contenders);

}  // namespace etl
