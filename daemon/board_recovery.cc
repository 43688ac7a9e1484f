#include "daemon/board_recovery.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/json_writer.h"

namespace etl {

Result<std::vector<BoardRow>> BoardRecovery::Unknown(const std::string& request,
                                                     const std::vector<UpstreamRank>& ranks,
                                                     const std::vector<BoardRow>& rows) {
  std::set<std::pair<std::string, std::string>> stand;  // user and GPU
  for (const UpstreamRank& rank : ranks)
    if (book_.Holds(rank)) stand.emplace(rank.username, rank.gpu);
  std::vector<BoardRow> unknown;
  for (const BoardRow& row : rows) {
    if (stand.contains({row.traits.username, row.traits.gpu})) continue;
    const auto entry = store_.GetEntry({std::string(adapter_.slug()), row.entry.external_id, ""});
    if (entry) {
      const auto kept = entry->find(Kind::kSubmission);
      if (kept != entry->end() &&
          (kept->second.state != EntryState::kPending || kept->second.metadata == row.entry.metadata))
        continue;
    } else if (entry.error().errc != Errc::kNotFound) {
      return Fail(entry.error());
    }
    ETL_TRY(const std::vector<RowTraits>* const known, RowsOf(adapter_.ContextFor(request)));
    const bool listed = std::any_of(known->begin(), known->end(),
                                    [&](const RowTraits& other) { return SameRow(row.traits, other); });
    if (!listed) unknown.push_back(row);
  }
  return unknown;
}

// Of every row of a context that is known. Bodies are read once each: many rows came in one.
Result<const std::vector<RowTraits>*> BoardRecovery::RowsOf(const std::string& context_key) {
  const auto [place, fresh] = known_.try_emplace(context_key);
  if (!fresh) return &place->second;
  const std::string source(adapter_.slug());
  ETL_TRY(const auto ids, store_.RowsOf(source, context_key));
  std::map<std::uint64_t, std::vector<Locator>> by_commit;
  for (const std::string& id : ids) {
    ETL_TRY(const auto entry, store_.GetEntry({source, id, ""}));
    const auto row = entry.find(Kind::kSubmission);
    if (row != entry.end()) by_commit[row->second.from].push_back(row->second.locator);
  }
  for (const auto& [sequence, locators] : by_commit) {
    ETL_TRY(const CommitInfo commit, store_.GetCommit(sequence));
    if (!commit.snapshot) continue;
    ETL_TRY(const std::string bytes, store_.GetBytes(*commit.snapshot));
    for (const Locator& locator : locators)
      if (locator.offset <= bytes.size())
        place->second.push_back(
            adapter_.TraitsOf(std::string_view(bytes).substr(locator.offset, locator.bytes)));
  }
  return &place->second;
}

Result<std::optional<Ingest>> RecoveryOf(const Adapter& adapter, const Store& store, Snapshot& answer,
                                         std::vector<BoardRow> rows) {
  if (rows.empty()) return std::optional<Ingest>();
  ETL_TRY(const auto request, store.FindRequest(answer.source, answer.request));
  if (!request || request->snapshot != answer.digest) return std::optional<Ingest>();
  ETL_TRY(answer.bytes, store.GetBytes(answer.digest));
  const std::string key = BoardKey(adapter.ContextFor(answer.request));
  ETL_TRY(const auto remembered, store.FindCursor(answer.source, key));
  std::vector<BoardEntry> entries;
  if (remembered) entries = ParseBoard(*remembered).value_or(std::vector<BoardEntry>());
  std::vector<std::string> ids;
  std::optional<Ingest> ingest(std::in_place);
  for (BoardRow& row : rows) {
    const std::string& id = row.entry.external_id;
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;  // twice in one answer
    std::erase_if(entries, [&](const BoardEntry& entry) { return entry.external_id == id; });
    entries.push_back({id, std::move(row.traits)});
    ids.push_back(id);
    ingest->draft.entries.push_back(std::move(row.entry));
  }
  std::string line;
  json::ObjectWriter(line)
      .Text("type", "recovered")
      .Text("request", answer.request)
      .Raw("entries", json::TextArray(ids))
      .End();
  ingest->snapshot = &answer;
  ingest->adapter = adapter.version();
  ingest->rederived_from = request->sequence;
  ingest->visit_start = store.sequence();
  ingest->draft.cursors.push_back({key, BoardText(entries)});
  ingest->draft.events.push_back({"recovered", std::move(line)});
  return ingest;
}

}  // namespace etl
