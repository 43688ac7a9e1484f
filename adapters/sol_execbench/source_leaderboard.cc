// Upstream's own ranks, to be held against ours; and the rows that no list may show any more.

#include <optional>
#include <utility>

#include "adapters/sol_execbench/board.h"
#include "adapters/sol_execbench/context.h"
#include "adapters/sol_execbench/source.h"

namespace etl::sol_execbench {
namespace {

constexpr std::size_t kRanksMax = 100'000;  // of one leaderboard

enum class Taken : std::uint8_t { kRank, kNothing, kBad };

// kNothing: upstream's reference rows and rows without a rank.
Taken TakeRank(json::Value row, UpstreamRank& rank) {
  if (!row.IsObject()) return Taken::kBad;
  const json::Value number = row.Find("rank");
  if (number.IsAbsent() || row.Find("is_reference").IsTrue()) return Taken::kNothing;
  const auto place = number.AsInt64();
  const auto latency_ms = row.Find("latency_ms").AsDouble();
  const json::Value username = row.Find("username");
  if (!place || *place < 1 || !latency_ms || !username.IsString()) return Taken::kBad;
  rank.rank = *place;
  rank.latency_ms = *latency_ms;
  rank.username = username.AsString();
  rank.submitted_at = row.Find("submitted_at").AsString();
  return Taken::kRank;
}

}  // namespace

Result<Outcome> Source::AcceptLeaderboard(const Call& call) {
  Outcome outcome;
  ETL_TRY(const Envelope envelope, ReadEnvelope(call.request.key, call.body, {"data", "rankings"}));
  const json::Value data = envelope.document.root().Find("data");
  const json::Value rankings = data.Find("rankings");
  if (!rankings.IsArray() && !rankings.IsObject()) {
    return Fail(ShapeError(call.request.key, "$.data.rankings", "the answer holds no rankings"));
  }
  NoteEnvelopeDrift(envelope, "leaderboard", outcome);
  drift_.NoteUnknown(outcome.draft, data,
                     {"kernel_id", "kernel_name", "gpu_type", "evaluation_stack_version", "latency_unit",
                      "sol_entry", "reference_entries", "rankings"},
                     "leaderboard.data.", envelope.text);
  const auto context = ParseContext(call.context);
  UpstreamRank common;
  common.kernel = context ? context->name : std::string(data.Find("kernel_name").AsString());
  const json::Value version = data.Find("evaluation_stack_version");
  common.stack_version = version.IsString() ? std::string(version.AsString()) : call.key.stack_version;
  const auto take = [&](json::Value rows, const std::string& path, std::string_view gpu_type) {
    common.gpu = gpu_type;
    std::size_t index = 0;
    for (const json::Value row : rows.elements()) {
      const std::size_t at = index++;
      if (rankings.IsArray() && envelope.IsRefused(at)) continue;
      drift_.NoteUnknown(outcome.draft, row,
                         {"rank", "username", "user_id", "sol_score", "latency_ms", "fast_1_count",
                          "fast_1_total", "avg_speedup", "submitted_at", "is_reference"},
                         "leaderboard.rankings[].", envelope.text);
      const BoardHead head{call.key.kernel_id, common.kernel, gpu_type, common.stack_version};
      if (auto board = ReadBoardRow(row, head, envelope); board && outcome.board_rows.size() < kRanksMax)
        outcome.board_rows.push_back(*std::move(board));
      UpstreamRank rank = common;
      const Taken taken = TakeRank(row, rank);
      if (taken == Taken::kRank && outcome.upstream_ranks.size() < kRanksMax) {
        outcome.upstream_ranks.push_back(std::move(rank));
      } else if (taken == Taken::kBad) {
        outcome.draft.quarantine.push_back(
            Quarantined("RANKING_ROW", call.request.key, path + "[" + std::to_string(at) + "]",
                        "a ranking that cannot be read", envelope.BytesOf(row)));
      }
    }
  };
  for (const RefusedElement& refused : envelope.refused) {
    outcome.draft.quarantine.push_back(Quarantined(
        "RANKING_ROW", call.request.key, "$.data.rankings[" + std::to_string(refused.index) + "]",
        refused.error.Message(), envelope.text.substr(refused.begin, refused.end - refused.begin)));
  }
  if (rankings.IsArray()) take(rankings, "$.data.rankings", call.key.gpu_type);
  for (const json::Member member : rankings.members()) {
    take(member.value, "$.data.rankings." + std::string(member.name), member.name);
  }
  // The ranks are wanted on every visit: ours may have moved though upstream's answer did not.
  if (!call.draft) outcome.draft = Draft();
  return outcome;
}

}  // namespace etl::sol_execbench
