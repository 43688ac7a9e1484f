#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "adapters/adapter.h"
#include "daemon/scheduler.h"
#include "etlctl/commands.h"
#include "etlctl/escape.h"
#include "etlctl/format.h"
#include "etlctl/json_out.h"

namespace etl::ctl {
namespace {

constexpr const char* kScheduleCursor = "schedule";

tl::unexpected<Error> NoDaemon(const std::string& command) {
  return Fail(Errc::kUnavailable, "NO_DAEMON", command, "no daemon holds the store",
              "start it: `systemctl start etld`, or `etld` by hand");
}

// What the store knows, where no daemon follows anything.
Result<std::vector<SourceReport>> StoredReports(const Store& store) {
  std::vector<SourceReport> reports;
  for (const std::string& source : AdapterSlugs()) {
    SourceReport& report = reports.emplace_back();
    report.source = source;
    ETL_TRY(const auto visit, store.FindVisit(source, "poll"));
    ETL_TRY(const auto cursor, store.FindCursor(source, kScheduleCursor));
    const ScheduleState state = ScheduleState::Parse(cursor.value_or(""));
    report.state = state.paused ? "paused" : "no daemon";
    report.why_next = "no daemon follows it";
    report.interval_ms = state.interval_ms;
    report.failures = state.failures;
    if (state.last_full_ms > 0) report.last_full = Instant{state.last_full_ms};
    if (visit && visit->state != "running") {
      report.last_visit = visit->state;
      report.last_end = visit->finished_at;
      if (visit->state == "full" && !report.last_full) report.last_full = visit->finished_at;
    }
    report.advice = state.paused ? "run `etlctl resume " + source + "` to go on"
                                 : "start etld, or poll by hand: `etlctl poll --source " + source + "`";
  }
  return reports;
}

std::string ReportJson(const SourceReport& report) {
  JsonObject object;
  object.Text("source", report.source).Text("state", report.state);
  object.Maybe("lastFull", report.last_full);
  const auto text = [&](std::string_view name, const std::string& value) {
    if (value.empty()) {
      object.Null(name);
    } else {
      object.Text(name, value);
    }
  };
  text("lastVisit", report.last_visit);
  object.Maybe("lastEnd", report.last_end)
      .Maybe("next", report.next)
      .Text("whyNext", report.why_next)
      .Integer("intervalMs", report.interval_ms)
      .Count("failures", report.failures);
  text("lastError", report.last_error);
  text("whatToDo", report.advice);  // a source that is paused had no error, and needs somebody all the same
  return object.Done();
}

std::string Ago(const std::optional<Instant>& at, Instant now) {
  if (!at) return "never";
  return FormatDuration(static_cast<double>(std::max<std::int64_t>(0, now.ms - at->ms)) / 1000) + " ago";
}

Style StyleOf(const SourceReport& report) {
  if (report.state == "polling" || report.state == "waiting") return Style::kGood;
  return report.state == "failing" || report.state == "no space" ? Style::kBad : Style::kWarning;
}

}  // namespace

Result<std::vector<SourceReport>> SourceReports(const Session& session) {
  if (session.host != nullptr) return session.host->Sources();
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kRead));
  return StoredReports(*store);
}

Result<Exit> ShowSources(const Session& session) {
  ETL_TRY(const std::vector<SourceReport> reports, SourceReports(session));
  const Instant now = session.clock.Now();
  ListWriter list(session.out, "sources",
                  {{"SOURCE"}, {"STATE"}, {"LAST FULL"}, {"LAST VISIT"}, {"NEXT"}, {"WHY"}});
  for (const SourceReport& report : reports) {
    const std::string next =
        report.next
            ? "in " + FormatDuration(
                          static_cast<double>(std::max<std::int64_t>(0, report.next->ms - now.ms)) / 1000)
            : "–";
    const std::string last =
        report.last_visit.empty() ? "none" : report.last_visit + ", " + Ago(report.last_end, now);
    list.Add(ReportJson(report), {report.source, Cell(report.state, StyleOf(report)),
                                  Ago(report.last_full, now), last, next, report.why_next});
  }
  list.Finish("", "no source is known");
  if (session.out.json()) return Exit::kDone;
  for (const SourceReport& report : reports) {
    if (!report.last_error.empty())
      session.out.DataLine(fmt::format("{}: last error: {}", report.source, Safe(report.last_error)));
    if (!report.advice.empty())
      session.out.DataLine(fmt::format("{}: what to do: {}", report.source, Safe(report.advice)));
  }
  return Exit::kDone;
}

namespace {

Result<Exit> Tell(const Session& session, const std::string& source, std::string_view done) {
  if (session.out.json()) {
    session.out.DataLine(JsonObject().Text("source", source).Text("done", done).Done());
  } else {
    session.out.DataLine(fmt::format("{} {}.", source, done));
  }
  return Exit::kDone;
}

// Without a daemon: kept for the one that comes.
Status SetPaused(const Session& session, const std::string& source, bool paused) {
  if (MakeAdapter(source) == nullptr)
    return Fail(Errc::kInvalid, "SOURCE_UNKNOWN", source, "there is no source of this name",
                fmt::format("sources: {}", fmt::join(AdapterSlugs(), ", ")));
  ETL_TRY(const std::shared_ptr<Store> store, session.Open(Store::Mode::kWrite));
  ETL_TRY(const auto cursor, store->FindCursor(source, kScheduleCursor));
  ScheduleState state = ScheduleState::Parse(cursor.value_or(""));
  state.paused = paused;
  ETL_CHECK_OK(store->PutCursor(source, {kScheduleCursor, state.Json()}, Instant{0}));
  return session.Close(*store);
}

}  // namespace

Result<Exit> PauseSource(const Session& session, const SourceOptions& options) {
  ETL_CHECK_OK(session.host != nullptr ? session.host->Pause(options.source)
                                       : SetPaused(session, options.source, true));
  return Tell(session, options.source, "is paused");
}

Result<Exit> ResumeSource(const Session& session, const SourceOptions& options) {
  ETL_CHECK_OK(session.host != nullptr ? session.host->Resume(options.source)
                                       : SetPaused(session, options.source, false));
  return Tell(session, options.source, "goes on");
}

Result<Exit> PollNow(const Session& session, const std::string& source) {
  ETL_CHECK_OK(session.host->PollNow(source));
  return Tell(session, source, "will be polled now");
}

Result<Exit> ReloadDaemon(const Session& session) {
  if (session.host == nullptr) return NoDaemon("reload");
  ETL_TRY(const std::vector<std::string> later, session.host->Reload());
  if (session.out.json()) {
    session.out.DataLine(JsonObject().Bool("reloaded", true).Texts("afterRestart", later).Done());
    return Exit::kDone;
  }
  session.out.DataLine("The settings are taken up.");
  if (!later.empty())
    session.out.DataLine(fmt::format("Only the next start takes up: {}", fmt::join(later, ", ")));
  return Exit::kDone;
}

Result<Exit> DrainDaemon(const Session& session, const SourceOptions& options) {
  if (session.host == nullptr) return NoDaemon("drain");
  ETL_CHECK_OK(session.host->Drain(!options.end));
  const Store& store = session.host->store();
  if (session.out.json()) {
    session.out.DataLine(JsonObject()
                             .Bool("draining", !options.end)
                             .Text("epoch", store.epoch())
                             .Count("sequence", store.sequence())
                             .Done());
  } else {
    session.out.DataLine(options.end ? std::string("Sources are followed again.")
                                     : fmt::format("Drained: no visit is under way, {}:{} is durable.",
                                                   store.epoch(), store.sequence()));
  }
  return Exit::kDone;
}

}  // namespace etl::ctl
