#include "etlctl/visit_summary.h"

#include <algorithm>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "etlctl/escape.h"
#include "etlctl/format.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kLinesShown = 20;

Style StyleOf(const VisitResult& result) {
  return result.visit == "full" ? Style::kGood : result.visit == "failed" ? Style::kBad : Style::kWarning;
}

// A count that should be 0, with the command that shows what is behind it.
Cell CareCell(std::uint64_t count, std::string_view command) {
  if (count == 0) return {"0"};
  return {fmt::format("{}  (etlctl {})", FormatCount(count), command), Style::kWarning};
}

void WriteShortfalls(Output& out, const VisitResult& result) {
  if (result.shortfalls.empty()) return;
  out.DataLine("");
  out.DataLine(out.Styled("Why it is not full", Style::kBold));
  for (std::size_t i = 0; i < std::min(result.shortfalls.size(), kLinesShown); ++i) {
    const Shortfall& shortfall = result.shortfalls[i];
    const std::string scope = shortfall.scope.empty() ? "" : " " + Safe(shortfall.scope);
    out.DataLine("  " + out.Styled(Safe(shortfall.code), Style::kWarning) + scope + ": " +
                 Safe(shortfall.what));
  }
  if (result.shortfalls.size() > kLinesShown) {
    out.DataLine(fmt::format("  and {} more", FormatCount(result.shortfalls.size() - kLinesShown)));
  }
}

void WriteRankDifferences(Output& out, const RankComparison& ranks) {
  if (ranks.differences.empty()) return;
  out.DataLine("");
  out.DataLine(out.Styled("Where upstream ranks otherwise", Style::kBold));
  for (std::size_t i = 0; i < std::min(ranks.differences.size(), kLinesShown); ++i) {
    out.DataLine("  " + Safe(ranks.differences[i]));
  }
  if (ranks.different > kLinesShown) {
    out.DataLine(fmt::format("  and {} more", FormatCount(ranks.different - kLinesShown)));
  }
}

}  // namespace

Exit ExitForVisit(const VisitResult& result, bool stopped) {
  if (result.failure) return ExitFor(*result.failure);
  if (result.visit == "full") return Exit::kDone;
  if (result.visit != "partial") return Exit::kFailed;
  if (stopped) return Exit::kIncomplete;
  const bool asked_for =
      !result.shortfalls.empty() &&
      std::all_of(result.shortfalls.begin(), result.shortfalls.end(),
                  [](const Shortfall& shortfall) { return shortfall.code == "ROW_LIMIT"; });
  return asked_for ? Exit::kDone : Exit::kIncomplete;
}

void WriteVisitSummary(Output& out, const VisitResult& result, const std::string& place) {
  Fields fields;
  fields.Add("source", result.source + " from " + place);
  fields.Add("visit", Cell(result.visit + (result.resumed ? ", taken up where the last one ended" : ""),
                           StyleOf(result)));
  fields.Add("requests", fmt::format("{}, {} new snapshots", FormatCount(result.requests),
                                     FormatCount(result.snapshots)));
  fields.Add("rows", FormatCount(result.rows));
  fields.Add("entries",
             fmt::format("{} new, {} changed, {} unchanged", FormatCount(result.entries_new),
                         FormatCount(result.entries_changed), FormatCount(result.entries_unchanged)));
  fields.Add("runs", FormatCount(result.runs));
  fields.Add("groups ranked", FormatCount(result.groups_recomputed));
  fields.Add("quarantined", CareCell(result.quarantined, "quarantine list"));
  fields.Add("gaps", CareCell(result.gaps, "gaps"));
  fields.Add("drift", CareCell(result.drift, "drift"));
  const RankComparison& ranks = result.upstream_ranks;
  if (ranks.compared > 0) {
    fields.Add("upstream's ranks", fmt::format("{} compared, {} equal, {} different, {} unmatched",
                                               FormatCount(ranks.compared), FormatCount(ranks.equal),
                                               FormatCount(ranks.different), FormatCount(ranks.unmatched)));
  }
  fields.Add("changes",
             fmt::format("{}, now at {}:{}", FormatCount(result.changes), result.epoch, result.sequence));
  fields.Add("time", fmt::format("{:.2f} s", result.elapsed_seconds));
  fields.Write(out);
  WriteShortfalls(out, result);
  WriteRankDifferences(out, ranks);
  if (result.dry_run) {
    out.DataLine("\nDry run: nothing was written.");
  } else if (result.changes == 0 && result.visit == "full") {
    out.DataLine("\nNothing changed: the store had all of it already.");
  }
}

}  // namespace etl::ctl
