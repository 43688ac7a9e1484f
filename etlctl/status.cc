#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"

namespace etl::ctl {
namespace {

using Visits = std::vector<std::pair<std::string, std::optional<VisitState>>>;

Result<Visits> LoadVisits(const Store& store) {
  Visits visits;
  for (const std::string& source : store.Sources()) {
    ETL_TRY(auto visit, store.FindVisit(source));
    visits.emplace_back(source, std::move(visit));
  }
  return visits;
}

std::string SourceJson(const std::string& source, const std::optional<VisitState>& visit) {
  JsonObject object;
  object.Text("source", source);
  if (!visit) return object.Null("lastVisit").Done();
  JsonObject last;
  last.Text("state", visit->state).Text("origin", visit->origin).Text("startedAt", visit->started_at);
  if (visit->state == "running") {
    last.Null("finishedAt");
  } else {
    last.Text("finishedAt", visit->finished_at);
  }
  last.Raw("result", visit->summary);
  return object.Raw("lastVisit", last.Done()).Done();
}

std::string CountsJson(const StoreCounts& counts) {
  JsonObject entries;
  for (const auto& [kind, count] : counts.entries_by_kind) entries.Count(kind, count);
  return JsonObject()
      .Raw("entries", entries.Done())
      .Count("objects", counts.objects)
      .Count("groups", counts.groups)
      .Count("rankedRuns", counts.ranked_runs)
      .Count("snapshots", counts.snapshots)
      .Count("quarantine", counts.quarantine)
      .Count("drift", counts.drift)
      .Count("gaps", counts.gaps)
      .Done();
}

std::string StatusJson(const Store& store, const Visits& visits, const StoreCounts& counts) {
  std::vector<std::string> sources;
  for (const auto& [source, visit] : visits) sources.push_back(SourceJson(source, visit));
  return JsonObject()
      .Text("store", store.dir())
      .Text("epoch", store.epoch())
      .Count("sequence", store.sequence())
      .Count("diskBytes", store.DiskBytes())
      .Raw("sources", JsonArray(sources))
      .Raw("counts", CountsJson(counts))
      .Done();
}

Style StyleOf(const std::string& state) {
  return state == "full" ? Style::kGood : state == "failed" ? Style::kBad : Style::kWarning;
}

void WriteSources(Output& out, const Visits& visits) {
  out.DataLine("");
  Table table({{"SOURCE"}, {"LAST VISIT"}, {"STARTED"}, {"FINISHED"}, {"FROM"}});
  for (const auto& [source, visit] : visits) {
    if (!visit) {
      table.Add({source, "none"});
      continue;
    }
    const bool running = visit->state == "running";
    table.Add({source, Cell(running ? "interrupted or running" : visit->state, StyleOf(visit->state)),
               visit->started_at.Text(), running ? std::string("–") : visit->finished_at.Text(),
               visit->origin});
  }
  table.Write(out);
}

void WriteCounts(Output& out, const StoreCounts& counts) {
  out.DataLine("");
  Table table({{"WHAT"}, {"COUNT", Align::kRight}});
  for (const auto& [kind, count] : counts.entries_by_kind) table.Add({kind, FormatCount(count)});
  const Style care = Style::kWarning;
  table.Add({"objects", FormatCount(counts.objects)});
  table.Add({"groups", FormatCount(counts.groups)});
  table.Add({"ranked runs", FormatCount(counts.ranked_runs)});
  table.Add({"snapshots", FormatCount(counts.snapshots)});
  table.Add(
      {"in quarantine", Cell(FormatCount(counts.quarantine), counts.quarantine > 0 ? care : Style::kPlain)});
  table.Add({"drift", Cell(FormatCount(counts.drift), counts.drift > 0 ? care : Style::kPlain)});
  table.Add({"gaps", Cell(FormatCount(counts.gaps), counts.gaps > 0 ? care : Style::kPlain)});
  table.Write(out);
}

}  // namespace

Result<Exit> ShowStatus(Output& out, const Store& store) {
  ETL_TRY(const Visits visits, LoadVisits(store));
  ETL_TRY(const StoreCounts counts, store.Count());
  if (out.json()) {
    out.DataLine(StatusJson(store, visits, counts));
    return Exit::kDone;
  }
  Fields fields;
  fields.Add("store", store.dir());
  fields.Add("epoch", store.epoch());
  fields.Add("sequence", std::to_string(store.sequence()));
  fields.Add("on disk", FormatBytes(store.DiskBytes()));
  fields.Write(out);
  if (visits.empty()) {
    out.DataLine("");
    out.DataLine("No source was visited yet: etlctl backfill --source S --from DIR");
  } else {
    WriteSources(out, visits);
  }
  WriteCounts(out, counts);
  return Exit::kDone;
}

}  // namespace etl::ctl
