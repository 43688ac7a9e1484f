#include "daemon/intake.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace etl {
namespace {

std::uint64_t NameHash(const EntryDraft& d) {
  // 64 bits over a visit's entries: a collision would only miscount one of them.
  const std::hash<std::string_view> hash;
  return (hash(d.scope) * 31 + hash(d.external_id)) * 31 + static_cast<std::uint64_t>(d.kind);
}

}  // namespace

std::optional<std::string> StoreCursors::Find(std::string_view key) const {
  auto found = store_->FindCursor(source_, key);
  if (found) return *std::move(found);
  status_ = Fail(found.error());
  return std::nullopt;
}

std::vector<CursorDraft> StoreCursors::FindAll(std::string_view key_prefix) const {
  auto found = store_->FindCursors(source_, key_prefix);
  if (found) return *std::move(found);
  status_ = Fail(found.error());
  return {};
}

Intake::Intake(Adapter& adapter, Store* store, bool dry_run, const Goal& goal, Commits commits)
    : adapter_(adapter),
      store_(store),
      dry_run_(dry_run),
      cursors_(store, std::string(adapter.slug())),
      goal_(goal),
      start_(store == nullptr ? 0 : store->sequence()) {
  if (store_ != nullptr) goal_.cursors = &cursors_;
  if (commits == Commits::kPipelined && writes()) thread_ = std::thread([this] { CommitLoop(); });
}

std::atomic<std::size_t> Intake::pending_everywhere_{0};

Intake::~Intake() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  pending_everywhere_.fetch_sub(pending_.size(), std::memory_order_relaxed);  // what a failure left
}

// What a process that died left undone. Before anything else, so that the order of commits is as if it had
// lived.
Status Intake::FinishContexts() {
  if (std::exchange(begun_, true) || !writes()) return {};
  ETL_TRY(const auto contexts, store_->PendingContexts(adapter_.slug()));
  for (const std::string& key : contexts) ETL_CHECK_OK(Rederive(key));
  return {};
}

Result<Intake::Taken> Intake::Take(Request& request, Snapshot snapshot, bool not_modified) {
  ETL_CHECK_OK(FinishContexts());
  ETL_TRY(const ContextState context, ContextOf(request.context));
  Work work;
  Taken taken;
  ETL_TRY(Standing standing, StandingOf(request, snapshot, context, work.known));
  if (standing == Standing::kSame && !request.context.empty()) {
    // What is still being committed may contradict this answer.
    ETL_CHECK_OK(WaitFor(request.context));
    ETL_TRY(standing, StandingOf(request, snapshot, context, work.known));
  }
  const bool later = standing == Standing::kContradicted && thread_.joinable();
  taken.same = standing == Standing::kSame || later;
  work.ingest.adapter = adapter_.version();
  work.ingest.context_key = request.context;
  work.ingest.context_value = context.value;
  work.ingest.context_at = context.captured_at;
  auto outcome = Accept(request, snapshot, context.value, taken.same ? Reading::kWalkOnly : Reading::kFull);
  ETL_CHECK_OK(cursors_.status());
  if (!outcome) {
    taken.same = false;
    taken.refusal = work.ingest.refusal = outcome.error();
  } else {
    work.ingest.draft = std::move(outcome->draft);
    taken.outcome = *std::move(outcome);
  }
  if (!taken.same) work.known.reset();
  if (taken.same && later) {
    again_[snapshot.request] = {{snapshot.source, snapshot.request, snapshot.origin, snapshot.captured_at, "",
                                 snapshot.digest, snapshot.etag, snapshot.last_modified},
                                request.context,
                                work.known->entries,
                                work.known->runs};
  }
  if (!writes())
    for (const ContextDraft& c : work.ingest.draft.contexts)
      own_contexts_[c.key] = {c.value, snapshot.captured_at, snapshot.captured_at, 0};
  work.snapshot = std::move(snapshot);
  work.not_modified = not_modified;
  ETL_CHECK_OK(Hand(std::move(work)));
  return taken;
}

Status Intake::TakeRefused(Request& request, Snapshot snapshot, Error refusal) {
  ETL_CHECK_OK(FinishContexts());
  ETL_TRY(const ContextState context, ContextOf(request.context));
  Work work;
  work.ingest.adapter = adapter_.version();
  work.ingest.context_key = request.context;
  work.ingest.context_value = context.value;
  work.ingest.context_at = context.captured_at;
  work.ingest.refusal = std::move(refusal);
  work.snapshot = std::move(snapshot);
  return Hand(std::move(work));
}

Result<Outcome> Intake::Accept(Request& request, const Snapshot& snapshot, std::string_view context,
                               Reading reading) {
  const std::lock_guard lock(adapter_mutex_);
  return adapter_.Accept(request, snapshot, context, reading, goal_);
}

Result<ContextState> Intake::ContextOf(const std::string& key) {
  if (key.empty()) return ContextState{};
  if (const auto it = own_contexts_.find(key); it != own_contexts_.end()) return it->second;
  if (store_ == nullptr) return ContextState{};
  // Only a response that brings the context is waited for; rows that read it do not change it.
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return !failure_ || std::none_of(pending_.begin(), pending_.end(), [&](const Work& work) {
        const auto& contexts = work.ingest.draft.contexts;
        return std::any_of(contexts.begin(), contexts.end(),
                           [&](const ContextDraft& c) { return c.key == key; });
      });
    });
    if (!failure_) return Fail(failure_.error());
  }
  ETL_TRY(auto stored, store_->FindContext(adapter_.slug(), key));
  return stored ? *std::move(stored) : ContextState{};
}

Result<Intake::Standing> Intake::StandingOf(const Request& request, const Snapshot& snapshot,
                                            const ContextState& context,
                                            std::optional<RequestState>& known) const {
  if (store_ == nullptr) return Standing::kNews;
  ETL_TRY(known, store_->FindRequest(snapshot.source, snapshot.request));
  if (!known || known->snapshot != snapshot.digest || known->refused || known->adapter != adapter_.version())
    return Standing::kNews;
  if (request.context.empty()) return Standing::kSame;
  if (known->context_digest != Sha256(context.value)) return Standing::kNews;
  ETL_TRY(const std::uint64_t changed, store_->LastRowChange(snapshot.source, request.context));
  return known->read_at != 0 && changed <= known->read_at ? Standing::kSame : Standing::kContradicted;
}

Status Intake::Hand(Work work) {
  if (!thread_.joinable()) return Do(work);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !failure_ || pending_.size() < kPendingMax; });
  if (!failure_) return failure_;
  ++touching_[work.ingest.context_key];
  pending_.push_back(std::move(work));
  pending_everywhere_.fetch_add(1, std::memory_order_relaxed);
  changed_.notify_all();
  return {};
}

Status Intake::WaitFor(const std::string& context_key) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !failure_ || !touching_.contains(context_key); });
  return failure_;
}

Status Intake::Drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !failure_ || pending_.empty(); });
  return failure_;
}

Status Intake::ReadAgain() {
  ETL_CHECK_OK(Drain());
  for (auto& [request, later] : again_) ETL_CHECK_OK(ReadLater(later));
  again_.clear();
  return {};
}

Status Intake::ReadLater(Later& later) {
  ETL_TRY(const ContextState context, ContextOf(later.context_key));
  ETL_TRY(later.snapshot.bytes, store_->GetBytes(later.snapshot.digest));
  Request request;
  request.key = later.snapshot.request;
  request.context = later.context_key;
  auto outcome = Accept(request, later.snapshot, context.value, Reading::kFull);
  if (!outcome) return {};  // it was accepted before: a mapping that refuses it now takes nothing away
  Ingest ingest;
  ingest.snapshot = &later.snapshot;
  ingest.adapter = adapter_.version();
  ingest.context_key = later.context_key;
  ingest.context_value = context.value;
  ingest.context_at = context.captured_at;
  ingest.visit_start = start_;
  ingest.visit_entries = later.entries;
  ingest.visit_runs = later.runs;
  ingest.draft.entries = std::move(outcome->draft.entries);
  ingest.draft.quarantine = std::move(outcome->draft.quarantine);
  ingest.draft.drift = std::move(outcome->draft.drift);
  ETL_TRY(const CommitResult done, store_->Commit(ingest));
  Count(done);
  return {};
}

void Intake::CommitLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
    if (pending_.empty() || !failure_)
      return;  // asked to stop with nothing left, or nothing can be done any more
    Work& work = pending_.front();
    lock.unlock();
    auto status = Do(work);
    if (status && ++committed_ % kCommitsPerSync == 0) status = store_->Sync();
    lock.lock();
    if (const auto it = touching_.find(work.ingest.context_key); it != touching_.end() && --it->second == 0)
      touching_.erase(it);
    pending_.pop_front();
    pending_everywhere_.fetch_sub(1, std::memory_order_relaxed);
    if (!status) failure_ = std::move(status);
    changed_.notify_all();
  }
}

Status Intake::Do(Work& work) {
  if (!work.known) return Commit(work);
  if (counted_requests_.try_emplace(work.snapshot.request, work.known->entries, work.known->runs).second) {
    counts_.entries += work.known->entries;
    counts_.runs += work.known->runs;
  }
  const Draft& draft = work.ingest.draft;
  // That the walk fell short, or what a list no longer holds, is news even where these bytes are not. Cursors
  // move with the news.
  const bool news = !draft.gaps.empty() || !draft.events.empty();
  if (writes())
    ETL_CHECK_OK(
        store_->Confirm(work.snapshot, work.not_modified, news ? std::vector<CursorDraft>() : draft.cursors));
  return news ? Commit(work) : Status();
}

Status Intake::Commit(Work& work) {
  Ingest& ingest = work.ingest;
  ingest.snapshot = &work.snapshot;
  std::uint64_t fresh = 0;
  for (const EntryDraft& d : ingest.draft.entries) {
    if (!counted_.insert(NameHash(d)).second) continue;
    ++fresh;
    if (d.kind == Kind::kBenchmarkRun) ++ingest.visit_runs;
  }
  auto& [request_entries, request_runs] = counted_requests_[work.snapshot.request];
  request_entries += fresh;  // a page that is read again in the same visit keeps what it brought before
  request_runs += ingest.visit_runs;
  counts_.runs += ingest.visit_runs;
  ingest.visit_entries = request_entries;
  ingest.visit_runs = request_runs;
  ingest.visit_start = start_;
  counts_.entries += fresh;
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
  if (writes())
    for (const std::string& key : done.contexts_changed) ETL_CHECK_OK(Rederive(key));
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

// The rows that were read with a context that has changed, read again from the snapshots they came in. Only a
// row's newest state counts, so each snapshot speaks only for the rows that still come from it.
Status Intake::Rederive(const std::string& context_key) {
  ETL_TRY(const auto found, store_->FindContext(adapter_.slug(), context_key));
  const ContextState context = found.value_or(ContextState{});
  ETL_TRY(const auto rows, store_->RowsOf(adapter_.slug(), context_key));
  std::map<std::uint64_t, std::unordered_set<std::string>> rows_by_commit;
  for (const std::string& row : rows) {
    ETL_TRY(const auto entry, store_->GetEntry({std::string(adapter_.slug()), row, ""}));
    if (const auto it = entry.find(Kind::kSubmission); it != entry.end())
      rows_by_commit[it->second.from].insert(row);
  }
  for (const auto& [sequence, wanted] : rows_by_commit)
    ETL_CHECK_OK(RederiveCommit(context_key, context, sequence, wanted));
  return store_->ContextDone(adapter_.slug(), context_key);
}

Status Intake::RederiveCommit(const std::string& context_key, const ContextState& context,
                              std::uint64_t sequence, const std::unordered_set<std::string>& wanted) {
  ETL_TRY(const CommitInfo commit, store_->GetCommit(sequence));
  if (!commit.snapshot) return {};
  Snapshot snapshot{
      commit.source, commit.request, commit.origin, commit.captured_at, "", *commit.snapshot, "", ""};
  ETL_TRY(snapshot.bytes, store_->GetBytes(*commit.snapshot));
  Request request;
  request.key = commit.request;
  request.context = context_key;
  auto outcome = Accept(request, snapshot, context.value, Reading::kFull);
  if (!outcome)
    return {};  // it was accepted once; a mapping that refuses it now takes nothing away from what is known
  Ingest ingest;
  ingest.snapshot = &snapshot;
  ingest.adapter = adapter_.version();
  ingest.context_key = context_key;
  ingest.context_value = context.value;
  ingest.context_at = context.captured_at;
  ingest.rederived_from = sequence;
  ingest.visit_start = start_;
  for (EntryDraft& d : outcome->draft.entries) {
    // Rows that came from here and still do, what they refer to, and rows that could not be taken before.
    const bool ours = wanted.contains(d.external_id) || d.kind == Kind::kBenchmarkProtocol ||
                      d.kind == Kind::kExecutionEnvironment ||
                      !store_->GetEntry({std::string(adapter_.slug()), d.external_id, d.scope});
    if (ours) ingest.draft.entries.push_back(std::move(d));
  }
  ingest.draft.quarantine = std::move(outcome->draft.quarantine);
  ETL_TRY(const CommitResult done, store_->Commit(ingest));
  Count(done);
  return {};
}

}  // namespace etl
