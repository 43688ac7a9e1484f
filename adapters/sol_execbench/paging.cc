#include "adapters/sol_execbench/paging.h"

#include <algorithm>
#include <utility>

namespace etl::sol_execbench {

// What one page brought.
struct Walk::Reach {
  std::uint64_t rows_new = 0;     // ids new to all walks
  bool ids_new = false;           // an id new to this walk
  std::size_t readable = 0;       // rows with an id
  std::size_t last_readable = 0;  // index of the last of them; the next page begins there
  std::int64_t trailing = 0;      // rows without an id behind it, which the next page holds again
};

Step Walk::Take(std::int64_t offset, const PageSummary& page) {
  CheckPage(page);
  const Reach reach = Record(page);
  const std::int64_t reached = now_.counted + reach.trailing;
  if (reached > rows_max_) {
    return {Step::Kind::kShort,
            0,
            reach.rows_new,
            "ROW_LIMIT",
            "more than " + std::to_string(rows_max_) + " rows: the list does not seem to end",
            0};
  }
  if (!now_.flaw.empty() && walk_ < kWalksMax) return Again(reach.rows_new);
  // A page of nothing but rows that this walk has is the end, whatever the total says. A page of unreadable
  // rows is not.
  const bool further =
      reach.ids_new || (page.ids.size() > 1 && reach.readable <= 1 && reach.last_readable == 0);
  // A total may be capped at the page, so a full page is not believed to be the last one: only asking again
  // can tell.
  const bool full = page.ids.size() >= static_cast<std::size_t>(kPageRows);
  if (!further || (!full && now_.total && reached >= *now_.total)) {
    now_.counted = reached;
    return End(reach.rows_new);
  }
  Step step{Step::Kind::kNext, 0, reach.rows_new, {}, {}, 0};
  now_.last_id.reset();
  if (reach.last_readable > 0) {
    now_.last_id = page.ids[reach.last_readable];
    step.offset = offset + static_cast<std::int64_t>(reach.last_readable);
    return step;
  }
  // One row a page, or no row to hold on to: the next page cannot overlap this one.
  now_.flaw = "pages without two readable rows, which cannot be shown to follow one another";
  if (walk_ < kWalksMax) return Again(reach.rows_new);
  now_.counted = reached;
  step.offset = offset + static_cast<std::int64_t>(page.ids.size());
  return step;
}

// What a page says against the pages before it.
void Walk::CheckPage(const PageSummary& page) {
  if (now_.begun && page.total != now_.total) now_.flaw = "the total changed from page to page";
  if (now_.last_id && !page.ids.empty() &&
      std::find(page.ids.begin(), page.ids.end(), now_.last_id) == page.ids.end()) {
    now_.flaw = "a page does not hold the last row of the page before it";
  }
  now_.begun = true;
  now_.total = page.total;
}

Walk::Reach Walk::Record(const PageSummary& page) {
  Reach reach;
  for (std::size_t i = 0; i < page.ids.size(); ++i) {
    if (!page.ids[i]) {
      ++reach.trailing;
      continue;
    }
    now_.counted += std::exchange(reach.trailing, 0);
    reach.last_readable = i;
    ++reach.readable;
    const auto [known, added] = seen_.try_emplace(*page.ids[i], 0);
    if (added) ++reach.rows_new;
    if (known->second == walk_) continue;
    known->second = walk_;
    reach.ids_new = true;
    ++now_.counted;
  }
  return reach;
}

Step Walk::End(std::uint64_t rows_new) {
  if (now_.flaw.empty() && now_.total && now_.counted > *now_.total)
    now_.flaw = "more rows than the total says";
  const bool steady = now_.flaw.empty();
  if (steady && now_.total && now_.counted == *now_.total)
    return {Step::Kind::kComplete, 0, rows_new, {}, {}, 0};
  // Walking again cannot bring a total that upstream does not state.
  if (walk_ < kWalksMax && !(steady && !now_.total)) return Again(rows_new);
  Step step{Step::Kind::kShort, 0, rows_new, steady ? "TOTAL_NOT_REACHED" : "PAGING_UNSTABLE", {}, 0};
  const std::int64_t known = std::max(now_.counted, static_cast<std::int64_t>(seen_.size()));
  step.what =
      (now_.total ? "the list states " + std::to_string(*now_.total) + " rows" : "the list states no total") +
      ", " + std::to_string(known) + " were seen";
  if (!steady) step.what += "; " + now_.flaw;
  if (now_.total) step.missing = std::max<std::int64_t>(0, *now_.total - known);
  return step;
}

Step Walk::Again(std::uint64_t rows_new) {
  ++walk_;
  now_ = {};
  return {Step::Kind::kAgain, 0, rows_new, {}, {}, 0};
}

}  // namespace etl::sol_execbench
