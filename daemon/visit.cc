#include "daemon/visit.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "daemon/intake.h"
#include "daemon/rank_comparison.h"
#include "model/json_writer.h"

namespace etl {
namespace {

constexpr std::size_t kShortfallsKept = 1000;

class Visit {
 public:
  Visit(Adapter& adapter, Transport& transport, Store* store, Clock& clock, const VisitOptions& options)
      : adapter_(adapter),
        transport_(transport),
        store_(store),
        clock_(clock),
        options_(options),
        intake_(adapter, store, options.dry_run, options.goal, Intake::Commits::kPipelined) {
    result_.source = adapter.slug();
    result_.dry_run = options.dry_run;
  }

  VisitResult Run() {
    const auto started = std::chrono::steady_clock::now();
    auto status = Begin();
    if (status) status = Walk();
    if (const auto drained = intake_.Drain(); status && !drained) status = drained;
    if (status && writes()) status = store_->Sync();
    if (!status) {
      result_.failure = status.error();
      result_.visit = "failed";
    } else {
      result_.visit = result_.shortfalls.empty() ? "full" : "partial";
    }
    TakeCounts();
    if (store_ != nullptr && !result_.failure)
      CompareRanks(*store_, result_.source, upstream_ranks_, result_.upstream_ranks);
    if (store_ != nullptr) {
      result_.epoch = store_->epoch();
      result_.sequence = store_->sequence();
    }
    result_.elapsed_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (writes()) End();
    return std::move(result_);
  }

 private:
  bool writes() const { return store_ != nullptr && !options_.dry_run; }

  // A visit of the same place that never finished is taken up again, with its moment: everything it left
  // undone belongs to the same picture.
  Status Begin() {
    captured_at_ = options_.captured_at.value_or(clock_.Now());
    if (store_ == nullptr) return {};
    ETL_TRY(const auto last, store_->FindVisit(result_.source));
    const std::string origin = transport_.Describe();
    if (last && last->state == "running" && last->origin == origin) {
      result_.resumed = true;
      if (!options_.captured_at) captured_at_ = last->started_at;
    }
    visit_ = {origin, "running", captured_at_, Instant{}, ""};
    if (!writes()) return {};
    ETL_CHECK_OK(store_->PutVisit(result_.source, visit_));
    return store_->Sync();
  }

  void End() {
    visit_.state = result_.visit;
    visit_.finished_at = clock_.Now();
    visit_.summary = result_.Json();
    if (result_.failure) return;  // stays "running": the next visit resumes it
    auto status = store_->PutVisit(result_.source, visit_);
    if (status) status = store_->Sync();
    if (status) return;
    result_.failure = status.error();
    result_.visit = "failed";
  }

  Status Walk() {
    for (Request& request : adapter_.Plan(options_.goal)) queue_.push_back(std::move(request));
    while (!queue_.empty()) {
      if (options_.goal.rows_max && result_.rows >= *options_.goal.rows_max) {
        AddShortfall({"", "ROW_LIMIT",
                      "the limit of " + std::to_string(*options_.goal.rows_max) + " rows was reached"});
        return {};
      }
      if (options_.stop != nullptr && options_.stop->load()) {
        AddShortfall({"", "STOPPED", "the visit was asked to stop"});
        return {};
      }
      Request request = std::move(queue_.front());
      queue_.pop_front();
      ETL_CHECK_OK(Ask(request));
      if (options_.progress) options_.progress(progress_);
    }
    return {};
  }

  Status Ask(Request& request) {
    ++result_.requests;
    ++progress_.requests;
    auto response = transport_.Fetch(request.key);
    if (!response) {
      if (response.error().errc == Errc::kStopped) return Fail(response.error());
      AddShortfall({request.scope, response.error().code, request.key + ": " + response.error().Message()});
      return {};
    }
    if (response->status != 200) {
      if (response->status != 404 || !request.optional)
        AddShortfall({request.scope, "NOT_THERE",
                      request.key + " was answered with " + std::to_string(response->status)});
      return {};
    }
    Snapshot snapshot;
    snapshot.source = result_.source;
    snapshot.request = request.key;
    snapshot.origin = std::move(response->origin);
    snapshot.captured_at = captured_at_;
    snapshot.bytes = std::move(response->bytes);
    snapshot.digest = Sha256(snapshot.bytes);
    return TakeIn(request, snapshot);
  }

  Status TakeIn(Request& request, Snapshot& snapshot) {
    if (store_ != nullptr && !options_.captured_at) {
      // A resumed visit that meets other bytes than its first half did: the place has changed, and this is
      // newer.
      ETL_TRY(const auto known, store_->FindRequest(snapshot.source, snapshot.request));
      if (known && known->snapshot != snapshot.digest && known->confirmed_at >= snapshot.captured_at)
        snapshot.captured_at = std::max(clock_.Now(), Instant{known->confirmed_at.ms + 1});
    }
    const std::string key = request.key, scope = request.scope;
    ETL_TRY(Intake::Taken taken, intake_.Take(request, std::move(snapshot)));
    if (taken.refusal) {
      AddShortfall({scope, "RESPONSE_REFUSED", key + ": " + taken.refusal->Message()});
      return {};
    }
    Outcome& outcome = *taken.outcome;
    progress_.rows += outcome.rows;
    result_.rows += outcome.rows;
    progress_.scopes_total += outcome.scopes;
    if (outcome.scope_done) ++progress_.scopes_done;
    for (Shortfall& s : outcome.shortfalls) {
      if (s.scope.empty()) s.scope = scope;
      AddShortfall(std::move(s));
    }
    for (UpstreamRank& rank : outcome.upstream_ranks) upstream_ranks_.push_back(std::move(rank));
    for (auto it = outcome.next.rbegin(); it != outcome.next.rend(); ++it) queue_.push_front(std::move(*it));
    return {};
  }

  void TakeCounts() {
    const IntakeCounts& c = intake_.counts();
    result_.snapshots = c.snapshots;
    result_.entries_new = c.entries_new;
    result_.entries_changed = c.entries_changed;
    const std::uint64_t touched = c.entries_new + c.entries_changed;
    result_.entries_unchanged = c.entries > touched ? c.entries - touched : 0;
    result_.runs = c.runs;
    result_.groups_recomputed = c.groups;
    result_.quarantined = c.quarantined;
    result_.gaps = c.gaps;
    result_.drift = c.drift;
    result_.changes = c.changes;
  }

  void AddShortfall(Shortfall shortfall) {
    if (result_.shortfalls.size() < kShortfallsKept) result_.shortfalls.push_back(std::move(shortfall));
  }

  Adapter& adapter_;
  Transport& transport_;
  Store* store_;
  Clock& clock_;
  const VisitOptions& options_;
  VisitResult result_;
  VisitState visit_;
  VisitProgress progress_;
  Instant captured_at_;
  std::deque<Request> queue_;
  Intake intake_;
  std::vector<UpstreamRank> upstream_ranks_;
};

}  // namespace

VisitResult RunVisit(Adapter& adapter, Transport& transport, Store* store, Clock& clock,
                     const VisitOptions& options) {
  return Visit(adapter, transport, store, clock, options).Run();
}

std::string VisitResult::Json() const {
  std::string out;
  json::ObjectWriter w(out);
  w.Text("source", source).Text("visit", visit).Bool("resumed", resumed).Bool("dryRun", dry_run);
  w.Count("requests", requests).Count("snapshots", snapshots).Count("rows", rows);
  std::string entries;
  json::ObjectWriter(entries)
      .Count("new", entries_new)
      .Count("changed", entries_changed)
      .Count("unchanged", entries_unchanged)
      .End();
  w.Raw("entries", entries).Count("runs", runs).Count("groupsRecomputed", groups_recomputed);
  w.Count("quarantined", quarantined).Count("gaps", gaps).Count("drift", drift).Count("changes", changes);
  w.Text("epoch", epoch).Count("sequence", sequence);
  w.Number("elapsedSeconds", static_cast<double>(static_cast<std::int64_t>(elapsed_seconds * 1000)) / 1000);
  std::string list = "[";
  for (const Shortfall& s : shortfalls) {
    if (list.size() > 1) list += ',';
    json::ObjectWriter(list).Text("scope", s.scope).Text("code", s.code).Text("what", s.what).End();
  }
  w.Raw("shortfalls", list + "]");
  std::string ranks;
  json::ObjectWriter(ranks)
      .Count("compared", upstream_ranks.compared)
      .Count("equal", upstream_ranks.equal)
      .Count("different", upstream_ranks.different)
      .Count("unmatched", upstream_ranks.unmatched)
      .Raw("differences", json::TextArray(upstream_ranks.differences))
      .End();
  w.Raw("upstreamRanks", ranks);
  if (failure) w.Text("failure", failure->Message());
  w.End();
  return out;
}

Instant SystemClock::Now() {
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count()};
}

}  // namespace etl
