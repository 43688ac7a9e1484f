// What follows from the entries of a commit: retractions, standings, and everything that is kept beside
// entries.
#include <algorithm>

#include "model/json_writer.h"
#include "store/commit.h"
#include "store/keys.h"
#include "store/record_reader.h"

namespace etl {

using json::ObjectWriter;

namespace {

// An adapter's error may name the request itself.
std::string RefusedAt(const std::string& request, const std::string& where) {
  return where.starts_with(request) ? where : request + " " + where;
}

}  // namespace

Status PutCursor(const Kv& kv, Kv::Batch& batch, std::string_view source, const CursorDraft& cursor,
                 Instant at) {
  const std::string key = keys::ByText(keys::kCursor, source, cursor.key);
  ETL_TRY(const auto stored, kv.Get(key));
  if (stored) {
    ETL_TRY(const auto known, DecodeCursor(key, *stored));
    if (known.second > at || known == std::pair(cursor.value, at)) return {};
  }
  batch.Put(key, EncodeCursor(cursor.value, at));
  return {};
}

// A run stands only as long as its row passes. The adapter drafts no run for a row that does not, so the
// store takes it out, under the row's reasons. The object stays the run's, so that its digest still leads
// here.
void CommitBuilder::RetractRun(Edit& edit) {
  const auto row = edit.bundle.find(Kind::kSubmission);
  const auto run = edit.bundle.find(Kind::kBenchmarkRun);
  if (row == edit.bundle.end() || run == edit.bundle.end()) return;
  const Version& cause = row->second.newest;
  KindState& state = run->second;
  if (cause.state == EntryState::kPassed) return;
  std::vector<std::string> reasons{"RETRACTED"};
  reasons.insert(reasons.end(), cause.reasons.begin(), cause.reasons.end());
  if (state.newest.state != EntryState::kPassed && state.newest.reasons == reasons) return;
  batch_->Put(keys::VersionKey(edit.name, Kind::kBenchmarkRun, state.newest.version),
              EncodeVersion(state.newest));
  const std::uint64_t before = state.newest.sequence;
  Version retracted = state.newest;
  retracted.version = ++state.versions;
  // It keeps the moment of the run itself, so that a later measurement that arrives late still takes its
  // place; the row's own version in this commit tells what ended it.
  retracted.sequence = commit_sequence();
  retracted.state = EntryState::kExcluded;
  retracted.reasons = std::move(reasons);
  retracted.ranked.reset();
  state.newest = std::move(retracted);
  edit.dirty = true;
  if (before <= ingest_.visit_start) ++result_.entries_changed;
  row_changed_ = true;
  EntryLine("retracted", edit.name, Kind::kBenchmarkRun, state.newest, {"state", "reasons"});
}

Result<std::uint32_t> CommitBuilder::GroupNumber(const EntryDraft::Ranking& ranking) {
  const Digest& key = ranking.comparison_key;
  if (const auto it = state_.group_numbers.find(key); it != state_.group_numbers.end()) return it->second;
  if (const auto it = new_groups_.find(key); it != new_groups_.end()) return it->second;
  const std::string group_key = keys::ByDigest(keys::kGroup, key);
  ETL_TRY(const auto stored, kv_.Get(group_key));
  if (stored) {
    ETL_TRY(const GroupInfo group, DecodeGroup(group_key, *stored));
    constexpr std::size_t kNumbersMax = 100'000;
    if (state_.group_numbers.size() >= kNumbersMax) state_.group_numbers.clear();
    state_.group_numbers.emplace(key, group.number);
    return group.number;
  }
  GroupInfo group;
  group.number = state_.groups + static_cast<std::uint32_t>(new_groups_.size()) + 1;
  group.key = key;
  group.profile = ranking.profile;
  group.operation = ranking.operation;
  group.workload = ranking.workload;
  group.protocol = ranking.protocol;
  group.environment = ranking.environment;
  group.correctness = ranking.correctness;
  group.metric_key = ranking.metric_key;
  batch_->Put(group_key, EncodeGroup(group));
  batch_->Put(keys::Group(keys::kGroupNumber, group.number), key.View());
  new_groups_.emplace(key, group.number);
  ++counts_.groups;
  return group.number;
}

// Whether another entry still stands in the group with the same run.
Result<bool> CommitBuilder::HeldElsewhere(const EntryName& name, const Digest& digest) {
  std::vector<EntryName> others;
  const std::string object_key = keys::ByDigest(keys::kObject, digest);
  ETL_TRY(const auto object, kv_.Get(object_key));
  if (object) {
    ETL_TRY(const ObjectRecord record, DecodeObject(object_key, *object));
    others.push_back(record.first);
  }
  const std::string prefix = keys::ByDigest(keys::kObjectEntry, digest);
  auto it = kv_.Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next())
    if (const auto other =
            keys::ReadEntry(std::string(1, keys::kEntry) + std::string(it->key().substr(prefix.size()))))
      others.push_back(*other);
  ETL_CHECK_OK(it->status());
  for (const EntryName& other : others) {
    if (other == name) continue;
    const std::string key = keys::Entry(other);
    Bundle bundle;
    if (const auto edit = edits_.find(key); edit != edits_.end()) {
      bundle = edit->second.bundle;
    } else {
      ETL_TRY(const auto stored, kv_.Get(key));
      if (!stored) continue;
      ETL_TRY(bundle, DecodeBundle(key, *stored));
    }
    const auto run = bundle.find(Kind::kBenchmarkRun);
    if (run != bundle.end() && run->second.newest.ranked && run->second.newest.digest == digest) return true;
  }
  return false;
}

Status CommitBuilder::AddStandings() {
  std::map<std::uint32_t, GroupChange> groups;
  for (const auto& [key, edit] : edits_) {
    const auto run = edit.bundle.find(Kind::kBenchmarkRun);
    if (run == edit.bundle.end()) continue;
    const auto& after = run->second.newest.ranked;
    const auto& before = edit.ranked_before;
    if (before && after && before->group == after->group &&
        before->contender.digest == after->contender.digest)
      continue;
    if (before) {
      ETL_TRY(const bool held, HeldElsewhere(edit.name, before->contender.digest));
      if (!held) {
        groups[before->group].leave.push_back(before->contender);
        ++result_.runs_left;
      }
    }
    if (after) {
      groups[after->group].join.push_back(
          {after->contender, edit.name.source, edit.name.external_id, commit_sequence()});
      ++result_.runs_ranked;
    }
  }
  for (auto& [number, change] : groups) {
    change.number = number;
    const auto fresh = std::find_if(new_groups_.begin(), new_groups_.end(),
                                    [n = number](const auto& group) { return group.second == n; });
    if (fresh != new_groups_.end()) {
      change.key = fresh->first;
    } else {
      const std::string key = keys::Group(keys::kGroupNumber, number);
      ETL_TRY(const auto stored, kv_.Get(key));
      if (!stored || stored->size() != 32)
        return Fail(Unreadable(key, "a group that a run names is missing"));
      change.key = Digest::FromBytes(*stored);
    }
    ETL_CHECK_OK(EditGroup(kv_, *batch_, state_.books, change, commit_sequence(), changes_));
    ++result_.groups;
  }
  return {};
}

Status CommitBuilder::AddQuarantine() {
  std::vector<QuarantineDraft> items = ingest_.draft.quarantine;
  if (ingest_.refusal)
    items.push_back({ingest_.refusal->code, RefusedAt(snapshot_.request, ingest_.refusal->where),
                     ingest_.refusal->what, ingest_.refusal->fix, ""});
  for (const QuarantineDraft& draft : items) {
    const std::string& bytes = draft.bytes.empty() ? snapshot_.bytes : draft.bytes;
    const Digest digest = draft.bytes.empty() ? snapshot_.digest : Sha256(bytes);
    // The same bytes refused for the same reason are one item, wherever in a page they stand.
    const Digest id = Sha256(snapshot_.source + '\0' + draft.code + '\0' + digest.Text());
    const std::string key = keys::ByText(keys::kQuarantine, snapshot_.source, id.View());
    if (!noted_.insert(key).second) continue;
    ETL_TRY(const auto stored, kv_.Get(key));
    if (stored) {
      ETL_TRY(QuarantineItem item, DecodeQuarantine(key, *stored));
      if (snapshot_.captured_at > item.last_seen) {
        item.last_seen = snapshot_.captured_at;
        batch_->Put(key, EncodeQuarantine(item));
      }
      continue;
    }
    const QuarantineItem item{id,
                              snapshot_.source,
                              draft.code,
                              draft.where,
                              draft.what,
                              draft.fix,
                              digest,
                              bytes.size(),
                              commit_sequence(),
                              snapshot_.captured_at,
                              snapshot_.captured_at,
                              std::nullopt};
    batch_->Put(key, EncodeQuarantine(item));
    if (!draft.bytes.empty()) ETL_CHECK_OK(AddBody(digest, bytes));
    ++result_.quarantined;
    ++counts_.quarantine;
    std::string line;
    ObjectWriter w(line);
    w.Text("type", "quarantine")
        .Text("id", id.Hex())
        .Text("code", draft.code)
        .Text("where", draft.where)
        .End();
    AddChange("quarantine", std::move(line));
  }
  return {};
}

Status CommitBuilder::AddDrift() {
  for (const DriftDraft& draft : ingest_.draft.drift) {
    const std::string key = keys::ByText(keys::kDrift, snapshot_.source, draft.path);
    if (!noted_.insert(key).second) continue;
    ETL_TRY(const auto stored, kv_.Get(key));
    if (stored) continue;
    batch_->Put(key, EncodeDrift({snapshot_.source, draft.path, draft.sample, commit_sequence(),
                                  snapshot_.captured_at}));
    ++result_.drift;
    ++counts_.drift;
    std::string line;
    ObjectWriter w(line);
    w.Text("type", "drift").Text("path", draft.path).Text("sample", draft.sample).End();
    AddChange("drift", std::move(line));
  }
  return {};
}

Status CommitBuilder::AddGaps() {
  for (const GapDraft& draft : ingest_.draft.gaps) {
    const std::string prefix =
        keys::ByText(keys::kGap, snapshot_.source, draft.scope + '\0' + draft.code + '\0');
    if (!noted_.insert(prefix).second) continue;
    auto it = kv_.Scan(prefix, PrefixEnd(prefix));
    it->SeekToLast();
    if (it->Valid()) {
      ETL_CHECK_OK(it->checked());
      ETL_TRY(const GapItem last, DecodeGap(it->key(), it->value()));
      if (last.missing == draft.missing && last.detail == draft.detail) continue;
    }
    batch_->Put(prefix + keys::Big64(commit_sequence()),
                EncodeGap({snapshot_.source, draft.scope, draft.code, draft.detail, draft.missing,
                           commit_sequence(), snapshot_.captured_at}));
    ++result_.gaps;
    ++counts_.gaps;
    std::string line;
    ObjectWriter w(line);
    w.Text("type", "gap")
        .Text("scope", draft.scope)
        .Text("code", draft.code)
        .Integer("missing", draft.missing)
        .End();
    AddChange("gap", std::move(line));
  }
  return {};
}

Status CommitBuilder::AddContexts() {
  for (const ContextDraft& draft : ingest_.draft.contexts) {
    const std::string key = keys::ByText(keys::kContext, snapshot_.source, draft.key);
    ETL_TRY(const auto stored, kv_.Get(key));
    if (stored) {
      ETL_TRY(ContextState known, DecodeContext(key, *stored));
      ETL_TRY(const Origin* const origin, OriginOf(known.sequence));
      const Instant seen = LastSeen(*origin, known.seen_at);
      const bool newer = snapshot_.captured_at != seen               ? snapshot_.captured_at > seen
                         : origin->commit.adapter != ingest_.adapter ? true
                                                                     : draft.value > known.value;
      if (known.value == draft.value && snapshot_.captured_at > known.seen_at) {
        known.seen_at = snapshot_.captured_at;
        batch_->Put(key, EncodeContext(known));
      }
      if (known.value == draft.value || !newer) continue;
    }
    batch_->Put(
        key, EncodeContext({draft.value, snapshot_.captured_at, snapshot_.captured_at, commit_sequence()}));
    const std::string rows = keys::ByText(keys::kContextRows, snapshot_.source, draft.key + '\0');
    if (kv_.Scan(rows, PrefixEnd(rows))->Valid()) {
      result_.contexts_changed.push_back(draft.key);
      batch_->Put(keys::ByText(keys::kPendingContext, snapshot_.source, draft.key), "{}");
    }
    std::string line;
    ObjectWriter w(line);
    w.Text("type", "context").Text("key", draft.key).Bool("first", !stored).End();
    AddChange("context", std::move(line));
  }
  return {};
}

// A cursor moves forward only: what an older response says of it is out of date.
Status CommitBuilder::AddCursors() {
  for (const CursorDraft& draft : ingest_.draft.cursors)
    ETL_CHECK_OK(PutCursor(kv_, *batch_, snapshot_.source, draft, snapshot_.captured_at));
  return {};
}

void CommitBuilder::AddEvents() {
  for (const EventDraft& draft : ingest_.draft.events) AddChange(draft.type, draft.json);
}

Status CommitBuilder::AddRequest() {
  // A decision speaks of one row or item: the rest of the response has not been read again.
  if (ingest_.decision && ingest_.rederived_from) return {};
  const std::string key = keys::ByText(keys::kRequest, snapshot_.source, snapshot_.request);
  ETL_TRY(const auto stored, kv_.Get(key));
  RequestState request;
  if (stored) {
    ETL_TRY(request, DecodeRequest(key, *stored));
    if (ingest_.rederived_from && request.snapshot != snapshot_.digest) return {};
    if (!ingest_.rederived_from && request.confirmed_at > snapshot_.captured_at) return {};
  }
  const bool same = stored && request.snapshot == snapshot_.digest;
  if (stored && !same)
    batch_->Put(keys::Response(keys::kConfirmed, snapshot_.source, snapshot_.request, request.snapshot),
                std::to_string(request.confirmed_at.ms));
  request.snapshot = snapshot_.digest;
  if (!same) request.captured_at = snapshot_.captured_at;
  request.confirmed_at = std::max(request.confirmed_at, snapshot_.captured_at);
  request.adapter = ingest_.adapter;
  request.context = ingest_.context_key;
  if (!ingest_.context_key.empty()) request.context_digest = Sha256(ingest_.context_value);
  if (!ingest_.rederived_from) {
    request.etag = snapshot_.etag;
    request.last_modified = snapshot_.last_modified;
    request.not_modified = 0;
    if (!same) request.sequence = commit_sequence();
    request.entries = ingest_.visit_entries;
    request.runs = ingest_.visit_runs;
    request.refused = ingest_.refusal.has_value();
    // Should these bytes be the answer again, later, they would be news: they must not pass for known.
    request.read_at = contradicted_ ? 0 : state_.sequence + changes_.size();
  }
  batch_->Put(key, EncodeRequest(request));
  return {};
}

void CommitBuilder::AddCommitRecord() {
  CommitInfo commit;
  commit.first = commit_sequence();
  commit.last = state_.sequence + changes_.size();
  commit.epoch = state_.epoch;
  commit.time = now_;
  commit.source = snapshot_.source;
  commit.request = snapshot_.request;
  commit.origin = snapshot_.origin;
  commit.adapter = ingest_.adapter;
  commit.context = ingest_.context_key;
  commit.snapshot = snapshot_.digest;
  commit.captured_at = snapshot_.captured_at;
  commit.refused = ingest_.refusal.has_value();
  commit.rederived_from = ingest_.rederived_from;
  commit.decided = ingest_.decision.has_value();
  for (const auto& [key, answer] : confirmed_) commit.confirmed.push_back(answer);
  batch_->Put(keys::Commit(commit.first), EncodeCommit(commit, changes_));
  WriterState after;
  after.epoch = state_.epoch;
  after.sequence = commit.last;
  after.last_time = now_;
  after.groups = state_.groups + static_cast<std::uint32_t>(new_groups_.size());
  if (state_.counts) after.counts = counts_;
  batch_->Put(keys::Meta("last"), EncodeCounters(after));
  result_.sequence = commit.last;
  result_.changes = changes_.size();
}

}  // namespace etl
