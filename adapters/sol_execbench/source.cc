#include "adapters/sol_execbench/source.h"

#include <optional>
#include <utility>

#include "adapters/sol_execbench/vocabulary.h"

namespace etl::sol_execbench {

std::string_view Source::slug() const {
  return kSlug;
}
std::string_view Source::version() const {
  return "sol-execbench/1";
}

std::vector<Request> Source::Plan(const Goal& goal) const {
  std::vector<Request> first;
  first.emplace_back().key = goal.local ? "local" : "kernels";
  return first;
}

Result<Outcome> Source::Accept(Request& request, const Snapshot& snapshot, std::string_view context,
                               Reading reading, const Goal& goal) {
  auto key = ParseRequestKey(request.key);
  if (!key) {
    return Fail(Errc::kInvalid, "REQUEST_KEY", request.key, "the source has no such request",
                "use the keys that Plan and Accept hand out");
  }
  const Endpoint endpoint = key->endpoint;
  const Call call{request, *std::move(key), snapshot.bytes, context, reading == Reading::kFull, goal};
  switch (endpoint) {
    case Endpoint::kKernels:
      return AcceptKernels(call);
    case Endpoint::kKernel:
      return AcceptKernel(call);
    case Endpoint::kSubmissions:
      return AcceptSubmissions(call);
    case Endpoint::kLeaderboard:
      return AcceptLeaderboard(call);
    case Endpoint::kLocalIndex:
      return AcceptLocalIndex(call);
    case Endpoint::kLocalDefinition:
      return AcceptLocalDefinition(call);
    case Endpoint::kLocalWorkloads:
      return AcceptLocalWorkloads(call);
  }
  return Outcome();
}

bool Source::ReadsWithContext(std::string_view request_key, std::string_view context_key) const {
  const auto key = ParseRequestKey(request_key);
  if (!key) return false;
  if (key->endpoint == Endpoint::kSubmissions) return KernelScope(key->kernel_id) == context_key;
  return key->endpoint == Endpoint::kLocalWorkloads && LocalScope(key->folder) == context_key;
}

std::string Source::ContextFor(std::string_view request_key) const {
  const auto key = ParseRequestKey(request_key);
  if (!key) return {};
  if (key->endpoint == Endpoint::kSubmissions || key->endpoint == Endpoint::kLeaderboard) {
    return KernelScope(key->kernel_id);
  }
  return key->endpoint == Endpoint::kLocalWorkloads ? LocalScope(key->folder) : std::string();
}

Result<Outcome> Source::AcceptSubmissions(const Call& call) {
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {"data", "submissions"}));
  const json::Value data = envelope.document.root().Find("data");
  const json::Value rows = data.Find("submissions");
  if (!rows.IsArray()) {
    return Fail(
        ShapeError(call.request.key, "$.data.submissions", "the answer holds no list of submissions"));
  }
  Outcome outcome;
  if (call.draft) {
    NoteEnvelopeDrift(envelope, "submissions", outcome);
    drift_.NoteUnknown(outcome.draft, data, {"submissions", "total", "offset", "limit"}, "submissions.data.",
                       envelope.text);
    mapper_.MapPage(call.request.key, call.key.kernel_id, call.context, envelope, rows, outcome.draft);
  }
  std::unique_ptr<Walk> walk;
  if (auto* carried = dynamic_cast<Walk*>(call.request.walk.get()); carried != nullptr) {
    static_cast<void>(call.request.walk.release());
    walk.reset(carried);
  } else if (call.key.offset == 0) {
    walk = std::make_unique<Walk>(options_.kernel_rows_max);
  } else {
    return outcome;  // a page read alone, from a stored snapshot: it belongs to no walk
  }
  PageSummary page;
  if (const auto total = data.Find("total").AsInt64(); total && *total >= 0) page.total = total;
  page.ids.reserve(rows.size());
  for (const json::Value row : rows.elements()) page.ids.push_back(RowReader::IdOf(row));
  const Step step = walk->Take(call.key.offset, page);
  TakeStep(call, std::move(walk), step, outcome);
  return outcome;
}

void Source::TakeStep(const Call& call, std::unique_ptr<Walk> walk, const Step& step, Outcome& outcome) {
  const std::string scope = KernelScope(call.key.kernel_id);
  outcome.rows = step.rows_new;
  rows_ += step.rows_new;
  switch (step.kind) {
    case Step::Kind::kComplete:
      outcome.scope_done = true;
      return;
    case Step::Kind::kShort:
      outcome.shortfalls.push_back({scope, step.code, step.what});
      if (step.missing > 0)
        outcome.draft.gaps.push_back({scope, "TOTAL_NOT_REACHED", step.missing, step.what});
      return;
    case Step::Kind::kNext:
    case Step::Kind::kAgain:
      break;
  }
  if (call.goal.rows_max && rows_ >= *call.goal.rows_max) {
    outcome.shortfalls.push_back(
        {scope, "ROW_LIMIT", "stopped after " + std::to_string(rows_) + " rows, as the goal says"});
    return;
  }
  Request& next = outcome.next.emplace_back();
  next.key = SubmissionsKey(call.key.kernel_id, kPageRows, step.offset);
  next.context = scope;
  next.scope = scope;
  next.walk = std::move(walk);
}

void Source::NoteEnvelopeDrift(const Envelope& envelope, std::string_view endpoint, Outcome& outcome) {
  drift_.NoteUnknown(outcome.draft, envelope.document.root(), {"data"}, std::string(endpoint) + ".envelope.",
                     envelope.text);
}

}  // namespace etl::sol_execbench
