#include "daemon/review.h"

#include <algorithm>
#include <utility>

#include "daemon/intake.h"
#include "model/json.h"

namespace etl {
namespace {

// What the store remembers, with one value replaced.
class WithCursor final : public Cursors {
 public:
  WithCursor(const Cursors& stored, std::string key, std::string value)
      : stored_(stored), key_(std::move(key)), value_(std::move(value)) {}
  std::optional<std::string> Find(std::string_view key) const override {
    return key == key_ ? std::optional<std::string>(value_) : stored_.Find(key);
  }
  std::vector<CursorDraft> FindAll(std::string_view key_prefix) const override {
    std::vector<CursorDraft> all = stored_.FindAll(key_prefix);
    if (!key_.starts_with(key_prefix)) return all;
    const auto place =
        std::lower_bound(all.begin(), all.end(), key_,
                         [](const CursorDraft& c, const std::string& key) { return c.key < key; });
    if (place != all.end() && place->key == key_) {
      place->value = value_;
    } else {
      all.insert(place, {key_, value_});
    }
    return all;
  }

 private:
  const Cursors& stored_;
  std::string key_, value_;
};

// A response that the store has, and what it is read with now.
struct Response {
  Snapshot snapshot;
  Request request;
  ContextState context;
};

Result<Response> ResponseFor(const Adapter& adapter, const Store& store, Snapshot snapshot) {
  Response response;
  response.request.key = snapshot.request;
  response.request.context = adapter.ContextFor(snapshot.request);
  if (!response.request.context.empty()) {
    ETL_TRY(auto context, store.FindContext(snapshot.source, response.request.context));
    if (context) response.context = *std::move(context);
  }
  response.snapshot = std::move(snapshot);
  return response;
}

Result<Snapshot> SnapshotOf(const Store& store, std::uint64_t sequence) {
  ETL_TRY(const CommitInfo commit, store.GetCommit(sequence));
  if (!commit.snapshot)
    return Fail(Errc::kCorrupt, "REFERENCE", "change " + std::to_string(sequence), "it has no snapshot",
                "run `etlctl verify`");
  Snapshot snapshot{
      commit.source, commit.request, commit.origin, commit.captured_at, "", *commit.snapshot, "", ""};
  ETL_TRY(snapshot.bytes, store.GetBytes(*commit.snapshot));
  return snapshot;
}

// Of an operator who has looked.
Goal GoalWith(const Cursors& cursors) {
  Goal goal;
  goal.cursors = &cursors;
  goal.follow.accept_shrunken = true;
  return goal;
}

Ingest IngestOf(const Adapter& adapter, const Response& response, const Store& store) {
  Ingest ingest;
  ingest.snapshot = &response.snapshot;
  ingest.adapter = adapter.version();
  ingest.context_key = response.request.context;
  ingest.context_value = response.context.value;
  ingest.context_at = response.context.captured_at;
  ingest.visit_start = store.sequence();
  return ingest;
}

Status FinishContexts(Adapter& adapter, Store& store) {
  Intake intake(adapter, &store, false, Goal());
  return intake.FinishContexts();
}

Result<Decided> Commit(Store& store, const Ingest& ingest) {
  ETL_TRY([[maybe_unused]] const CommitResult done, store.Commit(ingest));
  ETL_CHECK_OK(store.Sync());
  return Decided{true, std::nullopt};
}

Error NotUnderReview(const EntryName& name, std::string what) {
  return {Errc::kConflict, "NOT_UNDER_REVIEW", name.Text(), std::move(what),
          "`etlctl review list` shows the rows that a decision can be made on"};
}

std::string StateOf(const EntryDraft& row) {
  std::string text(EntryStateName(row.state));
  for (const std::string& reason : row.reasons)
    text += (&reason == &row.reasons.front() ? ": " : ", ") + reason;
  return text;
}

// Whether what was made of the row shows the decision.
Status CheckApplied(const EntryName& name, std::string_view row_bytes, const Draft& draft) {
  const auto row = std::find_if(draft.entries.begin(), draft.entries.end(), [&](const EntryDraft& d) {
    return d.kind == Kind::kSubmission && d.external_id == name.external_id;
  });
  if (row != draft.entries.end()) {
    const auto metadata = json::Document::Parse(row->metadata);
    if (metadata && metadata->root().Find("review")) return {};
    return Fail(NotUnderReview(name, "without a decision the row is " + StateOf(*row)));
  }
  const auto refused = std::find_if(draft.quarantine.begin(), draft.quarantine.end(),
                                    [&](const QuarantineDraft& d) { return d.bytes == row_bytes; });
  if (refused == draft.quarantine.end())
    return Fail(NotUnderReview(name, "its answer does not hold the row any more"));
  return Fail(Errc::kInvalid, "REVIEW_REFUSED", name.Text(), refused->code + ": " + refused->what,
              "reject the row, or wait until the source says otherwise");
}

// Of a response's draft, what speaks of one row.
Draft OfRow(Draft draft, const std::string& external_id) {
  Draft out;
  for (EntryDraft& d : draft.entries)
    if (d.external_id == external_id || d.kind == Kind::kBenchmarkProtocol ||
        d.kind == Kind::kExecutionEnvironment)
      out.entries.push_back(std::move(d));
  return out;
}

std::vector<Decision> ParsedOr(const std::optional<std::string>& text) {
  return text ? ParseReview(*text).value_or(std::vector<Decision>()) : std::vector<Decision>();
}

// An adapter that has read nothing yet does not know the source's parts: the newest list of them tells.
Status ReadLists(Adapter& adapter, const Store& store, const Goal& goal) {
  for (Request& request : adapter.Plan(goal)) {
    ETL_TRY(const auto known, store.FindRequest(adapter.slug(), request.key));
    if (!known || known->refused) continue;
    ETL_TRY(const Snapshot list, SnapshotOf(store, known->sequence));
    // Refused as a whole by the present mapping: then it tells nothing.
    static_cast<void>(adapter.Accept(request, list, "", Reading::kWalkOnly, goal));
  }
  return {};
}

// Why the item still cannot be taken in; nothing: it can.
std::optional<Error> RefusalOf(const QuarantineItem& item, const Snapshot& snapshot, const Draft& draft) {
  for (const QuarantineDraft& d : draft.quarantine)
    if ((d.bytes.empty() ? snapshot.digest : Sha256(d.bytes)) == item.bytes_digest)
      return Error{Errc::kInvalid, d.code, d.where, d.what, d.fix};
  return std::nullopt;
}

Result<Decided> Retry(Adapter& adapter, Store& store, const QuarantineItem& item, Snapshot snapshot,
                      const Decision& decision) {
  ETL_CHECK_OK(FinishContexts(adapter, store));
  const StoreCursors cursors(&store, std::string(adapter.slug()));
  const Goal goal = GoalWith(cursors);
  ETL_CHECK_OK(ReadLists(adapter, store, goal));
  ETL_TRY(Response response, ResponseFor(adapter, store, std::move(snapshot)));
  auto outcome =
      adapter.Accept(response.request, response.snapshot, response.context.value, Reading::kFull, goal);
  ETL_CHECK_OK(cursors.status());
  if (!outcome) return Decided{false, outcome.error()};
  if (auto refusal = RefusalOf(item, response.snapshot, outcome->draft))
    return Decided{false, *std::move(refusal)};
  Ingest ingest = IngestOf(adapter, response, store);
  ingest.draft = std::move(outcome->draft);
  ingest.decision = DecisionDraft{"", item.id, decision};
  ingest.visit_entries = ingest.draft.entries.size();
  for (const EntryDraft& d : ingest.draft.entries)
    if (d.kind == Kind::kBenchmarkRun) ++ingest.visit_runs;
  ETL_TRY(const Decided done, Commit(store, ingest));
  ETL_CHECK_OK(FinishContexts(adapter, store));
  ETL_CHECK_OK(store.Sync());
  return done;
}

Result<std::optional<QuarantineItem>> ItemOf(const Store& store, const std::string& source,
                                             std::string_view hex) {
  ETL_TRY(auto items, store.Quarantine(source));
  for (QuarantineItem& item : items)
    if (item.id.Hex() == hex) return std::optional<QuarantineItem>(std::move(item));
  return std::optional<QuarantineItem>();
}

}  // namespace

Result<Decided> DecideRow(Adapter& adapter, Store& store, const std::string& external_id,
                          const Decision& decision) {
  ETL_CHECK_OK(FinishContexts(adapter, store));
  const EntryName name{std::string(adapter.slug()), external_id, ""};
  ETL_TRY(const auto entry, store.GetEntry(name));
  const auto found = entry.find(Kind::kSubmission);
  if (found == entry.end()) return Fail(NotUnderReview(name, "it is no row of a leaderboard"));
  const Version& row = found->second;
  ETL_TRY(Snapshot snapshot, SnapshotOf(store, row.from));
  ETL_TRY(Response response, ResponseFor(adapter, store, std::move(snapshot)));
  const std::string key = ReviewKey(external_id);
  ETL_TRY(const auto known, store.FindCursor(name.source, key));
  std::vector<Decision> decisions = ParsedOr(known);
  const bool decided_so = !decisions.empty() && decisions.back().what == decision.what;
  if (!decided_so) decisions.push_back(decision);
  const StoreCursors stored(&store, name.source);
  const WithCursor cursors(stored, key, ReviewText(decisions));
  auto outcome = adapter.Accept(response.request, response.snapshot, response.context.value, Reading::kFull,
                                GoalWith(cursors));
  ETL_CHECK_OK(stored.status());
  if (!outcome) return Fail(outcome.error());
  const std::string_view bytes = response.snapshot.bytes;
  ETL_CHECK_OK(CheckApplied(
      name, bytes.substr(std::min<std::size_t>(row.locator.offset, bytes.size()), row.locator.bytes),
      outcome->draft));
  if (decided_so) return Decided{};
  Ingest ingest = IngestOf(adapter, response, store);
  ingest.rederived_from = row.from;
  ingest.draft = OfRow(std::move(outcome->draft), external_id);
  ingest.decision = DecisionDraft{external_id, Digest(), decision};
  return Commit(store, ingest);
}

Result<Decided> DropItem(Store& store, const QuarantineItem& item, const Decision& decision) {
  if (item.decision && item.decision->what == kDropped) return Decided{};
  if (item.decision)
    return Fail(Errc::kConflict, "ALREADY_RESOLVED", item.id.Hex(),
                "it has been taken in since, at " + item.decision->at.Text(), "there is nothing to drop");
  ETL_TRY(const CommitInfo commit, store.GetCommit(item.sequence));
  if (!commit.snapshot)
    return Fail(Errc::kCorrupt, "REFERENCE", item.id.Hex(), "it has no snapshot", "run `etlctl verify`");
  const Snapshot snapshot{
      commit.source, commit.request, commit.origin, commit.captured_at, "", *commit.snapshot, "", ""};
  Ingest ingest;
  ingest.snapshot = &snapshot;
  ingest.adapter = commit.adapter;
  ingest.context_key = commit.context;
  ingest.rederived_from = commit.first;
  ingest.decision = DecisionDraft{"", item.id, decision};
  return Commit(store, ingest);
}

Result<Decided> RetryItem(Adapter& adapter, Store& store, const QuarantineItem& item,
                          const Decision& decision) {
  if (item.decision && item.decision->what == kResolved) return Decided{};
  ETL_TRY(Snapshot snapshot, SnapshotOf(store, item.sequence));
  // Where it is what the source still says, it is as new as that.
  ETL_TRY(const auto known, store.FindRequest(snapshot.source, snapshot.request));
  if (known && known->snapshot == snapshot.digest)
    snapshot.captured_at = std::max(snapshot.captured_at, known->confirmed_at);
  return Retry(adapter, store, item, std::move(snapshot), decision);
}

Status ReplayDecision(Adapter& adapter, Store& store, const Snapshot& snapshot, const std::string& line) {
  ETL_TRY(const auto document, json::Document::Parse(line));
  const json::Value root = document.root();
  const auto decision = ReadDecision(root);
  if (!decision)
    return Fail(Errc::kCorrupt, "CHANGE_LOG", snapshot.request, "a decision cannot be read",
                "run `etlctl verify`");
  if (root.Find("type").AsString() == "review") {
    const auto done = DecideRow(adapter, store, std::string(root.Find("externalId").AsString()), *decision);
    const Errc errc = done ? Errc::kConflict : done.error().errc;
    const bool no_use = errc == Errc::kConflict || errc == Errc::kInvalid || errc == Errc::kNotFound;
    return no_use ? Status() : Status(Fail(done.error()));
  }
  ETL_TRY(const auto item, ItemOf(store, snapshot.source, root.Find("id").AsString()));
  if (!item) return {};
  if (decision->what == kDropped) {
    ETL_TRY([[maybe_unused]] const Decided dropped, DropItem(store, *item, *decision));
    return {};
  }
  ETL_TRY([[maybe_unused]] const Decided retried, Retry(adapter, store, *item, snapshot, *decision));
  return {};
}

namespace {

Result<ReviewItem> ItemFor(const Store& store, const Adapter* adapter, const EntryName& name,
                           const Version& row) {
  ReviewItem item;
  item.name = name;
  item.row = row;
  item.open =
      row.state == EntryState::kExcluded && row.reasons.size() == 1 && row.reasons.front() == kReviewReason;
  if (const auto metadata = json::Document::Parse(row.metadata)) {
    const json::Value root = metadata->root();
    item.user = root.Find("user").AsString();
    item.username = root.Find("username").AsString();
    item.kernel = root.Find("kernel").AsString();
  }
  ETL_TRY(const auto decisions, store.FindCursor(name.source, ReviewKey(name.external_id)));
  item.decisions = ParsedOr(decisions);
  if (adapter == nullptr) return item;
  ETL_TRY(Snapshot snapshot, SnapshotOf(store, row.from));
  ETL_TRY(const Response response, ResponseFor(*adapter, store, std::move(snapshot)));
  const std::string_view bytes = response.snapshot.bytes;
  if (row.locator.offset <= bytes.size())
    item.facts =
        adapter->FactsOf(bytes.substr(row.locator.offset, row.locator.bytes), response.context.value);
  return item;
}

}  // namespace

Result<std::vector<ReviewItem>> ReviewItems(const Store& store, const std::string& source, bool all) {
  std::map<EntryName, Version> rows;
  ETL_CHECK_OK(store.ForEachEntry([&](const EntryName& name, const std::map<Kind, Version>& versions) {
    const auto row = versions.find(Kind::kSubmission);
    if (row == versions.end() || (!source.empty() && name.source != source)) return true;
    const auto& reasons = row->second.reasons;
    if (row->second.state == EntryState::kExcluded && reasons.size() == 1 && reasons.front() == kReviewReason)
      rows.emplace(name, row->second);
    return true;
  }));
  const std::vector<std::string> sources = store.Sources();
  if (all) {
    for (const std::string& slug : sources) {
      if (!source.empty() && slug != source) continue;
      ETL_TRY(const auto decided, store.FindCursors(slug, kReviewPrefix));
      for (const CursorDraft& cursor : decided) {
        const EntryName name{slug, cursor.key.substr(kReviewPrefix.size()), ""};
        ETL_TRY(const auto entry, store.GetEntry(name));
        if (const auto row = entry.find(Kind::kSubmission); row != entry.end())
          rows.emplace(name, row->second);
      }
    }
  }
  std::map<std::string, std::unique_ptr<Adapter>> adapters;
  for (const std::string& slug : sources) adapters.emplace(slug, MakeAdapter(slug));
  std::vector<ReviewItem> items;
  for (const auto& [name, row] : rows) {
    ETL_TRY(ReviewItem item, ItemFor(store, adapters[name.source].get(), name, row));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace etl
