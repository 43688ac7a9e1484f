#include "store/commit.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "model/json_writer.h"
#include "store/json_diff.h"
#include "store/keys.h"
#include "store/record_reader.h"

namespace etl {
namespace {

using json::ObjectWriter;

constexpr std::size_t kExternalIdBytesMax = 500;
constexpr std::size_t kChangedPathsMax = 32;

bool IsKeyText(std::string_view text) {
  return text.find('\0') == std::string_view::npos;
}

bool SameState(const Version& a, const Version& b) {
  return a.state == b.state && a.reasons == b.reasons && a.digest == b.digest && a.metadata == b.metadata &&
         a.content == b.content;
}

// A fixed but meaningless preference between two different states of the same moment, so that their order of
// arrival does not matter.
bool TieBreak(const Version& a, const Version& b) {
  return std::tie(a.digest, a.content, a.metadata, a.reasons, a.state) >
         std::tie(b.digest, b.content, b.metadata, b.reasons, b.state);
}

}  // namespace

CommitBuilder::CommitBuilder(const Kv& kv, WriterState& state, const Ingest& ingest, Instant now)
    : kv_(kv),
      state_(state),
      ingest_(ingest),
      snapshot_(*ingest.snapshot),
      now_(std::max(now, state.last_time)),
      batch_(kv.NewBatch()),
      counts_(state.counts.value_or(StoreCounts())) {}

Status CommitBuilder::Build() {
  ETL_CHECK_OK(CheckDraft());
  ETL_CHECK_OK(AddSnapshot());
  ETL_CHECK_OK(AddEntries());
  ETL_CHECK_OK(AddStandings());
  ETL_CHECK_OK(AddQuarantine());
  ETL_CHECK_OK(AddDrift());
  ETL_CHECK_OK(AddGaps());
  ETL_CHECK_OK(AddContexts());
  ETL_CHECK_OK(AddCursors());
  AddEvents();
  ETL_CHECK_OK(AddDecision());
  ETL_CHECK_OK(AddRequest());
  if (changes_.empty()) return {};
  AddCommitRecord();
  return {};
}

void CommitBuilder::Apply() {
  if (changes_.empty()) return;
  state_.sequence += changes_.size();
  state_.last_time = now_;
  state_.groups += static_cast<std::uint32_t>(new_groups_.size());
  if (state_.counts) state_.counts = std::move(counts_);
  state_.group_numbers.merge(new_groups_);
}

void CommitBuilder::AddChange(std::string type, std::string json) {
  changes_.push_back({0, std::move(type), std::move(json)});
}

Status CommitBuilder::CheckDraft() const {
  const auto bad = [&](std::string what) {
    return Fail(Errc::kInvalid, "INGEST", snapshot_.request, std::move(what),
                "this is a fault of the adapter: report it");
  };
  if (snapshot_.source.empty() || !IsKeyText(snapshot_.source) || !IsKeyText(snapshot_.request))
    return bad("source or request key is empty or holds a NUL");
  for (const EntryDraft& d : ingest_.draft.entries) {
    if (d.external_id.empty() || d.external_id.size() > kExternalIdBytesMax || !IsKeyText(d.external_id) ||
        d.scope.size() > kExternalIdBytesMax || !IsKeyText(d.scope))
      return bad("external id or scope is empty, over 500 bytes or holds a NUL");
    if (d.ranking && (d.kind != Kind::kBenchmarkRun || d.state != EntryState::kPassed || d.identity.empty()))
      return bad("only a passed BenchmarkRun with an object can be ranked: " + d.external_id);
  }
  return {};
}

Status CommitBuilder::AddSnapshot() {
  if (ingest_.rederived_from) return {};
  const std::string request_key = keys::ByText(keys::kRequest, snapshot_.source, snapshot_.request);
  ETL_TRY(const auto known, kv_.Get(request_key));
  if (known) {
    ETL_TRY(const RequestState state, DecodeRequest(request_key, *known));
    snapshot_known_ = state.snapshot == snapshot_.digest && state.adapter == ingest_.adapter;
    if (snapshot_known_) known_from_ = state.sequence;
    // An answer older than the known one leaves the request's record alone, so it is remembered by itself.
    if (!snapshot_known_ && state.confirmed_at > snapshot_.captured_at) {
      const std::string late_key =
          keys::Response(keys::kLateSnapshot, snapshot_.source, snapshot_.request, snapshot_.digest);
      const std::string value =
          json::TextArray(std::vector<std::string>{ingest_.adapter, snapshot_.captured_at.Text()});
      ETL_TRY(const auto late, kv_.Get(late_key));
      snapshot_known_ = late == value;
      if (!snapshot_known_) batch_->Put(late_key, value);
    }
  }
  ETL_TRY(const bool fresh, AddBody(snapshot_.digest, snapshot_.bytes));
  if (fresh) ++result_.snapshots;
  if (snapshot_known_) return {};  // read again for its draft: what that changes stands on its own
  std::string line;
  ObjectWriter w(line);
  w.Text("type", "snapshot").Text("request", snapshot_.request).Text("digest", snapshot_.digest.Text());
  w.Count("bytes", snapshot_.bytes.size()).End();
  AddChange("snapshot", std::move(line));
  return {};
}

// Each body once, of a snapshot or of a quarantined item. Whether it is new.
Result<bool> CommitBuilder::AddBody(const Digest& digest, std::string_view bytes) {
  const std::string key = keys::ByDigest(keys::kSnapshotBody, digest);
  ETL_TRY(const auto stored, kv_.Get(key));
  if (stored || !new_bodies_.insert(digest).second) return false;
  batch_->Put(key, EncodeBody(bytes));
  ++counts_.snapshots;
  return true;
}

Status CommitBuilder::AddEntries() {
  // A row first, then what was made of it: which of two rows of one moment counts is decided once, for all
  // kinds.
  for (const bool rows : {true, false}) {
    for (const EntryDraft& draft : ingest_.draft.entries) {
      if ((draft.kind == Kind::kSubmission) != rows) continue;
      ETL_TRY(Edit* const edit, EditOf(draft));
      ETL_CHECK_OK(ApplyDraft(*edit, draft));
    }
  }
  for (auto& [key, edit] : edits_) {
    RetractRun(edit);
    if (edit.dirty) batch_->Put(key, EncodeBundle(edit.bundle));
    const auto run = edit.bundle.find(Kind::kBenchmarkRun);
    if (run != edit.bundle.end() && run->second.newest.ranked) ++counts_.ranked_runs;
    if (edit.ranked_before) --counts_.ranked_runs;
  }
  if (!new_rows_.empty() && !ingest_.context_key.empty())
    batch_->Put(keys::ByText(keys::kContextRows, snapshot_.source,
                             ingest_.context_key + '\0' + keys::Big64(commit_sequence())),
                json::TextArray(new_rows_));
  // Entries found in another state than before, by a row and not by what it is read with.
  if ((row_changed_ || contradicted_) && !ingest_.context_key.empty() && !ingest_.rederived_from)
    batch_->Put(keys::ByText(keys::kRowChange, snapshot_.source, ingest_.context_key),
                "{\"sequence\":" + std::to_string(commit_sequence()) + "}");
  return {};
}

Result<CommitBuilder::Edit*> CommitBuilder::EditOf(const EntryDraft& draft) {
  EntryName name{snapshot_.source, draft.external_id, draft.scope};
  std::string key = keys::Entry(name);
  if (const auto it = edits_.find(key); it != edits_.end()) return &it->second;
  Edit edit;
  edit.name = std::move(name);
  ETL_TRY(const auto stored, kv_.Get(key));
  if (stored) {
    ETL_TRY(edit.bundle, DecodeBundle(key, *stored));
    edit.existed = true;
    if (const auto run = edit.bundle.find(Kind::kBenchmarkRun); run != edit.bundle.end())
      edit.ranked_before = run->second.newest.ranked;
  }
  return &edits_.emplace(std::move(key), std::move(edit)).first->second;
}

Version CommitBuilder::VersionFrom(const EntryDraft& d) const {
  Version v;
  v.sequence = commit_sequence();
  // Bytes that are known may bring nothing, and then there is no commit of this sequence to point at.
  v.from = ingest_.rederived_from.value_or(known_from_ != 0 ? known_from_ : v.sequence);
  v.state = d.state;
  v.reasons = d.reasons;
  if (!d.identity.empty()) v.digest = d.digest;
  v.metadata = d.metadata;
  v.content = d.content;
  v.locator = d.locator;
  v.major = d.major;
  v.captured_at = v.seen_at = snapshot_.captured_at;
  v.context_at = ingest_.context_at;
  return v;
}

Status CommitBuilder::ApplyDraft(Edit& edit, const EntryDraft& draft) {
  Version version = VersionFrom(draft);
  const auto known = edit.bundle.find(draft.kind);
  if (known == edit.bundle.end()) {
    if (draft.kind == Kind::kSubmission) new_rows_.push_back(draft.external_id);
    return AddNewest(edit, draft, std::move(version));
  }
  Version& newest = known->second.newest;
  if (SameState(newest, version)) {
    ++result_.entries_unchanged;
    if (draft.major >= newest.major && snapshot_.captured_at > newest.seen_at) {
      newest.seen_at = snapshot_.captured_at;
      // From here on it is this answer whose confirmation speaks for the state.
      newest.from = version.from;
      newest.locator = version.locator;
      edit.dirty = true;
    }
    if (ingest_.context_at > newest.context_at) {
      newest.context_at = ingest_.context_at;
      edit.dirty = true;
    }
    if (draft.major > newest.major) {
      newest.major = draft.major;
      edit.dirty = true;
    }
    return {};
  }
  bool newer = false;
  tied_ = false;
  const auto decided = edit.newer.find(draft.locator.offset);
  const bool of_a_row = draft.kind == Kind::kBenchmarkRun || draft.kind == Kind::kImplementationRevision;
  if (of_a_row && decided != edit.newer.end()) {
    newer = decided->second;
  } else {
    ETL_TRY(newer, IsNewer(draft, newest));
  }
  if (draft.kind == Kind::kSubmission && tied_) edit.newer[draft.locator.offset] = newer;
  return newer ? AddNewest(edit, draft, std::move(version)) : AddLate(edit, draft, std::move(version));
}

// Whether the draft tells a newer state than the known one, whatever the order in which the two arrived.
Result<bool> CommitBuilder::IsNewer(const EntryDraft& draft, const Version& known) {
  if (draft.major != known.major) return draft.major > known.major;
  if (!ingest_.rederived_from) {
    ETL_TRY(const Origin* const origin, OriginOf(known.from));
    const Instant seen = LastSeen(*origin, known.seen_at);
    if (snapshot_.captured_at != seen) return snapshot_.captured_at > seen;
  }
  // Read again with the context that counts: whatever it was read with before has lost.
  if (ingest_.rederived_from) return ingest_.context_at >= known.context_at;
  if (ingest_.context_at != known.context_at) return ingest_.context_at > known.context_at;
  ETL_TRY(const Origin* const origin, OriginOf(known.sequence));
  if (origin->commit.adapter != ingest_.adapter) return true;  // the same bytes, read by a newer mapping
  tied_ = true;
  return TieBreak(VersionFrom(draft), known);
}

// When a known state was last seen: its snapshot may have been confirmed, unchanged, after it was taken.
Instant CommitBuilder::LastSeen(const Origin& origin, Instant seen) {
  if (origin.confirmed_at <= seen || !origin.commit.snapshot) return seen;
  if (snapshot_.captured_at > seen && snapshot_.captured_at <= origin.confirmed_at)
    confirmed_[origin.commit.request + origin.commit.snapshot->Text()] = {
        origin.commit.request, *origin.commit.snapshot, origin.confirmed_at};
  return origin.confirmed_at;
}

Result<const CommitBuilder::Origin*> CommitBuilder::OriginOf(std::uint64_t from) {
  if (const auto it = origins_.find(from); it != origins_.end()) return &it->second;
  Origin origin;
  if (from == commit_sequence()) {  // brought by this very response
    origin.commit.adapter = ingest_.adapter;
  } else {
    const std::string key = keys::Commit(from);
    ETL_TRY(const auto stored, kv_.Get(key));
    if (!stored) return Fail(Unreadable(key, "a commit that a version names is missing"));
    ETL_TRY(origin.commit, DecodeCommit(key, *stored, nullptr));
    const std::string request_key = keys::ByText(keys::kRequest, origin.commit.source, origin.commit.request);
    ETL_TRY(const auto request, kv_.Get(request_key));
    if (request && origin.commit.snapshot) {
      ETL_TRY(const RequestState state, DecodeRequest(request_key, *request));
      if (state.snapshot == origin.commit.snapshot) {
        origin.confirmed_at = state.confirmed_at;
      } else {
        ETL_TRY(const auto before, kv_.Get(keys::Response(keys::kConfirmed, origin.commit.source,
                                                          origin.commit.request, *origin.commit.snapshot)));
        if (before) origin.confirmed_at = Instant{std::atoll(before->c_str())};
      }
    }
  }
  return &origins_.emplace(from, std::move(origin)).first->second;
}

Status CommitBuilder::AddNewest(Edit& edit, const EntryDraft& draft, Version version) {
  KindState& state = edit.bundle[draft.kind];
  version.version = ++state.versions;
  const bool first = version.version == 1;
  if (draft.ranking) {
    ETL_TRY(const std::uint32_t group, GroupNumber(*draft.ranking));
    version.ranked = Version::Ranked{
        group, Contender{draft.ranking->value, static_cast<EvidenceLevel>(draft.ranking->evidence),
                         draft.ranking->observed_at, draft.digest, draft.ranking->low, draft.ranking->high}};
  }
  ETL_CHECK_OK(AddObject(edit.name, draft));
  std::vector<std::string> fields;
  if (!first) {
    ETL_TRY(fields, FieldsChanged(draft, state.newest, version));
    batch_->Put(keys::VersionKey(edit.name, draft.kind, state.newest.version), EncodeVersion(state.newest));
    // A replay must be able to tell that the old state was seen until now; the new one starts here.
  }
  const std::uint64_t before = state.newest.sequence;
  // Reading a row again is no new sight of it, and takes none away.
  if (!first && ingest_.rederived_from) version.seen_at = std::max(version.seen_at, state.newest.seen_at);
  state.newest = std::move(version);
  edit.dirty = true;
  if (first) {
    ++result_.entries_new;
    ++counts_.entries_by_kind[std::string(KindName(draft.kind))];
  } else if (before <= ingest_.visit_start) {
    ++result_.entries_changed;
  }
  row_changed_ = row_changed_ || (!first && draft.major == 0);
  EntryLine(first ? "new" : "changed", edit.name, draft.kind, state.newest, fields);
  return {};
}

Status CommitBuilder::AddLate(Edit& edit, const EntryDraft& draft, Version version) {
  // An entry with an order of its own does not depend on when a row was seen; the row itself tells its
  // changes.
  contradicted_ = contradicted_ || draft.major == 0;
  KindState& state = edit.bundle[draft.kind];
  const std::string prefix = keys::VersionPrefix(edit.name, draft.kind);
  auto it = kv_.Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(const Version other, DecodeVersion(it->key(), it->value()));
    if (SameState(other, version)) {
      ++result_.entries_unchanged;
      return {};
    }
  }
  ETL_CHECK_OK(it->status());
  version.version = ++state.versions;
  version.late = true;
  ETL_CHECK_OK(AddObject(edit.name, draft));
  batch_->Put(keys::VersionKey(edit.name, draft.kind, version.version), EncodeVersion(version));
  edit.dirty = true;
  ++result_.entries_late;
  EntryLine("late", edit.name, draft.kind, version, {});
  return {};
}

Result<std::vector<std::string>> CommitBuilder::FieldsChanged(const EntryDraft& draft, const Version& before,
                                                              const Version& after) {
  std::vector<std::string> fields;
  const auto add = [&](std::vector<std::string> more) {
    fields.insert(fields.end(), more.begin(), more.end());
  };
  if (before.state != after.state) fields.emplace_back("state");
  if (before.reasons != after.reasons) fields.emplace_back("reasons");
  if (before.digest != after.digest && before.digest && after.digest) {
    const std::string key = keys::ByDigest(keys::kObject, *before.digest);
    ETL_TRY(const auto stored, kv_.Get(key));
    if (stored) {
      ETL_TRY(const ObjectRecord old, DecodeObject(key, *stored));
      add(ChangedPaths(old.identity, draft.identity, "", kChangedPathsMax));
    }
  } else if (before.digest != after.digest) {
    fields.emplace_back("digest");
  }
  if (before.metadata != after.metadata)
    add(ChangedPaths(before.metadata.empty() ? "{}" : before.metadata,
                     after.metadata.empty() ? "{}" : after.metadata, "metadata", kChangedPathsMax));
  if (before.content != after.content && before.content && after.content) {
    ETL_TRY(const std::string old_row, RowBytes(before));
    add(ChangedPaths(old_row,
                     std::string_view(snapshot_.bytes).substr(draft.locator.offset, draft.locator.bytes),
                     "row", kChangedPathsMax));
  }
  return fields;
}

Result<std::string> CommitBuilder::RowBytes(const Version& version) {
  ETL_TRY(const Origin* const origin, OriginOf(version.from));
  if (!origin->commit.snapshot) return std::string();
  const std::string key = keys::ByDigest(keys::kSnapshotBody, *origin->commit.snapshot);
  ETL_TRY(const auto stored, kv_.Get(key));
  if (!stored) return Fail(Unreadable(key, "a snapshot that a version names is missing"));
  ETL_TRY(const std::string body, DecodeBody(key, *stored));
  if (version.locator.offset > body.size())
    return Fail(Unreadable(key, "a version's byte range lies outside"));
  return body.substr(version.locator.offset, version.locator.bytes);
}

Status CommitBuilder::AddObject(const EntryName& name, const EntryDraft& draft) {
  if (draft.identity.empty()) return {};
  std::optional<EntryName> first;
  if (const auto it = new_objects_.find(draft.digest); it != new_objects_.end()) {
    first = it->second;
  } else {
    const std::string key = keys::ByDigest(keys::kObject, draft.digest);
    ETL_TRY(const auto stored, kv_.Get(key));
    if (stored) {
      ETL_TRY(const ObjectRecord record, DecodeObject(key, *stored));
      first = record.first;
    } else {
      batch_->Put(key, EncodeObject(name, commit_sequence(), draft.identity));
      new_objects_.emplace(draft.digest, name);
      ++counts_.objects;
      return {};
    }
  }
  if (*first == name) return {};
  const std::string further = keys::ObjectEntry(draft.digest, name);
  ETL_TRY(const auto known, kv_.Get(further));
  if (!known) batch_->Put(further, "{\"sequence\":" + std::to_string(commit_sequence()) + "}");
  return {};
}

void CommitBuilder::EntryLine(std::string_view what, const EntryName& name, Kind kind, const Version& version,
                              const std::vector<std::string>& fields) {
  std::string line;
  ObjectWriter w(line);
  w.Text("type", "entry")
      .Text("what", what)
      .Text("kind", KindName(kind))
      .Text("externalId", name.external_id);
  if (!name.scope.empty()) w.Text("scope", name.scope);
  w.Count("version", version.version);
  if (version.state != EntryState::kPassed) w.Text("state", EntryStateName(version.state));
  if (!version.reasons.empty()) w.Raw("reasons", json::TextArray(version.reasons));
  if (!fields.empty()) w.Raw("fields", json::TextArray(fields));
  w.End();
  AddChange("entry", std::move(line));
}

}  // namespace etl
