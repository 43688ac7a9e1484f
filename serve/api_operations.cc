// Operations, with the groups that their runs stand in.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "model/json_writer.h"
#include "model/text.h"
#include "serve/api.h"
#include "serve/format.h"
#include "serve/run_json.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::uint64_t kRowsPreset = 50;

struct Operation {
  std::shared_ptr<const OperationFacts> facts;
  std::vector<const GroupFacts*> groups;  // most members first
  std::uint64_t runs = 0;
};

// By digest. Groups that nobody stands in count for nothing.
std::map<Digest, Operation> OperationsOf(const Catalogue& catalogue) {
  std::map<Digest, Operation> operations;
  for (const GroupFacts& group : catalogue.groups) {
    if (group.info.members == 0) continue;
    Operation& operation = operations[group.info.operation];
    operation.facts = group.operation;
    operation.groups.push_back(&group);
    operation.runs += group.info.members;
  }
  for (auto& [digest, operation] : operations)
    std::stable_sort(operation.groups.begin(), operation.groups.end(),
                     [](const auto* a, const auto* b) { return a->info.members > b->info.members; });
  return operations;
}

std::size_t Workloads(const Operation& operation) {
  std::set<Digest> workloads;
  for (const GroupFacts* group : operation.groups) workloads.insert(group->info.workload);
  return workloads.size();
}

// Of those with this slug, id, digest or name: the one with most runs, as definitions change and the old
// groups stay.
const Operation* FindOperation(const std::map<Digest, Operation>& operations, const std::string& wanted) {
  const Operation* best = nullptr;
  for (const auto& [digest, operation] : operations) {
    const OperationFacts& facts = *operation.facts;
    const bool is = facts.named.slug == wanted || facts.external_id == wanted || digest.Text() == wanted ||
                    RunId(digest) == wanted;
    if (is && (best == nullptr || operation.runs > best->runs)) best = &operation;
  }
  return best;
}

std::string Dimensions(const TensorType& tensor) {
  std::string out = "[";
  for (const Dimension& dimension : tensor.shape) {
    if (out.size() > 1) out += ", ";
    const auto* number = std::get_if<std::int64_t>(&dimension);
    out += number != nullptr ? std::to_string(*number) : std::get<std::string>(dimension);
  }
  return out + "]";
}

std::string Arguments(const std::vector<Argument>& arguments) {
  std::vector<std::string> values;
  for (const Argument& argument : arguments) {
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("name", argument.name);
      o.Text("dtype", argument.tensor ? argument.tensor->dtype : argument.scalar_dtype.value_or(""));
      o.Text("shape", argument.tensor ? Dimensions(*argument.tensor) : "scalar");
      o.Raw("layout", argument.tensor ? TextOrNull(argument.tensor->layout.value_or("")) : "null");
    }));
  }
  return ListJson(values);
}

std::string Axes(const OperationSpec& spec) {
  std::vector<std::string> values;
  for (const auto& [name, axis] : spec.axes) {
    values.push_back(Object([&, &name = name, &axis = axis](ObjectWriter& o) {
      o.Text("name", name).Text("role", axis.role);
      if (axis.value) {
        o.Integer("value", *axis.value);
      } else {
        o.Null("value");
      }
      std::string constraint = axis.expression.value_or("");
      if (axis.minimum) constraint += (constraint.empty() ? ">= " : ", >= ") + std::to_string(*axis.minimum);
      if (axis.maximum) constraint += (constraint.empty() ? "<= " : ", <= ") + std::to_string(*axis.maximum);
      o.Raw("constraint", TextOrNull(constraint));
    }));
  }
  return ListJson(values);
}

std::string Semantics(const OperationSpec& spec) {
  return Object([&](ObjectWriter& o) {
    o.Raw("inputs", Arguments(spec.inputs)).Raw("outputs", Arguments(spec.outputs)).Raw("axes", Axes(spec));
    o.Raw("expression", TextOrNull(spec.semantics.expression.value_or("")));
    o.Text("determinism", spec.semantics.determinism).Raw("constraints", "[]");
  });
}

Result<std::string> WorkloadsJson(const Store& store, const Operation& operation) {
  std::set<Digest> seen;
  std::vector<std::string> values;
  for (const GroupFacts* group : operation.groups) {
    if (!seen.insert(group->info.workload).second) continue;
    ETL_TRY(const Loaded workload, LoadManifest(store, group->info.workload));
    std::string axes, tolerance;
    ObjectWriter axes_object(axes);
    if (const auto* one = std::get_if<WorkloadCase>(&workload.manifest.spec)) {
      for (const auto& [name, value] : one->axes) axes_object.Integer(name, value);
      tolerance = one->correctness.comparator;
    } else if (const auto* suite = std::get_if<WorkloadSuite>(&workload.manifest.spec)) {
      tolerance = suite->correctness.comparator;
    }
    axes_object.End();
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("id", RunId(workload.digest)).Text("digest", workload.digest.Text());
      o.Text("label", WorkloadText(workload)).Raw("axes", axes).Raw("dtypes", "[]");
      o.Text("toleranceSummary", tolerance);
    }));
  }
  return ListJson(values);
}

Result<std::string> CohortOption(const Store& store, const GroupFacts& group) {
  ETL_TRY(const std::vector<StandingLine> first, store.GetStanding(group.info, 0, 1));
  ETL_TRY(const Loaded protocol, LoadManifest(store, group.info.protocol));
  std::string head = "null";
  if (!first.empty()) {
    ETL_TRY(const std::string user, AuthorOfEntry(store, {first[0].source, first[0].external_id, ""}));
    head = Object([&](ObjectWriter& o) {
      o.Text("runId", RunId(first[0].contender.digest));
      o.Raw("implementation", NamedJson({user, Kebab(user)}));
      o.Raw("primary", PrimaryJson(group.info.metric_key, first[0].contender));
    });
  }
  const auto* spec = std::get_if<BenchmarkProtocol>(&protocol.manifest.spec);
  return Object([&](ObjectWriter& o) {
    o.Text("key", group.info.key.Text());
    o.Text("label", group.environment->product + " · " + (spec != nullptr ? HarnessText(*spec) : ""));
    o.Count("runs", group.info.members).Raw("head", head);
  });
}

Result<std::string> CohortJson(const Store& store, const GroupFacts& group) {
  ETL_TRY(const Loaded protocol, LoadManifest(store, group.info.protocol));
  Facts facts{{"hardware", group.environment->summary}, {"metric", group.info.metric_key}};
  if (const auto* spec = std::get_if<BenchmarkProtocol>(&protocol.manifest.spec))
    for (auto& fact : ProtocolFacts(*spec)) facts.push_back(std::move(fact));
  return Object([&](ObjectWriter& o) {
    o.Text("comparisonKey", group.info.key.Text()).Text("profile", group.info.profile);
    o.Text("description", ProfileText(group.info.profile) + " comparison").Raw("facts", FactsJson(facts));
  });
}

// Implementations of the rows of a group, each once: the contract's short form.
Result<std::string> ImplementationsJson(const Ask& ask, const GroupFacts& group, AsOf as_of) {
  ETL_TRY(const std::vector<StandingLine> lines, ask.store.GetStanding(group.info, 0, kRowsPreset, as_of));
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const StandingLine& line : lines) {
    ETL_TRY(const Loaded run, LoadManifest(ask.store, line.contender.digest));
    const auto* spec = std::get_if<BenchmarkRun>(&run.manifest.spec);
    if (spec == nullptr) continue;
    ETL_TRY(const Loaded loaded, LoadManifest(ask.store, spec->implementation_digest));
    const auto* revision = std::get_if<ImplementationRevision>(&loaded.manifest.spec);
    const Named author = ImplementationNamed(loaded);
    if (revision == nullptr || !seen.insert(author.slug).second) continue;
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("slug", author.slug).Text("name", author.name).Raw("project", NamedJson(author));
      o.Raw("language", TextOrNull(revision->callable.language)).Null("framework");
      o.Text("evidence", EvidenceName(line.contender.evidence));
      o.Raw("bestPrimary", PrimaryJson(group.info.metric_key, line.contender));
      o.Bool("sourceAvailable", revision->source.has_value()).Bool("installable", false);
      o.Raw("license", Object([&](ObjectWriter& l) {
              l.Raw("declared", TextOrNull(revision->licensing.declared.value_or("")));
              l.Raw("concluded", TextOrNull(revision->licensing.concluded.value_or("")));
            }));
    }));
  }
  return ListJson(values);
}

Result<const GroupFacts*> ChooseGroup(const Ask& ask, const Operation& operation) {
  const std::string workload(ask.request.Param("workload").value_or(""));
  const std::string cohort(ask.request.Param("cohort").value_or(""));
  for (const GroupFacts* group : operation.groups) {
    if (!cohort.empty() && group->info.key.Text() != cohort && group->info.key.Hex() != cohort) continue;
    const Digest& of = group->info.workload;
    if (!workload.empty() && of.Text() != workload && RunId(of) != workload) continue;
    return group;
  }
  return Fail(Errc::kNotFound, "GROUP_NOT_FOUND", "", "no group of this operation has this workload and key",
              "");
}

Result<std::string> OperationJson(const Ask& ask, const Operation& operation) {
  ETL_TRY(const Loaded loaded, LoadManifest(ask.store, operation.facts->digest));
  const auto& spec = std::get<OperationSpec>(loaded.manifest.spec);
  ETL_TRY(const GroupFacts* const group, ChooseGroup(ask, operation));
  ETL_TRY(const std::string workloads, WorkloadsJson(ask.store, operation));
  std::vector<std::string> options;
  for (const GroupFacts* option : operation.groups) {
    ETL_TRY(std::string json, CohortOption(ask.store, *option));
    options.push_back(std::move(json));
  }
  ETL_TRY(const std::string cohort, CohortJson(ask.store, *group));
  bool more = false;
  ETL_TRY(const std::vector<std::string> rows, RowsOf(ask, *group, ask.as_of, 0, kRowsPreset, more));
  ETL_TRY(const std::string implementations, ImplementationsJson(ask, *group, ask.as_of));
  return Object([&](ObjectWriter& o) {
    o.Bool("illustrative", false);
    o.Raw("operation", Object([&](ObjectWriter& p) {
            p.Text("id", RunId(operation.facts->digest)).Text("slug", operation.facts->named.slug);
            p.Text("name", operation.facts->named.name).Text("family", operation.facts->family);
            p.Raw("aliases", json::TextArray(std::vector<std::string>{operation.facts->external_id}));
            p.Raw("equivalents", "[]").Raw("models", "[]");
            p.Text("semanticDigest", operation.facts->digest.Text());
            p.Text("summary", loaded.manifest.metadata.description.value_or("")).Null("supersededById");
          }));
    o.Raw("semantics", Semantics(spec)).Raw("workloads", workloads);
    o.Text("selectedWorkloadId", RunId(group->info.workload)).Raw("cohortOptions", ListJson(options));
    o.Raw("cohort", cohort).Raw("records", ListJson(rows)).Null("sweep");
    o.Raw("implementations", implementations);
    o.Raw("coverage", Object([&](ObjectWriter& c) {
            c.Integer("verified", 0).Integer("reproducible", 0).Count("reported", operation.runs);
            c.Null("lastObservedAt");
          }));
    o.Raw(
        "sources", ListJson({Object([&](ObjectWriter& s) {
          s.Text("name", SourceTitle(group->source)).Text("kind", group->source).Null("url").Null("license");
          s.Text("externalId", operation.facts->external_id).Null("observedAt");
        })}));
  });
}

}  // namespace

Result<Response> ListOperations(const Ask& ask) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  const auto family = ask.request.Param("family");
  const bool tagged = ask.request.Param("tag").has_value();  // nothing here has tags
  std::vector<std::pair<std::string, std::string>> values;   // by slug
  for (const auto& [digest, operation] : OperationsOf(*catalogue)) {
    if (tagged || (family && *family != operation.facts->family)) continue;
    values.emplace_back(
        operation.facts->named.slug, Object([&, &operation = operation](ObjectWriter& o) {
          o.Text("slug", operation.facts->named.slug).Text("name", operation.facts->named.name);
          o.Text("family", operation.facts->family).Raw("tags", "[]");
          o.Count("workloads", Workloads(operation)).Count("runs", operation.runs);
        }));
  }
  std::sort(values.begin(), values.end());
  std::vector<std::string> list;
  for (auto& [slug, value] : values) list.push_back(std::move(value));
  return JsonAnswer(Object(
      [&](ObjectWriter& o) { o.Raw("operations", ListJson(list)).Text("generatedAt", ask.at().Text()); }));
}

Result<Response> GetOperation(const Ask& ask) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  const auto operations = OperationsOf(*catalogue);
  const Operation* const operation = FindOperation(operations, ask.rest.front());
  if (operation == nullptr)
    return Fail(Errc::kNotFound, "OPERATION_NOT_FOUND", ask.rest.front().substr(0, 200),
                "no operation with runs has this slug, id or name", "/api/v1/operations lists them");
  ETL_TRY(std::string json, OperationJson(ask, *operation));
  return JsonAnswer(std::move(json));
}

}  // namespace etl::serve
