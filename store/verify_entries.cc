// Verify: objects, entries with all their versions, and the rows that they came from.
#include <algorithm>

#include "model/canonical_json.h"
#include "store/record_reader.h"
#include "store/verifier.h"

namespace etl {
namespace {

constexpr std::size_t kVersionTail = 5;  // kind and number, behind the name

std::string VersionText(const EntryName& name, Kind kind, std::uint32_t version) {
  return name.Text() + " " + std::string(KindName(kind)) + " version " + std::to_string(version);
}

}  // namespace

EntryName Verifier::NameOf(std::uint32_t entry) const {
  return keys::ReadEntry(entry_keys_[entry]).value_or(EntryName());
}

Status Verifier::ReadEntryNames() {
  auto it = kv_.Scan(std::string(1, keys::kEntry), PrefixEnd(std::string(1, keys::kEntry)));
  for (; it->Valid(); it->Next()) entry_keys_.emplace_back(it->key());
  for (std::uint32_t i = 0; i < entry_keys_.size(); ++i) entry_index_.emplace(entry_keys_[i], i);
  return it->status();
}

Status Verifier::CheckObjects() {
  ETL_CHECK_OK(Each(keys::kObject, [&](std::string_view key, std::string_view value) {
    ++report_.objects;
    // The object is read where it stands in its record: parsed once, hashed once.
    const auto document = ParseStored(key, value);
    if (!document) return Fault(document.error());
    const auto object = ReadObject(key, value, document->root());
    if (!Keep(object)) return;
    if (key.size() != 33) return Fault(Unreadable(key, "key"));
    CheckSpelling(key, value, EncodeObject(object->first, object->sequence, object->identity));
    const Digest digest = Digest::FromBytes(key.substr(1));
    if (const Digest computed = Sha256(object->identity); computed != digest)
      return Fault("OBJECT_DIGEST", digest.Text(), "its bytes have the digest " + computed.Text());
    const auto spec = ReadIdentity(document->root().Find("object"));
    if (!spec) return Fault("OBJECT_MANIFEST", digest.Text(), spec.error().Message());
    const auto first = entry_index_.find(keys::Entry(object->first));
    if (first == entry_index_.end())
      Fault("REFERENCE", digest.Text(), "the entry that introduced it is missing: " + object->first.Text());
    if (CommitAt(object->sequence) == nullptr)
      Fault("SEQUENCE", digest.Text(), "from a commit that is not there");
    object_index_.emplace(digest, static_cast<std::uint32_t>(objects_.size()));
    objects_.push_back({digest, object->sequence, first == entry_index_.end() ? kNoEntry : first->second});
    if (const auto* implementation = std::get_if<ImplementationRevision>(&*spec))
      operations_[digest] = implementation->operation_spec_digest;
    else if (const auto* suite = std::get_if<WorkloadSuite>(&*spec))
      correctness_[digest] = CorrectnessKey(suite->correctness);
    else if (const auto* workload = std::get_if<WorkloadCase>(&*spec))
      correctness_[digest] = CorrectnessKey(workload->correctness);
    else if (const auto* run = std::get_if<BenchmarkRun>(&*spec))
      CheckRun(digest, *run);
  }));
  ResolveRuns();
  return {};
}

// Runs come in the order of their digests, so what they refer to may not have been read yet.
void Verifier::CheckRun(const Digest& digest, const BenchmarkRun& run) {
  PendingRun pending{
      run.implementation_digest, run.workload_digest, run.protocol_digest, run.environment_digest, {}, {}};
  pending.facts.contender.digest = digest;
  pending.facts.contender.observed_at = run.observed_at;
  if (const auto primary = PrimaryMeasurementOf(run)) {
    pending.metric_key = primary->MetricKey();
    pending.facts.contender.value = primary->value;
    pending.facts.native = ProfileOf(run) == "source_native";
    pending.facts.evidence =
        (run.evidence && run.evidence->raw_samples) || (run.timing && run.timing->raw_samples);
    if (!pending.facts.native) {
      pending.facts.contender.low = primary->low;
      pending.facts.contender.high = primary->high;
    }
  }
  pending_runs_.push_back(std::move(pending));
}

void Verifier::ResolveRuns() {
  for (PendingRun& run : pending_runs_) {
    const Digest& digest = run.facts.contender.digest;
    bool whole = true;
    for (const Digest& part : {run.implementation, run.workload, run.protocol, run.environment}) {
      if (HasObject(part)) continue;
      whole = false;
      Fault("REFERENCE", digest.Text(), "an object that it names is missing: " + part.Text());
    }
    if (!whole || run.metric_key.empty()) continue;
    const auto operation = operations_.find(run.implementation);
    const auto correctness = correctness_.find(run.workload);
    if (operation == operations_.end() || correctness == correctness_.end()) {
      Fault("REFERENCE", digest.Text(), "an object that it names is of another kind");
      continue;
    }
    run.facts.comparison_key = ComparisonKey({operation->second, run.workload, run.protocol, run.environment,
                                              correctness->second, run.metric_key});
    runs_.emplace(digest, run.facts);
  }
  pending_runs_.clear();
  pending_runs_.shrink_to_fit();
}

Status Verifier::CheckEntries() {
  // Entries and older versions have their names in the same order: one walk beside the other.
  auto older = kv_.Scan(std::string(1, keys::kVersion), PrefixEnd(std::string(1, keys::kVersion)));
  std::uint32_t entry = 0;
  ETL_CHECK_OK(Each(keys::kEntry, [&](std::string_view key, std::string_view value) {
    ++report_.entries;
    while (entry < entry_keys_.size() && entry_keys_[entry] < key) ++entry;
    const auto name = keys::ReadEntry(key);
    if (!name) return Fault(Unreadable(key, "key"));
    auto versions = TakeOlder(*older, key.substr(1));
    const auto bundle = DecodeBundle(key, value);
    if (!Keep(bundle)) return;
    CheckSpelling(key, value, EncodeBundle(*bundle));
    CheckEntry(entry, *name, *bundle, std::move(versions));
  }));
  TakeOlder(*older, {});
  if (const auto status = older->status(); !status) Fault(status.error());
  return {};
}

// The older versions of an entry. Those of names before it, and with an empty name all that are left, belong
// to nobody.
Verifier::Older Verifier::TakeOlder(Kv::Iterator& it, std::string_view name) {
  Older versions;
  for (; it.Valid(); it.Next()) {
    const std::string_view key = it.key(), rest = key.substr(1);
    const bool ours = !name.empty() && rest.starts_with(name) && rest.size() == name.size() + kVersionTail;
    if (!ours && !name.empty() && rest > name) break;
    if (const auto checked = it.checked(); !checked) {
      Fault(checked.error());
      continue;
    }
    if (!ours) {
      // Of an entry that is there and unreadable, which has been told.
      const auto owner =
          rest.size() <= kVersionTail ? std::string_view() : rest.substr(0, rest.size() - kVersionTail);
      if (!entry_index_.contains(std::string(1, keys::kEntry) + std::string(owner)))
        KeyFault("VERSION", key, "it belongs to an entry that is not there");
      continue;
    }
    const auto version = DecodeVersion(key, it.value());
    if (!Keep(version)) continue;
    CheckSpelling(key, it.value(), EncodeVersion(*version));
    if (version->version != keys::ReadBig32(key.substr(key.size() - 4)))
      KeyFault("VERSION", key, "its number is not that of its key");
    else
      versions[static_cast<Kind>(key[key.size() - kVersionTail])].push_back(*version);
  }
  return versions;
}

void Verifier::CheckEntry(std::uint32_t entry, const EntryName& name, const Bundle& bundle, Older older) {
  for (const auto& [kind, state] : bundle) {
    std::vector<Version> versions = std::move(older[kind]);
    const auto after = std::find_if(versions.begin(), versions.end(),
                                    [n = state.newest.version](const Version& v) { return v.version > n; });
    versions.insert(after, state.newest);
    for (std::uint32_t n = 1, i = 0; n <= state.versions; ++n) {
      if (i < versions.size() && versions[i].version == n) {
        ++i;
        continue;
      }
      Fault("VERSION", VersionText(name, kind, n), "it is missing or unreadable");
    }
    if (versions.back().version > state.versions)
      Fault("VERSION", VersionText(name, kind, versions.back().version), "the entry counts fewer versions");
    CheckKind(entry, name, kind, versions, state.newest.version);
    older.erase(kind);
  }
  for (const auto& [kind, versions] : older)
    if (!versions.empty())
      Fault("VERSION", VersionText(name, kind, versions.front().version),
            "the entry has nothing of this kind");
}

// The versions of one kind, by number.
void Verifier::CheckKind(std::uint32_t entry, const EntryName& name, Kind kind,
                         const std::vector<Version>& versions, std::uint32_t newest) {
  std::uint64_t sequence = 0;
  for (const Version& v : versions) {
    CheckVersion(entry, name, kind, v);
    if (v.sequence < sequence)
      Fault("VERSION", VersionText(name, kind, v.version), "it came before the version with a lower number");
    sequence = v.sequence;
    if (kind == Kind::kSubmission && v.version == newest) NoteReview(name, v);
    // The newest state is the last that was not late when it came.
    if (v.version >= newest ? v.late == (v.version == newest) : v.version == 1 && v.late)
      Fault("VERSION", VersionText(name, kind, v.version),
            "it is late and must not be, or the other way round");
    CheckRanked(name, kind, v);
  }
  if (kind == Kind::kBenchmarkRun) AddMoves(entry, versions);
}

void Verifier::CheckVersion(std::uint32_t entry, const EntryName& name, Kind kind, const Version& v) {
  ++report_.versions;
  const auto fault = [&](std::string code, std::string what) {
    Fault(std::move(code), VersionText(name, kind, v.version), std::move(what));
  };
  if (v.digest) {
    if (const auto object = object_index_.find(*v.digest); object != object_index_.end()) {
      ObjectFacts& facts = objects_[object->second];
      facts.since = std::min(facts.since, v.sequence);
      holders_.push_back({object->second, entry, v.sequence});
    } else {
      fault("REFERENCE", "its object is missing or damaged: " + v.digest->Text());
    }
    if (!v.metadata.empty()) {
      const auto document = json::Document::Parse(v.metadata);
      if (!document || !ReadMetadata(document->root())) fault("VERSION", "its metadata is not valid");
    }
  }
  const auto commit = commits_.find(v.sequence);
  if (commit == commits_.end()) {
    fault("REFERENCE", "the commit that brought it is missing");
  } else {
    commit->second.found += VersionHash(name, kind, v);
    if (v.version > 1 && v.major == 0) commit->second.rows_moved = true;
    // A run that its row ended keeps the moment of the run itself.
    const bool retracted = !v.reasons.empty() && v.reasons.front() == "RETRACTED";
    if (!retracted && v.captured_at != commit->second.info.captured_at)
      fault("VERSION", "it was captured at another moment than its commit says");
  }
  const CommitFacts* from = CommitAt(v.from);
  if (from == nullptr || !from->info.snapshot) return fault("REFERENCE", "its snapshot's commit is missing");
  if (v.seen_at < v.captured_at) fault("VERSION", "it was last seen before it was captured");
  if (v.content) rows_[*from->info.snapshot].push_back({entry, v.version, v.locator, *v.content});
}

void Verifier::CheckRanked(const EntryName& name, Kind kind, const Version& v) {
  const auto run = v.digest ? runs_.find(*v.digest) : runs_.end();
  const bool should =
      kind == Kind::kBenchmarkRun && v.state == EntryState::kPassed && run != runs_.end() && !v.late;
  if (!should && !v.ranked) return;
  const auto fault = [&](std::string what) {
    Fault("STANDING", VersionText(name, kind, v.version), std::move(what));
  };
  if (should != v.ranked.has_value())
    return fault(should ? "a run that passed is not ranked" : "a run is ranked that may not be");
  const RunFacts& facts = run->second;
  const Contender &stored = v.ranked->contender, &computed = facts.contender;
  if (stored.value != computed.value || stored.observed_at != computed.observed_at ||
      stored.low != computed.low || stored.high != computed.high ||
      (stored.evidence != EvidenceLevel::kReported && !facts.evidence))
    fault("its value, time, interval or evidence is not that of its manifest");
  const auto group = groups_.find(v.ranked->group);
  if (group == groups_.end() || group->second.key != facts.comparison_key)
    fault("it stands in another group than " + facts.comparison_key.Text());
  else if ((group->second.profile == "source_native") != facts.native)
    Fault("STANDING", group->second.key.Text(), "its profile is not that of its runs");
}

// Rows that show a decision, or whose only fault is that they wait for one; CheckVisits reads the decisions.
void Verifier::NoteReview(const EntryName& name, const Version& row) {
  const bool waits = row.reasons.size() == 1 && row.reasons.front() == kReviewReason;
  if (!waits && row.metadata.find("\"review\":") == std::string::npos) return;
  const auto metadata = json::Document::Parse(row.metadata);
  const json::Value review = metadata ? metadata->root().Find("review") : json::Value();
  if (!waits && !review.exists()) return;
  Reviewed shown{review.exists() ? json::Canonical(review, json::Integers::kExact) : "", row.state, false,
                 VersionText(name, Kind::kSubmission, row.version)};
  shown.turned_down =
      std::find(row.reasons.begin(), row.reasons.end(), kRejectedReason) != row.reasons.end();
  reviewed_.emplace(keys::ByText(keys::kCursor, name.source, ReviewKey(name.external_id)), std::move(shown));
}

// When the run of an entry joined and left groups: the last state of each commit counts, late ones never do.
void Verifier::AddMoves(std::uint32_t entry, const std::vector<Version>& versions) {
  const Version* before = nullptr;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Version& v = versions[i];
    if (v.late) continue;
    const auto next = std::find_if(versions.begin() + static_cast<std::ptrdiff_t>(i) + 1, versions.end(),
                                   [](const Version& other) { return !other.late; });
    if (next != versions.end() && next->sequence == v.sequence) continue;
    const auto place = [&](const Version* at) -> std::optional<std::pair<std::uint32_t, std::uint32_t>> {
      if (at == nullptr || !at->ranked || !at->digest || !runs_.contains(*at->digest)) return std::nullopt;
      return std::pair(at->ranked->group, object_index_.at(*at->digest));
    };
    const auto was = place(before), is = place(&v);
    if (was != is) {
      if (was) moves_.push_back({was->first, was->second, v.sequence, false, entry});
      if (is) moves_.push_back({is->first, is->second, v.sequence, true, entry});
    }
    before = &v;
  }
}

// The lists of entries that have an object: the first in its record, the others beside it.
Status Verifier::CheckHolders() {
  std::sort(holders_.begin(), holders_.end());
  const auto same = [](const Holder& a, const Holder& b) {
    return a.object == b.object && a.entry == b.entry;
  };
  holders_.erase(std::unique(holders_.begin(), holders_.end(), same), holders_.end());
  std::vector<bool> listed(holders_.size());
  for (std::size_t i = 0; i < holders_.size(); ++i)
    listed[i] = objects_[holders_[i].object].first == holders_[i].entry;
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    const ObjectFacts& object = objects_[i];
    if (object.first == kNoEntry) continue;  // told before
    const auto first = std::lower_bound(holders_.begin(), holders_.end(), Holder{i, object.first, 0});
    if (first == holders_.end() || !same(*first, {i, object.first, 0}))
      Fault("REFERENCE", object.digest.Text(), "the entry that introduced it never had it");
    else if (object.sequence != first->since || object.sequence != object.since)
      Fault("SEQUENCE", object.digest.Text(), "no version brought it with the commit that it names");
  }
  ETL_CHECK_OK(Each(keys::kObjectEntry, [&](std::string_view key, std::string_view value) {
    constexpr std::size_t kNameStart = 33;
    const auto object = key.size() <= kNameStart ? object_index_.end()
                                                 : object_index_.find(Digest::FromBytes(key.substr(1, 32)));
    const auto entry =
        object == object_index_.end()
            ? entry_index_.end()
            : entry_index_.find(std::string(1, keys::kEntry) + std::string(key.substr(kNameStart)));
    if (entry == entry_index_.end()) return KeyFault("INDEX", key, "its object or its entry is not there");
    const Holder wanted{object->second, entry->second, 0};
    const auto holder = std::lower_bound(holders_.begin(), holders_.end(), wanted);
    if (holder == holders_.end() || !same(*holder, wanted))
      return KeyFault("INDEX", key, "its entry never had its object");
    listed[static_cast<std::size_t>(holder - holders_.begin())] = true;
    if (value != "{\"sequence\":" + std::to_string(holder->since) + "}")
      KeyFault("INDEX", key, "its entry has the object since change " + std::to_string(holder->since));
  }));
  for (std::size_t i = 0; i < holders_.size(); ++i)
    if (!listed[i])
      KeyFault("INDEX", keys::ObjectEntry(objects_[holders_[i].object].digest, NameOf(holders_[i].entry)),
               "missing or unreadable, though the entry has the object");
  return {};
}

// Each body is unpacked once, for its digest and for the rows that came in it.
Status Verifier::CheckSnapshots() {
  ETL_CHECK_OK(Each(keys::kSnapshotBody, [&](std::string_view key, std::string_view value) {
    ++report_.snapshots;
    const auto body = DecodeBody(key, value);
    if (!Keep(body)) return;
    if (key.size() != 33) return Fault(Unreadable(key, "key"));
    const Digest digest = Digest::FromBytes(key.substr(1));
    if (Sha256(*body) != digest)
      return Fault("SNAPSHOT_DIGEST", digest.Text(), "its bytes have another digest");
    const auto size = sizes_.find(digest);
    if (size == sizes_.end()) return Fault("REFERENCE", digest.Text(), "nothing refers to this snapshot");
    if (size->second != body->size() && size->second != kSizeUntold)
      Fault("CHANGE_LOG", digest.Text(), "the snapshot has another size than was told");
    sizes_.erase(size);
    CheckRows(digest, *body);
  }));
  for (const auto& [digest, size] : sizes_)
    Fault("REFERENCE", digest.Text(), "the snapshot or quarantined item is missing or damaged");
  return {};
}

// Cut out of its snapshot, the canonical form of each row must have the digest that was kept.
void Verifier::CheckRows(const Digest& snapshot, std::string_view bytes) {
  const auto rows = rows_.find(snapshot);
  if (rows == rows_.end()) return;
  for (const RowCheck& r : rows->second) {
    const auto fault = [&](std::string code, std::string what) {
      Fault(std::move(code), VersionText(NameOf(r.entry), Kind::kSubmission, r.version), std::move(what));
    };
    if (r.locator.offset > bytes.size() || r.locator.bytes > bytes.size() - r.locator.offset) {
      fault("LOCATOR", "its byte range lies outside the snapshot");
      continue;
    }
    const auto row = json::Document::Parse(bytes.substr(r.locator.offset, r.locator.bytes));
    if (!row || Sha256(json::Canonical(row->root(), json::Integers::kExact)) != r.content)
      fault("CONTENT_DIGEST", "the row in the snapshot has another digest");
  }
  rows_.erase(rows);
}

}  // namespace etl
