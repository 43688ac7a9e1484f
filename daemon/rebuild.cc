#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/board_recovery.h"
#include "daemon/intake.h"
#include "daemon/review.h"
#include "daemon/visit.h"
#include "model/json.h"

namespace etl {
namespace {

constexpr std::uint64_t kCommitsPerSync = 64;

// The adapters and intakes of a replay, by source.
class Replay {
 public:
  Replay(const Store& from, Store& target) : from_(from), target_(target) {
    goal_.follow.accept_shrunken = true;  // what was taken in once, for whatever reason, is taken in again
  }

  Status Take(const CommitInfo& commit) {
    auto it = sources_.find(commit.source);
    if (it == sources_.end()) {
      auto adapter = MakeAdapter(commit.source);
      if (adapter == nullptr)
        return Fail(Errc::kNotFound, "SOURCE_UNKNOWN", commit.source,
                    "this program has no adapter for the source", "use the program that made the store");
      it = sources_.emplace(commit.source, Source{std::move(adapter), nullptr}).first;
      it->second.intake = std::make_unique<Intake>(*it->second.adapter, &target_, false, goal_);
    }
    Snapshot snapshot = SnapshotOf(commit);
    ETL_TRY(snapshot.bytes, from_.GetBytes(*commit.snapshot));
    for (const ConfirmedAnswer& answer : commit.confirmed)
      ETL_CHECK_OK(target_.Confirm(commit.source, answer.request, answer.snapshot, answer.at));
    if (commit.decided) {
      ETL_TRY(const std::string line, DecisionOf(commit));
      return ReplayDecision(*it->second.adapter, target_, snapshot, line);
    }
    Request request;
    request.key = commit.request;
    request.context = it->second.adapter->ContextFor(commit.request);
    if (commit.refused) {
      // Whether it was wrong may have depended on what was known then: it stays refused.
      ETL_TRY(auto refusal, RefusalOf(commit));
      if (refusal) return it->second.intake->TakeRefused(request, std::move(snapshot), *std::move(refusal));
    }
    ETL_TRY([[maybe_unused]] const auto taken, it->second.intake->Take(request, snapshot));
    return {};
  }

  // The gaps that a commit told of: they came of a whole walk, which no single response shows.
  Status TakeGaps(const CommitInfo& commit) {
    ETL_TRY(const auto gaps, GapsOf(commit));
    if (gaps.empty()) return {};
    ETL_TRY(const auto request, target_.FindRequest(commit.source, commit.request));
    if (!request) return {};
    const Snapshot snapshot = SnapshotOf(commit);
    Ingest ingest;
    ingest.snapshot = &snapshot;
    ingest.adapter = commit.adapter;
    ingest.draft.gaps = gaps;
    ingest.rederived_from = request->sequence;
    ETL_TRY([[maybe_unused]] const auto done, target_.Commit(ingest));
    return {};
  }

  // What polls remember, so that the next one goes on where the last one was.
  Status TakePollCursors(Instant at) {
    for (const std::string& source : from_.Sources()) {
      ETL_TRY(const auto cursors, from_.FindCursors(source, "poll/"));
      for (const CursorDraft& cursor : cursors) ETL_CHECK_OK(target_.PutCursor(source, cursor, at));
    }
    return {};
  }

  // What a visit did after its last answer. A leaderboard's rows that no list had shown are taken again, the
  // same ones. Where a commit did nothing but hold upstream's ranks against ours, it is copied: the ranks
  // compared were those of that moment. Anything else was read again for a changed context: the replay meets
  // the same change by itself.
  Status TakeConclusion(const CommitInfo& commit) {
    Ingest ingest;
    bool ranks_alone = true;
    std::string recovered;
    ETL_CHECK_OK(from_.ForEachChange(commit.first - 1, [&](const CommitInfo&, const Change& change) {
      if (change.sequence > commit.last) return false;
      ranks_alone = ranks_alone && change.type == "rank";
      if (change.type == "recovered") recovered = change.json;
      ingest.draft.events.push_back({change.type, change.json});
      return true;
    }));
    if (!recovered.empty()) return TakeBoard(commit, recovered);
    ETL_TRY(const auto request, target_.FindRequest(commit.source, commit.request));
    if (!ranks_alone || !request) return {};
    const Snapshot snapshot = SnapshotOf(commit);
    ETL_TRY(const auto ranks, from_.FindCursor(commit.source, "ranks/" + commit.request));
    if (ranks) ingest.draft.cursors.push_back({"ranks/" + commit.request, *ranks});
    ingest.snapshot = &snapshot;
    ingest.adapter = commit.adapter;
    ingest.rederived_from = request->sequence;
    ETL_TRY([[maybe_unused]] const auto done, target_.Commit(ingest));
    return {};
  }

 private:
  // Without its bytes.
  static Snapshot SnapshotOf(const CommitInfo& commit) {
    return {commit.source, commit.request, commit.origin, commit.captured_at, "", *commit.snapshot, "", ""};
  }
  Status TakeBoard(const CommitInfo& commit, const std::string& line) {
    const auto source = sources_.find(commit.source);
    const auto document = json::Document::Parse(line);
    if (source == sources_.end() || !document) return {};
    std::set<std::string_view> wanted;
    for (const json::Value id : document->root().Find("entries").elements()) wanted.insert(id.AsString());
    Adapter& adapter = *source->second.adapter;
    Snapshot snapshot = SnapshotOf(commit);
    ETL_TRY(snapshot.bytes, from_.GetBytes(*commit.snapshot));
    Request request;
    request.key = commit.request;
    request.context = adapter.ContextFor(commit.request);
    ETL_TRY(const auto context, target_.FindContext(commit.source, request.context));
    auto outcome = adapter.Accept(request, snapshot, context ? context->value : "", Reading::kFull, goal_);
    if (!outcome) return {};  // accepted once; a mapping that refuses it now takes nothing else away
    std::vector<BoardRow> rows = std::move(outcome->board_rows);
    std::erase_if(rows, [&](const BoardRow& row) { return !wanted.contains(row.entry.external_id); });
    ETL_TRY(const auto ingest, RecoveryOf(adapter, target_, snapshot, std::move(rows)));
    if (!ingest) return {};
    ETL_TRY([[maybe_unused]] const auto done, target_.Commit(*ingest));
    return {};
  }
  // The line of a commit that tells its decision.
  Result<std::string> DecisionOf(const CommitInfo& commit) const {
    std::string line;
    ETL_CHECK_OK(from_.ForEachChange(commit.last - 1, [&](const CommitInfo&, const Change& change) {
      line = change.json;
      return false;
    }));
    return line;
  }
  Result<std::vector<GapDraft>> GapsOf(const CommitInfo& commit) {
    if (!gaps_) {
      gaps_.emplace();
      ETL_TRY(const auto items, from_.Gaps(""));
      for (const GapItem& item : items)
        (*gaps_)[item.sequence].push_back({item.scope, item.code, item.missing, item.detail});
    }
    const auto found = gaps_->find(commit.first);
    return found == gaps_->end() ? std::vector<GapDraft>() : found->second;
  }
  Result<std::optional<Error>> RefusalOf(const CommitInfo& commit) {
    if (!refusals_) {
      refusals_.emplace();
      ETL_TRY(const auto items, from_.Quarantine(""));
      for (const QuarantineItem& item : items)
        refusals_->emplace(std::pair(item.source, item.bytes_digest),
                           Error{Errc::kInvalid, item.code, item.where, item.what, item.fix});
    }
    const auto found = refusals_->find({commit.source, *commit.snapshot});
    return found == refusals_->end() ? std::optional<Error>() : std::optional<Error>(found->second);
  }
  struct Source {
    std::unique_ptr<Adapter> adapter;
    std::unique_ptr<Intake> intake;
  };
  const Store& from_;
  Store& target_;
  Goal goal_;
  std::map<std::string, Source> sources_;
  std::optional<std::map<std::uint64_t, std::vector<GapDraft>>> gaps_;       // by their commit
  std::optional<std::map<std::pair<std::string, Digest>, Error>> refusals_;  // by source and bytes
};

}  // namespace

Status Rebuild(const Store& from, Store& target, ReplayClock& clock,
               const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  if (target.sequence() != 0)
    return Fail(Errc::kConflict, "REBUILD_TARGET", target.dir(), "the target store is not empty",
                "name a folder that does not exist");
  Replay replay(from, target);
  std::uint64_t count = 0;
  Status status;
  ETL_CHECK_OK(from.ForEachCommit(0, [&](const CommitInfo& commit) {
    if (!commit.snapshot) return true;
    clock.Set(commit.time);
    status = commit.rederived_from && !commit.decided ? replay.TakeConclusion(commit) : replay.Take(commit);
    if (status) status = replay.TakeGaps(commit);
    if (status && ++count % kCommitsPerSync == 0) status = target.Sync();
    if (progress) progress(commit.last, from.sequence());
    return status.has_value();
  }));
  ETL_CHECK_OK(std::move(status));
  ETL_CHECK_OK(replay.TakePollCursors(target.last_time()));
  return target.Sync();
}

}  // namespace etl
