// Reading single things: requests, entries, objects, commits, and the small lists.
#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "store/record_reader.h"
#include "store/store_impl.h"

namespace etl {
namespace {

Error NotFound(std::string code, std::string where, std::string what, std::string fix) {
  return {Errc::kNotFound, std::move(code), std::move(where), std::move(what), std::move(fix)};
}

// Hex digits as the range of digests that start with them: [lower, upper) as raw bytes, upper empty for "to
// the end".
struct DigestRange {
  std::string lower, upper;
};

Result<DigestRange> RangeOf(std::string_view prefix) {
  const std::string_view given = prefix;
  constexpr std::string_view kAlgorithm = "sha256:";
  if (prefix.starts_with(kAlgorithm)) prefix.remove_prefix(kAlgorithm.size());
  constexpr std::size_t kDigitsMin = 4;
  const bool hex = std::all_of(prefix.begin(), prefix.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!hex || prefix.size() < kDigitsMin || prefix.size() > 64)
    return Fail(Errc::kInvalid, "DIGEST_PREFIX", std::string(given.substr(0, 80)),
                "a digest prefix is 4 to 64 lower-case hex digits, with or without \"sha256:\"",
                "give more digits");
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  DigestRange range;
  for (std::size_t i = 0; i < prefix.size(); i += 2) {
    const unsigned high = digit(prefix[i]) << 4;
    const bool whole = i + 1 < prefix.size();
    range.lower += static_cast<char>(whole ? high | digit(prefix[i + 1]) : high);
  }
  range.upper = range.lower;
  if (prefix.size() % 2 == 1)
    range.upper.back() = static_cast<char>(static_cast<unsigned char>(range.upper.back()) | 0x0f);
  range.upper = PrefixEnd(range.upper);
  return range;
}

Result<std::vector<Digest>> FindByDigest(const Kv& kv, keys::Prefix prefix, std::string_view hex,
                                         std::size_t limit) {
  ETL_TRY(const DigestRange range, RangeOf(hex));
  std::vector<Digest> out;
  const std::string head(1, prefix);
  auto it = kv.Scan(head + range.lower, range.upper.empty() ? PrefixEnd(head) : head + range.upper);
  for (; it->Valid() && out.size() < limit; it->Next())
    if (it->key().size() == 33) out.push_back(Digest::FromBytes(it->key().substr(1)));
  ETL_CHECK_OK(it->status());
  return out;
}

// Every value under a prefix, decoded.
template <class T, class Decode>
Result<std::vector<T>> DecodeAll(const Kv& kv, const std::string& prefix, Decode decode) {
  std::vector<T> out;
  auto it = kv.Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(auto item, decode(it->key(), it->value()));
    out.push_back(std::move(item));
  }
  ETL_CHECK_OK(it->status());
  return out;
}

std::string SourcePrefix(keys::Prefix prefix, std::string_view source) {
  return source.empty() ? std::string(1, prefix) : keys::ByText(prefix, source, "");
}

template <class T, class Decode>
Result<std::optional<T>> DecodeOne(const Kv& kv, const std::string& key, Decode decode) {
  ETL_TRY(const auto stored, kv.Get(key));
  if (!stored) return std::optional<T>();
  ETL_TRY(auto value, decode(key, *stored));
  return std::optional<T>(std::move(value));
}

}  // namespace

Result<std::optional<RequestState>> StoreImpl::FindRequest(std::string_view source,
                                                           std::string_view request) const {
  return DecodeOne<RequestState>(*kv_, keys::ByText(keys::kRequest, source, request), DecodeRequest);
}

Result<std::optional<ContextState>> StoreImpl::FindContext(std::string_view source,
                                                           std::string_view key) const {
  return DecodeOne<ContextState>(*kv_, keys::ByText(keys::kContext, source, key), DecodeContext);
}

Result<std::uint64_t> StoreImpl::LastRowChange(std::string_view source, std::string_view context) const {
  const std::string key = keys::ByText(keys::kRowChange, source, context);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored) return std::uint64_t{0};
  ETL_TRY(const auto document, ParseStored(key, *stored));
  RecordReader r(key, document.root());
  return r.Done(r.Count("sequence"));
}

Result<std::optional<std::string>> StoreImpl::FindCursor(std::string_view source,
                                                         std::string_view key) const {
  const std::string stored_key = keys::ByText(keys::kCursor, source, key);
  ETL_TRY(const auto stored, kv_->Get(stored_key));
  if (!stored) return std::optional<std::string>();
  ETL_TRY(auto cursor, DecodeCursor(stored_key, *stored));
  return std::optional<std::string>(std::move(cursor.first));
}

Result<std::optional<VisitState>> StoreImpl::FindVisit(std::string_view source, std::string_view goal) const {
  return DecodeOne<VisitState>(*kv_, keys::ByText(keys::kVisit, source, goal), DecodeVisit);
}

Result<std::vector<std::string>> StoreImpl::RowsOf(std::string_view source, std::string_view context) const {
  const std::string prefix = keys::ByText(keys::kContextRows, source, std::string(context) + '\0');
  std::vector<std::string> out;
  std::set<std::string> seen;
  auto it = kv_->Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(const auto document, ParseStored(it->key(), it->value()));
    for (const json::Value id : document.root().elements())
      if (seen.emplace(id.AsString()).second) out.emplace_back(id.AsString());
  }
  ETL_CHECK_OK(it->status());
  return out;
}

std::vector<std::string> StoreImpl::Sources() const {
  std::vector<std::string> out;
  // One seek per source: from the first key of one to the first key after all of its own.
  auto it = kv_->Scan(std::string(1, keys::kRequest), PrefixEnd(std::string(1, keys::kRequest)));
  while (it->Valid()) {
    const std::string_view key = it->key();
    out.emplace_back(key.substr(1, key.find('\0') - 1));
    it->Seek(PrefixEnd(keys::ByText(keys::kRequest, out.back(), "")));
  }
  return out;
}

Result<AsOf> StoreImpl::ResolveAsOf(std::string_view text) const {
  const auto bad = [&] {
    return Fail(Errc::kInvalid, "AS_OF_PATTERN", std::string(text.substr(0, 80)),
                "neither an instant nor a sequence",
                "write 2026-08-18T18:15:52Z, EPOCH:SEQUENCE or SEQUENCE");
  };
  const auto range = [&](std::string what) {
    return Fail(
        NotFound("AS_OF_RANGE", std::string(text.substr(0, 80)), std::move(what), "see `etlctl status`"));
  };
  if (text.find('-') != std::string_view::npos) {
    ETL_TRY(const Instant at, ParseSourceInstant(text));
    // Commit times never go back, so the last commit at or before the instant is found from the end.
    AsOf found{0};
    auto it = kv_->Scan(std::string(1, keys::kCommit), PrefixEnd(std::string(1, keys::kCommit)));
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      ETL_CHECK_OK(it->checked());
      ETL_TRY(const CommitInfo commit, DecodeCommit(it->key(), it->value(), nullptr));
      if (commit.time <= at) {
        found.sequence = commit.last;
        break;
      }
    }
    ETL_CHECK_OK(it->status());
    if (found.sequence == 0) return range("before the first commit of this store");
    return found;
  }
  std::string_view digits = text;
  std::optional<std::string_view> epoch;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    epoch = text.substr(0, colon);
    digits = text.substr(colon + 1);
  }
  std::uint64_t sequence = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return bad();
  if (epoch) {
    const auto it =
        std::find_if(epochs_.begin(), epochs_.end(), [&](const EpochStart& e) { return e.epoch == *epoch; });
    if (it == epochs_.end())
      return Fail(NotFound("AS_OF_EPOCH", std::string(*epoch), "this store never had that epoch",
                           "see `etlctl status`"));
    if (std::next(it) != epochs_.end() && sequence >= std::next(it)->first)
      return range("that epoch ended before this sequence");
  }
  if (sequence > this->sequence())
    return range("ahead of the newest change, " + std::to_string(this->sequence()));
  return AsOf{sequence};
}

Result<StoredObject> StoreImpl::GetObject(const Digest& digest) const {
  const std::string key = keys::ByDigest(keys::kObject, digest);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored)
    return Fail(NotFound("OBJECT_MISSING", digest.Text(), "no object has this digest", "check the digest"));
  ETL_TRY(ObjectRecord record, DecodeObject(key, *stored));
  StoredObject object{
      record.kind, digest, std::move(record.identity), record.sequence, {std::move(record.first)}};
  const std::string prefix = keys::ByDigest(keys::kObjectEntry, digest);
  auto it = kv_->Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next())
    if (auto name =
            keys::ReadEntry(std::string(1, keys::kEntry) + std::string(it->key().substr(prefix.size()))))
      object.entries.push_back(*std::move(name));
  ETL_CHECK_OK(it->status());
  return object;
}

Result<std::vector<Digest>> StoreImpl::FindObjects(std::string_view hex_prefix, std::size_t limit) const {
  return FindByDigest(*kv_, keys::kObject, hex_prefix, limit);
}
Result<std::vector<Digest>> StoreImpl::FindGroups(std::string_view hex_prefix, std::size_t limit) const {
  return FindByDigest(*kv_, keys::kGroup, hex_prefix, limit);
}

Result<std::string> StoreImpl::ManifestOf(const Digest& digest, AsOf as_of) const {
  ETL_TRY(const StoredObject object, GetObject(digest));
  if (object.sequence > as_of.sequence)
    return Fail(
        NotFound("OBJECT_MISSING", digest.Text(), "no object had this digest yet", "ask for a later moment"));
  ObjectRecord record{object.entries.front(), object.sequence, object.identity, object.kind};
  ETL_TRY(const std::string metadata, MetadataOf(record, digest, object.entries, as_of));
  return JoinManifest(object.identity, metadata);
}

Result<std::map<Kind, Version>> StoreImpl::GetEntry(const EntryName& name, AsOf as_of) const {
  const std::string key = keys::Entry(name);
  ETL_TRY(const auto stored, kv_->Get(key));
  std::map<Kind, Version> out;
  if (stored) {
    ETL_TRY(const Bundle bundle, DecodeBundle(key, *stored));
    for (const auto& [kind, state] : bundle) {
      ETL_TRY(auto version, NewestAt(name, kind, state, as_of));
      if (version) out.emplace(kind, *std::move(version));
    }
  }
  if (out.empty())
    return Fail(
        NotFound("ENTRY_MISSING", name.Text(), "the source has no such entry", "check the external id"));
  return out;
}

Result<std::optional<Version>> StoreImpl::NewestAt(const EntryName& name, Kind kind, const KindState& state,
                                                   AsOf as_of) const {
  if (state.newest.sequence <= as_of.sequence) return std::optional<Version>(state.newest);
  ETL_TRY(const auto versions, VersionsOf(name, kind, state));
  std::optional<Version> best;
  for (const Version& v : versions)
    if (!v.late && v.sequence <= as_of.sequence) best = v;
  return best;
}

Result<std::vector<Version>> StoreImpl::VersionsOf(const EntryName& name, Kind kind,
                                                   const KindState& state) const {
  ETL_TRY(auto out, DecodeAll<Version>(*kv_, keys::VersionPrefix(name, kind), DecodeVersion));
  out.push_back(state.newest);
  std::sort(out.begin(), out.end(), [](const Version& a, const Version& b) { return a.version < b.version; });
  return out;
}

Result<std::vector<Version>> StoreImpl::GetVersions(const EntryName& name, Kind kind) const {
  const std::string key = keys::Entry(name);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (stored) {
    ETL_TRY(const Bundle bundle, DecodeBundle(key, *stored));
    if (const auto it = bundle.find(kind); it != bundle.end()) return VersionsOf(name, kind, it->second);
  }
  return Fail(
      NotFound("ENTRY_MISSING", name.Text(), "the source has no such entry", "check the external id"));
}

Result<std::vector<EntryName>> StoreImpl::FindEntries(std::string_view source,
                                                      std::string_view external_id) const {
  std::vector<EntryName> out;
  const std::string prefix = keys::ByText(keys::kEntry, source, std::string(external_id) + '\0');
  auto it = kv_->Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next())
    if (auto name = keys::ReadEntry(it->key())) out.push_back(*std::move(name));
  ETL_CHECK_OK(it->status());
  return out;
}

Status StoreImpl::ForEachEntry(
    const std::function<bool(const EntryName&, const std::map<Kind, Version>&)>& visit,
    const EntryName& from) const {
  auto it = kv_->Scan(keys::Entry(from), PrefixEnd(std::string(1, keys::kEntry)));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    const auto name = keys::ReadEntry(it->key());
    if (!name) return Fail(Unreadable(it->key(), "key"));
    ETL_TRY(const Bundle bundle, DecodeBundle(it->key(), it->value()));
    std::map<Kind, Version> versions;
    for (const auto& [kind, state] : bundle) versions.emplace(kind, state.newest);
    if (!visit(*name, versions)) return {};
  }
  return it->status();
}

Result<CommitInfo> StoreImpl::GetCommit(std::uint64_t sequence) const {
  // The commit that starts at or before the sequence: the last key below the next one.
  auto it = kv_->Scan(keys::Commit(0), keys::Commit(sequence) + '\0');
  it->SeekToLast();
  ETL_CHECK_OK(it->status());
  if (it->Valid()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(CommitInfo commit, DecodeCommit(it->key(), it->value(), nullptr));
    if (sequence <= commit.last) return commit;
  }
  return Fail(NotFound("COMMIT_MISSING", std::to_string(sequence), "no commit has this sequence",
                       "see `etlctl status`"));
}

Status StoreImpl::ForEachChange(std::uint64_t after,
                                const std::function<bool(const CommitInfo&, const Change&)>& visit) const {
  std::uint64_t start = after + 1;
  if (const auto commit = GetCommit(start))
    start = commit->first;
  else if (commit.error().errc != Errc::kNotFound)
    return Fail(commit.error());
  auto it = kv_->Scan(keys::Commit(start), PrefixEnd(std::string(1, keys::kCommit)));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    std::vector<Change> changes;
    ETL_TRY(const CommitInfo commit, DecodeCommit(it->key(), it->value(), &changes));
    for (const Change& change : changes)
      if (change.sequence > after && !visit(commit, change)) return {};
  }
  return it->status();
}

Status StoreImpl::ForEachCommit(std::uint64_t after,
                                const std::function<bool(const CommitInfo&)>& visit) const {
  auto it = kv_->Scan(keys::Commit(after + 1), PrefixEnd(std::string(1, keys::kCommit)));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(const CommitInfo commit, DecodeCommit(it->key(), it->value(), nullptr));
    if (!visit(commit)) return {};
  }
  return it->status();
}

Result<std::string> StoreImpl::GetBytes(const Digest& digest) const {
  const std::string key = keys::ByDigest(keys::kSnapshotBody, digest);
  ETL_TRY(const auto stored, kv_->Get(key));
  if (!stored)
    return Fail(
        NotFound("SNAPSHOT_MISSING", digest.Text(), "no snapshot has this digest", "check the digest"));
  ETL_TRY(std::string bytes, DecodeBody(key, *stored));
  if (Sha256(bytes) != digest) return Fail(Unreadable(key, "the bytes do not have the digest of their key"));
  return bytes;
}

Result<std::vector<QuarantineItem>> StoreImpl::Quarantine(std::string_view source) const {
  return DecodeAll<QuarantineItem>(*kv_, SourcePrefix(keys::kQuarantine, source), DecodeQuarantine);
}
Result<std::vector<DriftItem>> StoreImpl::Drift(std::string_view source) const {
  return DecodeAll<DriftItem>(*kv_, SourcePrefix(keys::kDrift, source), DecodeDrift);
}
Result<std::vector<GapItem>> StoreImpl::Gaps(std::string_view source) const {
  return DecodeAll<GapItem>(*kv_, SourcePrefix(keys::kGap, source), DecodeGap);
}

std::uint64_t StoreImpl::DiskBytes() const {
  const auto usage = kv_->DiskUsage();
  return usage.table_bytes + usage.log_bytes;
}

}  // namespace etl
