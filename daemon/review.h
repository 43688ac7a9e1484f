#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "model/decision.h"
#include "model/error.h"
#include "store/store.h"

namespace etl {

// What people decide: on rows under review, whose only fault is kReviewReason, and on items of the
// quarantine. A decision and all that follows from it are one commit, synced when the call returns; what was
// read for it are the snapshots that the store has. Each call needs a store that is open for writing, and no
// visit at the same time. Errors are the store's, and those named.

// A row, or an item, as a decision left it.
struct Decided {
  bool changed = false;          // false: it was decided so before, and nothing was written; or refused
  std::optional<Error> refused;  // RetryItem: why it still cannot be taken in
};

// Admits or rejects a row (`decision.what`): it is read again, and passes or does not; its run joins or
// leaves the standing. The decision holds for what the row says later too. kNotFound: no such entry.
// kConflict NOT_UNDER_REVIEW: there is more, or nothing, against the row. kInvalid REVIEW_REFUSED: the row
// cannot become a run, since its manifests would break a rule.
Result<Decided> DecideRow(Adapter& adapter, Store& store, const std::string& external_id,
                          const Decision& decision);

// Puts an item away: it is open no more, and stays so when it comes again. Its bytes are kept. kConflict
// ALREADY_RESOLVED: it has been taken in meanwhile.
Result<Decided> DropItem(Store& store, const QuarantineItem& item, const Decision& decision);

// Reads the response that an item came in again, as a whole, by the present mapping and with what is known
// now; a list that lost more than the settings allow is believed. Where the item is accepted, the response is
// taken in as of when it was last the answer: what is newer stays. Else nothing is written.
Result<Decided> RetryItem(Adapter& adapter, Store& store, const QuarantineItem& item,
                          const Decision& decision);

// Rebuild: what `line`, of the type "review" or "decision", did in another store, done in this one.
// `snapshot` is that of its commit. A decision that the present mapping has no use for changes no entry.
Status ReplayDecision(Adapter& adapter, Store& store, const Snapshot& snapshot, const std::string& line);

// A row that is or was under review.
struct ReviewItem {
  EntryName name;
  Version row;                         // its newest state
  std::string user, username, kernel;  // as that state says
  ReviewFacts facts;
  std::vector<Decision> decisions;  // oldest first
  bool open = false;
};
// Those that wait; with `all` those that were decided too. `source` empty: of every source. In the order of
// names. Reads every entry of the store.
Result<std::vector<ReviewItem>> ReviewItems(const Store& store, const std::string& source, bool all);

}  // namespace etl
