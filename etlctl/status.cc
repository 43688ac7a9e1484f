#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"
#include "model/json.h"

namespace etl::ctl {
namespace {

// What is known of how a source was visited last.
struct SourceVisits {
  std::string source;
  std::optional<VisitState> backfill, poll;
  std::string network;  // JSON; empty when it was never read over the network
};
using Visits = std::vector<SourceVisits>;

Result<Visits> LoadVisits(const Store& store) {
  Visits visits;
  for (const std::string& source : store.Sources()) {
    SourceVisits& last = visits.emplace_back();
    last.source = source;
    ETL_TRY(last.backfill, store.FindVisit(source));
    ETL_TRY(last.poll, store.FindVisit(source, "poll"));
    ETL_TRY(const auto network, store.FindCursor(source, "network"));
    last.network = network.value_or("");
  }
  return visits;
}

std::string VisitJson(const std::optional<VisitState>& visit) {
  if (!visit) return "null";
  JsonObject last;
  last.Text("state", visit->state).Text("origin", visit->origin).Text("startedAt", visit->started_at);
  if (visit->state == "running") {
    last.Null("finishedAt");
  } else {
    last.Text("finishedAt", visit->finished_at);
  }
  last.Raw("result", visit->summary.empty() ? "null" : visit->summary);
  return last.Done();
}

std::string SourceJson(const SourceVisits& last) {
  return JsonObject()
      .Text("source", last.source)
      .Raw("lastVisit", VisitJson(last.backfill))
      .Raw("lastPoll", VisitJson(last.poll))
      .Raw("network", last.network.empty() ? "null" : last.network)
      .Done();
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
  for (const SourceVisits& last : visits) sources.push_back(SourceJson(last));
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

void AddVisit(Table& table, const std::string& source, const char* goal, const VisitState& visit) {
  const bool running = visit.state == "running";
  table.Add({source, goal, Cell(running ? "interrupted or running" : visit.state, StyleOf(visit.state)),
             visit.started_at.Text(), running ? std::string("–") : visit.finished_at.Text(), visit.origin});
}

// How the network was when a source was last read over it.
void WriteNetwork(Output& out, const SourceVisits& last) {
  const auto document = json::Document::Parse(last.network);
  if (!document) return;
  const json::Value network = document->root();
  const auto count = [&](std::string_view name) {
    return FormatCount(static_cast<std::uint64_t>(network.Find(name).AsInt64().value_or(0)));
  };
  std::string line = fmt::format("{} at {}: {} requests, {} retries, {} failures, breaker {}", last.source,
                                 Safe(network.Find("host").AsString()), count("requests"), count("retries"),
                                 count("failures"), Safe(network.Find("breaker").AsString()));
  if (const auto error = network.Find("lastError").AsString(); !error.empty())
    line += fmt::format("; last error: {}", Safe(error));
  out.DataLine(line);
}

void WriteSources(Output& out, const Visits& visits) {
  out.DataLine("");
  Table table({{"SOURCE"}, {"VISIT"}, {"STATE"}, {"STARTED"}, {"FINISHED"}, {"FROM"}});
  for (const SourceVisits& last : visits) {
    if (last.backfill) AddVisit(table, last.source, "backfill", *last.backfill);
    if (last.poll) AddVisit(table, last.source, "poll", *last.poll);
    if (!last.backfill && !last.poll) table.Add({last.source, "none"});
  }
  table.Write(out);
  for (const SourceVisits& last : visits) WriteNetwork(out, last);
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

namespace {

// A source is late when no visit was full for three of the longest intervals, and an hour at least.
constexpr std::int64_t kLateIntervals = 3, kLateMsMin = 3'600'000;

// What needs somebody, a line each: for a monitor.
Result<std::vector<std::string>> Problems(const Session& session, const StoreCounts& counts) {
  std::vector<std::string> problems;
  ETL_TRY(const std::vector<SourceReport> reports, SourceReports(session));
  if (session.host == nullptr) problems.emplace_back("no daemon holds the store: nothing is followed");
  const std::int64_t now_ms = session.clock.Now().ms;
  for (const SourceReport& report : reports) {
    if (report.state == "disabled" || report.state == "paused") continue;
    const std::int64_t late_ms = std::max(kLateIntervals * report.interval_ms, kLateMsMin);
    if (report.state == "no space") {
      problems.push_back(report.source + ": the disk is nearly full, nothing is taken in");
    } else if (report.failures > 0) {
      problems.push_back(fmt::format("{}: {} visits in a row failed: {}", report.source, report.failures,
                                     report.last_error));
    }
    if (!report.last_full) {
      problems.push_back(report.source + ": was never read in full");
    } else if (now_ms - report.last_full->ms > late_ms) {
      problems.push_back(
          fmt::format("{}: was not read in full since {}", report.source, report.last_full->Text()));
    }
  }
  if (counts.quarantine > 0)
    problems.push_back(fmt::format("{} items in quarantine: etlctl quarantine list", counts.quarantine));
  return problems;
}

Result<Exit> CheckStatus(const Session& session, const StoreCounts& counts) {
  ETL_TRY(const std::vector<std::string> problems, Problems(session, counts));
  if (session.out.json()) {
    session.out.DataLine(JsonObject().Bool("well", problems.empty()).Texts("problems", problems).Done());
  } else {
    for (const std::string& problem : problems) session.out.DataLine(Safe(problem));
    if (problems.empty()) session.out.DataLine("All is well.");
  }
  return problems.empty() ? Exit::kDone : Exit::kIncomplete;
}

}  // namespace

Result<Exit> ShowStatus(const Session& session, const Store& store, const StatusOptions& options) {
  Output& out = session.out;
  ETL_TRY(const Visits visits, LoadVisits(store));
  ETL_TRY(const StoreCounts counts, store.Count());
  if (options.check) return CheckStatus(session, counts);
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
