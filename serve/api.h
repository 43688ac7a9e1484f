#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"
#include "model/instant.h"
#include "serve/catalogue.h"
#include "serve/http.h"
#include "store/store.h"

namespace etl::serve {

// The JSON API /api/v1: the questions it knows, and the answer to each.

// One question, with the state of the store that answers it.
struct Ask {
  const Request& request;
  const Store& store;  // a view
  CatalogueCache& cache;
  AsOf as_of;                                       // what `asOf` asks for, else now
  std::vector<std::string> rest;                    // of the path, behind the route's own segments
  Instant at() const { return store.last_time(); }  // generatedAt: equal states give equal answers
};

// A parameter that a route takes.
struct Param {
  std::string_view name, about;
};

struct Route {
  std::string_view path;  // "/runs/{id}"; the last "{...}" takes the rest where `tail`
  std::string_view name;  // for counting
  std::string_view summary;
  std::vector<Param> params;
  Result<Response> (*answer)(const Ask&);
  bool tail = false;
  bool as_of = false;  // takes asOf
  bool cached = true;  // the answer depends on the sequence alone: ETag, 304
  bool post = false;   // is asked by POST, with a JSON body
};

// Every route, in the order they are tried.
const std::vector<Route>& Routes();

// Answers a request whose path begins with "api", "v1". Errors become problems.
Response AnswerApi(const Request& request, const Store& view, CatalogueCache& cache);

// --- for the routes ---

// How many lines are asked for. Errors: kInvalid LIMIT.
Result<std::uint64_t> LimitOf(const Request& request, std::uint64_t preset, std::uint64_t max);

// Where a walk over a list goes on: bound to the list with its filters, and to one sequence of one epoch, so
// that the walk sees one state however long it takes.
struct Cursor {
  std::uint64_t sequence = 0;
  std::string place;  // the list's own
};
// `filters` names the list and every filter.
std::string CursorText(const Store& view, std::string_view filters, const Cursor& cursor);
// The cursor of the request; without one, the beginning at the state that is asked for. Errors (kInvalid):
// CURSOR (not one of ours), CURSOR_FILTERS (of another list or other filters), CURSOR_EPOCH (the store was
// restored since, or the cursor is ahead of it).
Result<Cursor> CursorOf(const Ask& ask, std::string_view filters);

// A run by its digest, its id (the first 32 hex digits), or any prefix of 8 or more that only one run has.
// Errors: kInvalid RUN_ID; kNotFound RUN_NOT_FOUND, RUN_AMBIGUOUS.
Result<Digest> FindRun(const Store& store, std::string_view id);

std::string RunId(const Digest& digest);

// Lines of a group's standing as rows, from place `offset`; `more`: whether others follow.
Result<std::vector<std::string>> RowsOf(const Ask& ask, const GroupFacts& group, AsOf as_of,
                                        std::uint64_t offset, std::uint64_t limit, bool& more);

Result<Response> ListRuns(const Ask& ask);
Result<Response> GetRun(const Ask& ask);
Result<Response> CompareRuns(const Ask& ask);
Result<Response> ListRecords(const Ask& ask);
Result<Response> ListOperations(const Ask& ask);
Result<Response> GetOperation(const Ask& ask);
Result<Response> GetGroupStanding(const Ask& ask);
Result<Response> ListSources(const Ask& ask);
Result<Response> ListHardware(const Ask& ask);
Result<Response> GetCoverage(const Ask& ask);
Result<Response> ListChanges(const Ask& ask);
Result<Response> GetFeed(const Ask& ask);
Result<Response> GetObjectBytes(const Ask& ask);
Result<Response> GetEntryVersions(const Ask& ask);
Result<Response> ListQuarantine(const Ask& ask);
Result<Response> ListGaps(const Ask& ask);
Result<Response> ListDrift(const Ask& ask);
Result<Response> GetDescription(const Ask& ask);

}  // namespace etl::serve
