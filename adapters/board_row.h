#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/draft.h"
#include "model/instant.h"

namespace etl {

// A leaderboard shows each user's best row without its id. Where no list showed the row, because it left the
// window unseen, what the leaderboard says is kept as an entry of its own, until a list shows the row after
// all.

// What a row is told by on a leaderboard.
struct RowTraits {
  std::string gpu, stack_version, username;  // no version: not stated
  std::optional<Instant> submitted_at;
  std::optional<double> latency_ms;
};

// Whether two rows of one kernel are the same. They agree in the GPU, in the stack version where both state
// it, in the time of submission where both state it, and in the user's name or the latency: either may
// change, but hardly both between two answers. Without a time they agree in both.
bool SameRow(const RowTraits& a, const RowTraits& b);

struct BoardRow {
  RowTraits traits;
  EntryDraft entry;  // a Submission that is pending, LEADERBOARD_ONLY
};

// Cursor "board/<context key>": the entries that were made so for the rows of a context, oldest first. At
// most kBoardEntriesMax; of more the oldest are forgotten, and stay pending whatever a list shows later.
struct BoardEntry {
  std::string external_id;
  RowTraits traits;
};
inline constexpr std::size_t kBoardEntriesMax = 1000;
inline constexpr std::string_view kBoardOnlyReason = "LEADERBOARD_ONLY",
                                  kBoardSeenReason = "LISTED_AFTER_ALL";
std::string BoardKey(std::string_view context_key);
std::string BoardText(const std::vector<BoardEntry>& entries);
// Nothing for text that BoardText did not write.
std::optional<std::vector<BoardEntry>> ParseBoard(std::string_view text);

}  // namespace etl
