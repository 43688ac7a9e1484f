#include "adapters/board_row.h"

#include "model/json.h"
#include "model/json_writer.h"

namespace etl {

bool SameRow(const RowTraits& a, const RowTraits& b) {
  if (a.gpu != b.gpu) return false;
  if (!a.stack_version.empty() && !b.stack_version.empty() && a.stack_version != b.stack_version)
    return false;
  const bool same_user = a.username == b.username;
  const bool same_latency = a.latency_ms && a.latency_ms == b.latency_ms;
  if (a.submitted_at && b.submitted_at)
    return a.submitted_at == b.submitted_at && (same_user || same_latency);
  return same_user && same_latency;
}

std::string BoardKey(std::string_view context_key) {
  return "board/" + std::string(context_key);
}

std::string BoardText(const std::vector<BoardEntry>& entries) {
  std::string text = "[";
  const std::size_t first = entries.size() > kBoardEntriesMax ? entries.size() - kBoardEntriesMax : 0;
  for (std::size_t i = first; i < entries.size(); ++i) {
    const RowTraits& traits = entries[i].traits;
    if (text.size() > 1) text += ',';
    json::ObjectWriter w(text);
    w.Text("externalId", entries[i].external_id).Text("gpu", traits.gpu);
    if (traits.latency_ms) w.Number("latencyMs", *traits.latency_ms);
    w.Text("stackVersion", traits.stack_version);
    if (traits.submitted_at) w.Integer("submittedAt", traits.submitted_at->ms);
    w.Text("username", traits.username).End();
  }
  return text + "]";
}

std::optional<std::vector<BoardEntry>> ParseBoard(std::string_view text) {
  const auto document = json::Document::Parse(text);
  if (!document || !document->root().IsArray()) return std::nullopt;
  std::vector<BoardEntry> entries;
  for (const json::Value item : document->root().elements()) {
    BoardEntry& entry = entries.emplace_back();
    entry.external_id = item.Find("externalId").AsString();
    if (entry.external_id.empty()) return std::nullopt;
    entry.traits.gpu = item.Find("gpu").AsString();
    entry.traits.stack_version = item.Find("stackVersion").AsString();
    entry.traits.username = item.Find("username").AsString();
    if (const auto ms = item.Find("submittedAt").AsInt64()) entry.traits.submitted_at = Instant{*ms};
    entry.traits.latency_ms = item.Find("latencyMs").AsDouble();
  }
  return entries;
}

}  // namespace etl
