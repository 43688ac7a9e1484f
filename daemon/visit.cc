#include "daemon/visit.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <utility>

#include "daemon/intake.h"
#include "daemon/rank_comparison.h"
#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

constexpr std::size_t kShortfallsKept = 1000;
constexpr std::size_t kAnnouncedMax = 8;           // requests a transport may work ahead on
constexpr std::int64_t kClockStepMs = 86'400'000;  // that a clock may move between visits and be believed
constexpr std::int64_t kAheadMs = 60'000;          // that an answer may have been fetched ahead
constexpr std::string_view kConditionalCursor = "conditional";

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
    result_.goal = options.goal.poll ? "poll" : "backfill";
  }

  VisitResult Run() {
    const auto started = std::chrono::steady_clock::now();
    auto status = Begin();
    if (status) status = Walk();
    if (const auto drained = intake_.Drain(); status && !drained) status = drained;
    if (status && store_ != nullptr) status = CompareRanks();
    if (!status) {
      result_.failure = status.error();
      result_.visit = "failed";
    } else {
      result_.visit = result_.shortfalls.empty() ? "full" : "partial";
    }
    TakeCounts();
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
  // undone belongs to the same picture. A live source has moved on meanwhile.
  Status Begin() {
    captured_at_ = options_.captured_at.value_or(clock_.Now());
    if (store_ == nullptr) return {};
    ETL_TRY(const auto last, store_->FindVisit(result_.source, goal_name()));
    const std::string origin = transport_.Describe();
    if (last && last->state == "running" && last->origin == origin) {
      result_.resumed = true;
      if (!options_.captured_at && !transport_.live()) captured_at_ = last->started_at;
    }
    if (transport_.live()) SetTime(last);
    visit_ = {origin, "running", captured_at_, Instant{}, "", goal_name(), clock_.Now()};
    if (!writes()) return {};
    return store_->PutVisit(result_.source, visit_);  // a power cut may lose this mark, and nothing with it
  }

  // What is known was captured by now, even if the clock has been set back since: then time goes on from
  // there, by what the clock has moved since the last visit, until the clock is ahead again.
  void SetTime(const std::optional<VisitState>& last) {
    newest_known_ = store_->last_time();
    if (last) newest_known_ = std::max({newest_known_, last->started_at, last->finished_at});
    const Instant now = clock_.Now();
    if (now <= newest_known_) {
      const std::int64_t moved_ms = last ? now.ms - last->clock_at.ms : 0;
      clock_behind_ms_ = newest_known_.ms + std::clamp<std::int64_t>(moved_ms, 1, kClockStepMs) - now.ms;
    }
    captured_at_ = Time(now);
  }
  Instant Time(Instant clock) const { return Instant{clock.ms + clock_behind_ms_}; }

  std::string goal_name() const { return options_.goal.poll ? "poll" : ""; }

  void End() {
    visit_.state = result_.visit;
    visit_.clock_at = clock_.Now();
    visit_.finished_at = std::max(Time(visit_.clock_at), newest_known_);
    visit_.summary = result_.Json();
    if (result_.failure) return;  // stays "running": the next visit resumes it
    auto status = CountLies();
    if (status) status = store_->PutVisit(result_.source, visit_);
    if (status) status = store_->Sync();
    if (status) return;
    result_.failure = status.error();
    result_.visit = "failed";
  }

  // Adds this visit's to those of all visits before.
  Status CountLies() {
    const ConditionalCounts& now = result_.conditional;
    if (now.false_modified == 0 && now.false_not_modified == 0) return {};
    ETL_TRY(const auto stored, store_->FindCursor(result_.source, kConditionalCursor));
    std::int64_t not_modified = 0, modified = 0;
    if (stored) {
      if (const auto document = json::Document::Parse(*stored)) {
        not_modified = document->root().Find("falseNotModified").AsInt64().value_or(0);
        modified = document->root().Find("falseModified").AsInt64().value_or(0);
      }
    }
    std::string text;
    json::ObjectWriter(text)
        .Integer("falseModified", modified + static_cast<std::int64_t>(now.false_modified))
        .Integer("falseNotModified", not_modified + static_cast<std::int64_t>(now.false_not_modified))
        .End();
    return store_->PutCursor(result_.source, {std::string(kConditionalCursor), std::move(text)},
                             visit_.finished_at);
  }

  Status Walk() {
    for (Request& request : adapter_.Plan(options_.goal)) queue_.push_back(std::move(request));
    while (!queue_.empty() || stopped_) {
      if (options_.goal.rows_max && result_.rows >= *options_.goal.rows_max) {
        AddShortfall({"", "ROW_LIMIT",
                      "the limit of " + std::to_string(*options_.goal.rows_max) + " rows was reached"});
        return {};
      }
      if (stopped_ || (options_.stop != nullptr && options_.stop->load())) {
        AddShortfall({"", "STOPPED", "the visit was asked to stop"});
        return {};
      }
      Request request = std::move(queue_.front());
      queue_.pop_front();
      ETL_CHECK_OK(Announce());
      ETL_CHECK_OK(Ask(request));
      if (options_.progress) options_.progress(progress_);
    }
    return {};
  }

  // What is known of a request's last answer, and what to ask with.
  struct Held {
    std::optional<RequestState> known;
    Validators validators;
  };
  Result<Held> HeldOf(const std::string& key) const {
    Held held;
    if (store_ == nullptr || !transport_.live()) return held;
    ETL_TRY(held.known, store_->FindRequest(result_.source, key));
    if (held.known && !held.known->refused && held.known->not_modified < options_.unconditional_every)
      held.validators = {held.known->etag, held.known->last_modified};
    return held;
  }

  // Lets a live transport start on what will be asked next.
  Status Announce() {
    if (!transport_.live()) return {};
    std::size_t ahead = 0;
    for (const Request& request : queue_) {
      if (++ahead > kAnnouncedMax) break;
      if (!announced_.insert(request.key).second) continue;
      ETL_TRY(const Held held, HeldOf(request.key));
      transport_.Expect(request.key, held.validators);
    }
    return {};
  }

  Status Ask(Request& request) {
    ++result_.requests;
    ++progress_.requests;
    ETL_TRY(const Held held, HeldOf(request.key));
    announced_.erase(request.key);
    auto response = transport_.Fetch(request.key, held.validators);
    if (!response) {
      if (response.error().errc == Errc::kStopped) {
        stopped_ = true;
        return {};
      }
      AddShortfall({request.scope, response.error().code, request.key + ": " + response.error().Message()});
      return {};
    }
    const bool not_modified = response->status == 304 && held.known && !held.validators.empty();
    if (response->status != 200 && !not_modified) {
      if (response->status != 404 || !request.optional)
        AddShortfall({request.scope, "NOT_THERE",
                      request.key + " was answered with " + std::to_string(response->status)});
      return {};
    }
    Snapshot snapshot;
    snapshot.source = result_.source;
    snapshot.request = request.key;
    snapshot.origin = std::move(response->origin);
    snapshot.captured_at = MomentOf(*response);
    snapshot.etag = std::move(response->validators.etag);
    snapshot.last_modified = std::move(response->validators.last_modified);
    if (not_modified) {
      ++result_.conditional.not_modified;
      snapshot.digest = held.known->snapshot;
      ETL_TRY(snapshot.bytes, store_->GetBytes(snapshot.digest));
      if (snapshot.etag.empty()) snapshot.etag = held.known->etag;
      if (snapshot.last_modified.empty()) snapshot.last_modified = held.known->last_modified;
    } else {
      snapshot.bytes = std::move(response->bytes);
      snapshot.digest = Sha256(snapshot.bytes);
      if (held.known) Judge(held, snapshot);
    }
    return TakeIn(request, snapshot, not_modified);
  }

  // Whether a body bears out what its validators said.
  void Judge(const Held& held, const Snapshot& snapshot) {
    const bool same_bytes = held.known->snapshot == snapshot.digest;
    const bool same_tag = !snapshot.etag.empty() && snapshot.etag == held.known->etag;
    if (same_tag && !same_bytes) ++result_.conditional.false_not_modified;
    if (!held.validators.empty() && same_bytes) ++result_.conditional.false_modified;
  }

  // Never before what is known, and rising where the clock stands still or was set back.
  Instant MomentOf(const Response& response) {
    if (!transport_.live()) return captured_at_;
    const Instant shown = response.at.value_or(clock_.Now());
    // Answers fetched ahead may be a little out of order; a greater step back is the clock's.
    if (shown.ms < newest_shown_.ms - kAheadMs) {
      clock_behind_ms_ += newest_shown_.ms - shown.ms + 1;
      newest_shown_ = shown;
    }
    newest_shown_ = std::max(newest_shown_, shown);
    const Instant at = Time(shown);
    if (at > newest_known_) return at;
    ++newest_known_.ms;
    return newest_known_;
  }

  Status TakeIn(Request& request, Snapshot& snapshot, bool not_modified) {
    if (store_ != nullptr && !options_.captured_at) {
      // A resumed visit that meets other bytes than its first half did: the place has changed, and this is
      // newer.
      ETL_TRY(const auto known, store_->FindRequest(snapshot.source, snapshot.request));
      if (known && known->snapshot != snapshot.digest && known->confirmed_at >= snapshot.captured_at)
        snapshot.captured_at = std::max(clock_.Now(), Instant{known->confirmed_at.ms + 1});
    }
    const std::string key = request.key, scope = request.scope;
    Snapshot answer = snapshot;
    answer.bytes.clear();
    ETL_TRY(Intake::Taken taken, intake_.Take(request, std::move(snapshot), not_modified));
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
    if (!outcome.upstream_ranks.empty())
      boards_.push_back({std::move(answer), std::move(outcome.upstream_ranks)});
    for (auto it = outcome.next.rbegin(); it != outcome.next.rend(); ++it) queue_.push_front(std::move(*it));
    return {};
  }

  // Upstream's ranks beside ours, once everything is in: both are kept, and where they come to differ is a
  // line of the change log.
  Status CompareRanks() {
    RankBook book(*store_, result_.source);
    for (const Board& board : boards_) {
      const std::string key = "ranks/" + board.answer.request;
      const std::string after = book.Compare(board.ranks, result_.upstream_ranks);
      if (!writes()) continue;
      ETL_TRY(const auto before, store_->FindCursor(result_.source, key));
      if (before == after) continue;
      Ingest ingest;
      ingest.snapshot = &board.answer;
      ingest.adapter = adapter_.version();
      ingest.draft.cursors.push_back({key, after});
      ingest.draft.events = RankEvents(board.answer.request, before, after);
      ETL_TRY(const auto known, store_->FindRequest(result_.source, board.answer.request));
      if (!known || known->snapshot != board.answer.digest) continue;  // overtaken meanwhile
      if (ingest.draft.events.empty()) {
        ETL_CHECK_OK(
            store_->PutCursor(result_.source, ingest.draft.cursors.front(), board.answer.captured_at));
        continue;
      }
      ingest.rederived_from = known->sequence;
      ETL_TRY(const CommitResult done, store_->Commit(ingest));
      result_.changes += done.changes;
    }
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
    result_.changes += c.changes;
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
  bool stopped_ = false;  // by the transport
  Instant captured_at_;
  std::int64_t clock_behind_ms_ = 0;
  Instant newest_shown_{INT64_MIN / 2};  // by the clock, in this visit
  Instant newest_known_;                 // by a live visit's start
  std::set<std::string> announced_;      // keys of queued requests that the transport was told of
  std::deque<Request> queue_;
  Intake intake_;
  struct Board {
    Snapshot answer;  // without its bytes
    std::vector<UpstreamRank> ranks;
  };
  std::vector<Board> boards_;
};

}  // namespace

VisitResult RunVisit(Adapter& adapter, Transport& transport, Store* store, Clock& clock,
                     const VisitOptions& options) {
  return Visit(adapter, transport, store, clock, options).Run();
}

std::string VisitResult::Json() const {
  std::string out;
  json::ObjectWriter w(out);
  w.Text("source", source)
      .Text("goal", goal)
      .Text("visit", visit)
      .Bool("resumed", resumed)
      .Bool("dryRun", dry_run);
  w.Count("requests", requests).Count("snapshots", snapshots).Count("rows", rows);
  std::string entries;
  json::ObjectWriter(entries)
      .Count("new", entries_new)
      .Count("changed", entries_changed)
      .Count("unchanged", entries_unchanged)
      .End();
  std::string conditions;
  json::ObjectWriter(conditions)
      .Count("notModified", conditional.not_modified)
      .Count("falseNotModified", conditional.false_not_modified)
      .Count("falseModified", conditional.false_modified)
      .End();
  w.Raw("entries", entries)
      .Raw("conditional", conditions)
      .Count("runs", runs)
      .Count("groupsRecomputed", groups_recomputed);
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
