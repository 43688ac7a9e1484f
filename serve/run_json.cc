#include "serve/run_json.h"

#include <algorithm>
#include <functional>

#include "model/canonical_json.h"
#include "model/json_writer.h"
#include "model/ranking.h"
#include "model/text.h"
#include "serve/api.h"
#include "serve/format.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

void Add(Facts& facts, const char* key, const std::optional<std::string>& value) {
  if (value && !value->empty()) facts.emplace_back(key, *value);
}
void Add(Facts& facts, const char* key, std::optional<std::int64_t> value) {
  if (value) facts.emplace_back(key, std::to_string(*value));
}
void Add(Facts& facts, const char* key, std::optional<double> value) {
  if (value) facts.emplace_back(key, FormatNumber(*value));
}
void Add(Facts& facts, const char* key, std::optional<bool> value) {
  if (value) facts.emplace_back(key, *value ? "yes" : "no");
}

std::string Measured(std::string_view metric, std::string_view statistic, std::string_view unit, double value,
                     std::optional<double> low, std::optional<double> high) {
  return Object([&](ObjectWriter& object) {
    object.Text("metric", metric).Text("unit", unit).Text("statistic", statistic).Number("value", value);
    object.Null("sampleCount");
    if (low && high) {
      object.Raw("uncertainty",
                 Object([&](ObjectWriter& u) { u.Number("low", *low).Number("high", *high); }));
    } else {
      object.Null("uncertainty");
    }
  });
}

// The run behind a line of a standing, with its implementation.
struct Behind {
  BenchmarkRun run;
  Loaded implementation;
};
Result<Behind> LoadBehind(const Store& store, const Digest& digest) {
  Behind behind;
  ETL_TRY(const Loaded run, LoadManifest(store, digest));
  if (const auto* spec = std::get_if<BenchmarkRun>(&run.manifest.spec)) behind.run = *spec;
  ETL_TRY(behind.implementation, LoadManifest(store, behind.run.implementation_digest));
  return behind;
}

}  // namespace

std::string Object(const std::function<void(ObjectWriter&)>& fill) {
  std::string out;
  ObjectWriter object(out);
  fill(object);
  object.End();
  return out;
}

std::string ListJson(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out + "]";
}

std::string TextOrNull(std::string_view text) {
  std::string out;
  if (text.empty()) return "null";
  json::AppendString(out, text);
  return out;
}

std::string NamedJson(const Named& named) {
  return Object([&](ObjectWriter& object) { object.Text("name", named.name).Text("slug", named.slug); });
}

Named ImplementationNamed(const Loaded& implementation) {
  std::string name = AuthorOf(implementation.manifest.metadata);
  if (name.empty()) name = implementation.manifest.metadata.name;
  std::string slug = Kebab(name);
  if (slug.empty()) slug = implementation.digest.Hex().substr(0, 32);
  return {std::move(name), std::move(slug)};
}

Named OperationNamed(const RunRecord& record) {
  std::string slug = Kebab(record.operation.external_id);
  if (slug.empty()) slug = record.operation.digest.Hex().substr(0, 32);
  return {TitleOf(record.Kernel()), std::move(slug)};
}

std::string FactsJson(const Facts& facts) {
  std::vector<std::string> values;
  for (const auto& [key, value] : facts)
    values.push_back(
        Object([&key = key, &value = value](ObjectWriter& o) { o.Text("key", key).Text("value", value); }));
  return ListJson(values);
}

Facts ProtocolFacts(const BenchmarkProtocol& protocol) {
  Facts facts{{"harness", HarnessText(protocol)}};
  const Measurement& m = protocol.measurement;
  facts.emplace_back("timer", m.timer);
  Add(facts, "synchronization", m.synchronization);
  Add(facts, "compileIncluded", m.compile_included);
  Add(facts, "setupIncluded", m.setup_included);
  Add(facts, "warmupIterations", m.warmup_iterations);
  Add(facts, "warmupDurationNs", m.warmup_duration_ns);
  Add(facts, "measuredIterations", m.measured_iterations);
  Add(facts, "samples", m.samples);
  Add(facts, "inputRegeneration", m.input_regeneration);
  Add(facts, "outlierPolicy", m.outlier_policy);
  facts.emplace_back("primaryStatistic", m.primary_statistic);
  if (protocol.correctness) facts.emplace_back("correctnessReference", protocol.correctness->reference);
  if (protocol.device_policy) {
    Add(facts, "clocksLocked", protocol.device_policy->clocks_locked);
    Add(facts, "powerLimitWatts", protocol.device_policy->power_limit_watts);
    Add(facts, "persistenceMode", protocol.device_policy->persistence_mode);
  }
  if (protocol.comparability) facts.emplace_back("comparabilityFamily", protocol.comparability->family);
  return facts;
}

Facts EnvironmentFactsOf(const ExecutionEnvironment& environment) {
  Facts facts{{"gpu", HardwareText(environment)}};
  Add(facts, "formFactor", environment.hardware.form_factor);
  Add(facts, "memoryBytes", environment.hardware.memory_bytes);
  Add(facts, "count", environment.hardware.count);
  Add(facts, "interconnect", environment.hardware.interconnect);
  const Software& software = environment.software;
  Add(facts, "operatingSystem", software.operating_system);
  Add(facts, "kernel", software.kernel);
  Add(facts, "driver", software.driver);
  Add(facts, "cudaToolkit", software.cuda_toolkit);
  Add(facts, "compiler", software.compiler);
  if (software.framework)
    facts.emplace_back("framework", software.framework->name + " " + software.framework->version);
  return facts;
}

std::string_view EvidenceOfRun(const RunRecord& record) {
  return EvidenceName(
      EvidenceOf(record.spec(), std::get_if<ImplementationRevision>(&record.implementation.manifest.spec)));
}

std::string PrimaryJson(const std::optional<PrimaryMeasurement>& primary) {
  if (!primary) return "null";
  return Measured(primary->metric, primary->statistic, primary->unit, primary->value, primary->low,
                  primary->high);
}

std::string PrimaryJson(std::string_view metric_key, const Contender& contender) {
  const std::size_t first = std::min(metric_key.find(':'), metric_key.size());
  const std::size_t last = metric_key.rfind(':');
  if (last == std::string_view::npos || last <= first) return "null";
  return Measured(metric_key.substr(0, first), metric_key.substr(first + 1, last - first - 1),
                  metric_key.substr(last + 1), contender.value, contender.low, contender.high);
}

Result<std::string> RowJson(const Store& store, const GroupFacts& group, const StandingLine& line,
                            const RowPlace& place) {
  ETL_TRY(const Behind behind, LoadBehind(store, line.contender.digest));
  ETL_TRY(const Loaded workload, LoadManifest(store, group.info.workload));
  ETL_TRY(const CommitInfo commit, store.GetCommit(line.since));
  const auto& spec = std::get<ImplementationRevision>(behind.implementation.manifest.spec);
  const Named author = ImplementationNamed(behind.implementation);
  return Object([&](ObjectWriter& o) {
    o.Text("runId", RunId(line.contender.digest)).Raw("implementation", NamedJson(author)).Null("install");
    o.Raw("project", NamedJson(author)).Raw("revision", TextOrNull(RevisionText(spec)));
    o.Raw("operation", NamedJson(group.operation->named)).Text("workloadSummary", WorkloadText(workload));
    o.Raw("hardware", Object([&](ObjectWriter& h) {
            h.Text("model", group.environment->product).Text("architecture", group.environment->architecture);
          }));
    o.Null("framework").Raw("language", TextOrNull(spec.callable.language));
    o.Raw("primary", PrimaryJson(group.info.metric_key, line.contender));
    const auto& native = behind.run.source_native;
    const bool scored = native && native->metrics && native->metrics->contains("sol_score");
    if (scored) {
      o.Number("solScore", native->metrics->find("sol_score")->second);
    } else {
      o.Null("solScore");
    }
    o.Bool("baseline", false).Text("evidence", EvidenceName(line.contender.evidence)).Text("match", "exact");
    o.Raw("mismatches", "[]").Count("rank", place.rank).Bool("tiedWithPrevious", place.tied_with_previous);
    o.Count("cohortSize", place.cohort_size).Bool("sourceAvailable", spec.source.has_value());
    o.Bool("installable", false);
    o.Raw("license", Object([&](ObjectWriter& l) {
            l.Raw("declared", TextOrNull(spec.licensing.declared.value_or("")));
            l.Raw("concluded", TextOrNull(spec.licensing.concluded.value_or("")));
          }));
    o.Text("lastTestedAt", line.contender.observed_at.Text()).Text("indexedAt", commit.time.Text());
    o.Bool("stale", false).Bool("disputed", false).Raw("caveats", "[]").Integer("attestations", 0);
  });
}

Result<std::string> HistoryJson(const Store& store, const GroupFacts& group,
                                const std::vector<RecordStep>& steps) {
  std::vector<std::string> values;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const RecordStep& step = steps[i];
    ETL_TRY(const Behind behind, LoadBehind(store, step.digest));
    const RecordStep* const before = i > 0 ? &steps[i - 1] : nullptr;
    const auto value = [&](const RecordStep& of) {
      Contender contender;
      contender.value = of.value;
      return PrimaryJson(group.info.metric_key, contender);
    };
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("at", step.at.Text()).Text("runId", RunId(step.digest));
      o.Raw("implementation", NamedJson(ImplementationNamed(behind.implementation)))
          .Raw("value", value(step));
      o.Raw("previousValue", before != nullptr ? value(*before) : "null");
      if (before != nullptr && before->value > 0) {
        o.Number("improvementPct", (before->value - step.value) / before->value * 100);
      } else {
        o.Null("improvementPct");
      }
    }));
  }
  return ListJson(values);
}

}  // namespace etl::serve
