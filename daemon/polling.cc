#include "daemon/polling.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "daemon/intake.h"
#include "daemon/network.h"
#include "daemon/source_visit.h"

namespace etl {
namespace {

constexpr const char* kScheduleCursor = "schedule";
constexpr std::string_view kContactMissing = "FETCH_CONTACT_MISSING";
constexpr std::int64_t kBusyMs = 1000;     // a source that a command holds is tried again after so long
constexpr double kCommitAllowanceS = 120;  // for the disk, beyond what the network may take

std::vector<Log::Field> FieldsOf(const VisitResult& result) {
  std::vector<Log::Field> fields{{"source", result.source},
                                 {"goal", result.goal},
                                 {"visit", result.visit},
                                 {"requests", std::to_string(result.requests)},
                                 {"new", std::to_string(result.entries_new)},
                                 {"changed", std::to_string(result.entries_changed)},
                                 {"runs", std::to_string(result.runs)},
                                 {"groups", std::to_string(result.groups_recomputed)},
                                 {"quarantined", std::to_string(result.quarantined)},
                                 {"gaps", std::to_string(result.gaps)},
                                 {"sequence", fmt::format("{}:{}", result.epoch, result.sequence)},
                                 {"elapsedMs", fmt::format("{:.0f}", result.elapsed_seconds * 1000)}};
  if (const std::string error = ErrorOf(result); !error.empty()) fields.emplace_back("error", error);
  return fields;
}

}  // namespace

Polling::Polling(Parts parts) : parts_(std::move(parts)), turns_(parts_.wake), scheduler_(parts_.seed) {
  if (!parts_.open)
    parts_.open = [](const FetchSettings& settings, Clock& clock) { return OpenHttp(settings, clock); };
}

Polling::~Polling() {
  Stop();
  for (auto& [slug, source] : sources_) {
    if (source->visit.joinable()) source->visit.join();
  }
}

Status Polling::Check(const Settings& settings) {
  for (const auto& [slug, source] : settings.sources) ETL_CHECK_OK(FindAdapter(slug));
  for (const std::string& slug : AdapterSlugs()) {
    const SourceSettings source = settings.Source(slug);
    if (!source.enabled) continue;
    ETL_TRY(const auto adapter, FindAdapter(slug));
    const Status valid = FetchSettingsOf(*adapter, source, "", "").Validate();
    if (!valid && valid.error().code != kContactMissing) return valid;
  }
  return {};
}

Status Polling::Configure(const Settings& settings) {
  ETL_CHECK_OK(Check(settings));
  for (const std::string& slug : AdapterSlugs()) ETL_CHECK_OK(Add(slug, settings.Source(slug)));
  parts_.wake();
  return {};
}

Status Polling::Add(const std::string& slug, const SourceSettings& settings) {
  ETL_TRY(const auto cursor, parts_.store->FindCursor(slug, kScheduleCursor));
  ETL_TRY(const auto last, parts_.store->FindVisit(slug, "poll"));
  const ScheduleState state = ScheduleState::Parse(cursor.value_or(""));
  std::optional<std::int64_t> since_ms;
  if (last && last->state != "running") since_ms = parts_.clock->Now().ms - last->finished_at.ms;
  bool again = false;
  const std::lock_guard lock(mutex_);
  auto& source = sources_[slug];
  if (!source) {
    source = std::make_unique<Source>();
    if (last && last->state != "running") {
      source->last_visit = last->state;
      source->last_end = last->finished_at;
    }
  } else if (!(source->settings == settings)) {
    source->network.reset();  // the visit under way keeps its own until it ends
    again = true;
  }
  source->settings = settings;
  scheduler_.Set(slug, settings.poll, settings.enabled, state, since_ms, parts_.steady());
  // What it failed for may be mended; a source that rests refuses, and rests on.
  if (again && scheduler_.Find(slug)->state.failures > 0) (void)scheduler_.PollNow(slug, parts_.steady());
  return {};
}

Steady Polling::Tick(bool no_space) {
  const std::lock_guard lock(mutex_);
  const Steady now = parts_.steady();
  no_space_ = no_space;
  if (no_space) {
    for (auto& [slug, source] : sources_) source->stop = true;
  }
  const std::vector<std::string> due = scheduler_.Due(now);
  bool waiting = false;
  if (!no_space && !draining_ && !stopping_) {
    for (const std::string& slug : due) {
      std::shared_ptr<void> turn = running_ < kVisitsMax ? turns_.TryTake(slug) : nullptr;
      if (turn) {
        Begin(slug, std::move(turn));
      } else {
        waiting = true;
      }
    }
  } else {
    waiting = !due.empty();
  }
  return waiting ? Steady{now.ms + kBusyMs} : std::max(scheduler_.NextWake(now), Steady{now.ms + 1});
}

void Polling::Begin(const std::string& slug, std::shared_ptr<void> turn) {
  Source& source = *sources_[slug];
  if (source.visit.joinable()) source.visit.join();  // it gave its turn back as the last thing it did
  source.stop = false;
  source.alive_ms = parts_.steady().ms;
  scheduler_.Begin(slug);
  ++running_;
  source.visit = std::jthread([this, slug, &source, turn = std::move(turn)]() mutable {
    Visit(slug, source);
    turn.reset();  // before it counts as ended, so that whoever waits for the end can begin the next
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  });
}

Result<std::shared_ptr<HttpTransport>> Polling::Network(const Adapter& adapter, Source& source) {
  SourceSettings settings;
  {
    const std::lock_guard lock(mutex_);
    if (source.network) return source.network;
    settings = source.settings;
  }
  ETL_TRY(auto opened,
          parts_.open(FetchSettingsOf(adapter, settings, "", parts_.store->dir() + "/fetch"), *parts_.clock));
  std::shared_ptr<HttpTransport> network = std::move(opened);
  const std::lock_guard lock(mutex_);
  if (stopping_) network->Stop();
  source.network = network;
  return network;
}

// On the visit's own thread.
void Polling::Visit(const std::string& slug, Source& source) {
  VisitResult result;
  result.source = slug;
  result.goal = "poll";
  std::optional<Instant> due;
  const auto adapter = FindAdapter(slug);
  const auto network = adapter ? Network(**adapter, source)
                               : Result<std::shared_ptr<HttpTransport>>(Fail(Error(adapter.error())));
  if (!network) {
    result.visit = "failed";
    result.failure = network.error();
  } else {
    VisitOptions options;
    {
      const std::lock_guard lock(mutex_);
      options = VisitOptionsOf(source.settings, true);
    }
    options.stop = &source.stop;
    options.progress = [&](const VisitProgress&) { source.alive_ms = parts_.steady().ms; };
    result = VisitOverNetwork(**adapter, **network, parts_.store, *parts_.clock, options);
    due = (*adapter)->NextDue(StoreCursors(parts_.store, slug));
  }
  Finish(slug, source, result, due);
}

void Polling::Finish(const std::string& slug, Source& source, const VisitResult& result,
                     std::optional<Instant> due) {
  const Instant now = parts_.clock->Now();
  Tell(result);
  if (parts_.visited) {
    std::shared_ptr<HttpTransport> network;
    {
      const std::lock_guard lock(mutex_);
      network = source.network;
    }
    parts_.visited(result, network ? std::optional(network->Report()) : std::nullopt);
  }
  ScheduleState state;
  {
    const std::lock_guard lock(mutex_);
    source.last_visit = result.visit;
    source.last_error = ErrorOf(result);
    source.advice = AdviceFor(result);
    source.last_end = now;
    if (result.visit == "full") scheduler_.NoteFull(slug, now.ms);
    state = scheduler_.End(slug, EndOf(result, due, now), parts_.steady());
  }
  Remember(slug, state);
}

// Under the time 0, so that a clock that was set back cannot make the store keep the older state.
void Polling::Remember(const std::string& slug, const ScheduleState& state) {
  const Status kept = parts_.store->PutCursor(slug, {kScheduleCursor, state.Json()}, Instant{0});
  if (!kept) parts_.log->Write(LogLevel::kError, "schedule", kept.error().Message(), {{"source", slug}});
}

void Polling::Tell(const VisitResult& result) {
  const bool failed = result.visit == "failed";
  parts_.log->Write(failed                   ? LogLevel::kError
                    : result.visit == "full" ? LogLevel::kInfo
                                             : LogLevel::kWarning,
                    "visit",
                    fmt::format("{} of {}: {}, {} new, {} changed", result.goal, result.source, result.visit,
                                result.entries_new, result.entries_changed),
                    FieldsOf(result));
}

// A request may be tried again, each time after the longest wait that a server may ask for.
std::int64_t Polling::StallMs(const SourceSettings& settings) const {
  const NetworkSettings& f = settings.fetch;
  const double tries = static_cast<double>(f.retries_max) + 1;
  const double wait_s = std::max({f.retry_after_max_s, f.backoff_max_s, f.breaker_pause_s});
  const double spacing_s = f.requests_per_second > 0 ? 1 / f.requests_per_second : 0;
  return static_cast<std::int64_t>(1000 *
                                   (tries * (f.request_deadline_s + wait_s + spacing_s) + kCommitAllowanceS));
}

bool Polling::Stalled() const {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ms = parts_.steady().ms;
  return std::any_of(sources_.begin(), sources_.end(), [&](const auto& entry) {
    const Scheduler::Entry* planned = scheduler_.Find(entry.first);
    return planned != nullptr && planned->running &&
           now_ms - entry.second->alive_ms > StallMs(entry.second->settings);
  });
}

std::size_t Polling::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

SourceReport Polling::ReportOf(const Scheduler::Entry& entry, const Source& source, Steady now) const {
  SourceReport report;
  report.source = entry.slug;
  const bool rests = entry.why == Scheduler::Why::kPaused || entry.why == Scheduler::Why::kDisabled;
  report.state = entry.running                            ? "polling"
                 : entry.why == Scheduler::Why::kPaused   ? "paused"
                 : entry.why == Scheduler::Why::kDisabled ? "disabled"
                 : no_space_                              ? "no space"
                 : draining_                              ? "draining"
                 : entry.state.failures > 0               ? "failing"
                                                          : "waiting";
  report.why_next = Scheduler::ToString(entry.why);
  if (!rests && !entry.running && (no_space_ || draining_))
    report.why_next =
        no_space_ ? "the disk has less free space than [disk] reserve_bytes" : "an operator drains it";
  if (report.state == "waiting" || report.state == "failing") {
    const std::int64_t wait_ms = std::max<std::int64_t>(0, entry.next.ms - now.ms);
    report.next = Instant{parts_.clock->Now().ms + wait_ms};
  }
  if (entry.state.last_full_ms > 0) report.last_full = Instant{entry.state.last_full_ms};
  report.last_visit = source.last_visit;
  report.last_end = source.last_end;
  report.interval_ms = entry.state.interval_ms;
  report.failures = entry.state.failures;
  report.last_error = source.last_error;
  report.advice = report.state == "paused" ? "run `etlctl resume " + entry.slug + "` to go on"
                  : report.state == "no space"
                      ? "free space on the store's disk, or lower [disk] reserve_bytes"
                  : report.state == "draining" ? "run `etlctl drain --end` to go on"
                                               : source.advice;
  return report;
}

std::vector<SourceReport> Polling::Report() const {
  const std::lock_guard lock(mutex_);
  std::vector<SourceReport> reports;
  const Steady now = parts_.steady();
  for (const Scheduler::Entry& entry : scheduler_.List())
    reports.push_back(ReportOf(entry, *sources_.at(entry.slug), now));
  return reports;
}

Status Polling::PollNow(const std::string& source) {
  {
    const std::lock_guard lock(mutex_);
    ETL_CHECK_OK(scheduler_.PollNow(source, parts_.steady()));
  }
  parts_.wake();
  return {};
}

Status Polling::Pause(const std::string& slug) {
  ScheduleState state;
  {
    const std::lock_guard lock(mutex_);
    ETL_TRY(state, scheduler_.Pause(slug));
    sources_.at(slug)->stop = true;
  }
  Remember(slug, state);
  return parts_.store->Sync();
}

Status Polling::Resume(const std::string& slug) {
  ScheduleState state;
  {
    const std::lock_guard lock(mutex_);
    ETL_TRY(state, scheduler_.Resume(slug, parts_.steady()));
  }
  Remember(slug, state);
  parts_.wake();
  return parts_.store->Sync();
}

void Polling::Drain(bool on) {
  {
    const std::lock_guard lock(mutex_);
    draining_ = on;
  }
  parts_.wake();
}

void Polling::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (auto& [slug, source] : sources_) {
    source->stop = true;
    if (source->network) source->network->Stop();
  }
}

bool Polling::WaitForEnd(std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::milliseconds(wait_ms), [this] { return running_ == 0; });
}

}  // namespace etl
