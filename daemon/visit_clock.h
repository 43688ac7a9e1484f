#pragma once

#include <cstdint>
#include <optional>

#include "model/instant.h"
#include "store/store.h"

namespace etl {

// When the answers of a live source came, for one visit. Every moment is later than the one before and than
// all that the store knew when the visit began, whatever the clock does: a later answer counts as later.
// Where the clock was set back, time goes on from the last known moment by what the clock moves, until the
// clock is ahead again; dates may be off by as much as the clock was.
class VisitClock {
 public:
  // Before the visit's first answer: `known` is the newest moment that the store has, `last` the visit
  // before, `now` what the clock shows.
  void Start(Instant known, const std::optional<VisitState>& last, Instant now);

  // What the clock shows, as this visit counts time.
  Instant Time(Instant shown) const { return Instant{shown.ms + behind_ms_}; }
  // The moment of the next answer, which came when the clock showed this.
  Instant Next(Instant shown);
  // The newest moment so far.
  Instant newest() const { return newest_; }

 private:
  std::int64_t behind_ms_ = 0;
  Instant shown_{INT64_MIN / 2};  // the furthest that the clock has been in this visit
  Instant newest_;
};

}  // namespace etl
