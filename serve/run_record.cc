#include "serve/run_record.h"

#include <algorithm>
#include <utility>

#include "model/ranking.h"

namespace etl::serve {
namespace {

constexpr std::string_view kRepair =
    "run `etlctl verify`, then restore a backup or rebuild from the snapshots";

Result<Loaded> LoadReferenced(const Store& store, const Digest& digest, std::initializer_list<Kind> kinds,
                              const Digest& from, AsOf as_of) {
  auto loaded = LoadManifest(store, digest, as_of);
  const std::string role(KindName(*kinds.begin()));
  if (!loaded && loaded.error().errc == Errc::kNotFound) {
    return Fail(Errc::kCorrupt, "REFERENCE_MISSING", from.Text(),
                "its " + role + " " + digest.Text() + " is not in the store", std::string(kRepair));
  }
  if (loaded && std::find(kinds.begin(), kinds.end(), loaded->manifest.kind()) == kinds.end()) {
    return Fail(Errc::kCorrupt, "REFERENCE_KIND", from.Text(),
                "what should be its " + role + " is another kind of thing", std::string(kRepair));
  }
  return loaded;
}

Digest OperationOf(const Spec& workload) {
  if (const auto* suite = std::get_if<WorkloadSuite>(&workload)) return suite->operation_spec_digest;
  if (const auto* one = std::get_if<WorkloadCase>(&workload)) return one->operation_spec_digest;
  return {};
}

Result<void> LoadParts(const Store& store, RunRecord& record, AsOf as_of) {
  const BenchmarkRun& run = record.spec();
  const Digest& self = record.run.digest;
  ETL_TRY(record.implementation,
          LoadReferenced(store, run.implementation_digest, {Kind::kImplementationRevision}, self, as_of));
  ETL_TRY(record.workload, LoadReferenced(store, run.workload_digest,
                                          {Kind::kWorkloadSuite, Kind::kWorkloadCase}, self, as_of));
  ETL_TRY(record.protocol,
          LoadReferenced(store, run.protocol_digest, {Kind::kBenchmarkProtocol}, self, as_of));
  ETL_TRY(record.environment,
          LoadReferenced(store, run.environment_digest, {Kind::kExecutionEnvironment}, self, as_of));
  ETL_TRY(record.operation, LoadReferenced(store, OperationOf(record.workload.manifest.spec),
                                           {Kind::kOperationSpec}, record.workload.digest, as_of));
  return {};
}

// The entry and the version that this run is. An object stands in at least one.
Result<void> FindVersion(const Store& store, const StoredObject& object, RunRecord& record, AsOf as_of) {
  for (const EntryName& name : object.entries) {
    ETL_TRY(std::vector<Version> versions, store.GetVersions(name, Kind::kBenchmarkRun));
    std::erase_if(versions, [&](const Version& version) { return version.sequence > as_of.sequence; });
    const auto with_run = [&](const Version& version) { return version.digest == object.digest; };
    const auto passed = [&](const Version& version) {
      return with_run(version) && version.state == EntryState::kPassed;
    };
    // A retracted state still names its run; where the run came from is what the last passing state says.
    auto found = std::find_if(versions.rbegin(), versions.rend(), passed);
    if (found == versions.rend()) found = std::find_if(versions.rbegin(), versions.rend(), with_run);
    if (found == versions.rend()) continue;
    record.entry = name;
    record.version = *found;
    record.versions = std::move(versions);
    return {};
  }
  if (!as_of.now())
    return Fail(Errc::kNotFound, "NOT_FOUND", object.digest.Text(), "the run was not there yet", "");
  return Fail(Errc::kCorrupt, "REFERENCE_MISSING", object.digest.Text(),
              "no entry is in a state with this run", std::string(kRepair));
}

Result<void> FindPlace(const Store& store, RunRecord& record, AsOf as_of) {
  ETL_TRY(const auto states, store.GetEntry(record.entry, as_of));
  const auto newest = states.find(Kind::kBenchmarkRun);
  if (newest != states.end()) record.newest = newest->second;
  if (record.newest && record.newest->digest && record.newest->digest != record.run.digest) {
    record.newer = record.newest->digest;
  }
  if (record.version.ranked) {
    ETL_TRY(record.group, store.GetGroup(record.version.ranked->group));
    const bool current = !record.superseded() && !record.retracted();
    if (current) {
      ETL_TRY(record.place, store.RankOf(record.version, as_of));
    }
    ETL_TRY(std::vector<StandingLine> first, store.GetStanding(*record.group, 0, 1, as_of));
    if (!first.empty()) record.leader = std::move(first.front());
  }
  etl::Standing standing;
  standing.status = record.spec().status;
  standing.retracted = record.retracted();
  standing.superseded = record.superseded();
  if (record.primary) standing.value = record.primary->value;
  if (!record.place) record.reasons = IneligibleReasons(standing);
  return {};
}

}  // namespace

std::string RunRecord::Author() const {
  return AuthorOf(implementation.manifest.metadata);
}

std::string RunRecord::Kernel() const {
  const auto& native = spec().source_native;
  return native && native->benchmark ? *native->benchmark : operation.external_id;
}

bool RunRecord::retracted() const {
  return newest && (!newest->digest || newest->state != EntryState::kPassed);
}

Result<Loaded> LoadManifest(const Store& store, const Digest& digest, AsOf as_of) {
  Loaded loaded;
  loaded.digest = digest;
  ETL_TRY(const StoredObject object, store.GetObject(digest));
  if (!object.entries.empty()) loaded.external_id = object.entries.front().external_id;
  ETL_TRY(loaded.text, store.ManifestOf(digest, as_of));
  const auto document = json::Document::Parse(loaded.text);
  auto manifest = document ? ReadManifest(document->root()) : Result<Manifest>(Fail(document.error()));
  if (!manifest) {
    return Fail(Errc::kCorrupt, "MANIFEST_UNREADABLE", digest.Text(), manifest.error().Message(),
                std::string(kRepair));
  }
  loaded.manifest = *std::move(manifest);
  return loaded;
}

Result<RunRecord> LoadRun(const Store& store, const Digest& digest, AsOf as_of) {
  RunRecord record;
  ETL_TRY(record.run, LoadManifest(store, digest, as_of));
  if (record.run.manifest.kind() != Kind::kBenchmarkRun) {
    return Fail(Errc::kNotFound, "NOT_FOUND", digest.Text(),
                "this is no run but a " + std::string(KindName(record.run.manifest.kind())),
                "`etlctl get object " + digest.Text() + "` shows it");
  }
  record.primary = PrimaryMeasurementOf(record.spec());
  ETL_TRY(const StoredObject object, store.GetObject(digest));
  ETL_CHECK_OK(FindVersion(store, object, record, as_of));
  ETL_CHECK_OK(LoadParts(store, record, as_of));
  ETL_CHECK_OK(FindPlace(store, record, as_of));
  ETL_TRY(record.introduced, store.GetCommit(object.sequence));
  ETL_TRY(record.derived, store.GetCommit(record.version.from));
  return record;
}

std::string AuthorOf(const Metadata& metadata) {
  if (!metadata.authors || metadata.authors->empty()) return {};
  const Author& author = metadata.authors->front();
  return author.name ? *author.name : author.github.value_or("");
}

Result<std::string> AuthorOfEntry(const Store& store, const EntryName& entry) {
  ETL_TRY(const auto states, store.GetEntry(entry));
  const auto found = states.find(Kind::kImplementationRevision);
  if (found == states.end() || found->second.metadata.empty()) return std::string();
  const auto document = json::Document::Parse(found->second.metadata);
  if (!document) return std::string();
  const auto metadata = ReadMetadata(document->root());
  return metadata ? AuthorOf(*metadata) : std::string();
}

std::string StateText(const Version& version) {
  std::string text(EntryStateName(version.state));
  const char* separator = ": ";
  for (const std::string& reason : version.reasons) {
    text += separator + reason;
    separator = ", ";
  }
  return text;
}

}  // namespace etl::serve
