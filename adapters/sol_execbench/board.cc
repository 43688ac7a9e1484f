#include "adapters/sol_execbench/board.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/canonical_json.h"
#include "model/digest.h"
#include "model/json_writer.h"
#include "model/text.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kTextMax = 200;
constexpr std::size_t kHashBytes = 16;
// So that it counts whatever the order in which the two answers are taken in.
constexpr std::uint64_t kListedMajor = 1;

std::string TextOf(json::Value value) {
  return CutTo(value.AsString(), kTextMax);
}

void ReadScore(json::Value row, RowTraits& traits) {
  traits.username = TextOf(row.Find("username"));
  traits.latency_ms = row.Find("latency_ms").AsDouble();
  if (const auto at = ParseSourceInstant(row.Find("submitted_at").AsString())) traits.submitted_at = *at;
}

std::string ExternalId(json::Value row, const BoardHead& head, const RowTraits& traits) {
  const std::string submitted_at =
      traits.submitted_at ? traits.submitted_at->Text() : TextOf(row.Find("submitted_at"));
  const std::string what = json::TextArray(
      std::vector<std::string>{traits.gpu, traits.stack_version, traits.username, submitted_at});
  return "leaderboard/" + std::to_string(head.kernel_id) + "/" + Sha256(what).Hex().substr(0, kHashBytes);
}

std::string MetadataOf(json::Value row, const BoardHead& head, const RowTraits& traits) {
  std::string metadata;
  json::ObjectWriter w(metadata);
  const auto number = [&](std::string_view name, std::string_view member) {
    if (const auto value = row.Find(member).AsDouble()) w.Number(name, *value);
  };
  number("avgSpeedup", "avg_speedup");
  number("fast1Count", "fast_1_count");
  number("fast1Total", "fast_1_total");
  w.Text("gpu", traits.gpu).Text("kernel", head.kernel);
  number("latencyMs", "latency_ms");
  number("solScore", "sol_score");
  if (!traits.stack_version.empty()) w.Text("stackVersion", traits.stack_version);
  if (const std::string at = TextOf(row.Find("submitted_at")); !at.empty()) w.Text("submittedAt", at);
  w.Text("username", traits.username).End();
  return metadata;
}

}  // namespace

RowTraits TraitsOfRow(json::Value row) {
  RowTraits traits;
  traits.gpu = TextOf(row.Find("gpu_type"));
  traits.stack_version = TextOf(row.Find("evaluation_stack_version"));
  ReadScore(row, traits);
  return traits;
}

RowTraits TraitsOfRanking(json::Value row, const BoardHead& head) {
  RowTraits traits;
  traits.gpu = CutTo(head.gpu_type, kTextMax);
  traits.stack_version = CutTo(head.stack_version, kTextMax);
  ReadScore(row, traits);
  return traits;
}

std::optional<BoardRow> ReadBoardRow(json::Value row, const BoardHead& head, const Envelope& envelope) {
  if (!row.IsObject() || row.Find("is_reference").IsTrue()) return std::nullopt;
  BoardRow board;
  board.traits = TraitsOfRanking(row, head);
  if (board.traits.username.empty()) return std::nullopt;
  EntryDraft& entry = board.entry;
  entry.kind = Kind::kSubmission;
  entry.external_id = ExternalId(row, head, board.traits);
  entry.state = EntryState::kPending;
  entry.reasons = {std::string(kBoardOnlyReason)};
  entry.content = Sha256(json::Canonical(row, json::Integers::kExact));
  entry.metadata = MetadataOf(row, head, board.traits);
  entry.locator = envelope.LocatorOf(row);
  return board;
}

void EndBoardEntries(const std::vector<BoardEntry>& entries, const Envelope& envelope, json::Value rows,
                     Draft& draft) {
  std::unordered_map<std::uint64_t, std::pair<std::string, Digest>> drafted;  // by where they stand
  for (const EntryDraft& entry : draft.entries)
    if (entry.kind == Kind::kSubmission && entry.content)
      drafted.emplace(entry.locator.offset, std::pair(entry.external_id, *entry.content));
  for (const json::Value row : rows.elements()) {
    const Locator locator = envelope.LocatorOf(row);
    const auto submission = drafted.find(locator.offset);
    if (submission == drafted.end()) continue;
    const RowTraits traits = TraitsOfRow(row);
    for (const BoardEntry& board : entries) {
      if (!SameRow(board.traits, traits)) continue;
      EntryDraft& entry = draft.entries.emplace_back();
      entry.kind = Kind::kSubmission;
      entry.external_id = board.external_id;
      entry.state = EntryState::kExcluded;
      entry.reasons = {std::string(kBoardSeenReason)};
      entry.content = submission->second.second;
      entry.locator = locator;
      entry.major = kListedMajor;
      json::ObjectWriter(entry.metadata).Text("submission", submission->second.first).End();
    }
  }
}

}  // namespace etl::sol_execbench
