// Verify: every value against its checksum, every digest, reference, standing and record history computed
// anew.
#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "model/canonical_json.h"
#include "model/comparison.h"
#include "store/record_reader.h"
#include "store/store_impl.h"

namespace etl {
namespace {

constexpr std::size_t kFaultsKept = 1000;

class Verifier {
 public:
  Verifier(const StoreImpl& store, VerifyReport& report) : store_(store), kv_(store.kv()), report_(report) {}

  Status Run() {
    if (const auto files = kv_.VerifyFiles(); !files) Fault(files.error());
    ETL_CHECK_OK(CheckObjects());
    ETL_CHECK_OK(CheckSnapshots());
    ETL_CHECK_OK(CheckCommits());
    ETL_CHECK_OK(CheckEntries());
    ETL_CHECK_OK(CheckVersions());
    CheckContents();
    ETL_CHECK_OK(CheckGroups());
    return CheckOthers();
  }

 private:
  struct RunFacts {  // what ranking needs of a run's manifest
    PrimaryMeasurement primary;
    Digest comparison_key;
    Instant observed_at;
  };

  void Fault(Error error) {
    ++report_.fault_count;
    if (report_.faults.size() < kFaultsKept) report_.faults.push_back(std::move(error));
  }
  void Fault(std::string code, std::string where, std::string what) {
    Fault({Errc::kCorrupt, std::move(code), std::move(where), std::move(what),
           "restore a backup, or rebuild from the stored snapshots"});
  }
  template <class T>
  const T* Keep(const Result<T>& result) {
    if (!result) {
      Fault(result.error());
      return nullptr;
    }
    return &*result;
  }

  // Calls `visit` for every intact value under a prefix; a value with a wrong checksum is a fault by itself.
  template <class Visit>
  Status Each(keys::Prefix prefix, Visit visit) {
    auto it = kv_.Scan(std::string(1, prefix), PrefixEnd(std::string(1, prefix)));
    for (; it->Valid(); it->Next()) {
      if (const auto checked = it->checked(); !checked) {
        Fault(checked.error());
        continue;
      }
      visit(it->key(), it->value());
    }
    if (const auto status = it->status(); !status) Fault(status.error());
    return {};
  }

  bool Has(const std::string& key) {
    const auto stored = kv_.Get(key);
    return stored && *stored;
  }

  Status CheckObjects() {
    return Each(keys::kObject, [&](std::string_view key, std::string_view value) {
      ++report_.objects;
      const auto object = DecodeObject(key, value);
      if (!Keep(object)) return;
      const Digest digest = Digest::FromBytes(key.substr(1));
      if (Sha256(object->identity) != digest)
        return Fault("OBJECT_DIGEST", digest.Text(),
                     "its bytes have the digest " + Sha256(object->identity).Text());
      const auto document = json::Document::Parse(object->identity);
      const auto spec =
          document ? ReadIdentity(document->root()) : Result<Spec>(tl::unexpected<Error>(document.error()));
      if (!spec) return Fault("OBJECT_MANIFEST", digest.Text(), spec.error().Message());
      if (!Has(keys::Entry(object->first)))
        Fault("REFERENCE", digest.Text(), "the entry that introduced it is missing: " + object->first.Text());
      if (object->sequence > store_.sequence())
        Fault("SEQUENCE", digest.Text(), "from a commit that is not there");
      if (const auto* implementation = std::get_if<ImplementationRevision>(&*spec))
        operations_[digest] = implementation->operation_spec_digest;
      else if (const auto* suite = std::get_if<WorkloadSuite>(&*spec))
        correctness_[digest] = CorrectnessKey(suite->correctness);
      else if (const auto* workload = std::get_if<WorkloadCase>(&*spec))
        correctness_[digest] = CorrectnessKey(workload->correctness);
      else if (const auto* run = std::get_if<BenchmarkRun>(&*spec))
        CheckRun(digest, *run);
    });
  }

  // Runs come in the order of their digests, so what they refer to may not have been read yet: kept until
  // groups are checked.
  void CheckRun(const Digest& digest, const BenchmarkRun& run) {
    for (const Digest& part :
         {run.implementation_digest, run.workload_digest, run.protocol_digest, run.environment_digest})
      if (!Has(keys::ByDigest(keys::kObject, part)))
        Fault("REFERENCE", digest.Text(), "an object that it names is missing: " + part.Text());
    const auto primary = PrimaryMeasurementOf(run);
    if (!primary) return;
    pending_runs_.push_back({digest, run.implementation_digest, run.workload_digest, run.protocol_digest,
                             run.environment_digest, *primary, run.observed_at});
  }

  void ResolveRuns() {
    for (const PendingRun& run : pending_runs_) {
      const auto operation = operations_.find(run.implementation);
      const auto correctness = correctness_.find(run.workload);
      if (operation == operations_.end() || correctness == correctness_.end())
        continue;  // told as a missing reference
      runs_[run.digest] = {run.primary,
                           ComparisonKey({operation->second, run.workload, run.protocol, run.environment,
                                          correctness->second, run.primary.MetricKey()}),
                           run.observed_at};
    }
    pending_runs_.clear();
  }

  Status CheckSnapshots() {
    return Each(keys::kSnapshotBody, [&](std::string_view key, std::string_view value) {
      ++report_.snapshots;
      const auto body = DecodeBody(key, value);
      if (!Keep(body)) return;
      const Digest digest = Digest::FromBytes(key.substr(1));
      if (Sha256(*body) != digest) Fault("SNAPSHOT_DIGEST", digest.Text(), "its bytes have another digest");
    });
  }

  Status CheckCommits() {
    std::uint64_t expected = 1;
    Instant last_time{INT64_MIN};
    ETL_CHECK_OK(Each(keys::kCommit, [&](std::string_view key, std::string_view value) {
      ++report_.commits;
      std::vector<Change> changes;
      const auto commit = DecodeCommit(key, value, &changes);
      if (!Keep(commit)) return;
      if (commit->first != expected || keys::ReadBig64(key.substr(1)) != commit->first)
        Fault("SEQUENCE", "change " + std::to_string(expected),
              "the change log has a gap or an overlap here");
      expected = commit->last + 1;
      if (commit->time < last_time)
        Fault("SEQUENCE", "change " + std::to_string(commit->first), "its time goes back");
      last_time = commit->time;
      if (commit->snapshot && !Has(keys::ByDigest(keys::kSnapshotBody, *commit->snapshot)))
        Fault("REFERENCE", "change " + std::to_string(commit->first),
              "its snapshot is missing: " + commit->snapshot->Text());
      commits_[commit->first] = commit->snapshot;
      for (const Change& change : changes) ++lines_[change.type];
    }));
    if (expected != store_.sequence() + 1)
      Fault("SEQUENCE", "change " + std::to_string(expected),
            "the log ends here, the store counts " + std::to_string(store_.sequence()));
    return {};
  }

  Status CheckEntries() {
    ResolveRuns();
    return Each(keys::kEntry, [&](std::string_view key, std::string_view value) {
      ++report_.entries;
      const auto name = keys::ReadEntry(key);
      const auto bundle = DecodeBundle(key, value);
      if (!name) return Fault(Unreadable(key, "key"));
      if (!Keep(bundle)) return;
      for (const auto& [kind, state] : *bundle) {
        CheckVersion(*name, kind, state.newest);
        versions_expected_ += state.versions - 1;
        versions_told_ += state.versions;
        for (std::uint32_t n = 1; n <= state.versions; ++n)
          if (n != state.newest.version && !Has(keys::VersionKey(*name, kind, n)))
            Fault("VERSION", name->Text(),
                  std::string(KindName(kind)) + " version " + std::to_string(n) + " is missing");
        CheckRanked(*name, kind, state.newest);
      }
    });
  }

  void CheckVersion(const EntryName& name, Kind kind, const Version& v) {
    ++report_.versions;
    const std::string where =
        name.Text() + " " + std::string(KindName(kind)) + " version " + std::to_string(v.version);
    if (v.digest && !Has(keys::ByDigest(keys::kObject, *v.digest)))
      Fault("REFERENCE", where, "its object is missing: " + v.digest->Text());
    if (!v.metadata.empty() && v.digest) {
      const auto document = json::Document::Parse(v.metadata);
      if (!document || !ReadMetadata(document->root())) Fault("VERSION", where, "its metadata is not valid");
    }
    if (!commits_.contains(v.sequence)) Fault("REFERENCE", where, "the commit that brought it is missing");
    const auto from = commits_.find(v.from);
    if (from == commits_.end() || !from->second)
      return Fault("REFERENCE", where, "its snapshot's commit is missing");
    if (v.content) contents_[*from->second].push_back({where, v.locator, *v.content});
  }

  // The rows that submissions came from: cut out of its snapshot, the canonical form of each must have the
  // digest that was kept. By snapshot, since one holds many rows and has to be unpacked.
  void CheckContents() {
    for (const auto& [snapshot, rows] : contents_) {
      const auto bytes = store_.GetBytes(snapshot);
      if (!bytes) continue;  // told by the snapshot itself
      for (const RowCheck& r : rows) {
        if (r.locator.offset > bytes->size() || r.locator.bytes > bytes->size() - r.locator.offset) {
          Fault("LOCATOR", r.where, "its byte range lies outside the snapshot");
          continue;
        }
        const auto row =
            json::Document::Parse(std::string_view(*bytes).substr(r.locator.offset, r.locator.bytes));
        if (!row || Sha256(json::Canonical(row->root(), json::Integers::kExact)) != r.content)
          Fault("CONTENT_DIGEST", r.where, "the row in the snapshot has another digest");
      }
    }
  }

  void CheckRanked(const EntryName& name, Kind kind, const Version& v) {
    const bool should = kind == Kind::kBenchmarkRun && v.state == EntryState::kPassed && v.digest &&
                        runs_.contains(*v.digest);
    if (!should && !v.ranked) return;
    if (should != v.ranked.has_value())
      return Fault("STANDING", name.Text(),
                   should ? "a run that passed is not ranked" : "a run is ranked that may not be");
    const RunFacts& facts = runs_[*v.digest];
    const Contender& c = v.ranked->contender;
    if (c.value != facts.primary.value || c.observed_at != facts.observed_at)
      Fault("STANDING", name.Text(), "its value or time is not that of its manifest");
    auto [group, fresh] = group_keys_.try_emplace(v.ranked->group);
    if (fresh)
      if (const auto info = store_.GetGroup(v.ranked->group)) group->second = info->key;
    if (group->second != facts.comparison_key)
      Fault("STANDING", name.Text(), "it stands in another group than " + facts.comparison_key.Text());
    members_[v.ranked->group].push_back({0, c, name.source, name.external_id, v.sequence});
  }

  // The change log tells of everything that came to be, once: so many there must be.
  void CheckCount(const std::string& what, std::uint64_t stored, std::uint64_t told) {
    if (stored != told)
      Fault("COUNT", what,
            std::to_string(stored) + " are stored, the change log tells of " + std::to_string(told));
  }
  std::uint64_t CountOf(keys::Prefix prefix) {
    std::uint64_t n = 0;
    for (auto it = kv_.Scan(std::string(1, prefix), PrefixEnd(std::string(1, prefix))); it->Valid();
         it->Next())
      ++n;
    return n;
  }

  Status CheckVersions() {
    std::uint64_t found = 0;
    ETL_CHECK_OK(Each(keys::kVersion, [&](std::string_view key, std::string_view value) {
      ++found;
      const auto version = DecodeVersion(key, value);
      if (!Keep(version)) return;
      constexpr std::size_t kTail = 5;
      if (key.size() < kTail + 1) return Fault(Unreadable(key, "key"));
      const auto name = keys::ReadEntry(key.substr(0, key.size() - kTail));
      const auto kind = static_cast<Kind>(key[key.size() - kTail]);
      if (!name || version->version != keys::ReadBig32(key.substr(key.size() - 4)))
        return Fault(Unreadable(key, "key"));
      CheckVersion(*name, kind, *version);
    }));
    if (found != versions_expected_)
      Fault("VERSION", "all entries",
            std::to_string(found) + " older versions are stored, entries count " +
                std::to_string(versions_expected_));
    return {};
  }

  Status CheckGroups() {
    std::set<std::uint32_t> seen;
    ETL_CHECK_OK(Each(keys::kGroup, [&](std::string_view key, std::string_view value) {
      ++report_.groups;
      const auto group = DecodeGroup(key, value);
      if (!Keep(group)) return;
      seen.insert(group->number);
      const auto number = kv_.Get(keys::Group(keys::kGroupNumber, group->number));
      if (!number || !*number || **number != group->key.View())
        Fault("STANDING", group->key.Text(), "its number leads elsewhere");
      const Digest computed = ComparisonKey({group->operation, group->workload, group->protocol,
                                             group->environment, group->correctness, group->metric_key});
      if (computed != group->key) Fault("STANDING", group->key.Text(), "its parts have another key");
      CheckStanding(*group);
    }));
    for (const auto& [number, members] : members_)
      if (!seen.contains(number))
        Fault("STANDING", "group " + std::to_string(number), "runs stand in a group that is missing");
    return {};
  }

  void CheckStanding(const GroupInfo& group) {
    const std::string where = group.key.Text();
    KvNodeSpace nodes(kv_, nullptr, group.number);
    const auto root = LoadRoot(kv_, group.number);
    if (!Keep(root)) return;
    StandingTree tree(nodes, *root);
    if (const auto checked = tree.Check(); !checked) return Fault(checked.error());
    std::vector<StandingLine>& members = members_[group.number];
    // The same run may be two entries' newest state; it stands once.
    std::vector<Contender> contenders;
    std::set<Digest> once;
    for (const StandingLine& m : members)
      if (once.insert(m.contender.digest).second) contenders.push_back(m.contender);
    const auto ranked = Rank(contenders);
    const auto stored = store_.StandingAt(group.number, {});
    if (!Keep(stored)) return;
    bool equal = ranked.size() == stored->size();
    for (std::size_t i = 0; equal && i < ranked.size(); ++i) {
      const StandingLine& line = (*stored)[i];
      equal = line.rank == ranked[i].rank && line.contender.digest == contenders[ranked[i].index].digest &&
              line.contender.value == contenders[ranked[i].index].value && line.since <= store_.sequence();
    }
    if (!equal) return Fault("STANDING", where, "the stored standing is not the one of its runs");
    const auto records = store_.GetRecords(group, {});
    if (!Keep(records)) return;
    const auto fresh = RecordHistory(contenders);
    equal = fresh.size() == records->size();
    for (std::size_t i = 0; equal && i < fresh.size(); ++i)
      equal = (*records)[i].digest == contenders[fresh[i]].digest &&
              (*records)[i].value == contenders[fresh[i]].value;
    if (!equal) Fault("RECORDS", where, "the stored record history is not the one of its runs");
  }

  Status CheckOthers() {
    const auto readable = [&](auto decode) {
      return [this, decode](std::string_view key, std::string_view value) { Keep(decode(key, value)); };
    };
    ETL_CHECK_OK(Each(keys::kContext, readable(DecodeContext)));
    ETL_CHECK_OK(Each(keys::kDrift, readable(DecodeDrift)));
    ETL_CHECK_OK(Each(keys::kGap, readable(DecodeGap)));
    ETL_CHECK_OK(Each(keys::kVisit, readable(DecodeVisit)));
    CheckCount("versions", versions_told_, lines_["entry"]);
    CheckCount("quarantined items", CountOf(keys::kQuarantine), lines_["quarantine"]);
    CheckCount("drift", CountOf(keys::kDrift), lines_["drift"]);
    CheckCount("gaps", CountOf(keys::kGap), lines_["gap"]);
    if (CountOf(keys::kGroup) != CountOf(keys::kGroupNumber))
      Fault("COUNT", "groups", "their keys and numbers do not pair up");
    const auto any = [](std::string_view, std::string_view) {};
    for (const auto prefix :
         {keys::kMeta, keys::kObjectEntry, keys::kContextRows, keys::kGroupNumber, keys::kStandingRoot,
          keys::kStandingNode, keys::kPendingContext, keys::kLateSnapshot, keys::kConfirmed, keys::kRowChange,
          keys::kRecordStep, keys::kFormerMember})
      ETL_CHECK_OK(Each(prefix, any));
    ETL_CHECK_OK(Each(keys::kRequest, [&](std::string_view key, std::string_view value) {
      const auto request = DecodeRequest(key, value);
      if (Keep(request) && !Has(keys::ByDigest(keys::kSnapshotBody, request->snapshot)))
        Fault("REFERENCE", "request " + std::string(key.substr(1)), "its snapshot is missing");
    }));
    return Each(keys::kQuarantine, [&](std::string_view key, std::string_view value) {
      const auto item = DecodeQuarantine(key, value);
      if (Keep(item) && !Has(keys::ByDigest(keys::kSnapshotBody, item->bytes_digest)))
        Fault("REFERENCE", "quarantine " + item->id.Hex(), "its bytes are missing");
    });
  }

  struct RowCheck {
    std::string where;
    Locator locator;
    Digest content;
  };
  struct PendingRun {
    Digest digest, implementation, workload, protocol, environment;
    PrimaryMeasurement primary;
    Instant observed_at;
  };

  const StoreImpl& store_;
  const Kv& kv_;
  VerifyReport& report_;
  std::unordered_map<Digest, Digest> operations_;   // implementation -> operation
  std::unordered_map<Digest, Digest> correctness_;  // workload -> correctness key
  std::vector<PendingRun> pending_runs_;
  std::unordered_map<Digest, RunFacts> runs_;
  std::map<std::uint64_t, std::optional<Digest>> commits_;
  std::map<std::uint32_t, std::vector<StandingLine>> members_;
  std::uint64_t versions_expected_ = 0, versions_told_ = 0;
  std::map<std::string, std::uint64_t> lines_;  // of the change log, by type
  std::map<std::uint32_t, Digest> group_keys_;
  std::map<Digest, std::vector<RowCheck>> contents_;
};

}  // namespace

Result<VerifyReport> StoreImpl::Verify() const {
  VerifyReport report;
  ETL_CHECK_OK(Verifier(*this, report).Run());
  Sha256Hasher hasher;
  const auto exported = Export({}, [&](std::string_view line) {
    hasher.Update(line);
    return Status();
  });
  if (!exported) {
    ++report.fault_count;
    report.faults.push_back(exported.error());
  }
  report.root = hasher.Finish();
  return report;
}

}  // namespace etl
