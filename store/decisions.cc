// What people decided: on rows under review, kept as cursors that the adapter asks for; on items of the
// quarantine, kept with them.
#include "model/json_writer.h"
#include "store/commit.h"
#include "store/keys.h"
#include "store/store_impl.h"

namespace etl {
namespace {

// `name` and `subject`: the member that names the thing.
std::string LineOf(std::string_view type, std::string_view name, std::string_view subject,
                   const Decision& decision) {
  std::string line;
  json::ObjectWriter(line)
      .Text("type", type)
      .Text(name, subject)
      .Text("decision", decision.what)
      .Text("reason", decision.reason)
      .Text("by", decision.by)
      .Integer("at", decision.at.ms)
      .End();
  return line;
}

}  // namespace

// Last of all changes of its commit.
Status CommitBuilder::AddDecision() {
  if (!ingest_.decision) return {};
  const DecisionDraft& draft = *ingest_.decision;
  if (draft.external_id.empty()) {
    const std::string key = keys::ByText(keys::kQuarantine, snapshot_.source, draft.item.View());
    ETL_TRY(const auto stored, kv_.Get(key));
    if (!stored)
      return Fail(Errc::kNotFound, "NOT_FOUND", draft.item.Hex(), "nothing in quarantine has this id",
                  "`etlctl quarantine list` shows the ids");
    ETL_TRY(QuarantineItem item, DecodeQuarantine(key, *stored));
    if (!item.decision) --counts_.quarantine;
    item.decision = draft.decision;
    batch_->Put(key, EncodeQuarantine(item));
    AddChange("decision", LineOf("decision", "id", draft.item.Hex(), draft.decision));
    return {};
  }
  const std::string key = keys::ByText(keys::kCursor, snapshot_.source, ReviewKey(draft.external_id));
  ETL_TRY(const auto stored, kv_.Get(key));
  std::vector<Decision> decisions;
  if (stored) {
    ETL_TRY(const auto known, DecodeCursor(key, *stored));
    auto parsed = ParseReview(known.first);
    if (!parsed) return Fail(Unreadable(key, "decisions"));
    decisions = *std::move(parsed);
  }
  decisions.push_back(draft.decision);
  if (decisions.size() > kDecisionsMax) decisions.erase(decisions.begin());
  batch_->Put(key, EncodeCursor(ReviewText(decisions), draft.decision.at));
  AddChange("review", LineOf("review", "externalId", draft.external_id, draft.decision));
  return {};
}

Result<std::vector<CursorDraft>> StoreImpl::FindCursors(std::string_view source,
                                                        std::string_view key_prefix) const {
  std::vector<CursorDraft> out;
  const std::size_t before = keys::ByText(keys::kCursor, source, "").size();
  const std::string prefix = keys::ByText(keys::kCursor, source, key_prefix);
  auto it = kv_->Scan(prefix, PrefixEnd(prefix));
  for (; it->Valid(); it->Next()) {
    ETL_CHECK_OK(it->checked());
    ETL_TRY(auto cursor, DecodeCursor(it->key(), it->value()));
    out.push_back({std::string(it->key().substr(before)), std::move(cursor.first)});
  }
  ETL_CHECK_OK(it->status());
  return out;
}

}  // namespace etl
