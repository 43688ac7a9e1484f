// The record under the "last" meta key: where the store stands, and how much it holds.
#include <array>
#include <utility>

#include "model/json_writer.h"
#include "store/commit.h"
#include "store/keys.h"
#include "store/record_reader.h"
#include "store/store_impl.h"

namespace etl {
namespace {

using json::ObjectWriter;

std::string EncodeCounts(const StoreCounts& counts) {
  std::string entries, out;
  ObjectWriter e(entries);
  for (const auto& [kind, count] : counts.entries_by_kind) e.Count(kind, count);
  e.End();
  ObjectWriter(out)
      .Raw("entries", entries)
      .Count("rankedRuns", counts.ranked_runs)
      .Count("objects", counts.objects)
      .Count("snapshots", counts.snapshots)
      .Count("quarantine", counts.quarantine)
      .Count("drift", counts.drift)
      .Count("gaps", counts.gaps)
      .End();
  return out;
}

Result<StoreCounts> ReadCounts(std::string_view key, json::Value object) {
  RecordReader r(key, object);
  StoreCounts counts;
  counts.ranked_runs = r.Count("rankedRuns");
  counts.objects = r.Count("objects");
  counts.snapshots = r.Count("snapshots");
  counts.quarantine = r.Count("quarantine");
  counts.drift = r.Count("drift");
  counts.gaps = r.Count("gaps");
  const json::Value entries = r.At("entries");
  RecordReader e(key, entries);
  for (const auto& [kind, count] : entries.members()) {
    if (!ParseKind(kind)) e.Bad("kind");
    counts.entries_by_kind[std::string(kind)] = e.Count(kind);
  }
  ETL_TRY(counts, e.Done(std::move(counts)));
  return r.Done(std::move(counts));
}

}  // namespace

std::string EncodeCounters(const WriterState& state) {
  std::string out;
  ObjectWriter w(out);
  w.Text("epoch", state.epoch).Count("sequence", state.sequence).Integer("time", state.last_time.ms);
  w.Count("groups", state.groups);
  if (state.counts) w.Raw("counts", EncodeCounts(*state.counts));
  w.End();
  return out;
}

Status DecodeCounters(std::string_view key, std::string_view value, WriterState& state) {
  ETL_TRY(const auto document, ParseStored(key, value));
  RecordReader r(key, document.root());
  state.epoch = r.Text("epoch");
  state.sequence = r.Count("sequence");
  state.last_time = r.Time("time");
  state.groups = r.Count32("groups");
  state.counts.reset();
  if (const json::Value counts = r.At("counts"); counts) {
    ETL_TRY(state.counts, ReadCounts(key, counts));
    state.counts->groups = state.groups;
  }
  ETL_TRY([[maybe_unused]] const bool ok, r.Done(true));
  return {};
}

Result<StoreCounts> StoreImpl::Count() const {
  {
    const std::lock_guard lock(writing_);
    if (state_.counts) return *state_.counts;
  }
  return CountAll();
}

Result<StoreCounts> StoreImpl::CountAll() const {
  StoreCounts counts;
  const auto add = [&](const EntryName&, const std::map<Kind, Version>& versions) {
    for (const auto& [kind, version] : versions) {
      ++counts.entries_by_kind[std::string(KindName(kind))];
      if (version.ranked) ++counts.ranked_runs;
    }
    return true;
  };
  ETL_CHECK_OK(ForEachEntry(add, {}));
  const std::array<std::pair<keys::Prefix, std::uint64_t*>, 5> lists{
      {{keys::kObject, &counts.objects},
       {keys::kGroup, &counts.groups},
       {keys::kSnapshotBody, &counts.snapshots},
       {keys::kDrift, &counts.drift},
       {keys::kGap, &counts.gaps}}};
  for (const auto& [prefix, count] : lists) {
    auto it = kv_->Scan(std::string(1, prefix), PrefixEnd(std::string(1, prefix)));
    for (; it->Valid(); it->Next()) ++*count;
    ETL_CHECK_OK(it->status());
  }
  ETL_TRY(const auto items, Quarantine(""));
  for (const QuarantineItem& item : items)
    if (!item.decision) ++counts.quarantine;
  return counts;
}

}  // namespace etl
