#include "daemon/source_visit.h"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "daemon/network.h"
#include "model/json_writer.h"

namespace etl {
namespace {

std::string NetworkJson(const HostReport& report) {
  std::string out;
  json::ObjectWriter w(out);
  w.Text("host", report.host)
      .Count("requests", report.requests)
      .Count("retries", report.retries)
      .Count("notModified", report.not_modified)
      .Count("failures", report.failures)
      .Count("wireBytes", report.wire_bytes)
      .Count("bodyBytes", report.body_bytes)
      .Text("breaker", ToString(report.breaker));
  if (report.breaker != BreakerState::kClosed) w.Text("breakerUntil", report.breaker_until.Text());
  w.Text("lastError", report.last_error).End();
  return out;
}

bool WasStopped(const VisitResult& result) {
  return std::any_of(result.shortfalls.begin(), result.shortfalls.end(),
                     [](const Shortfall& s) { return s.code == "STOPPED"; });
}

// Whether a visit that is not full got any answer at all.
bool WasAnswered(const VisitResult& result) {
  return result.snapshots > 0 || result.rows > 0 || result.conditional.not_modified > 0;
}

}  // namespace

Result<std::unique_ptr<Adapter>> FindAdapter(const std::string& slug) {
  std::unique_ptr<Adapter> adapter = MakeAdapter(slug);
  if (adapter) return adapter;
  return Fail(Errc::kInvalid, "SOURCE_UNKNOWN", slug, "there is no source of this name",
              fmt::format("sources: {}", fmt::join(AdapterSlugs(), ", ")));
}

VisitOptions VisitOptionsOf(const SourceSettings& settings, bool poll) {
  VisitOptions options;
  options.goal.poll = poll;
  options.goal.leaderboards = !poll;
  options.goal.follow = RulesOf(settings.poll);
  options.unconditional_every = static_cast<std::uint64_t>(settings.poll.unconditional_every);
  return options;
}

VisitResult VisitOverNetwork(Adapter& adapter, HttpTransport& transport, Store* store, Clock& clock,
                             VisitOptions options) {
  options.goal.local = transport.local();
  options.goal.window = transport.live();
  VisitResult result = RunVisit(adapter, transport, store, clock, options);
  if (store != nullptr && !options.dry_run && !result.failure) {
    // A store that cannot take it any more has said so in the result.
    (void)store->PutCursor(adapter.slug(), {"network", NetworkJson(transport.Report())}, clock.Now());
  }
  return result;
}

VisitEnd EndOf(const VisitResult& result, std::optional<Instant> due, Instant now) {
  VisitEnd end;
  end.changed = result.entries_new + result.entries_changed > 0;
  if (result.failure || (result.visit != "full" && !WasAnswered(result))) end.kind = VisitEnd::Kind::kFailed;
  if (!result.failure && WasStopped(result)) end.kind = VisitEnd::Kind::kStopped;
  if (due) end.due_ms = due->ms - now.ms;
  return end;
}

std::string ErrorOf(const VisitResult& result) {
  if (result.failure) return result.failure->Message();
  if (result.shortfalls.empty() || WasStopped(result)) return {};
  const Shortfall& first = result.shortfalls.front();
  std::string text =
      first.what.find(first.code) == std::string::npos ? first.code + ": " + first.what : first.what;
  if (result.shortfalls.size() > 1) text += fmt::format(" (and {} more)", result.shortfalls.size() - 1);
  return text;
}

std::string AdviceFor(const VisitResult& result) {
  if (ErrorOf(result).empty()) return {};
  if (result.failure) {
    switch (result.failure->errc) {
      case Errc::kCorrupt:
        return "run `etlctl verify`, and restore a backup of what it names";
      case Errc::kUnavailable:
        return "see that the disk has space and works, then restart etld";
      case Errc::kInvalid:
      case Errc::kNotFound:
      case Errc::kConflict:
      case Errc::kStopped:
        return result.failure->fix;
    }
  }
  const std::string& code = result.shortfalls.front().code;
  if (code == "RESPONSE_REFUSED")
    return fmt::format(
        "look at it: `etlctl quarantine list`; if it is right, `etlctl poll --source {} --accept-shrunken`",
        result.source);
  if (code == "WINDOW_OUTRUN") return "lower [poll] interval_min_s: rows left the window between two polls";
  if (code == "NOT_THERE") return "see that base_url is right, and whether the source has moved";
  if (code == "ROBOTS_DISALLOWED") return "ask the source's operators; its robots.txt forbids this";
  if (code == "HTTP_TLS") return "see that the clock and the certificates (ca_file) are right";
  if (code.starts_with("HTTP_")) return "nothing: it tries again by itself; if it lasts, see the network";
  return "nothing: the next visit tries again";
}

}  // namespace etl
