// Values that are wrong though their checksum is right: whatever follows from something else is computed
// again and named.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/keys.h"
#include "store/printable.h"
#include "store/store_impl.h"
#include "tests/support/manual_clock.h"
#include "tests/support/small_drafts.h"

namespace etl::test {
namespace {

using testing::HasSubstr;

// A store in memory with every kind of key, that can be edited below its commits.
class VerifyIndex : public testing::Test {
 protected:
  void SetUp() override {
    Store::Options options;
    options.mode = Store::Mode::kWrite;
    options.in_memory = options.create = true;
    auto opened = Store::Open("memory", options, clock_);
    ASSERT_TRUE(opened.has_value());
    store_ = *std::move(opened);
    Fill();
    const auto report = store_->Verify();
    ASSERT_TRUE(report.has_value());
    for (const Error& fault : report->faults) ADD_FAILURE() << fault.Message();
  }

  // Rows read with a context, scored anew, retracted and seen late; an object of two entries; an answer that
  // was replaced and one that came late; a context that changed with its rows not read again.
  void Fill() {
    Detail(1, "{\"a\":1}");
    Rows(1, {{1, 100.0}, {2, 90.0}, {3, 90.0}}, 10);
    Rows(1, {{1, 80.0}, {2, 90.0}, {3, 0.0}}, 20);
    Rows(1, {{2, 95.0}}, 15);
    Rows(2, {{4, 70.0}}, 30);
    Ingest shared = source_.Page(3, {}, 40);
    shared.draft.entries.push_back(shared.draft.entries[0]);
    shared.draft.entries.back().external_id = "op2";
    shared.draft.quarantine.push_back({"ROW_ID", "page/3 $[1]", "no id", "tell the source", "{\"x\":1}"});
    shared.draft.drift.push_back({"rows[].flux", "7"});
    shared.draft.gaps.push_back({"context/1", "TOTAL_NOT_REACHED", 3, "said 4, showed 1"});
    Commit(shared);
    Detail(50, "{\"a\":2}");
    ASSERT_TRUE(store_->PutVisit("small", {"nowhere", "full", Instant{1}, Instant{2}, "{}", "", Instant{}}).has_value());
  }
  void Detail(std::int64_t at_ms, const std::string& value) {
    Ingest detail = source_.Page(9, {}, at_ms);
    detail.draft.contexts.push_back({"context/1", value});
    const_cast<Snapshot*>(detail.snapshot)->bytes = value;
    const_cast<Snapshot*>(detail.snapshot)->digest = Sha256(value);
    Commit(detail);
  }
  void Rows(int page, const std::vector<std::pair<int, double>>& rows, std::int64_t at_ms) {
    Ingest ingest = source_.Page(page, rows, at_ms);
    ingest.context_key = "context/1";
    ingest.context_value = "{\"a\":1}";
    ingest.context_at = Instant{1};
    Commit(ingest);
  }
  void Commit(const Ingest& ingest) {
    const auto done = store_->Commit(ingest);
    ASSERT_TRUE(done.has_value()) << done.error().Message();
  }

  Kv& kv() { return const_cast<Kv&>(static_cast<StoreImpl&>(*store_).kv()); }
  void Put(const std::string& key, const std::string& value) {
    const std::shared_ptr<Kv::Batch> batch = kv().NewBatch();
    batch->Put(key, value);
    ASSERT_TRUE(kv().Write(batch, true).has_value());
  }
  void Delete(const std::string& key) {
    const std::shared_ptr<Kv::Batch> batch = kv().NewBatch();
    batch->Delete(key);
    ASSERT_TRUE(kv().Write(batch, true).has_value());
  }
  std::map<std::string, std::string> All(char prefix) {
    std::map<std::string, std::string> all;
    const std::string from(1, prefix);
    for (auto it = kv().Scan(from, PrefixEnd(from)); it->Valid(); it->Next())
      all.emplace(it->key(), it->value());
    return all;
  }
  VerifyReport Verify() { return *store_->Verify(); }

  ManualClock clock_;
  SmallSource source_;
  std::unique_ptr<Store> store_;
};

bool Names(const VerifyReport& report, const std::string& key) {
  for (const Error& fault : report.faults)
    if (fault.where == "key " + PrintableKey(key)) return true;
  return false;
}

TEST_F(VerifyIndex, EveryKindOfKeyIsThere) {
  for (const char prefix : std::string("bcdefghjklmnopqrstuvwxyz")) {
    if (prefix != keys::kStandingNode) {
      EXPECT_FALSE(All(prefix).empty()) << prefix;
    }
  }
}

// What only upstream or a visit can tell, and nothing stored says a second time.
const std::map<char, std::set<std::string>> kToldOnce = {
    {keys::kEntry, {"seenAt", "major", "at", "from", "name"}},
    {keys::kVersion, {"seenAt", "major", "at", "from", "name"}},
    {keys::kStandingRoot, {"next"}},
    {keys::kContext, {"seenAt", "value", "a\\"}},
    {keys::kQuarantine, {"what", "fix", "lastSeen"}},
    {keys::kGap, {"detail"}},
    {keys::kRequest, {"confirmedAt", "adapter", "context", "entries", "runs", "readAt", "contextDigest"}}};

// The member that a byte of a stored JSON object lies in: the last name before it.
std::string MemberAt(const std::string& value, std::size_t at) {
  const std::size_t colon = value.rfind("\":", at);
  if (colon == std::string::npos) return {};
  const std::size_t quote = value.rfind('"', colon - 1);
  return value.substr(quote + 1, colon - quote - 1);
}

TEST_F(VerifyIndex, EveryChangedDigitOrLetterOfADerivedValueIsFound) {
  std::map<char, int> changed;
  for (const char prefix : std::string("bdeghjklmnopqstvwxz")) {
    for (const auto& [key, value] : All(prefix)) {
      for (std::size_t at = 0; at < value.size();
           at += prefix == 'o' || prefix == 'e' || prefix == 'v' ? 5 : 1) {
        std::string bad = value;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        if (const auto exempt = kToldOnce.find(prefix);
            exempt != kToldOnce.end() && exempt->second.contains(MemberAt(value, at)))
          continue;
        // A frame has bits that its decoder does not look at.
        if (prefix == keys::kSnapshotBody && DecodeBody(key, bad).value_or("") == *DecodeBody(key, value))
          continue;
        Put(key, bad);
        ++changed[prefix];
        EXPECT_GT(Verify().fault_count, 0u) << PrintableKey(key) << "\n" << value << "\n" << bad;
      }
      Put(key, value);
    }
  }
  EXPECT_EQ(Verify().fault_count, 0u);
  EXPECT_GT(changed[keys::kFormerMember], 100);
}

TEST_F(VerifyIndex, EveryChangedDigitOrLetterOfTheCountsIsFound) {
  const std::string key = keys::Meta("last"), value = All(keys::kMeta).at(key);
  const std::size_t counts = value.find("\"counts\"");
  ASSERT_NE(counts, std::string::npos) << value;
  for (std::size_t at = counts; at < value.size(); ++at) {
    std::string bad = value;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Put(key, bad);
    EXPECT_GT(Verify().fault_count, 0u) << bad;
  }
  std::string more = value;
  const std::size_t objects = more.find("\"objects\":") + 10;
  more.insert(objects, "1");
  Put(key, more);
  const VerifyReport report = Verify();
  ASSERT_EQ(report.fault_count, 1u);
  EXPECT_EQ(report.faults[0].code, "COUNT");
  EXPECT_TRUE(Names(report, key));
}

struct Edit {
  char prefix;
  const char *from, *to, *code;
};

TEST_F(VerifyIndex, AWrongIndexValueIsNamedByItsKey) {
  const Edit edits[] = {
      {keys::kContextRows, "submission/1", "submission/7", "INDEX"},
      {keys::kContextRows, "\"submission/1\",", "", "INDEX"},
      {keys::kRowChange, "\"sequence\":", "\"sequence\":1", "INDEX"},
      {keys::kObjectEntry, "\"sequence\":", "\"sequence\":9", "INDEX"},
      {keys::kContext, "\"sequence\":", "\"sequence\":9", "CONTEXT"},
      {keys::kContext, "\"capturedAt\":50", "\"capturedAt\":49", "CONTEXT"},
      {keys::kFormerMember, "submission/", "submission/9", "STANDING"},
      {keys::kFormerMember, "\"since\":", "\"since\":1", "STANDING"},
      {keys::kRecordStep, "submission/", "submission/9", "RECORDS"},
      {keys::kLateSnapshot, "small/1", "small/2", "INDEX"},
      {keys::kConfirmed, "10", "9", "INDEX"},
      {keys::kPendingContext, "{}", "[]", "RECORD_UNREADABLE"},
      {keys::kRequest, "\"capturedAt\":", "\"capturedAt\":1", "INDEX"},
      {keys::kQuarantine, "ROW_ID", "ROW_IE", "INDEX"},
      {keys::kDrift, "\"sample\":\"7", "\"sample\":\"8", "CHANGE_LOG"},
      {keys::kGap, "\"missing\":3", "\"missing\":4", "CHANGE_LOG"},
      {keys::kMeta, "\"groups\":1", "\"groups\":2", "COUNT"},
      {keys::kVisit, "full", "ful", "INDEX"},
      {keys::kVersion, "\"late\":true", "\"late\":false", "RECORD_UNREADABLE"},
  };
  for (const Edit& edit : edits) {
    SCOPED_TRACE(std::string(1, edit.prefix) + " " + edit.from);
    int edited = 0;
    for (const auto& [key, value] : All(edit.prefix)) {
      const auto at = value.find(edit.from);
      if (at == std::string::npos) continue;
      std::string bad = value;
      Put(key, bad.replace(at, std::string(edit.from).size(), edit.to));
      const VerifyReport report = Verify();
      Put(key, value);
      ++edited;
      EXPECT_TRUE(Names(report, key)) << PrintableKey(key);
      bool coded = false;
      for (const Error& fault : report.faults) coded = coded || fault.code == edit.code;
      EXPECT_TRUE(coded) << (report.faults.empty() ? "no fault" : report.faults[0].Message());
      break;
    }
    EXPECT_EQ(edited, 1);
  }
}

TEST_F(VerifyIndex, AMissingIndexValueIsNamedByItsKey) {
  for (const char prefix : std::string("dkmnpuwxz")) {
    for (const auto& [key, value] : All(prefix)) {
      Delete(key);
      EXPECT_TRUE(Names(Verify(), key)) << PrintableKey(key);
      Put(key, value);
    }
  }
}

TEST_F(VerifyIndex, AValueUnderAKeyThatNothingLeadsToIsNamed) {
  const Digest digest = Sha256("nothing");
  const std::pair<std::string, std::string> extra[] = {
      {keys::Former(1, 3, digest), All(keys::kFormerMember).begin()->second},
      {keys::Former(7, 3, digest), All(keys::kFormerMember).begin()->second},
      {keys::Group(keys::kGroupNumber, 9), std::string(digest.View())},
      {keys::ObjectEntry(digest, {"small", "op", ""}), "{\"sequence\":1}"},
      {keys::ByText(keys::kContextRows, "small", std::string("context/9") + '\0' + keys::Big64(1)), "[]"},
      {keys::ByText(keys::kContext, "small", "context/9"), All(keys::kContext).begin()->second},
      {keys::ByText(keys::kPendingContext, "small", "context/9"), "{}"},
      {keys::ByText(keys::kRowChange, "small", "context/1"), "{\"sequence\":9999}"},
      {keys::Response(keys::kConfirmed, "small", "page/1", digest), "7"},
      {keys::Response(keys::kLateSnapshot, "small", "page/1", digest), "[]"},
      {keys::VersionKey({"small", "nobody", ""}, Kind::kSubmission, 1), All(keys::kVersion).begin()->second},
      {keys::Node(1, 99), "x"},
      {keys::Meta("notes"), "{}"},
      {"A", "1"},
      {"i1", "1"},
      {"~", "1"},
  };
  for (const auto& [key, value] : extra) {
    const auto before = *kv().Get(key);
    Put(key, value);
    const VerifyReport report = Verify();
    EXPECT_GT(report.fault_count, 0u) << PrintableKey(key);
    if (key[0] != keys::kStandingNode) {
      EXPECT_TRUE(Names(report, key)) << PrintableKey(key);
    }
    before ? Put(key, *before) : Delete(key);
  }
  EXPECT_EQ(Verify().fault_count, 0u);
}

TEST_F(VerifyIndex, TheChangeLogMustTellOfTheVersionsThereAre) {
  for (const auto& [key, value] : All(keys::kCommit)) {
    const auto at = value.find("\"version\":1");
    if (at == std::string::npos) continue;
    std::string bad = value;
    bad[at + 10] = '2';
    Put(key, bad);
    const VerifyReport report = Verify();
    Put(key, value);
    ASSERT_GT(report.fault_count, 0u);
    EXPECT_EQ(report.faults[0].code, "CHANGE_LOG");
    EXPECT_EQ(report.faults[0].where, "change " + std::to_string(keys::ReadBig64(key.substr(1))));
  }
}

// A response may be read again though it is the known answer; nothing about it may then be told of a commit
// that does not exist.
TEST_F(VerifyIndex, TheKnownAnswerReadAgainLeavesAStoreThatIsWhole) {
  Ingest again = source_.Page(2, {{4, 70.0}}, 60);
  Commit(again);
  Ingest other = source_.Page(7, {{9, 10.0}}, 70);
  Commit(other);
  const VerifyReport report = Verify();
  for (const Error& fault : report.faults) ADD_FAILURE() << fault.Message();
}

}  // namespace
}  // namespace etl::test
