#include "daemon/visit.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <utility>

#include "daemon/board_recovery.h"
#include "daemon/intake.h"
#include "daemon/rank_comparison.h"
#include "daemon/visit_clock.h"
#include "model/json.h"
#include "model/json_writer.h"

namespace etl {
namespace {

constexpr std::size_t kShortfallsKept = 1000;
constexpr std::size_t kAnnouncedMax = 8;  // requests a transport may work ahead on

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
    // A visit that was cut short has not asked for everything that may agree with what it saw.
    if (status && queue_.empty()) status = intake_.ReadAgain();
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
    if (transport_.live()) {
      const Instant now = clock_.Now();
      time_.Start(store_->last_time(), last, now);
      captured_at_ = time_.Time(now);
    }
    visit_ = {origin, "running", captured_at_, Instant{}, "", goal_name(), clock_.Now()};
    if (!writes()) return {};
    return store_->PutVisit(result_.source, visit_);  // a power cut may lose this mark, and nothing with it
  }

  std::string goal_name() const { return options_.goal.poll ? "poll" : ""; }

  void End() {
    visit_.state = result_.visit;
    visit_.clock_at = clock_.Now();
    visit_.finished_at = std::max(time_.Time(visit_.clock_at), time_.newest());
    visit_.summary = result_.Json();
    if (result_.failure) return;  // stays "running": the next visit resumes it
    auto status = CountLies(*store_, result_.source, result_.conditional, visit_.finished_at);
    if (status) status = store_->PutVisit(result_.source, visit_);
    if (status) status = store_->Sync();
    if (status) return;
    result_.failure = status.error();
    result_.visit = "failed";
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

  Result<Held> HeldFor(const std::string& key) const {
    if (store_ == nullptr || !transport_.live()) return Held{};
    return HeldOf(*store_, result_.source, key, options_.unconditional_every);
  }

  // Lets a live transport start on what will be asked next.
  Status Announce() {
    if (!transport_.live()) return {};
    std::size_t ahead = 0;
    for (const Request& request : queue_) {
      if (++ahead > kAnnouncedMax) break;
      if (!announced_.insert(request.key).second) continue;
      ETL_TRY(const Held held, HeldFor(request.key));
      transport_.Expect(request.key, held.validators);
    }
    return {};
  }

  Status Ask(Request& request) {
    ++result_.requests;
    ++progress_.requests;
    ETL_TRY(const Held held, HeldFor(request.key));
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
        AddShortfall({request.scope, "NOT_THERE", Unanswered(request.key, response->status)});
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
      JudgeBody(held, snapshot, result_.conditional);
    }
    return TakeIn(request, snapshot, not_modified);
  }

  std::string Unanswered(const std::string& key, int status) const {
    std::string what = key + " was answered with " + std::to_string(status);
    // Every visit begins with what every instance of the service has.
    if (result_.requests == 1 && transport_.live() && status == 404)
      what += " by " + transport_.Describe() + "; is that where the API begins (base_url, --base-url)?";
    return what;
  }

  Instant MomentOf(const Response& response) {
    return transport_.live() ? time_.Next(response.at.value_or(clock_.Now())) : captured_at_;
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
    if (!outcome.upstream_ranks.empty() || !outcome.board_rows.empty())
      boards_.push_back(
          {std::move(answer), std::move(outcome.upstream_ranks), std::move(outcome.board_rows)});
    for (auto it = outcome.next.rbegin(); it != outcome.next.rend(); ++it) queue_.push_front(std::move(*it));
    return {};
  }

  // Upstream's ranks beside ours, once everything is in: both are kept, and where they come to differ is a
  // line of the change log.
  Status CompareRanks() {
    RankBook book(*store_, result_.source);
    ETL_CHECK_OK(RecoverRows(book));
    for (const Board& board : boards_) {
      if (board.ranks.empty()) continue;
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

  // What a leaderboard shows and no list has shown becomes entries, until a list does.
  Status RecoverRows(RankBook& book) {
    if (!writes()) return {};
    BoardRecovery recovery(adapter_, *store_, book);
    for (const Board& board : boards_) {
      ETL_TRY(auto unknown, recovery.Unknown(board.answer.request, board.ranks, board.rows));
      Snapshot answer = board.answer;
      ETL_TRY(const auto ingest, RecoveryOf(adapter_, *store_, answer, std::move(unknown)));
      if (!ingest) continue;
      ETL_TRY(const CommitResult done, store_->Commit(*ingest));
      result_.entries_new += done.entries_new;
      result_.entries_changed += done.entries_changed;
      result_.changes += done.changes;
    }
    return {};
  }

  void TakeCounts() {
    const IntakeCounts& c = intake_.counts();
    result_.snapshots = c.snapshots;
    result_.entries_new += c.entries_new;
    result_.entries_changed += c.entries_changed;
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
  VisitClock time_;                  // of a live transport
  std::set<std::string> announced_;  // keys of queued requests that the transport was told of
  std::deque<Request> queue_;
  Intake intake_;
  struct Board {
    Snapshot answer;  // without its bytes
    std::vector<UpstreamRank> ranks;
    std::vector<BoardRow> rows;
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
