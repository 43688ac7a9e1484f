#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/visit.h"
#include "model/instant.h"
#include "store/store.h"

namespace etl::test {

// A new store in a folder, or in memory when `dir` is empty. Throws std::runtime_error with the error's
// message.
std::unique_ptr<Store> OpenStore(const std::string& dir, Clock& clock,
                                 Store::Mode mode = Store::Mode::kWrite);

// A whole visit of a folder of saved responses.
VisitResult Backfill(Store& store, const std::string& from, Clock& clock, const VisitOptions& options = {});

// The export; and its lines of one type ("group") alone.
std::string ExportOf(const Store& store, AsOf as_of = {});
std::string ExportOf(const Store& store, const std::string& type);

// Newest states, standings and record histories: an export without what tells the way there: the numbers of
// versions, the objects of states that were in between, and the runs (with their implementations) that no
// longer stand. A run that passed only under a bound that was already replaced when its row arrived never
// came to be.
std::string NewestOf(const std::string& text);

// The first line in which two exports differ, both sides; "" when they are equal.
std::string Difference(const std::string& a, const std::string& b);

// Every response that a visit of the folder asks for, in order, as snapshots.
std::vector<Snapshot> ResponsesOf(const std::string& from);

// Takes snapshots in, in the given order, each at its own captured_at. Fails the calling test on a store
// error.
void TakeIn(Store& store, const std::vector<Snapshot>& snapshots);

}  // namespace etl::test
