#include "adapters/sol_execbench/source.h"

#include <optional>
#include <utility>

#include "adapters/sol_execbench/board.h"
#include "adapters/sol_execbench/vocabulary.h"

namespace etl::sol_execbench {

std::string_view Source::slug() const {
  return kSlug;
}
std::string_view Source::base_url() const {
  return kBaseUrl;
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
  const Call call{request, *std::move(key),      snapshot.bytes,
                  context, snapshot.captured_at, reading == Reading::kFull,
                  goal};
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

std::string Source::ContextFor(std::string_view request_key) const {
  const auto key = ParseRequestKey(request_key);
  if (!key) return {};
  if (key->endpoint == Endpoint::kSubmissions || key->endpoint == Endpoint::kLeaderboard) {
    return KernelScope(key->kernel_id);
  }
  return key->endpoint == Endpoint::kLocalWorkloads ? LocalScope(key->folder) : std::string();
}

RowTraits Source::TraitsOf(std::string_view row) const {
  const auto document = json::Document::Parse(row);
  return document ? TraitsOfRow(document->root()) : RowTraits();
}

std::optional<Instant> Source::NextDue(const Cursors& cursors) const {
  KernelsMemory known;
  if (const auto text = cursors.Find(kKernelsKey)) known = ParseKernels(*text).value_or(KernelsMemory{});
  std::optional<Instant> earliest;
  for (const CursorDraft& cursor : cursors.FindAll(kPollPrefix)) {
    const auto kernel = ParseCursor(cursor.value);
    const auto id = PolledKernel(cursor.key);
    if (!kernel || !id || known.withdrawn.contains(*id)) continue;
    const Instant due_at = kernel->detail_missing ? kernel->read_at : kernel->due_at;
    if (!earliest || due_at < *earliest) earliest = due_at;
  }
  return earliest;
}

void Source::NoteEnvelopeDrift(const Envelope& envelope, std::string_view endpoint, Outcome& outcome) {
  drift_.NoteUnknown(outcome.draft, envelope.document.root(), {"data"}, std::string(endpoint) + ".envelope.",
                     envelope.text);
}

}  // namespace etl::sol_execbench
