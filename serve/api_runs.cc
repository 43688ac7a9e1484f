// Runs: one, and a list.
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "model/canonical_json.h"
#include "model/comparison.h"
#include "model/json.h"
#include "model/json_writer.h"
#include "model/manifest_fields.h"
#include "model/ranking.h"
#include "model/text.h"
#include "serve/api.h"
#include "serve/format.h"
#include "serve/run_json.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::uint64_t kRunsPreset = 50, kRunsMax = 200;
constexpr std::size_t kScannedMax = 20'000;  // entries looked at for one page; a page may end early

void MaybeNumber(ObjectWriter& object, std::string_view name, const std::optional<double>& value) {
  if (value) {
    object.Number(name, *value);
  } else {
    object.Null(name);
  }
}

std::string SourceMetrics(const BenchmarkRun& run) {
  if (!run.source_native || !run.source_native->metrics) return "null";
  return Object([&](ObjectWriter& o) {
    for (const auto& [name, value] : *run.source_native->metrics) o.Number(name, value);
  });
}

std::string Lifecycle(const RunRecord& record) {
  // The run that this one took the place of: the nearest earlier state of the entry with another digest.
  std::string supersedes = "null";
  for (const Version& version : record.versions) {
    if (version.version >= record.version.version) break;
    if (version.digest && *version.digest != record.run.digest && !version.late)
      supersedes = TextOrNull(RunId(*version.digest));
  }
  return Object([&](ObjectWriter& o) {
    o.Raw("supersedesId", supersedes);
    o.Raw("supersededById", record.newer ? TextOrNull(RunId(*record.newer)) : "null");
    if (record.retracted()) {
      std::string reason;
      for (const std::string& code : record.newest->reasons) reason += (reason.empty() ? "" : ", ") + code;
      o.Raw("retracted", Object([&](ObjectWriter& r) {
              r.Text("at", record.newest->captured_at.Text()).Text("reason", reason);
            }));
    } else {
      o.Null("retracted");
    }
    o.Null("disputed").Bool("stale", false);
  });
}

std::string Cohort(const RunRecord& record) {
  return Object([&](ObjectWriter& o) {
    o.Text("comparisonKey", record.group ? record.group->key.Text() : "");
    o.Text("profile", record.group ? std::string_view(record.group->profile) : ProfileOf(record.spec()));
    if (record.place) {
      o.Count("rank", record.place->rank);
    } else {
      o.Null("rank");
    }
    o.Bool("eligible", record.place.has_value()).Raw("ineligibleReasons", json::TextArray(record.reasons));
    o.Raw("headRunId", record.leader ? TextOrNull(RunId(record.leader->contender.digest)) : "null");
  });
}

Facts Tolerance(const Spec& workload) {
  Facts facts;
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) facts.emplace_back(key, FormatNumber(*value));
  };
  if (const auto* suite = std::get_if<WorkloadSuite>(&workload)) {
    facts.emplace_back("comparator", suite->correctness.comparator);
    if (suite->correctness.description) facts.emplace_back("description", *suite->correctness.description);
  } else if (const auto* one = std::get_if<WorkloadCase>(&workload)) {
    facts.emplace_back("comparator", one->correctness.comparator);
    add("maxAbsoluteError", one->correctness.max_absolute_error);
    add("maxRelativeError", one->correctness.max_relative_error);
    add("requiredMatchedRatio", one->correctness.required_matched_ratio);
  }
  return facts;
}

std::string Workload(const RunRecord& record) {
  Facts tensors;
  std::string axes = "{}";
  if (const auto* one = std::get_if<WorkloadCase>(&record.workload.manifest.spec)) {
    axes = Object([&](ObjectWriter& o) {
      for (const auto& [name, value] : one->axes) o.Integer(name, value);
    });
    for (const auto& [name, tensor] : one->tensors) {
      std::string shape = tensor.dtype + "[";
      for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        shape += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
      tensors.emplace_back(name, shape + "]");
    }
  }
  return Object([&](ObjectWriter& o) {
    o.Text("id", RunId(record.workload.digest)).Text("digest", record.workload.digest.Text());
    o.Text("label", WorkloadText(record.workload)).Raw("axes", axes).Raw("tensors", FactsJson(tensors));
    o.Raw("tolerance", FactsJson(Tolerance(record.workload.manifest.spec)));
  });
}

std::string Correctness(const RunRecord& record) {
  const BenchmarkRun& run = record.spec();
  const auto& protocol = std::get<BenchmarkProtocol>(record.protocol.manifest.spec);
  const RunCorrectness stated = run.correctness.value_or(RunCorrectness());
  return Object([&](ObjectWriter& o) {
    o.Text("comparator", run.correctness        ? stated.comparator
                         : protocol.correctness ? protocol.correctness->comparator
                                                : "unpublished");
    MaybeNumber(o, "maxAbsoluteError", stated.maximum_absolute_error);
    MaybeNumber(o, "maxRelativeError", stated.maximum_relative_error);
    MaybeNumber(o, "matchedRatio", stated.matched_ratio);
    o.Bool("passed", run.status == "passed");
  });
}

std::string Measurements(const BenchmarkRun& run) {
  std::vector<std::string> values;
  const auto add = [&](std::string_view metric, std::string_view statistic, double value,
                       std::string_view unit, std::optional<std::int64_t> samples) {
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("metric", metric).Text("statistic", statistic).Number("value", value).Text("unit", unit);
      if (samples) {
        o.Integer("sampleCount", *samples);
      } else {
        o.Null("sampleCount");
      }
    }));
  };
  if (run.timing) {
    const LatencyNs& l = run.timing->latency_ns;
    const std::pair<const char*, std::optional<std::int64_t>> all[] = {
        {"median", l.median},   {"mean", l.mean},       {"p05", l.p05}, {"p95", l.p95},
        {"minimum", l.minimum}, {"maximum", l.maximum}, {"mad", l.mad}};
    for (const auto& [statistic, value] : all)
      if (value) add("latency", statistic, static_cast<double>(*value), "ns", run.timing->samples);
  }
  if (run.measurements)
    for (const MeasurementValue& m : *run.measurements)
      add(m.metric, m.statistic, m.value, m.unit, m.sample_count);
  return ListJson(values);
}

std::string Artifacts(const RunRecord& record) {
  std::vector<std::string> values;
  const auto add = [&](const char* role, const std::optional<ArtifactRef>& artifact) {
    if (!artifact) return;
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("role", role)
          .Text("digest", artifact->digest.Text())
          .Text("mediaType", "application/octet-stream");
      o.Null("sizeBytes").Text("uri", artifact->uri).Text("availability", "upstream");
    }));
  };
  const BenchmarkRun& run = record.spec();
  if (run.timing) add("raw_samples", run.timing->raw_samples);
  if (run.evidence) {
    add("logs", run.evidence->logs);
    add("raw_samples", run.evidence->raw_samples);
  }
  return ListJson(values);
}

std::string Provenance(const RunRecord& record) {
  return Object([&](ObjectWriter& o) {
    o.Raw("source", Object([&](ObjectWriter& s) {
            s.Text("name", SourceTitle(record.entry.source)).Text("kind", record.entry.source);
            s.Null("url").Null("license").Text("externalId", record.entry.external_id);
            s.Text("observedAt", record.version.captured_at.Text());
          }));
    o.Text("externalId", record.entry.external_id).Raw("parserVersion", TextOrNull(record.derived.adapter));
    o.Raw("snapshotDigest", record.derived.snapshot ? TextOrNull(record.derived.snapshot->Text()) : "null");
  });
}

std::string RunJson(const RunRecord& record) {
  const BenchmarkRun& run = record.spec();
  const auto& implementation = std::get<ImplementationRevision>(record.implementation.manifest.spec);
  const Named author = ImplementationNamed(record.implementation);
  return Object([&](ObjectWriter& o) {
    o.Bool("illustrative", false);
    o.Raw("run", Object([&](ObjectWriter& r) {
            r.Text("id", RunId(record.run.digest)).Text("digest", record.run.digest.Text());
            r.Text("status", run.status).Text("observedAt", run.observed_at.Text());
            r.Text("publishedAt", record.introduced.time.Text());
          }));
    o.Text("evidence", EvidenceOfRun(record)).Raw("lifecycle", Lifecycle(record));
    o.Raw("primary", PrimaryJson(record.primary)).Raw("sourceNativeMetrics", SourceMetrics(run));
    o.Raw("cohort", Cohort(record));
    o.Raw("implementation", Object([&](ObjectWriter& i) {
            i.Text("name", author.name).Text("slug", author.slug);
            i.Raw("revision", TextOrNull(RevisionText(implementation)));
          }));
    o.Raw("project", NamedJson(author)).Raw("operation", NamedJson(OperationNamed(record)));
    o.Raw("workload", Workload(record)).Raw("correctness", Correctness(record));
    o.Raw("measurements", Measurements(run));
    o.Raw("protocol", FactsJson(ProtocolFacts(std::get<BenchmarkProtocol>(record.protocol.manifest.spec))));
    o.Raw("environment",
          FactsJson(EnvironmentFactsOf(std::get<ExecutionEnvironment>(record.environment.manifest.spec))));
    o.Raw("artifacts", Artifacts(record)).Raw("provenance", Provenance(record)).Raw("attestations", "[]");
    o.Raw("manifest", Object([&](ObjectWriter& m) {
            m.Raw("run", record.run.text).Raw("protocol", record.protocol.text);
            m.Raw("environment", record.environment.text);
          }));
  });
}

// --- the list ---

struct Filter {
  std::string operation, hardware, source, status, text;  // text: all of them, for cursors
  std::optional<Instant> since;
  std::set<std::uint32_t> groups;  // those that pass
};

std::string ParamText(const Request& request, std::string_view name) {
  return std::string(request.Param(name).value_or(""));
}

bool OperationIs(const OperationFacts& operation, const std::string& wanted) {
  return wanted.empty() || operation.named.slug == wanted || operation.external_id == wanted ||
         operation.digest.Text() == wanted || RunId(operation.digest) == wanted;
}

bool HardwareIs(const EnvironmentFacts& environment, const std::string& wanted) {
  return wanted.empty() || environment.slug == wanted || environment.slug == Kebab(wanted);
}

Result<Filter> FilterOf(const Request& request, const Catalogue& catalogue) {
  Filter filter;
  filter.operation = ParamText(request, "operation");
  filter.hardware = ParamText(request, "hardware");
  filter.source = ParamText(request, "source");
  filter.status = ParamText(request, "status");
  const std::string since = ParamText(request, "since");
  if (!filter.status.empty() &&
      std::find(std::begin(manifest::kRunStatuses), std::end(manifest::kRunStatuses), filter.status) ==
          std::end(manifest::kRunStatuses))
    return Fail(Errc::kInvalid, "STATUS", "status", "there is no such status", "\"passed\" is one");
  if (!since.empty()) {
    const auto at = ParseSourceInstant(since);
    if (!at)
      return Fail(Errc::kInvalid, "SINCE", "since", "this is no instant",
                  "give one like 2026-08-18T18:15:52Z");
    filter.since = *at;
  }
  std::string& text = filter.text;
  text = "runs";
  for (const std::string& part : {filter.operation, filter.hardware, filter.source, filter.status, since})
    text.append(1, '\0').append(part);
  for (const GroupFacts& group : catalogue.groups)
    if (OperationIs(*group.operation, filter.operation) && HardwareIs(*group.environment, filter.hardware))
      filter.groups.insert(group.info.number);
  return filter;
}

// The run of an entry that stood at a sequence, if one did and passes the filter.
Result<std::optional<Version>> RunAt(const Store& store, const EntryName& name,
                                     const std::map<Kind, Version>& newest, std::uint64_t sequence,
                                     const Filter& filter) {
  const auto found = newest.find(Kind::kBenchmarkRun);
  if (found == newest.end()) return std::optional<Version>();
  std::optional<Version> version = found->second;
  if (version->sequence > sequence) {
    auto then = store.GetEntry(name, AsOf{sequence});
    if (!then && then.error().errc != Errc::kNotFound) return Fail(then.error());
    version.reset();
    if (then && then->contains(Kind::kBenchmarkRun)) version = then->at(Kind::kBenchmarkRun);
  }
  if (!version || version->state != EntryState::kPassed || !version->digest || !version->ranked ||
      !filter.groups.contains(version->ranked->group) ||
      (filter.since && version->ranked->contender.observed_at < *filter.since))
    return std::optional<Version>();
  return version;
}

std::string PlaceOf(const EntryName& name) {
  std::string place = name.source;
  return place.append(1, '\0').append(name.external_id).append(1, '\0').append(name.scope);
}

std::optional<EntryName> NameAt(const std::string& place) {
  const std::size_t first = place.find('\0');
  if (first == std::string::npos) return std::nullopt;
  const std::size_t second = place.find('\0', first + 1);
  if (second == std::string::npos) return std::nullopt;
  EntryName name{place.substr(0, first), place.substr(first + 1, second - first - 1),
                 place.substr(second + 1)};
  if (name.scope.find('\0') != std::string::npos) return std::nullopt;
  return name;
}

Result<std::string> ListedRun(const Store& store, const GroupFacts& group, const EntryName& name,
                              const Version& version) {
  ETL_TRY(const Loaded run, LoadManifest(store, *version.digest));
  const auto& spec = std::get<BenchmarkRun>(run.manifest.spec);
  ETL_TRY(const Loaded implementation, LoadManifest(store, spec.implementation_digest));
  const auto* revision = std::get_if<ImplementationRevision>(&implementation.manifest.spec);
  return Object([&](ObjectWriter& o) {
    o.Text("id", RunId(*version.digest)).Text("digest", version.digest->Text());
    o.Text("operation", group.operation->named.slug);
    o.Text("implementation", ImplementationNamed(implementation).slug);
    o.Text("hardware", group.environment->product).Text("status", spec.status);
    o.Raw("primary", PrimaryJson(PrimaryMeasurementOf(spec)));
    o.Text("evidence", EvidenceName(version.ranked->contender.evidence));
    o.Bool("sourceAvailable", revision != nullptr && revision->source.has_value());
    o.Text("source", name.source).Text("observedAt", spec.observed_at.Text());
  });
}

}  // namespace

Result<Response> GetRun(const Ask& ask) {
  ETL_TRY(const Digest digest, FindRun(ask.store, ask.rest.front()));
  auto record = LoadRun(ask.store, digest, ask.as_of);
  if (!record && record.error().errc == Errc::kNotFound)
    return Fail(Errc::kNotFound, "RUN_NOT_FOUND", ask.rest.front(), "the run was not there then", "");
  ETL_TRY(const RunRecord found, std::move(record));
  return JsonAnswer(RunJson(found));
}

Result<Response> ListRuns(const Ask& ask) {
  ETL_TRY(const std::uint64_t limit, LimitOf(ask.request, kRunsPreset, kRunsMax));
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  ETL_TRY(const Filter filter, FilterOf(ask.request, *catalogue));
  ETL_TRY(Cursor cursor, CursorOf(ask, filter.text));
  std::optional<EntryName> from;
  if (cursor.place.empty()) {
    from = EntryName{filter.source, "", ""};
  } else if (!(from = NameAt(cursor.place))) {
    return Fail(Errc::kInvalid, "CURSOR", "cursor", "this is no cursor of ours",
                "begin again without a cursor");
  }
  std::vector<std::string> rows;
  std::optional<EntryName> next;
  Status failed;
  std::size_t scanned = 0;
  const bool any = filter.status.empty() || filter.status == "passed";
  const auto visit = [&](const EntryName& name, const std::map<Kind, Version>& newest) {
    if (!filter.source.empty() && name.source != filter.source) return false;
    if (rows.size() == limit || scanned++ == kScannedMax) {
      next = name;
      return false;
    }
    auto run = RunAt(ask.store, name, newest, cursor.sequence, filter);
    auto row = run && *run ? ListedRun(ask.store, *catalogue->Find((*run)->ranked->group), name, **run)
                           : Result<std::string>(std::string());
    if (!run || !row) {
      failed = Fail(!run ? run.error() : row.error());
      return false;
    }
    if (*run) rows.push_back(*std::move(row));
    return true;
  };
  if (any) ETL_CHECK_OK(ask.store.ForEachEntry(visit, *from));
  ETL_CHECK_OK(failed);
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Raw("runs", ListJson(rows));
    if (next) {
      o.Text("nextCursor", CursorText(ask.store, filter.text, {cursor.sequence, PlaceOf(*next)}));
    } else {
      o.Null("nextCursor");
    }
    o.Text("generatedAt", ask.at().Text());
  }));
}

}  // namespace etl::serve
