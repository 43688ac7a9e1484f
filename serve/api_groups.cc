// Comparison groups: their standings and records, and what they add up to by hardware and source.
#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "model/json_writer.h"
#include "model/text.h"
#include "serve/api.h"
#include "serve/format.h"
#include "serve/run_json.h"
#include "serve/run_record.h"
#include "serve/run_texts.h"

namespace etl::serve {
namespace {

using json::ObjectWriter;

constexpr std::uint64_t kRowsPreset = 50, kRowsMax = 200;

// The state that a walk sees, as one to read at.
AsOf At(const Ask& ask, const Cursor& cursor) {
  return cursor.sequence == ask.store.sequence() ? AsOf{} : AsOf{cursor.sequence};
}

Result<std::uint64_t> Offset(const Cursor& cursor) {
  std::uint64_t offset = 0;
  const std::string& place = cursor.place;
  if (place.empty()) return offset;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), offset);
  if (error != std::errc() || end != place.data() + place.size() || offset > UINT32_MAX)
    return Fail(Errc::kInvalid, "CURSOR", "cursor", "this is no cursor of ours",
                "begin again without a cursor");
  return offset;
}

std::string GroupJson(const GroupFacts& group) {
  return Object([&](ObjectWriter& o) {
    o.Text("comparisonKey", group.info.key.Text()).Text("profile", group.info.profile);
    o.Text("metricKey", group.info.metric_key).Raw("operation", NamedJson(group.operation->named));
    o.Text("hardware", group.environment->product).Text("environmentSummary", group.environment->summary);
    o.Text("operationDigest", group.info.operation.Text()).Text("workloadDigest", group.info.workload.Text());
    o.Text("protocolDigest", group.info.protocol.Text());
    o.Text("environmentDigest", group.info.environment.Text());
    o.Count("members", group.info.members).Count("distinct", group.info.distinct);
  });
}

Result<GroupFacts> FactsOf(const Ask& ask, const Digest& key) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  for (const GroupFacts& group : catalogue->groups)
    if (group.info.key == key) return group;
  return Fail(Errc::kNotFound, "GROUP_NOT_FOUND", key.Text(), "no comparison group has this key", "");
}

Result<Digest> FindGroup(const Store& store, std::string_view text) {
  auto found = store.FindGroups(text, 2);
  if (!found)
    return Fail(Errc::kInvalid, "GROUP_KEY", std::string(text.substr(0, 80)),
                "a group is named by its comparison key, or 4 or more hex digits of it", "");
  if (found->size() > 1)
    return Fail(Errc::kNotFound, "GROUP_AMBIGUOUS", std::string(text), "several keys begin with these digits",
                "give more digits");
  if (found->empty())
    return Fail(Errc::kNotFound, "GROUP_NOT_FOUND", std::string(text), "no comparison group has this key",
                "");
  return found->front();
}

// --- totals ---

struct Totals {
  std::uint64_t runs = 0;
  std::set<Digest> operations;
  std::set<std::string> families, hardware;
};

void AddTo(Totals& totals, const GroupFacts& group) {
  totals.runs += group.info.members;
  totals.operations.insert(group.info.operation);
  totals.families.insert(group.operation->family);
  totals.hardware.insert(group.environment->slug);
}

// Groups never mix sources: their protocols name the source's harness.
Result<std::string> SourcesJson(const Ask& ask, const Catalogue& catalogue) {
  std::map<std::string, Totals> by_source;
  for (const std::string& source : ask.store.Sources()) by_source[source];
  for (const GroupFacts& group : catalogue.groups)
    if (group.info.members > 0) AddTo(by_source[group.source], group);
  std::vector<std::string> values;
  for (const auto& [source, totals] : by_source) {
    std::optional<Instant> fetched;
    for (const char* goal : {"", "poll"}) {
      ETL_TRY(const auto visit, ask.store.FindVisit(source, goal));
      if (visit && visit->state != "running" && (!fetched || *fetched < visit->finished_at))
        fetched = visit->finished_at;
    }
    values.push_back(Object([&, &source = source, &totals = totals](ObjectWriter& o) {
      o.Text("slug", source).Text("kind", "kernel").Count("runs", totals.runs);
      o.Count("indexed", totals.runs).Count("breadth", totals.operations.size());
      o.Count("hardware", totals.hardware.size());
      o.Raw("lastFetched", fetched ? TextOrNull(fetched->Text()) : "null");
    }));
  }
  return ListJson(values);
}

}  // namespace

// A page of a standing as rows, with the line before it looked at for ties.
Result<std::vector<std::string>> RowsOf(const Ask& ask, const GroupFacts& group, AsOf as_of,
                                        std::uint64_t offset, std::uint64_t limit, bool& more) {
  const std::uint64_t begin = offset > 0 ? offset - 1 : 0;
  ETL_TRY(const std::vector<StandingLine> lines,
          ask.store.GetStanding(group.info, begin, limit + (offset - begin) + 1, as_of));
  std::vector<std::string> rows;
  more = false;
  for (std::size_t i = static_cast<std::size_t>(offset - begin); i < lines.size(); ++i) {
    if (rows.size() == limit) {
      more = true;
      break;
    }
    RowPlace place;
    place.rank = lines[i].rank;
    place.tied_with_previous = i > 0 && lines[i - 1].rank == lines[i].rank;
    place.cohort_size = group.info.members;
    ETL_TRY(std::string row, RowJson(ask.store, group, lines[i], place));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Response> ListRecords(const Ask& ask) {
  ETL_TRY(const std::uint64_t limit, LimitOf(ask.request, kRowsPreset, kRowsMax));
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  ETL_TRY(const Cursor cursor, CursorOf(ask, "records"));
  const AsOf as_of = At(ask, cursor);
  std::vector<std::string> values;
  std::optional<std::string> next;
  for (const GroupFacts& group : catalogue->groups) {
    const std::string key = group.info.key.Hex();
    if (key < cursor.place) continue;
    ETL_TRY(const std::vector<StandingLine> first, ask.store.GetStanding(group.info, 0, 1, as_of));
    if (first.empty()) continue;
    if (values.size() == limit) {
      next = key;
      break;
    }
    ETL_TRY(const std::vector<RecordStep> steps, ask.store.GetRecords(group.info, as_of));
    ETL_TRY(const std::string current, RowJson(ask.store, group, first[0], {1, false, group.info.members}));
    ETL_TRY(const std::string history, HistoryJson(ask.store, group, steps));
    ETL_TRY(const Loaded workload, LoadManifest(ask.store, group.info.workload));
    ETL_TRY(const CommitInfo commit, ask.store.GetCommit(first[0].since));
    values.push_back(Object([&](ObjectWriter& o) {
      o.Text("cohortKey", group.info.key.Text()).Raw("operation", NamedJson(group.operation->named));
      o.Text("workloadId", RunId(group.info.workload)).Text("workloadSummary", WorkloadText(workload));
      o.Text("hardware", group.environment->product).Text("environmentSummary", group.environment->summary);
      o.Raw("current", current).Text("since", first[0].contender.observed_at.Text());
      o.Text("indexedAt", commit.time.Text()).Raw("history", history);
    }));
  }
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Raw("records", ListJson(values));
    o.Raw("nextCursor",
          next ? TextOrNull(CursorText(ask.store, "records", {cursor.sequence, *next})) : "null");
    o.Text("generatedAt", ask.at().Text());
  }));
}

Result<Response> GetGroupStanding(const Ask& ask) {
  ETL_TRY(const std::uint64_t limit, LimitOf(ask.request, kRowsPreset, kRowsMax));
  ETL_TRY(const Digest key, FindGroup(ask.store, ask.rest.front()));
  ETL_TRY(const GroupFacts group, FactsOf(ask, key));
  const std::string filters = "group " + key.Hex();
  ETL_TRY(const Cursor cursor, CursorOf(ask, filters));
  ETL_TRY(const std::uint64_t offset, Offset(cursor));
  bool more = false;
  ETL_TRY(const std::vector<std::string> rows, RowsOf(ask, group, At(ask, cursor), offset, limit, more));
  ETL_TRY(const std::vector<RecordStep> steps, ask.store.GetRecords(group.info, At(ask, cursor)));
  ETL_TRY(const std::string history, HistoryJson(ask.store, group, steps));
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Raw("group", GroupJson(group)).Raw("standing", ListJson(rows)).Raw("records", history);
    const Cursor next{cursor.sequence, std::to_string(offset + rows.size())};
    o.Raw("nextCursor", more ? TextOrNull(CursorText(ask.store, filters, next)) : "null");
    o.Text("generatedAt", ask.at().Text());
  }));
}

Result<Response> ListSources(const Ask& ask) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  ETL_TRY(const std::string sources, SourcesJson(ask, *catalogue));
  return JsonAnswer(
      Object([&](ObjectWriter& o) { o.Raw("sources", sources).Text("generatedAt", ask.at().Text()); }));
}

Result<Response> ListHardware(const Ask& ask) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  std::map<std::string, std::pair<const GroupFacts*, Totals>> by_slug;
  for (const GroupFacts& group : catalogue->groups) {
    if (group.info.members == 0) continue;
    auto& [first, totals] = by_slug[group.environment->slug];
    if (first == nullptr) first = &group;
    AddTo(totals, group);
  }
  std::vector<std::string> values;
  for (const auto& [slug, entry] : by_slug) {
    const EnvironmentFacts& facts = *entry.first->environment;
    values.push_back(Object([&, &slug = slug, &totals = entry.second](ObjectWriter& o) {
      o.Text("slug", slug).Text("model", facts.product).Raw("vendor", TextOrNull(facts.vendor));
      o.Raw("architecture", TextOrNull(facts.architecture)).Count("kernelRuns", totals.runs);
      o.Integer("servingRuns", 0).Count("operations", totals.operations.size());
      o.Count("families", totals.families.size()).Null("lastObservedAt");
    }));
  }
  return JsonAnswer(Object(
      [&](ObjectWriter& o) { o.Raw("hardware", ListJson(values)).Text("generatedAt", ask.at().Text()); }));
}

Result<Response> GetCoverage(const Ask& ask) {
  ETL_TRY(const auto catalogue, ask.cache.For(ask.store));
  ETL_TRY(const std::string sources, SourcesJson(ask, *catalogue));
  std::map<std::string, std::map<std::string, std::uint64_t>> families;  // family -> product -> runs
  std::set<std::string> products;
  for (const GroupFacts& group : catalogue->groups) {
    if (group.info.members == 0) continue;
    families[group.operation->family][group.environment->product] += group.info.members;
    products.insert(group.environment->product);
  }
  std::vector<std::string> rows;
  for (const auto& [family, counts] : families) {
    std::vector<std::string> cells;
    std::uint64_t total = 0;
    for (const std::string& product : products) {
      const auto found = counts.find(product);
      const std::uint64_t runs = found == counts.end() ? 0 : found->second;
      cells.push_back(std::to_string(runs));
      total += runs;
    }
    rows.push_back(Object([&, &family = family](ObjectWriter& o) {
      o.Text("family", family).Raw("runs", ListJson(cells)).Count("total", total);
    }));
  }
  return JsonAnswer(Object([&](ObjectWriter& o) {
    o.Bool("illustrative", false).Raw("sources", sources);
    o.Raw("hero", Object([&](ObjectWriter& h) {
            h.Raw("gpus", json::TextArray(products)).Raw("rows", ListJson(rows));
          }));
  }));
}

}  // namespace etl::serve
