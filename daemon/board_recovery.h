#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/adapter.h"
#include "daemon/rank_comparison.h"
#include "store/store.h"

namespace etl {

// Rows that a leaderboard shows and no list did: when a window ran ahead of us, each user's best row is still
// there (adapters/board_row.h). Reads only; errors are the store's.
class BoardRecovery {
 public:
  // `book` must outlive this.
  BoardRecovery(const Adapter& adapter, const Store& store, RankBook& book)
      : adapter_(adapter), store_(store), book_(book) {}

  // Those of a leaderboard's rows that are no row known here, or say something else than their entry does.
  // `ranks` are of the same answer: a user whose best run here is the one ranked there needs no closer look.
  Result<std::vector<BoardRow>> Unknown(const std::string& request, const std::vector<UpstreamRank>& ranks,
                                        const std::vector<BoardRow>& rows);

 private:
  Result<const std::vector<RowTraits>*> RowsOf(const std::string& context_key);

  const Adapter& adapter_;
  const Store& store_;
  RankBook& book_;
  std::map<std::string, std::vector<RowTraits>> known_;  // by context
};

// The commit that keeps `rows` of an answer which the store has: their entries, the cursor that remembers
// them, and a line "recovered" of the change log with their external ids. Nothing where there are no rows, or
// the store has another answer by now. `answer` must outlive it, and gets its bytes here.
Result<std::optional<Ingest>> RecoveryOf(const Adapter& adapter, const Store& store, Snapshot& answer,
                                         std::vector<BoardRow> rows);

}  // namespace etl
