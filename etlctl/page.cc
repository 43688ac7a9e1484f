#include "etlctl/page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "model/canonical_json.h"

namespace etl::ctl {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A page in the making: blocks apart by an empty line, upstream text made harmless on the way in.
class Page {
 public:
  void Block(std::string_view text) {
    text_.append(text_.empty() ? "" : "\n").append(Safe(text)).append("\n");
  }
  void Raw(std::string_view text) { text_.append("\n").append(text).append("\n"); }
  void Columns(const Pairs& pairs) {
    std::size_t width = 0;
    for (const auto& [label, value] : pairs) width = std::max(width, DisplayWidth(label));
    if (!pairs.empty()) text_ += '\n';
    for (const auto& [label, value] : pairs) {
      text_.append(label).append(width - DisplayWidth(label) + 3, ' ').append(Safe(value)).append("\n");
    }
  }
  std::string Done() { return std::move(text_); }

 private:
  std::string text_;
};

void AddText(Pairs& pairs, std::string label, const std::optional<std::string>& value) {
  if (value && !value->empty()) pairs.emplace_back(std::move(label), *value);
}
void AddCount(Pairs& pairs, std::string label, std::optional<std::int64_t> value) {
  if (value) pairs.emplace_back(std::move(label), std::to_string(*value));
}
void AddNumber(Pairs& pairs, std::string label, std::optional<double> value) {
  if (value) pairs.emplace_back(std::move(label), FormatNumber(*value));
}
void AddBool(Pairs& pairs, std::string label, std::optional<bool> value) {
  if (value) pairs.emplace_back(std::move(label), *value ? "yes" : "no");
}

void Headline(Page& page, const RunRecord& record) {
  page.Block("Run " + ShortId(record.run.digest, 8) + " · KernelIndex");
  for (const std::string& banner : Banners(record)) page.Block("!! " + banner);
  page.Block("Primary measurement");
  page.Block(PrimaryText(record));
  const std::string profile = ProfileText(ProfileOf(record.spec()));
  page.Block(RankText(record) + " · " + profile + " comparison · observed " +
             FormatDay(record.spec().observed_at));
  const bool leads = record.place && record.place->rank == 1;
  if (!leads && record.leader && record.leader->contender.digest != record.run.digest) {
    page.Block("Compare with #1 →   etlctl compare " + ShortId(record.run.digest) + " " +
               ShortId(record.leader->contender.digest));
  }
  const std::string metrics = SourceMetricsText(record.spec());
  if (!metrics.empty()) page.Block(metrics);
}

void Identity(Page& page, const RunRecord& record) {
  page.Block("Identity");
  Pairs pairs;
  const auto& implementation = std::get<ImplementationRevision>(record.implementation.manifest.spec);
  const std::string author = record.Author();
  AddText(pairs, "implementation", author.empty() ? record.implementation.manifest.metadata.name : author);
  AddText(pairs, "project", author);
  AddText(pairs, "revision", RevisionText(implementation));
  AddText(pairs, "workload", WorkloadText(record.workload));
  if (record.group) AddText(pairs, "comparison key", ShortDigest(record.group->key, 16));
  AddText(pairs, "source", SourceTitle(record.entry.source));
  AddText(pairs, "external id", record.entry.external_id);
  page.Columns(pairs);
  page.Block(ShortDigest(record.run.digest, 23));
}

void Correctness(Page& page, const RunRecord& record) {
  page.Block("Correctness");
  const BenchmarkRun& run = record.spec();
  if (run.correctness) {
    Pairs pairs{{"comparator", run.correctness->comparator}};
    AddNumber(pairs, "maximumAbsoluteError", run.correctness->maximum_absolute_error);
    AddNumber(pairs, "maximumRelativeError", run.correctness->maximum_relative_error);
    AddNumber(pairs, "matchedRatio", run.correctness->matched_ratio);
    page.Columns(pairs);
  } else if (run.status == "passed" && run.source_native) {
    page.Block("Marked passed by the source; the correctness policy was not published.");
  } else {
    page.Block("Status " + run.status + "; the correctness policy was not published.");
  }
}

void Workload(Page& page, const RunRecord& record) {
  page.Block("Workload");
  Pairs pairs;
  if (const auto* suite = std::get_if<WorkloadSuite>(&record.workload.manifest.spec)) {
    AddText(pairs, "definition comparator", suite->correctness.comparator);
    AddText(pairs, "description", suite->correctness.description);
  } else if (const auto* one = std::get_if<WorkloadCase>(&record.workload.manifest.spec)) {
    AddText(pairs, "definition comparator", one->correctness.comparator);
    AddNumber(pairs, "maxAbsoluteError", one->correctness.max_absolute_error);
    AddNumber(pairs, "maxRelativeError", one->correctness.max_relative_error);
    AddNumber(pairs, "requiredMatchedRatio", one->correctness.required_matched_ratio);
    AddText(pairs, "nanPolicy", one->correctness.nan_policy);
    AddText(pairs, "infinityPolicy", one->correctness.infinity_policy);
  }
  page.Columns(pairs);
}

void AddLatency(Pairs& pairs, std::string_view statistic, std::optional<std::int64_t> value) {
  if (value)
    pairs.emplace_back(fmt::format("latency · {}", statistic), FormatLatency(static_cast<double>(*value)));
}

void AddTiming(Pairs& pairs, const Timing& timing) {
  const LatencyNs& latency = timing.latency_ns;
  std::vector<std::pair<std::string_view, std::optional<std::int64_t>>> values{
      {"median", latency.median},   {"mean", latency.mean},       {"p05", latency.p05}, {"p95", latency.p95},
      {"minimum", latency.minimum}, {"maximum", latency.maximum}, {"mad", latency.mad}};
  // What the run is ranked by comes first.
  std::stable_partition(values.begin(), values.end(),
                        [&](const auto& v) { return v.first == timing.primary_statistic; });
  for (const auto& [statistic, value] : values) AddLatency(pairs, statistic, value);
  if (latency.confidence95 && latency.confidence95->size() == 2) {
    pairs.emplace_back("latency · confidence95",
                       FormatLatency(static_cast<double>(latency.confidence95->front())) + " to " +
                           FormatLatency(static_cast<double>(latency.confidence95->back())));
  }
  AddCount(pairs, "samples", timing.samples);
}

void Measurements(Page& page, const RunRecord& record) {
  page.Block("Measurements");
  Pairs pairs;
  if (record.spec().timing) AddTiming(pairs, *record.spec().timing);
  if (record.spec().measurements) {
    for (const MeasurementValue& m : *record.spec().measurements) {
      pairs.emplace_back(Safe(m.metric + " · " + m.statistic), FormatValue(m.value, m.unit));
    }
  }
  if (pairs.empty()) page.Block("No measurements published with this run.");
  page.Columns(pairs);
}

void Protocol(Page& page, const BenchmarkProtocol& protocol) {
  page.Block("Protocol");
  Pairs pairs{{"harness", HarnessText(protocol)}};
  const Measurement& m = protocol.measurement;
  AddText(pairs, "timer", m.timer);
  AddText(pairs, "synchronization", m.synchronization);
  AddBool(pairs, "compileIncluded", m.compile_included);
  AddBool(pairs, "setupIncluded", m.setup_included);
  AddCount(pairs, "warmupIterations", m.warmup_iterations);
  if (m.warmup_duration_ns)
    pairs.emplace_back("warmupDuration", FormatLatency(static_cast<double>(*m.warmup_duration_ns)));
  AddCount(pairs, "measuredIterations", m.measured_iterations);
  AddCount(pairs, "samples", m.samples);
  AddText(pairs, "inputRegeneration", m.input_regeneration);
  AddText(pairs, "outlierPolicy", m.outlier_policy);
  AddText(pairs, "primaryStatistic", m.primary_statistic);
  if (protocol.correctness) AddText(pairs, "correctnessReference", protocol.correctness->reference);
  if (protocol.device_policy) {
    AddBool(pairs, "clocksLocked", protocol.device_policy->clocks_locked);
    AddNumber(pairs, "powerLimitWatts", protocol.device_policy->power_limit_watts);
    AddBool(pairs, "persistenceMode", protocol.device_policy->persistence_mode);
  }
  if (protocol.comparability) AddText(pairs, "comparabilityFamily", protocol.comparability->family);
  page.Columns(pairs);
}

void Environment(Page& page, const ExecutionEnvironment& environment) {
  page.Block("Environment");
  Pairs pairs{{"gpu", HardwareText(environment)}};
  AddText(pairs, "formFactor", environment.hardware.form_factor);
  if (environment.hardware.memory_bytes && *environment.hardware.memory_bytes >= 0) {
    pairs.emplace_back("memory", FormatBytes(static_cast<std::uint64_t>(*environment.hardware.memory_bytes)));
  }
  AddCount(pairs, "count", environment.hardware.count);
  AddText(pairs, "interconnect", environment.hardware.interconnect);
  AddText(pairs, "operatingSystem", environment.software.operating_system);
  AddText(pairs, "kernel", environment.software.kernel);
  AddText(pairs, "driver", environment.software.driver);
  AddText(pairs, "cudaToolkit", environment.software.cuda_toolkit);
  AddText(pairs, "compiler", environment.software.compiler);
  if (environment.software.framework) {
    pairs.emplace_back("framework",
                       environment.software.framework->name + " " + environment.software.framework->version);
  }
  page.Columns(pairs);
}

void Artifacts(Page& page, const RunRecord& record) {
  page.Block("Artifacts");
  Pairs pairs;
  const auto add = [&](const char* label, const std::optional<ArtifactRef>& artifact) {
    if (artifact) pairs.emplace_back(label, artifact->uri + " " + artifact->digest.Text());
  };
  if (record.spec().timing) add("raw samples", record.spec().timing->raw_samples);
  if (record.spec().evidence) {
    add("logs", record.spec().evidence->logs);
    add("evidence samples", record.spec().evidence->raw_samples);
  }
  if (pairs.empty()) page.Block("No artifacts published with this run.");
  page.Columns(pairs);
}

void Notes(Page& page) {
  page.Block("Replications and notes");
  page.Block("No attestations yet.");
  page.Block(
      "Community attestations. They never change the evidence level; only a KernelIndex-controlled rerun "
      "does.");
  page.Block("Add a reproduction or note   (at the catalogue: a mirror takes none)");
}

void CanonicalManifest(Page& page, const RunRecord& record) {
  page.Block("Canonical manifest");
  page.Block("Show manifest   etlctl get run " + ShortId(record.run.digest) + " -o manifest");
  const std::string joined = JsonObject()
                                 .Raw("run", record.run.text)
                                 .Raw("protocol", record.protocol.text)
                                 .Raw("environment", record.environment.text)
                                 .Done();
  const auto document = json::Document::Parse(joined);
  // Three manifests that were read before, side by side: there is nothing left to refuse.
  page.Raw(document ? SafeJson(PrettyJson(document->root())) : SafeJson(joined));
}

void Citation(Page& page, const RunRecord& record, Instant accessed) {
  page.Block("Cite this record (permalink, digest, access date)");
  const auto& environment = std::get<ExecutionEnvironment>(record.environment.manifest.spec);
  std::string author = record.Author();
  page.Block(fmt::format("{}{} on {}: {}. {}, {}.", author.empty() ? author : author + ". ",
                         TitleOf(record.Kernel()), environment.hardware.product, PrimaryText(record),
                         SourceTitle(record.entry.source), record.entry.external_id));
  page.Columns({{"permalink", record.entry.Text()},
                {"digest", record.run.digest.Text()},
                {"accessed", FormatDay(accessed)}});
}

void Footer(Page& page, const RunRecord& record) {
  page.Block("Report an issue with this run   (to the source: " + record.entry.external_id + ")");
  page.Block("Published " + FormatDay(record.introduced.time) + " · " + SourceTitle(record.entry.source));
  page.Block("All results for " + TitleOf(record.Kernel()) + " →   etlctl ranks --kernel " + record.Kernel());
  page.Block("JSON   etlctl get run " + ShortId(record.run.digest) + " -o json");
}

}  // namespace

std::string RenderPage(const RunRecord& record, Instant accessed) {
  Page page;
  Headline(page, record);
  Identity(page, record);
  Correctness(page, record);
  Workload(page, record);
  Measurements(page, record);
  Protocol(page, std::get<BenchmarkProtocol>(record.protocol.manifest.spec));
  Environment(page, std::get<ExecutionEnvironment>(record.environment.manifest.spec));
  Artifacts(page, record);
  Notes(page);
  CanonicalManifest(page, record);
  Citation(page, record, accessed);
  Footer(page, record);
  return page.Done();
}

}  // namespace etl::ctl
