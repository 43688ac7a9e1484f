#include "daemon/intake.h"

#include <algorithm>
#include <utility>

namespace etl {
namespace {

// Contexts held between responses; a dry run over an empty store needs all of them.
constexpr std::size_t kContextsKept = 100'000;

std::uint64_t NameHash(const EntryDraft& d) {
  // 64 bits over a visit's entries: a collision would only miscount one of them.
  const auto mix = [](std::uint64_t h, std::string_view text) {
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return (h ^ 0xff) * 0x100000001b3ULL;
  };
  return mix(mix(0xcbf29ce484222325ULL + static_cast<std::uint64_t>(d.kind), d.scope), d.external_id);
}

}  // namespace

Intake::Intake(Adapter& adapter, Store* store, bool dry_run, const Goal& goal)
    : adapter_(adapter), store_(store), dry_run_(dry_run), goal_(goal), start_(store == nullptr ? 0 : store->sequence()) {}

Result<Intake::Taken> Intake::Take(Request& request, const Snapshot& snapshot) {
  ETL_TRY(const ContextState context, ContextOf(request.context));
  std::optional<RequestState> known;
  Taken taken;
  ETL_TRY(taken.same, IsKnown(request, snapshot, context, known));
  Ingest ingest;
  ingest.snapshot = &snapshot;
  ingest.adapter = adapter_.version();
  ingest.context_key = request.context;
  ingest.context_value = context.value;
  ingest.context_at = context.captured_at;
  auto outcome = adapter_.Accept(request, snapshot, context.value, taken.same ? Reading::kWalkOnly : Reading::kFull, goal_);
  if (!outcome) {
    taken.same = false;
    taken.refusal = ingest.refusal = outcome.error();
    ETL_CHECK_OK(Commit(ingest));
    return taken;
  }
  if (taken.same) {
    counts_.entries += known->entries;
    counts_.runs += known->runs;
    if (writes()) ETL_CHECK_OK(store_->Confirm(snapshot.source, snapshot.request, snapshot.captured_at));
  } else {
    ingest.draft = std::move(outcome->draft);
    ETL_CHECK_OK(Commit(ingest));
  }
  taken.outcome = *std::move(outcome);
  return taken;
}

// Whether these bytes were read before by the same mapping with the same context, and no row has contradicted them since.
Result<bool> Intake::IsKnown(const Request& request, const Snapshot& snapshot, const ContextState& context,
                             std::optional<RequestState>& known) const {
  if (store_ == nullptr) return false;
  ETL_TRY(known, store_->FindRequest(snapshot.source, snapshot.request));
  if (!known || known->snapshot != snapshot.digest || known->refused || known->adapter != adapter_.version()) return false;
  if (request.context.empty()) return true;
  if (known->context_digest != Sha256(context.value)) return false;
  ETL_TRY(const std::uint64_t changed, store_->LastRowChange(snapshot.source, request.context));
  return known->read_at != 0 && changed <= known->read_at;
}

Status Intake::Commit(Ingest& ingest) {
  std::uint64_t fresh = 0;
  for (const EntryDraft& d : ingest.draft.entries) {
    if (!counted_.insert(NameHash(d)).second) continue;
    ++fresh;
    if (d.kind == Kind::kBenchmarkRun) ++ingest.visit_runs;
  }
  ingest.visit_entries = fresh;
  ingest.visit_start = start_;
  counts_.entries += fresh;
  counts_.runs += ingest.visit_runs;
  CommitResult done;
  if (store_ == nullptr) {
    done.entries_new = fresh;
    done.quarantined = ingest.draft.quarantine.size() + (ingest.refusal ? 1 : 0);
    done.drift = ingest.draft.drift.size();
    done.gaps = ingest.draft.gaps.size();
  } else {
    ETL_TRY(done, dry_run_ ? store_->Preview(ingest) : store_->Commit(ingest));
    // A preview does not see what earlier responses of the same dry run would have brought.
    if (dry_run_) done.entries_new = std::min(done.entries_new, fresh);
  }
  Count(done);
  if (!writes())
    for (const ContextDraft& c : ingest.draft.contexts) KeepContext(c.key, {c.value, ingest.snapshot->captured_at, 0});
  if (writes()) {
    for (const std::string& key : done.contexts_changed) {
      contexts_.erase(key);
      ETL_CHECK_OK(Rederive(key));
    }
  }
  return {};
}

void Intake::Count(const CommitResult& done) {
  counts_.entries_new += done.entries_new;
  counts_.entries_changed += done.entries_changed;
  counts_.snapshots += done.snapshots;
  counts_.groups += done.groups;
  counts_.quarantined += done.quarantined;
  counts_.gaps += done.gaps;
  counts_.drift += done.drift;
  counts_.changes += done.changes;
}

Result<ContextState> Intake::ContextOf(const std::string& key) {
  if (key.empty()) return ContextState{};
  if (const auto it = contexts_.find(key); it != contexts_.end()) return it->second;
  if (store_ == nullptr) return ContextState{};
  ETL_TRY(auto stored, store_->FindContext(adapter_.slug(), key));
  if (!stored) return ContextState{};
  return KeepContext(key, *std::move(stored));
}

ContextState Intake::KeepContext(const std::string& key, ContextState context) {
  if (contexts_.size() >= kContextsKept) contexts_.clear();
  return contexts_[key] = std::move(context);
}

// The rows that were read with a context that has changed, read again from the snapshots they came in. Only a row's newest state
// counts, so each snapshot speaks only for the rows that still come from it.
Status Intake::Rederive(const std::string& context_key) {
  ETL_TRY(const ContextState context, ContextOf(context_key));
  ETL_TRY(const auto rows, store_->RowsOf(adapter_.slug(), context_key));
  std::map<std::uint64_t, std::unordered_set<std::string>> rows_by_commit;
  for (const std::string& row : rows) {
    ETL_TRY(const auto entry, store_->GetEntry({std::string(adapter_.slug()), row, ""}));
    if (const auto it = entry.find(Kind::kSubmission); it != entry.end()) rows_by_commit[it->second.from].insert(row);
  }
  for (const auto& [sequence, wanted] : rows_by_commit)
    ETL_CHECK_OK(RederiveCommit(context_key, context, sequence, wanted));
  return {};
}

Status Intake::RederiveCommit(const std::string& context_key, const ContextState& context, std::uint64_t sequence,
                              const std::unordered_set<std::string>& wanted) {
  ETL_TRY(const CommitInfo commit, store_->GetCommit(sequence));
  if (!commit.snapshot) return {};
  Snapshot snapshot{commit.source, commit.request, commit.origin, commit.captured_at, "", *commit.snapshot};
  ETL_TRY(snapshot.bytes, store_->GetBytes(*commit.snapshot));
  Request request;
  request.key = commit.request;
  request.context = context_key;
  auto outcome = adapter_.Accept(request, snapshot, context.value, Reading::kFull, goal_);
  if (!outcome) return {};  // it was accepted once; a mapping that refuses it now takes nothing away from what is known
  Ingest ingest;
  ingest.snapshot = &snapshot;
  ingest.adapter = adapter_.version();
  ingest.context_key = context_key;
  ingest.context_value = context.value;
  ingest.context_at = context.captured_at;
  ingest.rederived_from = sequence;
  ingest.visit_start = start_;
  for (EntryDraft& d : outcome->draft.entries)
    if (wanted.contains(d.external_id) || d.kind == Kind::kBenchmarkProtocol || d.kind == Kind::kExecutionEnvironment)
      ingest.draft.entries.push_back(std::move(d));
  ingest.draft.quarantine = std::move(outcome->draft.quarantine);
  ETL_TRY(const CommitResult done, store_->Commit(ingest));
  Count(done);
  return {};
}

}  // namespace etl
