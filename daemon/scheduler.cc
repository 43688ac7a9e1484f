#include "daemon/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

std::int64_t Ms(double seconds) {
  return std::llround(seconds * 1000);
}

std::int64_t Backoff(const PollSettings& rules, std::uint32_t failures) {
  const double wait = rules.interval_min_s * std::pow(2.0, std::min<double>(failures, 40));
  return Ms(std::min(wait, std::max(rules.interval_max_s, rules.interval_min_s)));
}

}  // namespace

std::string ScheduleState::Json() const {
  std::string out;
  json::ObjectWriter(out)
      .Count("failures", failures)
      .Integer("intervalMs", interval_ms)
      .Integer("lastFullMs", last_full_ms)
      .Bool("paused", paused)
      .End();
  return out;
}

ScheduleState ScheduleState::Parse(std::string_view json) {
  ScheduleState state;
  const auto document = json::Document::Parse(json);
  if (!document) return state;
  const json::Value root = document->root();
  const std::int64_t failures = root.Find("failures").AsInt64().value_or(0);
  state.failures = static_cast<std::uint32_t>(std::clamp<std::int64_t>(failures, 0, 1'000'000));
  state.interval_ms = std::max<std::int64_t>(root.Find("intervalMs").AsInt64().value_or(0), 0);
  state.last_full_ms = std::max<std::int64_t>(root.Find("lastFullMs").AsInt64().value_or(0), 0);
  state.paused = root.Find("paused").IsTrue();
  return state;
}

std::string_view Scheduler::ToString(Why why) noexcept {
  switch (why) {
    case Why::kFirst:
      return "not visited since the start";
    case Why::kInterval:
      return "its interval";
    case Why::kDue:
      return "its rows are due to be read again";
    case Why::kFailing:
      return "it failed, and waits";
    case Why::kAsked:
      return "an operator asked for it";
    case Why::kRunning:
      return "a visit is under way";
    case Why::kPaused:
      return "an operator paused it";
    case Why::kDisabled:
      return "the settings disable it";
  }
  return "";
}

std::int64_t Scheduler::Jittered(std::int64_t ms, double jitter) {
  if (jitter <= 0) return ms;
  std::uniform_real_distribution<double> share(-jitter, jitter);
  return std::max<std::int64_t>(0, ms + std::llround(static_cast<double>(ms) * share(random_)));
}

void Scheduler::Plan(Source& source, std::int64_t wait_ms, Why why, Steady now) {
  source.entry.next = {now.ms + Jittered(wait_ms, source.rules.jitter)};
  source.entry.why = why;
  ShowRest(source);
}

// What keeps a source from being visited is the reason to show, whatever its time says.
void Scheduler::ShowRest(Source& source) {
  Entry& entry = source.entry;
  if (entry.running) {
    entry.why = Why::kRunning;
  } else if (!entry.enabled) {
    entry.why = Why::kDisabled;
  } else if (entry.state.paused) {
    entry.why = Why::kPaused;
  }
}

void Scheduler::Set(const std::string& slug, const PollSettings& rules, bool enabled,
                    const ScheduleState& state, std::optional<std::int64_t> since_last_ms, Steady now) {
  const auto known = sources_.find(slug);
  const bool fresh = known == sources_.end();
  Source& source = fresh ? sources_[slug] : known->second;
  Entry& entry = source.entry;
  const bool same = !fresh && source.rules == rules && entry.enabled == enabled;
  if (same) return;
  source.rules = rules;
  entry.slug = slug;
  entry.enabled = enabled;
  if (fresh) entry.state = state;
  const std::int64_t least = Ms(rules.interval_min_s), most = std::max(Ms(rules.interval_max_s), least);
  if (entry.state.interval_ms == 0) entry.state.interval_ms = least;
  entry.state.interval_ms = std::clamp(entry.state.interval_ms, least, most);
  if (entry.running) return;  // planned at its end
  const std::int64_t wait =
      entry.state.failures > 0 ? Backoff(rules, entry.state.failures) : entry.state.interval_ms;
  if (!fresh) {
    // New rules: counted from now, and never later than what was planned under the old ones.
    const std::int64_t planned = std::max<std::int64_t>(0, entry.next.ms - now.ms);
    const bool rested = entry.why == Why::kDisabled || entry.why == Why::kPaused;
    Plan(source, rested ? wait : std::min(wait, planned),
         entry.state.failures > 0 ? Why::kFailing : Why::kInterval, now);
  } else if (!since_last_ms) {
    Plan(source, 0, Why::kFirst, now);
  } else {
    Plan(source, std::clamp<std::int64_t>(wait - *since_last_ms, 0, wait),
         entry.state.failures > 0 ? Why::kFailing : Why::kInterval, now);
  }
}

std::vector<std::string> Scheduler::Due(Steady now) {
  const bool slept = asked_ && now.ms - asked_->ms > kSleepMs;
  asked_ = now;
  std::vector<Source*> due;
  for (auto& [slug, source] : sources_) {
    const Entry& entry = source.entry;
    if (entry.enabled && !entry.state.paused && !entry.running && entry.next <= now) due.push_back(&source);
  }
  if (slept && due.size() > 1) {
    std::uniform_int_distribution<std::int64_t> spread(0, kSpreadMs);
    for (Source* source : due) source->entry.next = {now.ms + spread(random_)};
    return {};
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const Source* a, const Source* b) { return a->entry.next < b->entry.next; });
  std::vector<std::string> slugs;
  for (const Source* source : due) slugs.push_back(source->entry.slug);
  return slugs;
}

Steady Scheduler::NextWake(Steady now) const {
  Steady wake{now.ms + kSleepMs / 2};
  for (const auto& [slug, source] : sources_) {
    const Entry& entry = source.entry;
    if (entry.enabled && !entry.state.paused && !entry.running) wake = std::min(wake, entry.next);
  }
  return std::max(wake, now);
}

void Scheduler::Begin(const std::string& slug) {
  const auto it = sources_.find(slug);
  if (it == sources_.end()) return;
  it->second.entry.running = true;
  it->second.again = false;
  ShowRest(it->second);
}

void Scheduler::NoteFull(const std::string& slug, std::int64_t at_ms) {
  const auto it = sources_.find(slug);
  if (it != sources_.end()) it->second.entry.state.last_full_ms = at_ms;
}

ScheduleState Scheduler::End(const std::string& slug, const VisitEnd& end, Steady now) {
  const auto it = sources_.find(slug);
  if (it == sources_.end()) return {};
  Source& source = it->second;
  Entry& entry = source.entry;
  entry.running = false;
  const std::int64_t least = Ms(source.rules.interval_min_s),
                     most = std::max(Ms(source.rules.interval_max_s), least);
  std::int64_t wait = entry.state.interval_ms;
  Why why = Why::kInterval;
  switch (end.kind) {
    case VisitEnd::Kind::kFailed:
      if (entry.state.failures < 1'000'000) ++entry.state.failures;
      wait = Backoff(source.rules, entry.state.failures);
      why = Why::kFailing;
      break;
    case VisitEnd::Kind::kRead: {
      entry.state.failures = 0;
      const std::int64_t interval = entry.state.interval_ms;
      entry.state.interval_ms = std::clamp(end.changed ? interval / 2 : interval + interval / 4, least, most);
      wait = entry.state.interval_ms;
      break;
    }
    case VisitEnd::Kind::kStopped:
      wait = least;
      break;
  }
  if (end.due_ms && end.kind == VisitEnd::Kind::kRead && *end.due_ms < wait) {
    wait = std::max(*end.due_ms, least);
    why = Why::kDue;
  }
  if (source.again) {
    wait = 0;
    why = Why::kAsked;
  }
  Plan(source, wait, why, now);
  return entry.state;
}

Result<Scheduler::Source*> Scheduler::Get(const std::string& slug) {
  const auto it = sources_.find(slug);
  if (it != sources_.end()) return &it->second;
  std::string known;
  for (const auto& [name, source] : sources_) known.append(known.empty() ? "" : ", ").append(name);
  return Fail(Errc::kNotFound, "SOURCE_UNKNOWN", slug, "the daemon follows no source of this name",
              known.empty() ? "it follows none" : "it follows: " + known);
}

Status Scheduler::PollNow(const std::string& slug, Steady now) {
  ETL_TRY(Source* const source, Get(slug));
  Entry& entry = source->entry;
  if (!entry.enabled)
    return Fail(Errc::kConflict, "SOURCE_DISABLED", slug, "the settings disable this source",
                "set enabled = true in [source." + slug + "], and run `etlctl reload`");
  if (entry.state.paused)
    return Fail(Errc::kConflict, "SOURCE_PAUSED", slug, "this source is paused",
                "run `etlctl resume " + slug + "`");
  if (entry.running) {
    source->again = true;
    return {};
  }
  entry.next = now;
  entry.why = Why::kAsked;
  return {};
}

Result<ScheduleState> Scheduler::Pause(const std::string& slug) {
  ETL_TRY(Source* const source, Get(slug));
  source->entry.state.paused = true;
  source->again = false;
  ShowRest(*source);
  return source->entry.state;
}

Result<ScheduleState> Scheduler::Resume(const std::string& slug, Steady now) {
  ETL_TRY(Source* const source, Get(slug));
  if (!source->entry.state.paused) return source->entry.state;
  source->entry.state.paused = false;
  Plan(*source, 0, Why::kAsked, now);
  return source->entry.state;
}

const Scheduler::Entry* Scheduler::Find(const std::string& slug) const {
  const auto it = sources_.find(slug);
  return it == sources_.end() ? nullptr : &it->second.entry;
}

std::vector<Scheduler::Entry> Scheduler::List() const {
  std::vector<Entry> list;
  for (const auto& [slug, source] : sources_) list.push_back(source.entry);
  return list;
}

}  // namespace etl
