#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adapters/board_row.h"
#include "adapters/sol_execbench/envelope.h"
#include "model/draft.h"
#include "model/json.h"

namespace etl::sol_execbench {

// What a leaderboard is about.
struct BoardHead {
  std::int64_t kernel_id = 0;
  std::string_view kernel, gpu_type, stack_version;  // no version: not stated
};

// What a row of a list, or of a leaderboard, is told by. Texts are cut to 200 characters on both sides.
RowTraits TraitsOfRow(json::Value row);
RowTraits TraitsOfRanking(json::Value row, const BoardHead& head);

// What a leaderboard's row is kept as where no list shows it: a Submission "leaderboard/<kernel>/<hash>",
// pending, LEADERBOARD_ONLY; never a run, because it has no id, no user id, and does not say whether it was
// correct or when it finished. The hash is of GPU, version, user and time of submission, so that a score that
// moves is a new version of it. Its metadata are what the row says without its rank. Nothing for upstream's
// reference rows and rows without a user.
std::optional<BoardRow> ReadBoardRow(json::Value row, const BoardHead& head, const Envelope& envelope);

// Ends the entries that stood for rows which this answer shows in full: excluded, LISTED_AFTER_ALL, with the
// row's own entry in the metadata. `draft` holds what was made of `rows`.
void EndBoardEntries(const std::vector<BoardEntry>& entries, const Envelope& envelope, json::Value rows,
                     Draft& draft);

}  // namespace etl::sol_execbench
