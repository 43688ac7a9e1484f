// The whole state as JSON lines in a fixed order: objects by digest, entries by name and kind, groups by key.
#include <unordered_map>

#include "model/json_writer.h"
#include "store/store_impl.h"

namespace etl {
namespace {

using Sink = std::function<Status(std::string_view)>;
using json::ObjectWriter;

// Entries beside the first that have an object: the 'x' keys, which sort as the objects do.
class FurtherEntries {
 public:
  explicit FurtherEntries(const Kv& kv)
      : it_(kv.Scan(std::string(1, keys::kObjectEntry), PrefixEnd(std::string(1, keys::kObjectEntry)))) {}

  // Those of one object; objects must be asked for in ascending order.
  Result<std::vector<EntryName>> Of(const Digest& digest) {
    std::vector<EntryName> names;
    constexpr std::size_t kDigestEnd = 33;
    for (; it_->Valid(); it_->Next()) {
      const std::string_view key = it_->key();
      if (key.size() < kDigestEnd) continue;
      const std::string_view owner = key.substr(1, 32);
      if (owner > digest.View()) break;
      if (owner < digest.View()) continue;
      if (auto name = keys::ReadEntry(std::string(1, keys::kEntry) + std::string(key.substr(kDigestEnd))))
        names.push_back(*std::move(name));
    }
    ETL_CHECK_OK(it_->status());
    return names;
  }

 private:
  std::unique_ptr<Kv::Iterator> it_;
};

// The metadata that goes with each object that is somebody's newest state, read in the order of the entries:
// by digest they lie all over the place. Entries come by name, so the first that has an object is the one
// that counts (see MetadataOf). Past its limit it stops taking in, and the rest is looked up one by one.
class NewestMetadata {
 public:
  Status Read(const Kv& kv) {
    auto it = kv.Scan(std::string(1, keys::kEntry), PrefixEnd(std::string(1, keys::kEntry)));
    for (; it->Valid() && bytes_ < kBytesMax; it->Next()) {
      ETL_CHECK_OK(it->checked());
      ETL_TRY(const Bundle bundle, DecodeBundle(it->key(), it->value()));
      for (const auto& [kind, state] : bundle) {
        if (!state.newest.digest) continue;
        const auto [known, fresh] = by_digest_.try_emplace(*state.newest.digest, state.newest.metadata);
        if (fresh) bytes_ += known->second.size() + kEntryBytes;
      }
    }
    return it->status();
  }
  const std::string* Of(const Digest& digest) const {
    const auto it = by_digest_.find(digest);
    return it == by_digest_.end() ? nullptr : &it->second;
  }

 private:
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;
  static constexpr std::size_t kEntryBytes = 100;  // what the map itself takes for one
  std::unordered_map<Digest, std::string> by_digest_;
  std::size_t bytes_ = 0;
};

Status ExportObjects(const StoreImpl& store, AsOf as_of, const Sink& sink) {
  FurtherEntries further(store.kv());
  NewestMetadata newest;
  if (as_of.now()) ETL_CHECK_OK(newest.Read(store.kv()));
  auto it = store.kv().Scan(std::string(1, keys::kObject), PrefixEnd(std::string(1, keys::kObject)));
  std::string line;
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(const ObjectRecord object, DecodeObject(it->key(), it->value()));
    if (object.sequence > as_of.sequence) continue;
    const Digest digest = Digest::FromBytes(it->key().substr(1));
    std::string looked_up;
    const std::string* metadata = newest.Of(digest);
    if (metadata == nullptr) {
      ETL_TRY(std::vector<EntryName> entries, further.Of(digest));
      entries.push_back(object.first);
      ETL_TRY(looked_up, store.MetadataOf(object, digest, std::move(entries), as_of));
      metadata = &looked_up;
    }
    line.clear();
    ObjectWriter w(line);
    w.Text("type", "object").Text("kind", KindName(object.kind)).Text("digest", digest.Text());
    w.Raw("manifest", JoinManifest(object.identity, *metadata)).End();
    line += '\n';
    ETL_CHECK_OK(sink(line));
  }
  return it->status();
}

Status ExportEntries(const StoreImpl& store, AsOf as_of, const Sink& sink) {
  auto it = store.kv().Scan(std::string(1, keys::kEntry), PrefixEnd(std::string(1, keys::kEntry)));
  std::string line;
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    const auto name = keys::ReadEntry(it->key());
    if (!name) return Fail(Unreadable(it->key(), "key"));
    ETL_TRY(const Bundle bundle, DecodeBundle(it->key(), it->value()));
    for (const auto& [kind, state] : bundle) {
      ETL_TRY(const auto version, store.NewestAt(*name, kind, state, as_of));
      if (!version) continue;
      line.clear();
      ObjectWriter w(line);
      w.Text("type", "entry").Text("source", name->source).Text("kind", KindName(kind));
      w.Text("externalId", name->external_id);
      if (!name->scope.empty()) w.Text("scope", name->scope);
      w.Count("version", version->version).Text("state", EntryStateName(version->state));
      w.Raw("reasons", json::TextArray(version->reasons));
      if (version->digest)
        w.Text("digest", version->digest->Text());
      else
        w.Null("digest");
      w.End();
      line += '\n';
      ETL_CHECK_OK(sink(line));
    }
  }
  return it->status();
}

std::string GroupLine(const GroupInfo& group, const std::vector<StandingLine>& standing,
                      const std::vector<RecordStep>& records) {
  std::string line;
  ObjectWriter w(line);
  w.Text("type", "group").Text("comparisonKey", group.key.Text()).Text("profile", group.profile);
  std::string list = "[";
  for (const StandingLine& s : standing) {
    if (list.size() > 1) list += ',';
    ObjectWriter m(list);
    m.Count("rank", s.rank).Text("digest", s.contender.digest.Text()).Text("externalId", s.external_id);
    m.Number("value", s.contender.value).End();
  }
  w.Raw("standing", list + "]");
  list = "[";
  for (const RecordStep& r : records) {
    if (list.size() > 1) list += ',';
    ObjectWriter m(list);
    m.Text("at", r.at.Text()).Text("externalId", r.external_id);
    if (r.previous)
      m.Text("previous", *r.previous);
    else
      m.Null("previous");
    m.End();
  }
  w.Raw("records", list + "]").End();
  return line + "\n";
}

}  // namespace

Status StoreImpl::Export(AsOf as_of, const Sink& sink) const {
  ETL_CHECK_OK(ExportObjects(*this, as_of, sink));
  ETL_CHECK_OK(ExportEntries(*this, as_of, sink));
  Status inner;
  ETL_CHECK_OK(ForEachGroup([&](const GroupInfo& group) {
    inner = [&]() -> Status {
      ETL_TRY(const auto standing, StandingAt(group.number, as_of));
      // A group that nobody stands in depends on the order in which its past became known: it is no part of
      // the state.
      if (standing.empty()) return {};
      ETL_TRY(const auto records, GetRecords(group, as_of));
      return sink(GroupLine(group, standing, records));
    }();
    return inner.has_value();
  }));
  return inner;
}

}  // namespace etl
