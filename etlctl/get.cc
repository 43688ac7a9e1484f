#include <map>
#include <string>
#include <utility>
#include <vector>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "etlctl/resolve.h"
#include "etlctl/run_record.h"
#include "etlctl/version_out.h"

namespace etl::ctl {
namespace {

struct KindHistory {
  Kind kind = Kind::kSubmission;
  Version newest;
  std::vector<Version> versions;
  CommitInfo commit;
  std::optional<StandingLine> place;
  std::optional<GroupInfo> group;
};

Result<std::vector<KindHistory>> LoadEntry(const Store& store, const EntryName& name) {
  ETL_TRY(const auto states, store.GetEntry(name));
  std::vector<KindHistory> kinds;
  for (const auto& [kind, newest] : states) {
    KindHistory one;
    one.kind = kind;
    one.newest = newest;
    ETL_TRY(one.versions, store.GetVersions(name, kind));
    ETL_TRY(one.commit, store.GetCommit(newest.from));
    if (newest.ranked) {
      ETL_TRY(one.place, store.RankOf(newest));
      ETL_TRY(one.group, store.GetGroup(newest.ranked->group));
    }
    kinds.push_back(std::move(one));
  }
  return kinds;
}

std::string KindJson(const KindHistory& one) {
  JsonObject object;
  object.Text("kind", KindName(one.kind)).Text("state", EntryStateName(one.newest.state));
  object.Texts("reasons", one.newest.reasons).Maybe("digest", one.newest.digest);
  object.Count("version", one.newest.version).Raw("rank", one.place ? std::to_string(one.place->rank) : "");
  if (one.group) object.Text("comparisonKey", one.group->key);
  object.Raw("provenance", ProvenanceJson(one.newest, one.commit));
  std::vector<std::string> versions;
  for (const Version& version : one.versions) versions.push_back(VersionJson(version));
  return object.Raw("versions", JsonArray(versions)).Done();
}

std::string EntryJson(const EntryName& name, const std::vector<KindHistory>& kinds) {
  std::vector<std::string> parts;
  for (const KindHistory& one : kinds) parts.push_back(KindJson(one));
  return JsonObject()
      .Text("source", name.source)
      .Text("externalId", name.external_id)
      .Text("scope", name.scope)
      .Raw("kinds", JsonArray(parts))
      .Done();
}

void WriteEntry(Output& out, const EntryName& name, const std::vector<KindHistory>& kinds) {
  out.DataLine(out.Styled("Entry " + Safe(name.Text()), Style::kBold));
  for (const KindHistory& one : kinds) {
    out.DataLine("");
    out.DataLine(out.Styled(KindName(one.kind), Style::kBold) + "  " + Safe(StateText(one.newest)));
    Fields fields;
    if (one.newest.digest) fields.Add("digest", one.newest.digest->Text());
    if (one.newest.content) fields.Add("row digest", one.newest.content->Text());
    if (one.place) fields.Add("rank", std::to_string(one.place->rank));
    if (one.group) fields.Add("group", one.group->key.Text());
    fields.Write(out, "  ");
    WriteProvenance(out, one.newest, one.commit);
    WriteVersions(out, one.versions);
  }
}

// -o manifest for an entry: the one object it has, or the run where there are several.
Result<Digest> ManifestDigestOf(const EntryName& name, const std::vector<KindHistory>& kinds) {
  std::vector<std::pair<Kind, Digest>> found;
  for (const KindHistory& one : kinds) {
    if (!one.newest.digest) continue;
    if (one.kind == Kind::kBenchmarkRun) return *one.newest.digest;
    found.emplace_back(one.kind, *one.newest.digest);
  }
  if (found.size() == 1) return found.front().second;
  return Fail(Errc::kNotFound, "AMBIGUOUS", name.Text(),
              found.empty() ? "no object came of this entry" : "the entry has objects of several kinds",
              "`etlctl get entry` lists their digests; give one to `etlctl get object`");
}

std::string ObjectJson(const StoredObject& object, const Loaded& loaded, const CommitInfo& commit) {
  JsonObject out;
  out.Text("kind", KindName(object.kind)).Text("digest", object.digest);
  out.Text("manifestDigest", ManifestDigest(loaded.manifest));
  std::vector<std::string> entries;
  for (const EntryName& name : object.entries) {
    entries.push_back(JsonObject()
                          .Text("source", name.source)
                          .Text("externalId", name.external_id)
                          .Text("scope", name.scope)
                          .Done());
  }
  out.Raw("entries", JsonArray(entries)).Count("sequence", object.sequence).Text("publishedAt", commit.time);
  return out.Raw("manifest", loaded.text).Done();
}

void WriteObject(Output& out, const StoredObject& object, const Loaded& loaded, const CommitInfo& commit) {
  out.DataLine(out.Styled(std::string(KindName(object.kind)) + " " + ShortId(object.digest), Style::kBold));
  Fields fields;
  fields.Add("digest", object.digest.Text());
  fields.Add("manifest digest", ManifestDigest(loaded.manifest).Text());
  for (const EntryName& name : object.entries) fields.Add("entry", name.Text());
  fields.Add("published",
             commit.time.Text() + " (" + commit.epoch + ":" + std::to_string(object.sequence) + ")");
  fields.Add("request", commit.request);
  fields.Write(out);
  out.DataLine("");
  const auto document = json::Document::Parse(loaded.text);
  if (document) out.DataLine(SafeJson(PrettyJson(document->root())));
}

}  // namespace

Result<Exit> GetEntry(Output& out, const Store& store, const GetOptions& options) {
  ETL_TRY(const EntryName name, ResolveEntry(store, options.id));
  ETL_TRY(const std::vector<KindHistory> kinds, LoadEntry(store, name));
  if (out.format() == Format::kManifest) {
    ETL_TRY(const Digest digest, ManifestDigestOf(name, kinds));
    ETL_TRY(const std::string manifest, store.ManifestOf(digest));
    out.DataLine(manifest);
  } else if (out.json()) {
    out.DataLine(EntryJson(name, kinds));
  } else {
    WriteEntry(out, name, kinds);
  }
  return Exit::kDone;
}

Result<Exit> GetObject(Output& out, const Store& store, const GetOptions& options) {
  ETL_TRY(const Digest digest, ResolveObject(store, options.id, std::nullopt));
  if (out.format() == Format::kManifest) {
    ETL_TRY(const std::string manifest, store.ManifestOf(digest));
    out.DataLine(manifest);
    return Exit::kDone;
  }
  ETL_TRY(const StoredObject object, store.GetObject(digest));
  ETL_TRY(const Loaded loaded, LoadManifest(store, digest));
  ETL_TRY(const CommitInfo commit, store.GetCommit(object.sequence));
  if (out.json()) {
    out.DataLine(ObjectJson(object, loaded, commit));
  } else {
    WriteObject(out, object, loaded, commit);
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
