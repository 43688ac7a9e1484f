#include "adapters/sol_execbench/row_mapper.h"

#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "adapters/sol_execbench/entry.h"
#include "adapters/sol_execbench/vocabulary.h"
#include "model/canonical_json.h"
#include "model/comparison.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kTextMax = 200;  // code points of a title, a name, a label
constexpr std::size_t kExternalIdBytesMax = 500;
constexpr std::size_t kProjectsMax = 10'000;  // remembered between pages
constexpr std::size_t kProjectNameBytesMax = 4096;
constexpr std::size_t kMetadataFrameBytes = 48;  // room for names and brackets
constexpr double kExactIntegerMax = 9007199254740991.0;
constexpr std::string_view kNoVersion = "unknown";
constexpr std::string_view kDot = " · ";

void AppendInteger(std::string& out, std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.append(digits, end);
}

std::string SubmissionId(std::int64_t id) {
  std::string text;
  text.reserve(32);
  text += "submission/";
  AppendInteger(text, id);
  return text;
}

// `text` is short enough as it is almost always: at most 200 bytes are at most 200 code points.
void AppendCutString(std::string& out, std::string_view text) {
  if (text.size() <= kTextMax) {
    json::AppendString(out, text);
  } else {
    json::AppendString(out, CutTo(text, kTextMax));
  }
}

std::string CutName(std::string name) {
  if (name.size() > kTextMax) name.resize(kTextMax);
  return name;
}

}  // namespace

// What is at hand while one page is mapped.
struct RowMapper::Page {
  std::string_view request_key;
  std::int64_t kernel_id = 0;
  const Envelope& envelope;
  const ReviewLookup& reviews;
  Draft& draft;

  std::string PathOf(std::size_t index) const {
    std::string path;
    path.reserve(40);
    path += "$.data.submissions[";
    AppendInteger(path, static_cast<std::int64_t>(index));
    path += ']';
    return path;
  }
  void Quarantine(json::Value row, std::size_t index, const RowFault& fault) {
    std::string path = PathOf(index);
    std::string what(fault.member);
    if (!what.empty()) {
      path += '.';
      path += fault.member;
      what += ' ';
    }
    what += fault.what;
    draft.quarantine.push_back(
        Quarantined(std::string(fault.code), request_key, path, std::move(what), envelope.BytesOf(row)));
  }
};

void RowMapper::MapPage(std::string_view request_key, std::int64_t kernel_id, std::string_view context,
                        const Envelope& envelope, json::Value rows, const ReviewLookup& reviews,
                        Draft& draft) {
  UseContext(kernel_id, context);
  ++pages_;
  Page page{request_key, kernel_id, envelope, reviews, draft};
  draft.entries.reserve(draft.entries.size() + rows.size() * 4 + 2);
  users_.reserve(rows.size());
  for (const RefusedElement& refused : envelope.refused) {
    draft.quarantine.push_back(Quarantined("ROW_JSON", request_key, page.PathOf(refused.index),
                                           refused.error.Message(),
                                           envelope.text.substr(refused.begin, refused.end - refused.begin)));
  }
  const std::set<std::size_t> repeated = RepeatedRows(page, rows);
  std::size_t index = 0;
  for (const json::Value row : rows.elements()) {
    const bool left_out =
        (!envelope.refused.empty() && envelope.IsRefused(index)) || repeated.contains(index);
    if (!left_out) MapRow(page, row, index);
    ++index;
  }
  DraftUsers(draft);
}

// Of rows with one id in one answer only one can be taken: the one with the highest digest, so that their
// order does not matter. The others go to quarantine, unless they say the same.
std::set<std::size_t> RowMapper::RepeatedRows(Page& page, json::Value rows) {
  std::set<std::size_t> left_out;
  std::unordered_map<std::int64_t, std::pair<std::size_t, json::Value>> kept;
  kept.reserve(rows.size());
  std::size_t index = 0;
  for (const json::Value row : rows.elements()) {
    const std::size_t at = index++;
    const auto id = RowReader::IdOf(row);
    if (!id) continue;
    const auto [known, added] = kept.try_emplace(*id, at, row);
    if (added) continue;
    const auto digest = [](json::Value v) { return Sha256(json::Canonical(v, json::Integers::kExact)); };
    const Digest first = digest(known->second.second), second = digest(row);
    std::pair<std::size_t, json::Value> loser{at, row};
    if (second > first) std::swap(loser, known->second);
    left_out.insert(loser.first);
    if (first == second) continue;
    page.Quarantine(loser.second, loser.first,
                    {"ROW_ID_REPEATED", "id",
                     "another row of this answer has the id " + std::to_string(*id) + " and says otherwise"});
  }
  return left_out;
}

void RowMapper::UseContext(std::int64_t kernel_id, std::string_view text) {
  if (text == context_text_ && context_ && context_->kernel_id == kernel_id) return;
  context_text_ = text;
  context_ = text.empty() ? std::nullopt : ParseContext(text);
  if (context_ && context_->kernel_id != kernel_id) context_.reset();
  slices_.clear();
}

void RowMapper::MapRow(Page& page, json::Value value, std::size_t index) {
  Row row;
  RowFault fault;
  if (!reader_.Read(value, page.kernel_id, page.envelope, drift_, page.draft, row, fault)) {
    page.Quarantine(value, index, fault);
    return;
  }
  Verdict verdict;
  Judge(page, row, verdict);
  Slice* slice = nullptr;
  if (verdict.state == EntryState::kPassed) {
    if (!Date(row, fault, verdict.observed_at)) {
      page.Quarantine(value, index, fault);
      return;
    }
    slice = &SliceOf(row.gpu_type, row.stack_version);
    if (static_cast<double>(verdict.latency_ns) > kExactIntegerMax) {
      fault = {"MANIFEST_RULE", "latency_ms", "is beyond the range of an exact integer in nanoseconds"};
    } else if (!slice->refused.empty()) {
      fault = {"MANIFEST_RULE", {}, slice->refused};
    }
    if (!fault.code.empty()) {
      page.Quarantine(value, index, fault);
      return;
    }
  }
  const Locator locator = page.envelope.LocatorOf(value);
  NoteUser(row, locator);
  if (slice != nullptr) {
    DraftRun(page, row, verdict, *slice, locator);
  }
  DraftSubmission(page, row, std::move(verdict), value, locator);
}

void RowMapper::Judge(Page& page, const Row& row, Verdict& verdict) {
  if (!IsKnownGpu(row.gpu_type)) drift_.NoteValue(page.draft, "submissions[].gpu_type", row.gpu_type);
  const StatusClass status = ClassOf(row.status);
  if (status == StatusClass::kUnknown) drift_.NoteValue(page.draft, "submissions[].status", row.status);
  if (status == StatusClass::kUnfinished || status == StatusClass::kUnknown) {
    verdict.state = EntryState::kPending;
    verdict.reasons = {"NOT_FINISHED"};
    return;
  }
  if (!context_) {
    verdict.state = EntryState::kPending;
    verdict.reasons = {"KERNEL_UNAVAILABLE"};
    return;
  }
  // A latency that rounds to nothing is none, and what has none cannot be under the bound either.
  const double latency_ns = row.latency_ms ? std::floor(*row.latency_ms * 1e6 + 0.5) : 0;
  const bool measured = latency_ns >= 1;
  if (row.is_disqualified) verdict.reasons.emplace_back("DISQUALIFIED");
  if (status == StatusClass::kFailed) verdict.reasons.emplace_back("STATUS_" + std::string(row.status));
  if (!row.is_correct) verdict.reasons.emplace_back("NOT_CORRECT");
  if (!measured) verdict.reasons.emplace_back("MISSING_PRIMARY_METRIC");
  if (measured && context_->sol_ms_min && *row.latency_ms < *context_->sol_ms_min) {
    verdict.reasons.emplace_back(kReviewReason);
    if (verdict.reasons.size() == 1) verdict.review = page.reviews(row.id);
  }
  if (verdict.review && verdict.review->what == kAdmitted) verdict.reasons.clear();
  if (verdict.review && verdict.review->what == kRejected) verdict.reasons.emplace_back(kRejectedReason);
  if (!verdict.reasons.empty()) verdict.state = EntryState::kExcluded;
  // Beyond the exact range the value only has to stay beyond it.
  verdict.latency_ns = static_cast<std::int64_t>(std::fmin(latency_ns, kExactIntegerMax + 1));
}

bool RowMapper::Date(const Row& row, RowFault& fault, Instant& at) const {
  if (!row.has_finished_at && !row.has_submitted_at) {
    fault = {"ROW_NO_TIME", "finished_at",
             "and submitted_at are both missing, and our clock does not date a row"};
    return false;
  }
  const auto instant = ParseSourceInstant(row.has_finished_at ? row.finished_at : row.submitted_at);
  if (!instant) {
    fault = {"ROW_TIME", row.has_finished_at ? "finished_at" : "submitted_at", "is no time that can be read"};
    return false;
  }
  at = *instant;
  return true;
}

RowMapper::Slice& RowMapper::SliceOf(std::string_view gpu_type, std::string_view stack_version) {
  const std::string_view version = stack_version.empty() ? kNoVersion : stack_version;
  scratch_.clear();
  scratch_.append(gpu_type).append("/").append(version);
  const auto [place, added] = slices_.try_emplace(scratch_);
  if (added) FillSlice(place->second, gpu_type, version);
  return place->second;
}

void RowMapper::FillSlice(Slice& slice, std::string_view gpu_type, std::string_view version) {
  const BenchmarkProtocol protocol = ProtocolOf(version);
  const ExecutionEnvironment environment = EnvironmentOf(gpu_type, version);
  ImplementationRevision implementation;
  implementation.project_revision.version = "submission-0";
  implementation.operation_spec_digest = context_->operation;
  implementation.callable.language = "unknown";
  implementation.support.hardware_architectures = {environment.hardware.architecture};
  implementation.support.products_tested = {environment.hardware.product};
  implementation.support.dtypes = context_->input_dtypes;
  for (const Status& status : {CheckSpec(protocol), CheckSpec(environment), CheckSpec(implementation)}) {
    if (slice.refused.empty() && !status) slice.refused = status.error().Message();
  }
  const std::string environment_id = "environment/" + std::string(gpu_type) + "/" + std::string(version);
  if (environment_id.size() > kExternalIdBytesMax || version.find('\0') != std::string_view::npos) {
    slice.refused = "the GPU's name and stack version are too long, or hold a NUL";
  }
  if (!slice.refused.empty()) return;

  const std::string v(version);
  const std::string& product = environment.hardware.product;
  Metadata metadata;
  metadata.name = "sol-execbench-leaderboard-" + Kebab(version);
  metadata.title = CutTo("SOL-ExecBench evaluation stack " + v, kTextMax);
  slice.protocol = EntryOf("evaluation-stack/" + v, protocol, metadata, {});
  metadata.name = CutName("sol-execbench-" + Kebab(gpu_type) + "-" + Kebab(version));
  metadata.title = CutTo("SOL-ExecBench " + product + ", stack " + v, kTextMax);
  slice.environment = EntryOf(environment_id, environment, metadata, {});

  // Identities of implementations differ in the submission's id alone: the text around it is written once.
  constexpr std::string_view kVersionMember = R"("version":"submission-)";
  std::string identity;
  AppendIdentity(identity, implementation);
  const std::size_t id_at = identity.find(kVersionMember) + kVersionMember.size();
  slice.implementation_head = identity.substr(0, id_at);
  slice.implementation_tail = identity.substr(id_at + 1);

  BenchmarkRun& run = slice.run;
  run.workload_digest = context_->suite;
  run.protocol_digest = slice.protocol.digest;
  run.environment_digest = slice.environment.digest;
  run.status = "passed";
  run.timing.emplace().primary_statistic = "mean";
  run.timing->latency_ns.mean = 1;
  run.source_native.emplace().source = kSlug;
  run.source_native->benchmark = context_->name;
  run.source_native->metrics.emplace();

  EntryDraft::Ranking& ranking = slice.ranking;
  ranking.profile = ProfileOf(run);
  ranking.operation = context_->operation;
  ranking.workload = context_->suite;
  ranking.protocol = slice.protocol.digest;
  ranking.environment = slice.environment.digest;
  ranking.correctness = context_->correctness;
  ranking.metric_key = PrimaryMeasurementOf(run)->MetricKey();
  ranking.comparison_key = ComparisonKey({ranking.operation, ranking.workload, ranking.protocol,
                                          ranking.environment, ranking.correctness, ranking.metric_key});
}

void RowMapper::DraftSubmission(Page& page, const Row& row, Verdict verdict, json::Value value,
                                Locator locator) {
  EntryDraft& entry = page.draft.entries.emplace_back();
  entry.kind = Kind::kSubmission;
  entry.external_id = SubmissionId(row.id);
  entry.state = verdict.state;
  entry.reasons = std::move(verdict.reasons);
  scratch_.clear();
  json::AppendCanonical(scratch_, value, json::Integers::kExact);
  entry.content = Sha256(scratch_);
  entry.locator = locator;
  std::string& metadata = entry.metadata;
  metadata.reserve(160);
  metadata += "{\"kernel\":";
  json::AppendString(metadata, context_ ? std::string_view(context_->name) : row.kernel_name);
  if (verdict.review) metadata.append(",\"review\":").append(DecisionText(*verdict.review));
  metadata += ",\"status\":";
  AppendCutString(metadata, row.status);
  metadata += ",\"user\":\"user/";
  AppendInteger(metadata, row.user_id);
  metadata += "\",\"username\":";
  AppendCutString(metadata, row.username);
  metadata += '}';
}

void RowMapper::DraftRun(Page& page, const Row& row, const Verdict& verdict, Slice& slice,
                         const Locator& locator) {
  auto& entries = page.draft.entries;
  if (slice.page != pages_) {
    slice.page = pages_;
    entries.push_back(slice.protocol);
    entries.back().locator = locator;
    entries.push_back(slice.environment);
    entries.back().locator = locator;
  }
  std::string& title = title_;
  title.clear();
  title.append(row.username).append(kDot).append(context_->name);
  std::string& name = name_;
  name = "\"name\":\"sol-submission-";
  AppendInteger(name, row.id);
  name += "\",\"title\":";

  EntryDraft& implementation = entries.emplace_back();
  implementation.kind = Kind::kImplementationRevision;
  implementation.external_id = SubmissionId(row.id);
  implementation.locator = locator;
  std::string& identity = implementation.identity;
  identity.reserve(slice.implementation_head.size() + slice.implementation_tail.size() + 24);
  identity += slice.implementation_head;
  AppendInteger(identity, row.id);
  identity += slice.implementation_tail;
  implementation.digest = Sha256(identity);
  implementation.metadata.reserve(title.size() + name.size() + row.username.size() + kMetadataFrameBytes);
  implementation.metadata += "{\"authors\":[{\"name\":";
  AppendCutString(implementation.metadata, row.username);
  implementation.metadata.append("}],").append(name);
  AppendCutString(implementation.metadata, title);
  implementation.metadata += '}';
  const Digest implementation_digest = implementation.digest;

  BenchmarkRun& spec = slice.run;
  spec.implementation_digest = implementation_digest;
  spec.timing->latency_ns.mean = verdict.latency_ns;
  spec.observed_at = verdict.observed_at;
  scratch_.clear();
  AppendInteger(scratch_, row.id);
  spec.source_native->external_id = scratch_;
  SetMetrics(row, *spec.source_native->metrics);

  EntryDraft& run = entries.emplace_back();
  run.kind = Kind::kBenchmarkRun;
  run.external_id = SubmissionId(row.id);
  run.locator = locator;
  scratch_.clear();
  AppendIdentity(scratch_, spec);
  run.identity = scratch_;
  run.digest = Sha256(run.identity);
  run.metadata.reserve(title.size() + name.size() + row.worker_id.size() + row.gpu_type.size() +
                       kMetadataFrameBytes);
  run.metadata += '{';
  if (!row.worker_id.empty()) {
    run.metadata += "\"labels\":{\"worker\":";
    AppendCutString(run.metadata, row.worker_id);
    run.metadata += "},";
  }
  run.metadata += name;
  title.append(kDot).append(row.gpu_type);
  AppendCutString(run.metadata, title);
  run.metadata += '}';
  run.ranking = slice.ranking;
  run.ranking->value = static_cast<double>(verdict.latency_ns);
  run.ranking->observed_at = verdict.observed_at;
}

// Reuses the map's nodes: the members are the same from row to row.
void RowMapper::SetMetrics(const Row& row, MapOf<double>& metrics) const {
  const auto set = [&](std::string_view name, const std::optional<double>& value) {
    const auto known = metrics.find(name);
    if (known != metrics.end() && value) {
      known->second = *value;
    } else if (known != metrics.end()) {
      metrics.erase(known);
    } else if (value) {
      metrics.emplace(name, *value);
    }
  };
  set("latency_ms", row.latency_ms);
  set("sol_score", row.sol_score);
  set("avg_speedup", row.avg_speedup);
  set("fast_1_count", row.fast_1_count);
  set("fast_1_total", row.fast_1_total);
}

// Rows of one page may disagree about a name: the one of the newest submission stands.
void RowMapper::NoteUser(const Row& row, const Locator& locator) {
  const auto [place, added] = user_places_.try_emplace(row.user_id, users_.size());
  if (added) {
    users_.emplace_back(row.user_id, PageUser{row.id, row.username, locator});
  } else if (PageUser& user = users_[place->second].second; user.submission_id < row.id) {
    user = {row.id, row.username, locator};
  }
}

void RowMapper::DraftUsers(Draft& draft) {
  if (projects_.size() > kProjectsMax) projects_.clear();
  for (auto& [user_id, user] : users_) {
    const Project& project = ProjectOf(user_id, user.username);
    EntryDraft& entry = draft.entries.emplace_back();
    entry.kind = Kind::kSoftwareProject;
    entry.external_id = "user/" + std::to_string(user_id);
    entry.identity = project.identity;
    entry.digest = project.digest;
    entry.metadata = project.metadata;
    entry.major = static_cast<std::uint64_t>(user.submission_id);
    entry.locator = user.locator;
  }
  users_.clear();
  user_places_.clear();
}

const RowMapper::Project& RowMapper::ProjectOf(std::int64_t user_id, std::string_view username) {
  const auto [place, added] = projects_.try_emplace(user_id);
  Project& project = place->second;
  if (!added && !username.empty() && project.username == username) return project;
  SoftwareProject spec;
  spec.name = CutTo(username, kTextMax);
  spec.kind = "individual";
  spec.host = ProjectHost{"other", CutTo("sol-execbench/user/" + std::string(username), kTextMax)};
  // A name of many megabytes is not remembered, only made again.
  project.username = username.size() <= kProjectNameBytesMax ? username : std::string_view();
  project.identity.clear();
  AppendIdentity(project.identity, spec);
  project.digest = Sha256(project.identity);
  project.metadata = "{\"name\":\"sol-user-" + Kebab(username) + "\"}";
  return project;
}

}  // namespace etl::sol_execbench
