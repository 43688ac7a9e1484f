#include "serve/run_texts.h"

#include <optional>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "serve/format.h"

namespace etl::serve {
namespace {

std::optional<double> MetricOf(const BenchmarkRun& run, std::string_view name) {
  if (!run.source_native || !run.source_native->metrics) return std::nullopt;
  const auto found = run.source_native->metrics->find(name);
  if (found == run.source_native->metrics->end()) return std::nullopt;
  return found->second;
}

void Join(std::string& line, const std::string& part) {
  if (!line.empty()) line += " · ";
  line += part;
}

}  // namespace

std::string PrimaryText(const RunRecord& record) {
  if (!record.primary) return "no primary measurement";
  const std::string value = FormatValue(record.primary->value, record.primary->unit);
  return record.primary->statistic.empty() ? value : value + " " + record.primary->statistic;
}

std::string RankText(const RunRecord& record) {
  if (record.place) return fmt::format("Rank {} in its comparison group", record.place->rank);
  if (record.reasons.empty()) return "Not ranked";
  return fmt::format("Not ranked: {}", fmt::join(record.reasons, ", "));
}

std::string ProfileText(std::string_view profile) {
  std::string text(profile);
  for (char& c : text) c = c == '_' ? '-' : c;
  return text;
}

std::string SourceMetricsText(const BenchmarkRun& run) {
  std::string line;
  if (const auto score = MetricOf(run, "sol_score")) Join(line, "SOL " + FormatScore(*score));
  if (const auto speedup = MetricOf(run, "avg_speedup")) Join(line, FormatRatio(*speedup) + " reference");
  const auto faster = MetricOf(run, "fast_1_count"), total = MetricOf(run, "fast_1_total");
  if (faster && total) Join(line, FormatNumber(*faster) + "/" + FormatNumber(*total) + " cases faster");
  return line;
}

std::string WorkloadText(const Loaded& workload) {
  if (const auto* suite = std::get_if<WorkloadSuite>(&workload.manifest.spec)) {
    return fmt::format("suite of {} {} · {} {}", suite->cases.size(),
                       suite->cases.size() == 1 ? "case" : "cases", suite->aggregation.statistic,
                       suite->aggregation.metric);
  }
  return "case " + workload.external_id;
}

std::string HardwareText(const ExecutionEnvironment& environment) {
  return environment.hardware.product + " (" + environment.hardware.architecture + ")";
}

std::string HarnessText(const BenchmarkProtocol& protocol) {
  std::string text = protocol.harness.name;
  if (protocol.harness.version) text += " " + *protocol.harness.version;
  return text;
}

std::string RevisionText(const ImplementationRevision& implementation) {
  const ProjectRevision& revision = implementation.project_revision;
  if (revision.version) return *revision.version;
  if (revision.commit) return *revision.commit;
  return revision.tree_digest ? revision.tree_digest->Text() : std::string();
}

std::vector<std::string> Banners(const RunRecord& record) {
  std::vector<std::string> lines;
  if (record.retracted()) {
    std::string line = "RETRACTED";
    const char* separator = ": ";
    for (const std::string& reason : record.newest->reasons) {
      if (reason == "RETRACTED") continue;
      line += separator + reason;
      separator = ", ";
    }
    line += ", seen " + record.newest->captured_at.Text();
    lines.push_back(line + ". It does not stand in its group any more.");
  }
  if (record.newer) {
    lines.push_back("SUPERSEDED: the source changed this row; the newer run is " + record.newer->Text() +
                    ".");
  }
  return lines;
}

}  // namespace etl::serve
