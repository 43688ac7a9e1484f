#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace etl::sol_execbench {

// How a list that moves while it is read page by page is walked, and when the walk may be called complete.
//
// Consecutive pages overlap by one row: a page begins with the last row of the one before, so a row that
// moved between two pages is noticed. A walk is complete when every page stated the same total, each page
// held the last row of the one before it, and as many different rows were seen as the total says. Otherwise
// the list is walked again from its start, at most three times; the last walk goes on to the end whatever
// happens, so that as many rows as possible are seen.

inline constexpr std::int64_t kPageRows = 50;  // upstream serves no more
inline constexpr int kWalksMax = 3;
inline constexpr int kIdlePagesMax = 3;  // pages in a row without a readable row that is new
inline constexpr std::int64_t kKernelRowsMax =
    10'000'000;  // rows of one kernel; a list that seems longer never ends

// What paging needs to know of one page.
struct PageSummary {
  std::optional<std::int64_t> total;  // as the page states it, if it does
  std::vector<std::optional<std::int64_t>>
      ids;  // per row of the page; nothing where the row's id cannot be read
};

// What to do after a page.
struct Step {
  enum class Kind : std::uint8_t { kNext, kAgain, kComplete, kShort };
  Kind kind = Kind::kComplete;
  std::int64_t offset = 0;     // kNext: of the next page; kAgain: 0
  std::uint64_t rows_new = 0;  // ids that no earlier page of this or an earlier walk held
  std::string code, what;      // kShort: PAGING_UNSTABLE, TOTAL_NOT_REACHED, ROW_LIMIT
  std::int64_t missing = 0;    // kShort: at least this many rows were not seen
};

class Walk {
 public:
  explicit Walk(std::int64_t rows_max = kKernelRowsMax) : rows_max_(rows_max) {}

  // Different rows that the walk under way has seen.
  std::int64_t rows() const { return now_.counted; }
  // Takes the page at `offset`. Cost: one hash look-up per row.
  Step Take(std::int64_t offset, const PageSummary& page);

 private:
  struct Reach;
  void CheckPage(const PageSummary& page);
  Reach Record(const PageSummary& page);
  Step End(std::uint64_t rows_new);
  Step Again(std::uint64_t rows_new);

  std::int64_t rows_max_;
  std::unordered_map<std::int64_t, int> seen_;  // id -> the last walk that held it
  int walk_ = 1;
  struct {
    bool begun = false;
    std::optional<std::int64_t> total;    // of its last page
    std::optional<std::int64_t> last_id;  // must be in the next page
    std::int64_t counted = 0;  // different ids, and rows without a readable id that no later page holds again
    int idle_pages = 0;
    std::string flaw;  // why this walk cannot be called complete; empty so far
  } now_;              // the walk under way
};

}  // namespace etl::sol_execbench
