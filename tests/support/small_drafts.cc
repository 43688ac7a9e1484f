#include "tests/support/small_drafts.h"

#include <stdexcept>

#include "model/canonical_json.h"
#include "model/comparison.h"
#include "store/head.h"
#include "store/keys.h"
#include "store/kv.h"

namespace etl::test {
namespace {

void Check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().Message());
}

template <class S>
std::string IdentityOf(const S& spec) {
  std::string out;
  AppendIdentity(out, spec);
  return out;
}

}  // namespace

SmallSource::SmallSource() {
  OperationSpec operation;
  operation.family = "small";
  operation.axes["n"] = Axis{"variable", {}, {}, {}, {}};
  operation.inputs.push_back({"x", TensorType{{Dimension(std::string("n"))}, "fp32", {}}, {}});
  operation.outputs = operation.inputs;
  operation.semantics = {{}, "none", "unspecified"};
  operation_ = Shared(Kind::kOperationSpec, "op", IdentityOf(operation));
  WorkloadSuite suite;
  suite.operation_spec_digest = operation_.digest;
  suite.cases.push_back({"c1", {{"n", 8}}});
  suite.correctness = {"exact", {}};
  suite.aggregation = {"latency", "mean"};
  suite_ = Shared(Kind::kWorkloadSuite, "op/suite", IdentityOf(suite));
  correctness_ = CorrectnessKey(suite.correctness);
  BenchmarkProtocol protocol;
  protocol.harness.name = "small";
  protocol.measurement.timer = "wall";
  protocol.measurement.primary_statistic = "mean";
  protocol_ = Shared(Kind::kBenchmarkProtocol, "protocol", IdentityOf(protocol));
  ExecutionEnvironment environment;
  environment.hardware = {"none", "Nothing", "none", {}, {}, {}, {}};
  environment_ = Shared(Kind::kExecutionEnvironment, "environment", IdentityOf(environment));
}

EntryDraft SmallSource::Shared(Kind kind, std::string external_id, std::string identity) const {
  EntryDraft d;
  d.kind = kind;
  d.metadata = "{\"name\":\"small\"}";
  d.external_id = std::move(external_id);
  d.digest = Sha256(identity);
  d.identity = std::move(identity);
  return d;
}

Ingest SmallSource::Page(int page, const std::vector<std::pair<int, double>>& rows, std::int64_t at_ms) {
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->source = "small";
  snapshot->request = "page/" + std::to_string(page);
  snapshot->origin = "nowhere";
  snapshot->captured_at = Instant{at_ms != 0 ? at_ms : static_cast<std::int64_t>(snapshots_.size()) + 1};
  Ingest ingest;
  ingest.adapter = "small/1";
  ingest.draft.entries = {operation_, suite_, protocol_, environment_};
  for (const auto& [id, latency] : rows) {
    EntryDraft row;
    row.kind = Kind::kSubmission;
    row.external_id = "submission/" + std::to_string(id);
    row.locator.offset = snapshot->bytes.size();
    std::string text = "{\"id\":" + std::to_string(id) + ",\"latency\":";
    json::AppendNumber(text, latency);
    text += "}";
    row.locator.bytes = text.size();
    row.content = Sha256(text);
    snapshot->bytes += text + "\n";
    if (latency <= 0) {
      row.state = EntryState::kExcluded;
      row.reasons = {"NOT_CORRECT"};
      ingest.draft.entries.push_back(std::move(row));
      continue;
    }
    ImplementationRevision implementation;
    implementation.project_revision.version = row.external_id;
    implementation.operation_spec_digest = operation_.digest;
    implementation.callable.language = "unknown";
    implementation.support = {{"none"}, {}, {}, {"fp32"}, {}};
    EntryDraft code = Shared(Kind::kImplementationRevision, row.external_id, IdentityOf(implementation));
    BenchmarkRun run;
    run.implementation_digest = code.digest;
    run.workload_digest = suite_.digest;
    run.protocol_digest = protocol_.digest;
    run.environment_digest = environment_.digest;
    run.status = "passed";
    run.timing = Timing{"mean", {}, {}, {}};
    run.timing->latency_ns.mean = static_cast<std::int64_t>(latency);
    run.source_native = SourceNative{"small", {}, std::to_string(id), {}};
    run.observed_at = Instant{1'700'000'000'000 + id * 1000};
    EntryDraft result = Shared(Kind::kBenchmarkRun, row.external_id, IdentityOf(run));
    const auto primary = PrimaryMeasurementOf(run);
    EntryDraft::Ranking ranking;
    ranking.profile = ProfileOf(run);
    ranking.operation = operation_.digest;
    ranking.workload = suite_.digest;
    ranking.protocol = protocol_.digest;
    ranking.environment = environment_.digest;
    ranking.correctness = correctness_;
    ranking.metric_key = primary->MetricKey();
    ranking.comparison_key = ComparisonKey({operation_.digest, suite_.digest, protocol_.digest,
                                            environment_.digest, correctness_, ranking.metric_key});
    ranking.value = primary->value;
    ranking.observed_at = run.observed_at;
    result.ranking = ranking;
    for (EntryDraft* d : {&row, &code, &result}) ingest.draft.entries.push_back(std::move(*d));
  }
  snapshot->digest = Sha256(snapshot->bytes);
  ingest.snapshot = snapshot.get();
  snapshots_.push_back(std::move(snapshot));
  return ingest;
}

std::string ExportText(const Store& store) {
  std::string out;
  Check(store.Export({}, [&](std::string_view line) {
    out += line;
    return Status();
  }));
  return out;
}

void SetStoredFormat(const std::string& dir, int format) {
  auto kv = Kv::Open(dir + "/db", {});
  if (!kv) throw std::runtime_error(kv.error().Message());
  auto value = (*kv)->Get(keys::Meta("format"));
  const std::shared_ptr<Kv::Batch> batch = (*kv)->NewBatch();
  std::string text = **value;
  const std::string name = "\"format\":";
  const std::size_t number = text.find(name) + name.size();
  text.replace(number, text.find_first_not_of("0123456789", number) - number, std::to_string(format));
  batch->Put(keys::Meta("format"), text);
  Check((*kv)->Write(batch, true));
}

void AcknowledgeMore(const std::string& dir, std::uint64_t sequences) {
  const auto head = HeadFile::Read(dir);
  if (!head || !*head) throw std::runtime_error("no HEAD");
  auto file = HeadFile::Open(dir);
  Check((*file)->Write({(*head)->epoch, (*head)->sequence + sequences}));
  Check((*file)->Write({(*head)->epoch, (*head)->sequence + sequences}));
}

}  // namespace etl::test
