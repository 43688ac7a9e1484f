// What people decide: rows under review, and items of the quarantine.
#include "daemon/review.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/daemon/poll_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSource = "sol-execbench";
constexpr const char* kRow = "submission/104";

// One kernel with a bound of 1 ms, and a row below it: 104, beside 102 on the same GPU.
class Deciding : public testing::Test {
 protected:
  Deciding() : store_(OpenStore("", clock_)), source_(clock_) {
    source_.bodies["kernels/5"] = KernelDetail(5, "1.0");
    SetRows({{101}, {102}, {103}, {104, "COMPLETED", "0.5"}});
    EXPECT_EQ(Poll().visit, "full");
  }
  void SetRows(const std::vector<ListedRow>& rows) { SetBody(Rows(rows)); }
  // Every list of rows is worth reading: its count has moved.
  void SetBody(std::string body) {
    source_.bodies[RowsKey(5)] = std::move(body);
    source_.bodies["kernels"] = KernelList({{5, ++count_}});
  }
  VisitResult Poll() {
    clock_.AdvanceMs(60'000);
    const auto adapter = MakeAdapter(kSource);
    VisitOptions options;
    options.goal.poll = true;
    options.goal.window = true;
    options.goal.leaderboards = false;
    VisitResult result = RunVisit(*adapter, source_, store_.get(), clock_, options);
    EXPECT_FALSE(result.failure) << result.failure->Message();
    ExpectSound();
    return result;
  }
  // Verify finds nothing, and a rebuild gives the same export.
  void ExpectSound() {
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->fault_count, 0u) << (report->faults.empty() ? "" : report->faults[0].Message());
    ReplayClock replay;
    const auto target = OpenStore("", replay);
    const auto rebuilt = Rebuild(*store_, *target, replay, nullptr);
    ASSERT_TRUE(rebuilt.has_value()) << rebuilt.error().Message();
    EXPECT_EQ(Difference(ExportOf(*target), ExportOf(*store_)), "");
    const auto again = target->Verify();
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->fault_count, 0u) << (again->faults.empty() ? "" : again->faults[0].Message());
    const auto found_item = store_->Quarantine("");
    for (const auto& item : *found_item) {
      const auto copies = *target->Quarantine("");
      const auto copy = std::find_if(copies.begin(), copies.end(),
                                     [&](const QuarantineItem& c) { return c.id == item.id; });
      ASSERT_NE(copy, copies.end()) << item.code;
      EXPECT_EQ(copy->decision, item.decision) << item.code;
    }
    const auto reviews = store_->FindCursors(kSource, kReviewPrefix);
    const auto copies = target->FindCursors(kSource, kReviewPrefix);
    ASSERT_TRUE(reviews && copies);
    ASSERT_EQ(reviews->size(), copies->size());
    for (std::size_t i = 0; i < reviews->size(); ++i) EXPECT_EQ(reviews->at(i).value, copies->at(i).value);
  }
  Decision Say(std::string_view what, std::string reason = "looked at it") {
    clock_.AdvanceMs(1000);
    return {std::string(what), std::move(reason), std::max(clock_.Now(), store_->last_time()), "ada"};
  }
  Result<Decided> Decide(std::string_view what, const std::string& row = kRow) {
    const auto adapter = MakeAdapter(kSource);
    return DecideRow(*adapter, *store_, row, Say(what));
  }
  Result<Decided> Retry(const QuarantineItem& item) {
    const auto adapter = MakeAdapter(kSource);
    return RetryItem(*adapter, *store_, item, Say(kResolved, ""));
  }
  Result<Decided> Drop(const QuarantineItem& item) { return DropItem(*store_, item, Say(kDropped)); }
  QuarantineItem OnlyItem() {
    const auto items = store_->Quarantine("");
    EXPECT_TRUE(items && items->size() == 1);
    return items && !items->empty() ? items->front() : QuarantineItem();
  }
  Version Newest(const std::string& id, Kind kind = Kind::kSubmission) {
    const auto entry = store_->GetEntry({kSource, id, ""});
    if (!entry || !entry->contains(kind)) return {};
    return entry->at(kind);
  }
  std::uint32_t RankOf(const std::string& id) {
    const auto line = store_->RankOf(Newest(id, Kind::kBenchmarkRun));
    return line && *line ? (*line)->rank : 0;
  }
  std::vector<std::string> Changes(const std::string& type) {
    std::vector<std::string> lines;
    EXPECT_TRUE(store_->ForEachChange(0, [&](const CommitInfo&, const Change& change) {
      if (change.type == type) lines.push_back(change.json);
      return true;
    }));
    return lines;
  }
  std::vector<std::string> Open() {
    std::vector<std::string> ids;
    const auto items = ReviewItems(*store_, "", false);
    EXPECT_TRUE(items.has_value());
    for (const ReviewItem& item : *items) ids.push_back(item.name.external_id);
    return ids;
  }

  ManualClock clock_;
  std::unique_ptr<Store> store_;
  ScriptedSource source_;
  int count_ = 0;
};

TEST_F(Deciding, ARowBelowTheBoundWaitsWithItsLatencyAndTheBound) {
  const auto items = ReviewItems(*store_, "", false);
  ASSERT_TRUE(items.has_value());
  ASSERT_EQ(items->size(), 1u);
  const ReviewItem& item = items->front();
  EXPECT_EQ(item.name.external_id, kRow);
  EXPECT_EQ(item.username, "ada");
  EXPECT_EQ(item.kernel, "k5");
  EXPECT_EQ(item.facts.latency_ms, 0.5);
  EXPECT_EQ(item.facts.bound_ms, 1.0);
  EXPECT_TRUE(item.open);
  EXPECT_THAT(item.decisions, IsEmpty());
  EXPECT_THAT(*ReviewItems(*store_, "another", true), IsEmpty());
}

TEST_F(Deciding, AnAdmittedRowIsRankedAndItsHistoryShowsBothStatesAndWhy) {
  const std::uint64_t before = store_->sequence();
  const auto done = Decide(kAdmitted);
  ASSERT_TRUE(done.has_value()) << done.error().Message();
  EXPECT_TRUE(done->changed);
  EXPECT_EQ(RankOf(kRow), 1u);
  EXPECT_EQ(RankOf("submission/102"), 2u);
  const auto versions = store_->GetVersions({kSource, kRow, ""}, Kind::kSubmission);
  ASSERT_TRUE(versions && versions->size() == 2);
  EXPECT_THAT(versions->at(0).reasons, ElementsAre(kReviewReason));
  EXPECT_EQ(versions->at(1).state, EntryState::kPassed);
  EXPECT_THAT(versions->at(1).metadata, HasSubstr(R"("review":{"at":)"));
  EXPECT_THAT(versions->at(1).metadata,
              HasSubstr(R"("by":"ada","decision":"admitted","reason":"looked at it"})"));
  EXPECT_THAT(
      Changes("review"),
      ElementsAre(HasSubstr(
          R"("externalId":"submission/104","decision":"admitted","reason":"looked at it","by":"ada")")));
  // One commit, so that nobody sees the decision without its rank.
  const auto commit = store_->GetCommit(before + 1);
  ASSERT_TRUE(commit.has_value());
  EXPECT_EQ(commit->last, store_->sequence());
  EXPECT_TRUE(commit->decided);
  EXPECT_THAT(Open(), IsEmpty());
  ExpectSound();
}

TEST_F(Deciding, ADecisionHoldsForWhatTheRowSaysLaterAndForAnotherBound) {
  ASSERT_TRUE(Decide(kAdmitted).has_value());
  SetRows({{106}, {101}, {102}, {103}, {104, "COMPLETED", "0.5"}});
  Poll();
  EXPECT_EQ(Newest(kRow).version, 2u) << "the same row again";
  SetRows({{106}, {101}, {102}, {103}, {104, "COMPLETED", "0.4"}});
  Poll();
  EXPECT_EQ(Newest(kRow).state, EntryState::kPassed);
  EXPECT_EQ(RankOf(kRow), 1u);
  SetRows({{106}, {101}, {102}, {103}, {104, "COMPLETED", "0.4", "ada", true}});
  Poll();
  EXPECT_THAT(Newest(kRow).reasons, ElementsAre("DISQUALIFIED", kReviewReason)) << "more than the bound";
  EXPECT_EQ(RankOf(kRow), 0u);
  SetRows({{106}, {101}, {102}, {103}, {104, "COMPLETED", "0.4"}});
  source_.bodies["kernels/5"] = KernelDetail(5, "1.25");
  clock_.AdvanceMs(86'400'000);
  Poll();
  EXPECT_EQ(RankOf(kRow), 1u);
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_EQ(Changes("review").size(), 1u);
}

TEST_F(Deciding, ARejectedRowStaysOutWaitsNoMoreAndCanBeAdmittedLater) {
  ASSERT_TRUE(Decide(kRejected).has_value());
  EXPECT_THAT(Newest(kRow).reasons, ElementsAre(kReviewReason, kRejectedReason));
  EXPECT_THAT(Open(), IsEmpty());
  SetRows({{106}, {101}, {102}, {103}, {104, "COMPLETED", "0.45"}});
  Poll();
  EXPECT_THAT(Newest(kRow).reasons, ElementsAre(kReviewReason, kRejectedReason));
  ASSERT_TRUE(Decide(kAdmitted).has_value());
  EXPECT_EQ(RankOf(kRow), 1u);
  ASSERT_TRUE(Decide(kRejected).has_value());
  EXPECT_EQ(RankOf(kRow), 0u);
  EXPECT_THAT(Newest(kRow, Kind::kBenchmarkRun).reasons,
              ElementsAre("RETRACTED", kReviewReason, kRejectedReason));
  const auto all = ReviewItems(*store_, kSource, true);
  ASSERT_TRUE(all && all->size() == 1);
  EXPECT_FALSE(all->front().open);
  std::vector<std::string> decided;
  for (const Decision& decision : all->front().decisions) decided.push_back(decision.what);
  EXPECT_THAT(decided, ElementsAre("rejected", "admitted", "rejected"));
  ExpectSound();
}

TEST_F(Deciding, TheSameDecisionAgainWritesNothing) {
  for (const std::string_view what : {kAdmitted, kRejected}) {
    ASSERT_TRUE(Decide(what).has_value());
    const std::uint64_t sequence = store_->sequence();
    const auto again = Decide(what);
    ASSERT_TRUE(again.has_value()) << what;
    EXPECT_FALSE(again->changed) << what;
    EXPECT_EQ(store_->sequence(), sequence) << what;
  }
}

TEST_F(Deciding, OnlyRowsThatNothingElseSpeaksAgainstCanBeDecided) {
  std::string body = Rows({{102},
                           {108, "COMPLETED", "0.5", "ada", true},
                           {110, "FAILED"},
                           {112, "RUNNING"},
                           {114, "COMPLETED", "0.5"},
                           {104, "COMPLETED", "0.5"}});
  const std::string times =
      R"("submitted_at":"2026-05-01T10:00:00","is_correct":true,"finished_at":"2026-05-01T10:30:00")";
  const std::size_t row = body.find("\"id\":114"), at = body.find(times, row);
  ASSERT_NE(at, std::string::npos);
  SetBody(body.replace(at, times.size(), R"("is_correct":true)"));
  Poll();
  const std::uint64_t sequence = store_->sequence();
  const std::vector<std::pair<std::string, std::string>> cases{
      {"submission/102", "NOT_UNDER_REVIEW"}, {"submission/108", "NOT_UNDER_REVIEW"},
      {"submission/110", "NOT_UNDER_REVIEW"}, {"submission/112", "NOT_UNDER_REVIEW"},
      {"user/7", "NOT_UNDER_REVIEW"},         {"submission/114", "REVIEW_REFUSED"},
      {"submission/999", "ENTRY_MISSING"}};
  for (const auto& [id, code] : cases) {
    const auto done = Decide(kAdmitted, id);
    ASSERT_FALSE(done.has_value()) << id;
    EXPECT_EQ(done.error().code, code) << id << ": " << done.error().Message();
  }
  EXPECT_EQ(store_->sequence(), sequence);
  EXPECT_EQ(Newest("submission/114").state, EntryState::kExcluded) << "it can be rejected all the same";
  EXPECT_TRUE(Decide(kRejected, "submission/114").has_value());
  ExpectSound();
}

TEST_F(Deciding, MoreThanAHundredDecisionsKeepTheNewest) {
  for (int i = 0; i < 51; ++i) {
    ASSERT_TRUE(Decide(kAdmitted).has_value());
    ASSERT_TRUE(Decide(kRejected).has_value());
  }
  const auto all = ReviewItems(*store_, "", true);
  ASSERT_TRUE(all && all->size() == 1);
  EXPECT_EQ(all->front().decisions.size(), kDecisionsMax);
  EXPECT_EQ(all->front().decisions.back().what, kRejected);
  EXPECT_EQ(Changes("review").size(), 102u);
  ExpectSound();
}

TEST_F(Deciding, VerifyFindsADecisionThatTheChangeLogDoesNotTell) {
  ASSERT_TRUE(Decide(kAdmitted).has_value());
  const std::string forged = ReviewText({Say(kAdmitted, "another reason")});
  ASSERT_TRUE(store_->PutCursor(kSource, {ReviewKey(kRow), forged}, Instant{INT64_MAX / 2}).has_value());
  const std::string invented = ReviewText({Say(kRejected)});
  ASSERT_TRUE(store_->PutCursor(kSource, {ReviewKey("submission/102"), invented}, clock_.Now()).has_value());
  const auto report = store_->Verify();
  ASSERT_TRUE(report.has_value());
  std::vector<std::string> faults;
  for (const Error& fault : report->faults) faults.push_back(fault.code + " " + fault.what);
  EXPECT_THAT(faults, ElementsAre("CHANGE_LOG the change log does not tell of its decision",
                                  HasSubstr("CHANGE_LOG its decision is not the one told"),
                                  "REVIEW it does not show the last decision on it"));
}

// --- quarantine ---

std::string WithoutUser(std::string body, const std::string& id) {
  const std::size_t row = body.find("\"id\":" + id), at = body.find(R"("username":"ada")", row);
  return body.replace(at, 16, R"("username":null )");
}

TEST_F(Deciding, ADroppedItemStaysAwayWhenItComesAgain) {
  SetBody(WithoutUser(Rows({{106}, {101}, {102}, {103}}), "106"));
  EXPECT_EQ(Poll().quarantined, 1u);
  const QuarantineItem item = OnlyItem();
  EXPECT_EQ(item.code, "ROW_FIELD");
  ASSERT_TRUE(Drop(item)->changed);
  ASSERT_TRUE(OnlyItem().decision.has_value());
  EXPECT_EQ(OnlyItem().decision->what, kDropped);
  EXPECT_EQ(OnlyItem().decision->reason, "looked at it");
  EXPECT_THAT(Changes("decision"), ElementsAre(HasSubstr(item.id.Hex() + R"(","decision":"dropped")")));
  EXPECT_EQ(store_->Count()->quarantine, 0u);
  EXPECT_TRUE(store_->GetBytes(item.bytes_digest).has_value());
  SetBody(WithoutUser(Rows({{108}, {106}, {101}, {102}}), "106"));
  EXPECT_EQ(Poll().quarantined, 0u);
  EXPECT_GT(OnlyItem().last_seen, item.last_seen);
  EXPECT_TRUE(OnlyItem().decision.has_value());
  EXPECT_EQ(Changes("quarantine").size(), 1u);
  const std::uint64_t sequence = store_->sequence();
  EXPECT_FALSE(Drop(OnlyItem())->changed);
  EXPECT_EQ(store_->sequence(), sequence);
  ExpectSound();
}

TEST_F(Deciding, AnItemThatIsStillWrongStaysAsItIsAndSaysWhy) {
  SetBody(WithoutUser(Rows({{106}, {101}, {102}, {103}}), "106"));
  Poll();
  const std::uint64_t sequence = store_->sequence();
  const auto retried = Retry(OnlyItem());
  ASSERT_TRUE(retried.has_value()) << retried.error().Message();
  EXPECT_FALSE(retried->changed);
  ASSERT_TRUE(retried->refused.has_value());
  EXPECT_EQ(retried->refused->code, "ROW_FIELD");
  EXPECT_FALSE(OnlyItem().decision.has_value());
  SetBody("<html>busy</html>");
  Poll();
  const auto items = store_->Quarantine("");
  const auto page = std::find_if(items->begin(), items->end(),
                                 [](const QuarantineItem& item) { return item.code != "ROW_FIELD"; });
  ASSERT_NE(page, items->end());
  const std::uint64_t after = store_->sequence();
  EXPECT_GT(after, sequence);
  const auto whole = Retry(*page);
  ASSERT_TRUE(whole && whole->refused);
  EXPECT_EQ(whole->refused->code, page->code);
  EXPECT_EQ(store_->sequence(), after);
}

TEST_F(Deciding, AnItemIsResolvedWhenWhatItIsReadWithHasChanged) {
  std::string body = Rows({{101}, {102}, {103}, {106}});
  const std::string times =
      R"("submitted_at":"2026-05-01T10:00:00","is_correct":true,"finished_at":"2026-05-01T10:30:00")";
  const std::size_t at = body.find(times, body.find("\"id\":106"));
  SetBody(body.replace(at, times.size(), R"("is_correct":true)"));
  Poll();
  EXPECT_EQ(OnlyItem().code, "ROW_NO_TIME") << "a row that passes needs a time";
  EXPECT_TRUE(Retry(OnlyItem())->refused.has_value());
  source_.bodies["kernels/5"] = KernelDetail(5, "1.75");
  source_.bodies["kernels"] = KernelList({{5, ++count_}});
  clock_.AdvanceMs(86'400'000);
  Poll();
  const auto retried = Retry(OnlyItem());
  ASSERT_TRUE(retried.has_value()) << retried.error().Message();
  EXPECT_TRUE(retried->changed);
  EXPECT_EQ(OnlyItem().decision->what, kResolved);
  EXPECT_THAT(Newest("submission/106").reasons, ElementsAre(kReviewReason));
  EXPECT_FALSE(Retry(OnlyItem())->changed);
  const auto drop = Drop(OnlyItem());
  ASSERT_FALSE(drop.has_value());
  EXPECT_EQ(drop.error().code, "ALREADY_RESOLVED");
  ExpectSound();
}

TEST_F(Deciding, ARefusedListIsBelievedAtTheWordOfAnOperatorAndFromThenOn) {
  SetRows({{106, "COMPLETED", "1.25"}, {101}});
  EXPECT_EQ(Poll().visit, "partial");
  EXPECT_EQ(OnlyItem().code, "ROWS_SHRUNK");
  EXPECT_EQ(Newest("submission/106").version, 0u);
  Poll();
  ASSERT_TRUE(Drop(OnlyItem()).has_value());
  const auto retried = Retry(OnlyItem());
  ASSERT_TRUE(retried.has_value()) << retried.error().Message();
  EXPECT_TRUE(retried->changed) << (retried->refused ? retried->refused->Message() : "");
  EXPECT_EQ(RankOf("submission/106"), 1u);
  EXPECT_EQ(OnlyItem().decision->what, kResolved);
  EXPECT_EQ(Changes("decision").size(), 2u);
  ExpectSound();
  const VisitResult next = Poll();
  EXPECT_EQ(next.visit, "full");
  EXPECT_EQ(next.quarantined, 0u);
  EXPECT_EQ(RankOf("submission/102"), 2u) << "a row that is gone from a list is not deleted";
}

TEST_F(Deciding, ARefusedListOfSeveralPagesIsTheMeasureFromItsFirstOn) {
  const auto list = [&](int from, int to) {
    std::vector<ListedRow> first, second;
    for (int id = to; id > from; --id) {
      if (to - id < 50) first.push_back({id});
      if (to - id >= 49) second.push_back({id});  // pages overlap by a row
    }
    SetBody(Rows(first, to - from));
    source_.bodies[RowsKey(5, 49)] = Rows(second, to - from);
    source_.bodies["kernels"] = KernelList({{5, to - from}});
  };
  list(102, 199);
  const VisitResult whole = Poll();
  EXPECT_EQ(whole.visit, "full") << whole.Json();
  list(130, 190);
  EXPECT_EQ(Poll().visit, "partial");
  EXPECT_EQ(OnlyItem().code, "ROWS_SHRUNK");
  ASSERT_TRUE(Retry(OnlyItem())->changed);
  EXPECT_EQ(Poll().visit, "full");
  EXPECT_EQ(Poll().quarantined, 0u);
}

TEST_F(Deciding, ARefusedListNeverTakesThePlaceOfANewerOne) {
  SetRows({{106, "COMPLETED", "1.25"}, {102, "COMPLETED", "9.5"}});
  EXPECT_EQ(Poll().visit, "partial");
  SetRows({{108}, {101}, {102, "COMPLETED", "1.5"}, {103}, {104, "COMPLETED", "0.5"}});
  EXPECT_EQ(Poll().visit, "full");
  ASSERT_TRUE(Retry(OnlyItem())->changed);
  EXPECT_EQ(RankOf("submission/106"), 1u) << "a row that nobody else has told of";
  EXPECT_EQ(RankOf("submission/102"), 2u) << "the older state is kept as late";
  ExpectSound();
  EXPECT_EQ(Poll().visit, "full");
}

class OneCursor : public Cursors {
 public:
  OneCursor(std::string key, std::string value) : key_(std::move(key)), value_(std::move(value)) {}
  std::optional<std::string> Find(std::string_view key) const override {
    return key == key_ ? std::optional<std::string>(value_) : std::nullopt;
  }
  std::vector<CursorDraft> FindAll(std::string_view) const override { return {{key_, value_}}; }

 private:
  std::string key_, value_;
};

// Commits the row as a program writes it that knows of these decisions and of no others, with its draft
// altered; and returns what verify finds.
std::string FaultsWith(Store& store, Instant at, const std::vector<Decision>& known,
                       const std::function<void(EntryDraft&)>& alter = nullptr) {
  const auto adapter = MakeAdapter(kSource);
  Snapshot snapshot;
  snapshot.source = kSource;
  snapshot.request = RowsKey(5);
  snapshot.captured_at = at;
  snapshot.bytes = Rows({{104, "COMPLETED", "0.44"}});
  snapshot.digest = Sha256(snapshot.bytes);
  Request request;
  request.key = snapshot.request;
  request.context = "kernel/5";
  const auto context = **store.FindContext(kSource, request.context);
  const OneCursor cursors(ReviewKey(kRow), known.empty() ? "" : ReviewText(known));
  Goal goal;
  goal.cursors = &cursors;
  goal.follow.accept_shrunken = true;
  auto outcome = adapter->Accept(request, snapshot, context.value, Reading::kFull, goal);
  EXPECT_TRUE(outcome);
  Ingest ingest;
  ingest.snapshot = &snapshot;
  ingest.adapter = adapter->version();
  ingest.context_key = request.context;
  ingest.context_value = context.value;
  ingest.context_at = context.captured_at;
  ingest.draft.entries = std::move(outcome->draft.entries);
  for (EntryDraft& entry : ingest.draft.entries)
    if (alter && entry.kind == Kind::kSubmission) alter(entry);
  EXPECT_TRUE(store.Commit(ingest));
  std::string faults;
  const auto report = store.Verify();
  for (const Error& fault : report->faults)
    faults += fault.code + " " + fault.where + ": " + fault.what + "\n";
  return faults;
}

TEST_F(Deciding, VerifyHoldsEveryRowAgainstTheLastDecisionOnIt) {
  ASSERT_TRUE(Decide(kRejected).has_value());
  ASSERT_TRUE(Decide(kAdmitted).has_value());
  const auto decisions = *ParseReview(**store_->FindCursor(kSource, ReviewKey(kRow)));
  ASSERT_EQ(decisions.size(), 2u);
  std::int64_t later_ms = clock_.Now().ms;
  const auto faults = [&](const std::vector<Decision>& known,
                          const std::function<void(EntryDraft&)>& alter = nullptr) {
    return FaultsWith(*store_, Instant{later_ms += 1000}, known, alter);
  };
  EXPECT_EQ(faults(decisions), "");
  const std::string name = "REVIEW sol-execbench:submission/104 Submission version ";
  EXPECT_EQ(faults({}), name + "5: it does not show the last decision on it\n") << "as if it still waited";
  EXPECT_EQ(faults({decisions[0]}), name + "6: it does not show the last decision on it\n");
  EXPECT_EQ(faults(decisions, [](EntryDraft& row) { row.state = EntryState::kPending; }),
            name + "7: its state is not what was decided\n");
  EXPECT_EQ(faults(decisions, [](EntryDraft& row) { row.reasons = {std::string(kRejectedReason)}; }),
            name + "8: its state is not what was decided\n");
  EXPECT_EQ(faults(decisions), "");
}

TEST_F(Deciding, VerifyNamesARowThatShowsADecisionThatNobodyMade) {
  EXPECT_EQ(
      FaultsWith(*store_, Instant{clock_.Now().ms + 1000}, {Say(kAdmitted)}),
      "REVIEW sol-execbench:submission/104 Submission version 2: it shows a decision that is not there\n");
}

}  // namespace
}  // namespace etl::test
