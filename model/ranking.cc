#include "model/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace etl {
namespace {

// Runs that share a rank, as far as the next run looks at them.
class Chain {
 public:
  explicit Chain(const Contender& first) { Add(first); }

  void Add(const Contender& member) {
    last_value_ = member.value;
    if (!HasInterval(member)) {
      all_have_intervals_ = false;
      return;
    }
    // An interval overlaps every member's exactly when it reaches the highest low end and the lowest high
    // end.
    low_max_ = std::max(low_max_, *member.low);
    high_min_ = std::min(high_min_, *member.high);
  }

  bool TiesWith(const Contender& next) const {
    if (next.value == last_value_) return true;
    return all_have_intervals_ && HasInterval(next) && *next.low <= high_min_ && *next.high >= low_max_;
  }

 private:
  static bool HasInterval(const Contender& c) { return c.low && c.high; }

  double last_value_ = 0;
  bool all_have_intervals_ = true;
  double low_max_ = -std::numeric_limits<double>::infinity();
  double high_min_ = std::numeric_limits<double>::infinity();
};

std::vector<std::size_t> IndicesOf(const std::vector<Contender>& contenders) {
  std::vector<std::size_t> indices(contenders.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace

std::string_view EvidenceName(EvidenceLevel level) noexcept {
  switch (level) {
    case EvidenceLevel::kReported:
      return "reported";
    case EvidenceLevel::kReproducible:
      return "reproducible";
    case EvidenceLevel::kVerified:
      return "verified";
    case EvidenceLevel::kReplicated:
      return "replicated";
  }
  return "unknown";
}

EvidenceLevel EvidenceOf(const BenchmarkRun& run, const ImplementationRevision* implementation) {
  if (implementation == nullptr || !implementation->source) return EvidenceLevel::kReported;
  const ProjectRevision& revision = implementation->project_revision;
  const bool complete_identity = revision.commit || revision.tree_digest;
  const bool raw_evidence =
      (run.evidence && run.evidence->raw_samples) || (run.timing && run.timing->raw_samples);
  return complete_identity && raw_evidence ? EvidenceLevel::kReproducible : EvidenceLevel::kReported;
}

std::vector<std::string> IneligibleReasons(const Standing& standing) {
  std::vector<std::string> reasons;
  if (standing.status != "passed") {
    std::string code = "STATUS_";
    for (const char c : standing.status)
      code += (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
    reasons.push_back(std::move(code));
  }
  if (standing.retracted) reasons.emplace_back("RETRACTED");
  if (standing.superseded) reasons.emplace_back("SUPERSEDED");
  if (!standing.value || !std::isfinite(*standing.value) || *standing.value <= 0) {
    reasons.emplace_back("MISSING_PRIMARY_METRIC");
  }
  return reasons;
}

bool RanksBefore(const Contender& a, const Contender& b) noexcept {
  if (a.value != b.value) return a.value < b.value;
  if (a.evidence != b.evidence) return a.evidence > b.evidence;
  if (a.observed_at != b.observed_at) return a.observed_at > b.observed_at;
  return a.digest < b.digest;
}

std::vector<Ranked> Rank(const std::vector<Contender>& contenders) {
  std::vector<std::size_t> order = IndicesOf(contenders);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return RanksBefore(contenders[a], contenders[b]); });
  std::vector<Ranked> ranked;
  ranked.reserve(order.size());
  std::uint32_t rank = 0;
  std::optional<Chain> chain;
  for (const std::size_t index : order) {
    const Contender& next = contenders[index];
    if (chain && chain->TiesWith(next)) {
      chain->Add(next);
    } else {
      chain.emplace(next);
      ++rank;
    }
    ranked.push_back({index, rank});
  }
  return ranked;
}

std::vector<std::size_t> RecordHistory(const std::vector<Contender>& contenders) {
  std::vector<std::size_t> order = IndicesOf(contenders);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Contender& x = contenders[a];
    const Contender& y = contenders[b];
    return x.observed_at != y.observed_at ? x.observed_at < y.observed_at : x.digest < y.digest;
  });
  std::vector<std::size_t> records;
  for (const std::size_t index : order) {
    if (records.empty() || contenders[index].value < contenders[records.back()].value)
      records.push_back(index);
  }
  return records;
}

}  // namespace etl
