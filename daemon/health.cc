#include "daemon/health.h"

#include <spdlog/fmt/fmt.h>

namespace etl {
namespace {

constexpr double kLateIntervals = 6;

}  // namespace

std::vector<std::string> NotReadyReasons(const std::vector<SourceReport>& sources, const Settings& settings,
                                         bool no_space, Instant now) {
  std::vector<std::string> reasons;
  if (no_space)
    reasons.emplace_back(
        "the disk has less free space than [disk] reserve_bytes, so nothing new is taken in");
  for (const SourceReport& source : sources) {
    if (source.state == "paused" || source.state == "disabled") continue;
    const double late_s = kLateIntervals * settings.Source(source.source).poll.interval_max_s;
    if (!source.last_full) {
      reasons.push_back(fmt::format("{} was never visited in full", source.source));
    } else if (const double age_s = static_cast<double>(now.ms - source.last_full->ms) / 1000;
               age_s > late_s) {
      reasons.push_back(fmt::format("{} had no full visit for {:.0f} minutes", source.source, age_s / 60));
    } else {
      continue;
    }
    if (!source.last_error.empty()) reasons.back() += ": " + source.last_error;
  }
  return reasons;
}

}  // namespace etl
