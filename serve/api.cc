#include "serve/api.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "model/canonical_json.h"
#include "model/json_writer.h"
#include "serve/coding.h"

namespace etl::serve {
namespace {

constexpr std::size_t kCursorBytesMax = 2000;
constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// RFC 4648 section 5, without padding.
std::string Base64(std::string_view bytes) {
  std::string out;
  unsigned pending = 0, bits = 0;
  for (const char c : bytes) {
    pending = (pending << 8 | static_cast<unsigned char>(c)) & 0xfffff;
    for (bits += 8; bits >= 6; bits -= 6) out += kBase64Digits[pending >> (bits - 6) & 63];
  }
  if (bits > 0) out += kBase64Digits[pending << (6 - bits) & 63];
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string out;
  unsigned pending = 0, bits = 0;
  for (const char c : text) {
    const std::size_t digit = kBase64Digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    pending = (pending << 6 | static_cast<unsigned>(digit)) & 0xfffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(pending >> bits & 0xff);
  }
  return out;
}

std::string FilterHash(std::string_view filters) {
  return Sha256(filters).Hex().substr(0, 8);
}

Status CheckParams(const Route& route, const Request& request) {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : request.query) {
    const bool known = (name == "asOf" && route.as_of) ||
                       std::any_of(route.params.begin(), route.params.end(),
                                   [&name = name](const Param& param) { return param.name == name; });
    if (!known)
      return Fail(Errc::kInvalid, "PARAMETER_UNKNOWN", name.substr(0, 80), "this takes no such parameter",
                  "/api/v1/openapi.json lists those that there are");
    if (!seen.insert(name).second)
      return Fail(Errc::kInvalid, "PARAMETER_TWICE", name, "the parameter is there twice", "give it once");
  }
  return {};
}

// The route that a path leads to, with what its "{...}" stand for; the segments begin behind /api/v1.
const Route* FindRoute(const Request& request, std::vector<std::string>& rest) {
  for (const Route& route : Routes()) {
    std::string_view path = route.path.substr(1);
    rest.clear();
    std::size_t at = 2;
    bool fits = true;
    while (fits && !path.empty()) {
      const std::string_view segment = path.substr(0, path.find('/'));
      path.remove_prefix(std::min(segment.size() + 1, path.size()));
      fits = at < request.path.size();
      if (!fits) break;
      if (segment.starts_with('{')) {
        rest.push_back(request.path[at]);
      } else {
        fits = segment == request.path[at];
      }
      ++at;
    }
    for (; fits && route.tail && at < request.path.size(); ++at) rest.back() += "/" + request.path[at];
    if (fits && at == request.path.size()) return &route;
  }
  return nullptr;
}

Response NotModified(const std::string& tag) {
  Response response;
  response.status = 304;
  response.Header("ETag", tag);
  return response;
}

std::string TagOf(const Store& view, AsOf as_of) {
  return "\"" + view.epoch() + ":" + std::to_string(std::min(as_of.sequence, view.sequence())) + "\"";
}

Result<Response> Answered(const Route& route, Ask& ask) {
  ETL_CHECK_OK(CheckParams(route, ask.request));
  if (const auto text = ask.request.Param("asOf")) {
    ETL_TRY(ask.as_of, ask.store.ResolveAsOf(*text));
  }
  if (!route.cached) return route.answer(ask);
  const std::string tag = TagOf(ask.store, ask.as_of);
  if (TagMatches(ask.request.if_none_match, tag)) return NotModified(tag);
  ETL_TRY(Response response, route.answer(ask));
  response.Header("ETag", tag);
  response.Header("Cache-Control", "no-cache");
  response.holds_at = ask.store.sequence();
  return response;
}

}  // namespace

const std::vector<Route>& Routes() {
  static const Param kSource{"source", "Only of this source, by slug"};
  static const Param kCursor{"cursor", "Where to go on: nextCursor of the page before"};
  static const Param kLimit{"limit", "Lines in a page"};
  static const std::vector<Route> kRoutes{
      {"/runs",
       "runs",
       "Runs that stand in a comparison group",
       {{"operation", "Only of this operation, by slug, digest or name at the source"},
        {"hardware", "Only on this hardware, by slug or name"},
        kSource,
        {"status", "Only with this status"},
        {"since", "Only observed at or after this instant"},
        kCursor,
        kLimit},
       ListRuns,
       false,
       true},
      {"/runs/{idOrDigest}", "run", "One run with its rank and where it came from", {}, GetRun, false, true},
      {"/compare",
       "compare",
       "Two to eight runs side by side",
       {{"runs", "Runs, with commas between"}},
       CompareRuns,
       false,
       true},
      {"/records",
       "records",
       "The leader of every comparison group, with those before it",
       {kCursor, kLimit},
       ListRecords,
       false,
       true},
      {"/operations",
       "operations",
       "Operations that runs are ranked for",
       {{"family", "Only of this family"}, {"tag", "Only with this tag"}},
       ListOperations},
      {"/operations/{idOrSlug}",
       "operation",
       "An operation with the groups that its runs stand in",
       {{"workload", "Only this workload, by id or digest"},
        {"cohort", "The group to show, by comparison key"}},
       GetOperation,
       false,
       true},
      {"/groups/{key}",
       "group",
       "The standing of a comparison group and its record history",
       {kCursor, kLimit},
       GetGroupStanding,
       false,
       true},
      {"/sources", "sources", "Sources with what is kept of them", {}, ListSources, false, false, false},
      {"/hardware", "hardware", "Hardware that runs were measured on", {}, ListHardware},
      {"/coverage",
       "coverage",
       "How many runs there are of what on what",
       {},
       GetCoverage,
       false,
       false,
       false},
      {"/changes",
       "changes",
       "The change log from a sequence on; waits for news where asked to",
       {{"since", "Only what comes after this: a sequence, EPOCH:SEQUENCE"},
        {"wait", "Seconds to wait for the first change where there is none yet"},
        kSource,
        {"type", "Only lines of this type"},
        kLimit},
       ListChanges,
       false,
       false,
       false},
      {"/feed",
       "feed",
       "New records, runs taken in and runs taken back, day by day",
       {{"since", "From this instant on; the last seven days where it is not given"}},
       GetFeed},
      {"/objects/{digest}",
       "object",
       "The canonical bytes that a digest is of",
       {},
       GetObjectBytes,
       false,
       false,
       false},
      {"/entries/{source}/{externalId}",
       "entry",
       "What a source said of one thing, version by version",
       {{"scope", "What the external id is unique within"}},
       GetEntryVersions,
       true,
       true},
      {"/quarantine",
       "quarantine",
       "Items that were refused",
       {kSource},
       ListQuarantine,
       false,
       false,
       false},
      {"/gaps", "gaps", "Rows that left the window of a source unseen", {kSource}, ListGaps},
      {"/drift", "drift", "What a source says and its adapter does not know", {kSource}, ListDrift},
      {"/openapi.json", "description", "This description", {}, GetDescription, false, false, false}};
  return kRoutes;
}

Response AnswerApi(const Request& request, const Store& view, CatalogueCache& cache) {
  Ask ask{request, view, cache, {}, {}};
  const Route* const route = FindRoute(request, ask.rest);
  if (route == nullptr)
    return Problem(404, "NO_ROUTE", "there is nothing at this path", "see /api/v1/openapi.json");
  const bool compares = route->answer == CompareRuns;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !(compares && request.method == "POST")) {
    Response refused = Problem(405, "METHOD", "this is not answered to this method");
    refused.Header("Allow", compares ? "GET, HEAD, POST" : "GET, HEAD");
    refused.route = route->name;
    return refused;
  }
  auto answered = Answered(*route, ask);
  Response response = answered ? *std::move(answered) : Problem(answered.error());
  response.route = route->name;
  return response;
}

Result<std::uint64_t> LimitOf(const Request& request, std::uint64_t preset, std::uint64_t max) {
  const auto text = request.Param("limit");
  if (!text) return preset;
  std::uint64_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error != std::errc() || end != text->data() + text->size() || limit < 1 || limit > max)
    return Fail(Errc::kInvalid, "LIMIT", "limit", "no whole number from 1 to " + std::to_string(max),
                "give one, or leave it out for " + std::to_string(preset));
  return limit;
}

std::string CursorText(const Store& view, std::string_view filters, const Cursor& cursor) {
  return view.epoch() + "." + std::to_string(cursor.sequence) + "." + FilterHash(filters) + "." +
         Base64(cursor.place);
}

Result<Cursor> CursorOf(const Ask& ask, std::string_view filters) {
  Cursor cursor;
  cursor.sequence = std::min(ask.as_of.sequence, ask.store.sequence());
  const auto text = ask.request.Param("cursor");
  if (!text) return cursor;
  const auto wrong = [](std::string code, std::string what) {
    return Fail(Errc::kInvalid, std::move(code), "cursor", std::move(what), "begin again without a cursor");
  };
  std::vector<std::string_view> parts;
  for (std::string_view left = *text; parts.size() < 4;) {
    const std::size_t dot = std::min(left.find('.'), left.size());
    parts.push_back(left.substr(0, dot));
    if (dot == left.size()) break;
    left.remove_prefix(dot + 1);
  }
  if (parts.size() != 4 || text->size() > kCursorBytesMax)
    return wrong("CURSOR", "this is no cursor of ours");
  const std::string_view digits = parts[1];
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), cursor.sequence);
  auto place = FromBase64(parts[3]);
  if (error != std::errc() || end != digits.data() + digits.size() || !place)
    return wrong("CURSOR", "this is no cursor of ours");
  if (parts[2] != FilterHash(filters))
    return wrong("CURSOR_FILTERS", "the cursor is of another list or filter");
  if (parts[0] != ask.store.epoch() || cursor.sequence > ask.store.sequence())
    return wrong("CURSOR_EPOCH", "the store was restored since this cursor was given");
  if (!ask.as_of.now() && ask.as_of.sequence != cursor.sequence)
    return wrong("CURSOR_FILTERS", "the cursor is of another asOf");
  cursor.place = *std::move(place);
  return cursor;
}

std::string RunId(const Digest& digest) {
  return digest.Hex().substr(0, 32);
}

Result<Digest> FindRun(const Store& store, std::string_view id) {
  constexpr std::size_t kPrefixMin = 8, kCandidatesMax = 50;
  std::string_view digits = id;
  if (digits.starts_with("sha256:")) digits.remove_prefix(7);
  const bool hex = std::all_of(digits.begin(), digits.end(),
                               [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!hex || digits.size() < kPrefixMin || digits.size() > 64)
    return Fail(Errc::kInvalid, "RUN_ID", std::string(id.substr(0, 80)),
                "a run is named by 8 to 64 lower-case hex digits of its digest", "give its id or its digest");
  ETL_TRY(const std::vector<Digest> found, store.FindObjects(digits, kCandidatesMax + 1));
  std::vector<Digest> runs;
  for (const Digest& digest : found) {
    ETL_TRY(const StoredObject object, store.GetObject(digest));
    if (object.kind == Kind::kBenchmarkRun) runs.push_back(digest);
  }
  if (runs.size() == 1 && found.size() <= kCandidatesMax) return runs.front();
  if (runs.empty() && found.size() <= kCandidatesMax)
    return Fail(Errc::kNotFound, "RUN_NOT_FOUND", std::string(id), "no run has this id", "");
  return Fail(Errc::kNotFound, "RUN_AMBIGUOUS", std::string(id), "several runs begin with these digits",
              "give more digits");
}

}  // namespace etl::serve
