// Runs side by side.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/comparison.h"
#include "model/json.h"
#include "model/json_writer.h"
#include "model/ranking.h"
#include "serve/api.h"
#include "serve/run_json.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::size_t kComparedMin = 2, kComparedMax = 8;

// Which parts of what makes runs comparable differ between these.
struct Aspect {
  const char* field;
  bool material;
  std::function<std::string(const RunRecord&)> value;
};

const std::vector<Aspect>& Aspects() {
  static const std::vector<Aspect> kAspects{
      {"operation", true, [](const RunRecord& r) { return r.operation.digest.Text(); }},
      {"workload", true, [](const RunRecord& r) { return r.workload.digest.Text(); }},
      {"protocol", true, [](const RunRecord& r) { return r.protocol.digest.Text(); }},
      {"environment", true, [](const RunRecord& r) { return r.environment.digest.Text(); }},
      {"metric", true,
       [](const RunRecord& r) { return r.primary ? r.primary->MetricKey() : std::string("none"); }},
      {"profile", true, [](const RunRecord& r) { return std::string(ProfileOf(r.spec())); }},
      {"implementation", false,
       [](const RunRecord& r) { return ImplementationNamed(r.implementation).name; }},
      {"hardware", false,
       [](const RunRecord& r) {
         return std::get<ExecutionEnvironment>(r.environment.manifest.spec).hardware.product;
       }},
      {"source", false, [](const RunRecord& r) { return r.entry.source; }},
      {"observedAt", false, [](const RunRecord& r) { return r.spec().observed_at.Text(); }}};
  return kAspects;
}

std::string ComparedRun(const RunRecord& record) {
  const auto& implementation = std::get<ImplementationRevision>(record.implementation.manifest.spec);
  const Named author = ImplementationNamed(record.implementation);
  return Object([&](ObjectWriter& o) {
    o.Text("runId", RunId(record.run.digest)).Text("digest", record.run.digest.Text());
    o.Raw("implementation", NamedJson(author)).Raw("project", NamedJson(author));
    o.Raw("operation", NamedJson(OperationNamed(record)))
        .Text("workloadLabel", WorkloadText(record.workload));
    o.Text("hardware", std::get<ExecutionEnvironment>(record.environment.manifest.spec).hardware.product);
    o.Raw("primary", PrimaryJson(record.primary)).Text("evidence", EvidenceOfRun(record));
    o.Text("status", record.spec().status);
    o.Text("comparisonKey", record.group ? record.group->key.Text() : "");
    if (record.place) {
      o.Count("rank", record.place->rank);
    } else {
      o.Null("rank");
    }
    o.Bool("tiedWithPrevious", false).Bool("eligible", record.place.has_value());
    o.Raw("ineligibleReasons", json::TextArray(record.reasons));
    o.Raw("license", Object([&](ObjectWriter& l) {
            l.Raw("declared", TextOrNull(implementation.licensing.declared.value_or("")));
            l.Raw("concluded", TextOrNull(implementation.licensing.concluded.value_or("")));
          }));
    o.Null("install").Bool("sourceAvailable", implementation.source.has_value());
    o.Text("observedAt", record.spec().observed_at.Text());
  });
}

std::string CompareJson(const std::vector<RunRecord>& runs, const std::vector<std::string>& missing) {
  std::vector<std::string> rows, fields;
  std::string first_mismatch;
  for (const RunRecord& run : runs) rows.push_back(ComparedRun(run));
  for (const Aspect& aspect : Aspects()) {
    std::vector<std::string> values;
    for (const RunRecord& run : runs) values.push_back(aspect.value(run));
    const bool differs = std::any_of(values.begin(), values.end(),
                                     [&](const std::string& value) { return value != values.front(); });
    if (differs && aspect.material && first_mismatch.empty()) first_mismatch = aspect.field;
    fields.push_back(Object([&](ObjectWriter& o) {
      o.Text("field", aspect.field).Bool("material", aspect.material);
      o.Raw("values", json::TextArray(values)).Bool("differs", differs);
    }));
  }
  const bool comparable = first_mismatch.empty() && runs.size() >= kComparedMin;
  const bool grouped = comparable && runs.front().group;
  return Object([&](ObjectWriter& o) {
    o.Bool("illustrative", false).Raw("runs", ListJson(rows)).Bool("comparable", comparable);
    o.Raw("profile", grouped ? TextOrNull(runs.front().group->profile) : "null");
    o.Raw("comparisonKey", grouped ? TextOrNull(runs.front().group->key.Text()) : "null");
    o.Raw("fields", ListJson(fields)).Raw("firstMaterialMismatch", TextOrNull(first_mismatch));
    o.Text("explanation", comparable ? "These runs are in one comparison group: their values may be compared."
                          : first_mismatch.empty() ? std::string("There are fewer than two runs to compare.")
                                                   : "These runs differ in " + first_mismatch +
                                                         ": their values may not be compared.");
    o.Raw("missingIds", json::TextArray(missing)).Text("policyVersion", kRankingPolicy);
  });
}

// The ids that are asked for, from the body of a POST or from the query.
Result<std::vector<std::string>> ComparedIds(const Request& request) {
  std::vector<std::string> ids;
  const auto wrong = [](std::string what) {
    return Fail(Errc::kInvalid, "COMPARE_RUNS", "runs", std::move(what),
                "give 2 to 8 ids, as {\"runs\":[...]} or runs=A,B");
  };
  if (request.method == "POST") {
    const auto document = json::Document::Parse(request.body);
    if (!document) return wrong("the body is no JSON: " + document.error().code);
    for (const json::Member member : document->root().members())
      if (member.name != "runs") return wrong("the body has an unknown member");
    const json::Value runs = document->root().Find("runs");
    if (!runs.IsArray()) return wrong("the body has no list \"runs\"");
    for (const json::Value id : runs.elements()) {
      if (!id.IsString()) return wrong("an id is no text");
      ids.emplace_back(id.AsString());
    }
  } else {
    for (std::string_view left = request.Param("runs").value_or(""); !left.empty();) {
      const std::size_t comma = std::min(left.find(','), left.size());
      ids.emplace_back(left.substr(0, comma));
      left.remove_prefix(std::min(comma + 1, left.size()));
    }
  }
  if (ids.size() < kComparedMin || ids.size() > kComparedMax) return wrong("these are not 2 to 8 ids");
  return ids;
}

}  // namespace

Result<Response> CompareRuns(const Ask& ask) {
  ETL_TRY(const std::vector<std::string> ids, ComparedIds(ask.request));
  std::vector<RunRecord> runs;
  std::vector<std::string> missing;
  for (const std::string& id : ids) {
    const auto digest = FindRun(ask.store, id);
    auto record = digest ? LoadRun(ask.store, *digest, ask.as_of) : Result<RunRecord>(Fail(digest.error()));
    if (record) {
      runs.push_back(*std::move(record));
    } else if (record.error().errc == Errc::kNotFound || record.error().code == "RUN_ID") {
      missing.push_back(id);
    } else {
      return Fail(record.error());
    }
  }
  return JsonAnswer(CompareJson(runs, missing));
}

}  // namespace etl::serve
