#include "etlctl/resolve.h"

#include <algorithm>
#include <utility>

#include "etlctl/exit_code.h"
#include "model/text.h"

namespace etl::ctl {
namespace {

constexpr std::size_t kCandidatesShown = 10;
// A prefix of one kind's object may begin many others: this many are looked at before it is called ambiguous.
constexpr std::size_t kCandidatesMax = 200;
constexpr std::size_t kPrefixMin = 4;
constexpr std::string_view kDigestStart = "sha256:";

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

// The hex digits of an id that is a digest or its beginning.
std::optional<std::string> PrefixOf(std::string_view id) {
  if (id.starts_with(kDigestStart)) return Lower(id.substr(kDigestStart.size()));
  if (id.size() >= kPrefixMin && id.size() <= 64 && IsHex(id)) return Lower(id);
  return std::nullopt;
}

Error NotFound(std::string_view id, std::string what) {
  return Error{
      Errc::kNotFound, "NOT_FOUND", std::string(id), std::move(what),
      "give a digest, its first hex digits, or \"source:external id\"; `etlctl status` shows the sources"};
}

Error Ambiguous(std::string_view id, const std::vector<std::string>& candidates, bool more) {
  std::string what = more ? "more than " : "";
  what += std::to_string(candidates.size()) + " things answer to this:";
  for (std::size_t i = 0; i < std::min(candidates.size(), kCandidatesShown); ++i)
    what += "\n    " + candidates[i];
  if (candidates.size() > kCandidatesShown) what += "\n    and others";
  return Error{Errc::kNotFound, "AMBIGUOUS", std::string(id), std::move(what),
               "give more digits, or the whole name"};
}

std::vector<std::string> TextsOf(const std::vector<EntryName>& names) {
  std::vector<std::string> texts;
  for (const EntryName& name : names) texts.push_back(name.Text());
  return texts;
}

Result<std::vector<Digest>> ObjectsWith(const Store& store, const std::string& prefix,
                                        std::optional<Kind> kind, std::string_view id) {
  ETL_TRY(std::vector<Digest> found, store.FindObjects(prefix, kCandidatesMax + 1));
  if (found.size() > kCandidatesMax) {
    std::vector<std::string> texts;
    for (const Digest& digest : found) texts.push_back(digest.Text());
    return Fail(Ambiguous(id, texts, true));
  }
  if (!kind) return found;
  std::vector<Digest> of_kind;
  for (const Digest& digest : found) {
    ETL_TRY(const StoredObject object, store.GetObject(digest));
    if (object.kind == *kind) of_kind.push_back(digest);
  }
  return of_kind;
}

Result<Digest> OnlyOne(const Store& store, const std::vector<Digest>& found, std::string_view id) {
  if (found.size() == 1) return found.front();
  std::vector<std::string> texts;
  for (const Digest& digest : found) {
    ETL_TRY(const StoredObject object, store.GetObject(digest));
    std::string text = digest.Text() + " " + std::string(KindName(object.kind));
    if (!object.entries.empty()) text += " " + object.entries.front().Text();
    texts.push_back(std::move(text));
  }
  return Fail(Ambiguous(id, texts, false));
}

Result<std::vector<EntryName>> EntriesNamed(const Store& store, std::string_view source,
                                            std::string_view rest) {
  // An external id may hold " in " itself, so the whole text is tried first.
  ETL_TRY(std::vector<EntryName> found, store.FindEntries(source, rest));
  const std::size_t in = rest.rfind(" in ");
  if (!found.empty() || in == std::string_view::npos) return found;
  ETL_TRY(found, store.FindEntries(source, rest.substr(0, in)));
  std::erase_if(found, [scope = rest.substr(in + 4)](const EntryName& name) { return name.scope != scope; });
  return found;
}

// Entries for "source:external id" or an external id alone.
Result<std::vector<EntryName>> EntriesFor(const Store& store, std::string_view id) {
  const std::vector<std::string> sources = store.Sources();
  const std::size_t colon = id.find(':');
  if (colon != std::string_view::npos) {
    const std::string source(id.substr(0, colon));
    if (std::find(sources.begin(), sources.end(), source) != sources.end()) {
      return EntriesNamed(store, source, id.substr(colon + 1));
    }
  }
  std::vector<EntryName> found;
  for (const std::string& source : sources) {
    ETL_TRY(std::vector<EntryName> here, EntriesNamed(store, source, id));
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

Result<EntryName> OnlyEntry(const std::vector<EntryName>& found, std::string_view id) {
  if (found.empty()) return Fail(NotFound(id, "no entry of this store has this name"));
  if (found.size() > 1) return Fail(Ambiguous(id, TextsOf(found), false));
  return found.front();
}

Result<Digest> NewestObject(const Store& store, const EntryName& name, std::optional<Kind> kind,
                            std::string_view id) {
  ETL_TRY(const auto states, store.GetEntry(name));
  std::vector<Digest> found;
  for (const auto& [of_kind, version] : states) {
    if (version.digest && (!kind || *kind == of_kind)) found.push_back(*version.digest);
  }
  if (!found.empty()) return OnlyOne(store, found, id);
  if (!kind) return Fail(NotFound(id, "the entry is there, but no object came of it"));
  // The newest state has none; an earlier one may have.
  auto versions = store.GetVersions(name, *kind);
  if (versions) {
    for (auto version = versions->rbegin(); version != versions->rend(); ++version) {
      if (version->digest) return *version->digest;
    }
  } else if (versions.error().errc != Errc::kNotFound) {
    return Fail(std::move(versions).error());
  }
  std::string why;
  const auto row = states.find(Kind::kSubmission);
  if (row != states.end()) {
    why = std::string(" (") + std::string(EntryStateName(row->second.state));
    for (const std::string& reason : row->second.reasons) why += " " + reason;
    why += ")";
  }
  return Fail(Errc::kNotFound, "NOT_FOUND", std::string(id),
              "the entry is there, but no " + std::string(KindName(*kind)) + " came of it" + why,
              "`etlctl get entry '" + std::string(id) + "'` shows its states");
}

Status CheckId(std::string_view id) {
  if (!id.empty()) return {};
  return Fail(
      UsageError("ID", "an id is empty", "give a digest, its first hex digits, or \"source:external id\""));
}

}  // namespace

Result<EntryName> ResolveEntry(const Store& store, std::string_view id) {
  ETL_CHECK_OK(CheckId(id));
  const std::optional<std::string> prefix = PrefixOf(id);
  if (prefix) {
    ETL_TRY(const std::vector<Digest> found, ObjectsWith(store, *prefix, std::nullopt, id));
    if (!found.empty()) {
      ETL_TRY(const Digest digest, OnlyOne(store, found, id));
      ETL_TRY(const StoredObject object, store.GetObject(digest));
      return OnlyEntry(object.entries, id);
    }
    if (id.starts_with(kDigestStart)) return Fail(NotFound(id, "no object has this digest"));
  }
  ETL_TRY(const std::vector<EntryName> found, EntriesFor(store, id));
  return OnlyEntry(found, id);
}

Result<Digest> ResolveObject(const Store& store, std::string_view id, std::optional<Kind> kind) {
  ETL_CHECK_OK(CheckId(id));
  const std::optional<std::string> prefix = PrefixOf(id);
  if (prefix) {
    ETL_TRY(const std::vector<Digest> found, ObjectsWith(store, *prefix, kind, id));
    if (!found.empty()) return OnlyOne(store, found, id);
    const std::string what = kind ? std::string(KindName(*kind)) : "object";
    if (id.starts_with(kDigestStart)) return Fail(NotFound(id, "no " + what + " has this digest"));
  }
  ETL_TRY(std::vector<EntryName> found, EntriesFor(store, id));
  if (kind && found.size() > 1) {
    std::vector<EntryName> of_kind;
    for (EntryName& name : found) {
      ETL_TRY(const auto states, store.GetEntry(name));
      if (states.contains(*kind)) of_kind.push_back(std::move(name));
    }
    found = std::move(of_kind);
  }
  ETL_TRY(const EntryName name, OnlyEntry(found, id));
  return NewestObject(store, name, kind, id);
}

Result<GroupInfo> ResolveGroup(const Store& store, std::string_view id) {
  ETL_CHECK_OK(CheckId(id));
  std::string_view digits = id;
  if (digits.starts_with(kDigestStart)) digits.remove_prefix(kDigestStart.size());
  ETL_TRY(const std::vector<Digest> found, store.FindGroups(Lower(digits), kCandidatesShown + 1));
  if (found.empty()) {
    return Fail(Errc::kNotFound, "NOT_FOUND", std::string(id), "no comparison group has this key",
                "`etlctl ranks --kernel NAME` shows the groups of a kernel with their keys");
  }
  if (found.size() == 1) return store.GetGroup(found.front());
  std::vector<std::string> texts;
  for (const Digest& key : found) texts.push_back(key.Text());
  return Fail(Ambiguous(id, texts, found.size() > kCandidatesShown));
}

Result<std::vector<EntryName>> FindNamed(const Store& store, std::string_view source,
                                         std::string_view external_id, Kind kind) {
  std::vector<EntryName> found;
  for (const std::string& slug : store.Sources()) {
    if (!source.empty() && source != slug) continue;
    ETL_TRY(const std::vector<EntryName> here, store.FindEntries(slug, external_id));
    for (const EntryName& name : here) {
      ETL_TRY(const auto states, store.GetEntry(name));
      if (states.contains(kind)) found.push_back(name);
    }
  }
  return found;
}

}  // namespace etl::ctl
