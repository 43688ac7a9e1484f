// Rows whose members are anything at all: each ends as an entry with its reason, or in quarantine with its
// bytes, beside rows that are as good as ever.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json.h"
#include "tests/daemon/hostile_support.h"

namespace etl::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One visit with this row in the middle of two good ones: what became of it.
std::string FateOf(const std::string& row, const std::string& id = "102") {
  Stage stage;
  stage.upstream.Say(RowsAt(5), Page({PlainRow(1003).Text(), row, PlainRow(1001).Text()}));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StateOf("1001") + ", " + stage.StateOf("1003"), "passed, passed");
  const std::string state = stage.StateOf(id);
  const std::string code = stage.QuarantineCodeOf(row);
  EXPECT_EQ(stage.Quarantine().size(), code.empty() ? 0u : 1u);
  EXPECT_EQ(stage.last.quarantined, code.empty() ? 0u : 1u);
  if (code.empty()) return state;
  EXPECT_EQ(state, "nothing");
  return code;
}
std::string FateOf(const char* member, const std::string& value) {
  return FateOf(PlainRow(102).Set(member, value).Text());
}

// --- every member in turn ---

// A letter for each of: null, absent, true, 7, 1.5, "x", [], {}.
const std::vector<std::string> kValues = {"null", "", "true", "7", "1.5", "\"x\"", "[]", "{}"};
struct Letter {
  char letter;
  const char* fate;
};
constexpr Letter kFates[] = {
    {'p', "passed"},
    {'F', "ROW_FIELD"},
    {'I', "ROW_ID"},
    {'K', "ROW_KERNEL"},
    {'T', "ROW_TIME"},
    {'n', "pending NOT_FINISHED"},
    {'c', "excluded NOT_CORRECT"},
    {'m', "excluded MISSING_PRIMARY_METRIC"},
    {'d', "excluded DISQUALIFIED"},
};
struct Member {
  const char *name, *fates;
};
constexpr Member kMembers[] = {
    {"id", "IIIpIIII"},
    {"type", "pppppppp"},
    {"user_id", "FFFpFFFF"},
    {"username", "FFFFFpFF"},
    {"kernel_id", "FpFKFFFF"},
    {"kernel_name", "pppppppp"},
    {"kernel_title", "pppppppp"},
    {"collection_id", "pppppppp"},
    {"collection_submission_id", "pppppppp"},
    {"collection_title", "pppppppp"},
    {"submission_mode", "pppppppp"},
    {"status", "FFFFFnFF"},
    {"is_correct", "ccpFFFFF"},
    {"sol_score", "pppppppp"},
    {"latency_ms", "mmFppFFF"},
    {"benchmark_results", "pppppppp"},
    {"fast_1_count", "pppppppp"},
    {"fast_1_total", "pppppppp"},
    {"avg_speedup", "pppppppp"},
    {"gpu_type", "FFFFFpFF"},
    {"worker_id", "ppFFFpFF"},
    {"evaluation_stack_version", "ppFFFpFF"},
    {"is_disqualified", "FpdFFFFF"},
    {"disqualification_reason", "pppppppp"},
    {"disqualification_source", "pppppppp"},
    {"disqualified_at", "pppppppp"},
    {"submitted_at", "ppFFFpFF"},  // finished_at dates the row
    {"finished_at", "ppFFFTFF"},
    {"started_at", "pppppppp"},
    {"result_available_at", "pppppppp"},
    {"error_log", "pppppppp"},
    {"original_filename", "pppppppp"},
    {"profiling_results", "pppppppp"},
    {"run_log", "pppppppp"},
    {"review_status", "pppppppp"},
    {"review_decision", "pppppppp"},
    {"review_summary", "pppppppp"},
    {"review_reasons", "pppppppp"},
    {"review_policy_version", "pppppppp"},
    {"review_hard_rule_id", "pppppppp"},
    {"review_reviewer", "pppppppp"},
    {"review_model", "pppppppp"},
};

std::string LetterOf(const Stage& stage, const std::string& row, const std::string& id) {
  const std::string code = stage.QuarantineCodeOf(row), state = stage.StateOf(id);
  for (const Letter& known : kFates)
    if (known.fate == (code.empty() ? state : code)) return {known.letter};
  return "(" + code + " " + state + ")";
}

class HostileMember : public testing::TestWithParam<Member> {};
void PrintTo(const Member& member, std::ostream* out) {
  *out << member.name;
}

TEST_P(HostileMember, NullAbsentAndOfEveryTypeEndsAsItMust) {
  Stage stage;
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < kValues.size(); ++i)
    rows.push_back(PlainRow(1000 + static_cast<std::int64_t>(i)).Set(GetParam().name, kValues[i]).Text());
  stage.SayRows(rows);
  EXPECT_EQ(stage.Visit(), "full");
  std::string fates;
  std::uint64_t set_aside = 0;
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    const bool other_id = std::string_view(GetParam().name) == "id" && kValues[i] == "7";
    fates += LetterOf(stage, rows[i], other_id ? "7" : std::to_string(1000 + i));
    set_aside += static_cast<std::uint64_t>(std::isupper(fates.back()) != 0);
  }
  EXPECT_EQ(fates, GetParam().fates);
  EXPECT_EQ(stage.last.quarantined, set_aside);
  EXPECT_EQ(stage.Quarantine().size(), set_aside);
}

INSTANTIATE_TEST_SUITE_P(Scripts, HostileMember, testing::ValuesIn(kMembers),
                         [](const auto& script) { return std::string(script.param.name); });

TEST(HostileRow, WithScoresThatAreNoNumbersIsReportedOnceForEach) {
  Stage stage;
  std::vector<std::string> rows;
  for (const char* member : {"sol_score", "avg_speedup", "fast_1_count", "fast_1_total"})
    for (const char* value : {"true", "\"x\"", "[]"})
      rows.push_back(PlainRow(1000 + static_cast<std::int64_t>(rows.size())).Set(member, value).Text());
  stage.SayRows(rows);
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Drift(), testing::UnorderedElementsAre("submissions[].sol_score is no number: true",
                                                           "submissions[].avg_speedup is no number: true",
                                                           "submissions[].fast_1_count is no number: true",
                                                           "submissions[].fast_1_total is no number: true"));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.last.drift, 0u);
}

TEST(HostileRow, ThatWasGoodAndIsDamagedLaterKeepsItsLastGoodState) {
  Stage stage;
  EXPECT_EQ(stage.Visit(), "full");
  const std::string damaged = PlainRow(102).Set("latency_ms", "\"fast\"").Text();
  stage.SayRows({PlainRow(103).Text(), damaged, PlainRow(101).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), kAllPassed);
  EXPECT_THAT(stage.Quarantine(), ElementsAre("ROW_FIELD " + damaged));
  EXPECT_EQ(stage.Newest("submission/102").version, 1u);
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.last.quarantined, 0u) << "the same bytes are no news";
}

// --- ids ---

struct Value {
  const char *member, *value, *fate;
};

TEST(HostileRow, HasAnIdThatIsAPositiveIntegerOrNone) {
  const Value cases[] = {
      {"id", "\"102\"", "ROW_ID"},     {"id", "-102", "ROW_ID"},
      {"id", "-0", "ROW_ID"},          {"id", "102.0", "ROW_ID"},
      {"id", "102.5", "ROW_ID"},       {"id", "1e3", "ROW_ID"},
      {"id", "0", "ROW_ID"},           {"id", "9223372036854775808", "ROW_ID"},
      {"user_id", "-7", "passed"},     {"user_id", "7.0", "ROW_FIELD"},
      {"user_id", "1e3", "ROW_FIELD"}, {"user_id", "9223372036854775808", "ROW_FIELD"},
  };
  for (const Value& c : cases) EXPECT_EQ(FateOf(c.member, c.value), c.fate) << c.member << " " << c.value;
}

TEST(HostileRow, WithAnIdBeyondTheRangeOfADoubleKeepsItsOwn) {
  Stage stage;
  stage.SayRows(
      {PlainRow(9007199254740993).Set("latency_ms", "0.3").Set("user_id", "9007199254740995").Text(),
       PlainRow(9007199254740992).Set("latency_ms", "0.2").Set("user_id", "9007199254740994").Text(),
       PlainRow(9223372036854775807).Set("latency_ms", "0.1").Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.StandsAt("9007199254740993"), 300'000);
  EXPECT_EQ(stage.StandsAt("9007199254740992"), 200'000);
  EXPECT_EQ(stage.StandsAt("9223372036854775807"), 100'000);
  EXPECT_THAT(stage.Names(Kind::kSoftwareProject),
              ElementsAre("user/7", "user/9007199254740994", "user/9007199254740995"));
  const auto run = stage.Newest("submission/9007199254740993", Kind::kBenchmarkRun);
  EXPECT_THAT(stage.store->GetObject(*run.digest)->identity, HasSubstr(R"("externalId":"9007199254740993")"));
}

// --- JSON that is none ---

TEST(HostileRow, ThatTheStrictReaderRefusesIsSetAsideAloneWithItsBytes) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string bad[] = {
      PlainRow(102).Set("user_id", "7, \"id\": 9").Text(),
      PlainRow(102).Set("user_id", "7, \"i\\u0064\": 9").Text(),
      PlainRow(102).Set("username", "\"a\", \"username\": \"a\"").Text(),
      PlainRow(102).Set("username", "\"\xff\xfe\"").Text(),
      PlainRow(102).Set("username", "\"\xc0\xaf\"").Text(),
      PlainRow(102).Set("username", "\"\xed\xa0\x80\"").Text(),
      PlainRow(102).Set("username", "\"\\ud800\"").Text(),
      PlainRow(102).Set("username", "\"\\udc00\\ud800\"").Text(),
      PlainRow(102).Set("username", "\"a\nb\"").Text(),
      PlainRow(102).Set("profiling_results", deep).Text(),
      PlainRow(102).Set("latency_ms", "1e400").Text(),
      PlainRow(102).Set("sol_score", "-1e400").Text(),
      PlainRow(102).Set("latency_ms", "NaN").Text(),
      PlainRow(102).Set("latency_ms", "Infinity").Text(),
      PlainRow(102).Set("latency_ms", "01").Text(),
      PlainRow(102).Set("latency_ms", ".5").Text(),
      PlainRow(102).Set("latency_ms", "0x1").Text(),
  };
  for (const std::string& row : bad) EXPECT_EQ(FateOf(row), "ROW_JSON") << row.substr(0, 300);
  for (const char* row : {"null", "17", "\"row\"", "[]", "true"})
    EXPECT_EQ(FateOf(std::string(row)), "ROW_NOT_AN_OBJECT") << row;
  EXPECT_EQ(FateOf("{}"), "ROW_ID");
}

// --- numbers ---

TEST(HostileRow, WithAnOddNumberIsMeasuredByItsValue) {
  const Value cases[] = {
      {"latency_ms", "-0", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "0e5", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "-1", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "1e-7", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "5e-324", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "1e-400", "excluded MISSING_PRIMARY_METRIC"},
      {"latency_ms", "0.0099999", "excluded BELOW_SPEED_OF_LIGHT"},
      {"latency_ms", "1e-2", "passed"},
      {"latency_ms", "5E2", "passed"},
      {"latency_ms", "9007199254", "passed"},
      {"latency_ms", "9007199254740993", "MANIFEST_RULE"},
      {"latency_ms", "123456789012345678901234567890", "MANIFEST_RULE"},
      {"latency_ms", "1e308", "MANIFEST_RULE"},
      {"sol_score", "-0", "passed"},
      {"sol_score", "1e-7", "passed"},
      {"sol_score", "123456789012345678901234567890", "passed"},
      {"fast_1_count", "99999999999999999999", "passed"},
  };
  for (const Value& c : cases) EXPECT_EQ(FateOf(c.member, c.value), c.fate) << c.member << " " << c.value;
}

TEST(HostileRow, KeepsUpstreamsNumbersInTheirCanonicalForm) {
  for (const auto& [text, canonical] :
       {std::pair("-0", "0"), std::pair("1e-7", "1e-7"), std::pair("0.000001", "0.000001"),
        std::pair("1e21", "1e+21"), std::pair("100000000000000000000", "100000000000000000000"),
        std::pair("0.1052749999999990", "0.105274999999999")}) {
    Stage stage;
    stage.SayRows({PlainRow(101).Set("sol_score", text).Text()});
    EXPECT_EQ(stage.Visit(), "full");
    const auto run = stage.Newest("submission/101", Kind::kBenchmarkRun);
    EXPECT_THAT(stage.store->GetObject(*run.digest)->identity,
                HasSubstr(std::string("\"sol_score\":") + canonical + "}"))
        << text;
  }
}

// --- times ---

TEST(HostileRow, IsDatedByWhatItSaysOrNotAtAll) {
  struct Time {
    const char *text, *observed;
  };
  const Time times[] = {
      {"2026-05-01T10:30:00", "2026-05-01T10:30:00.000Z"},
      {"2026-05-01T10:30", "2026-05-01T10:30:00.000Z"},
      {"2026-05-01 10:30:00.5", "2026-05-01T10:30:00.500Z"},
      {"2026-05-01T10:30:00Z", "2026-05-01T10:30:00.000Z"},
      {"2026-05-01T10:30:00.25+02:00", "2026-05-01T08:30:00.250Z"},
      {"2026-05-01T00:30:00+0200", "2026-04-30T22:30:00.000Z"},
      {"2026-05-01T10:30:00-11", "2026-05-01T21:30:00.000Z"},
      {"2026-05-01T10:30:00.999999999", "2026-05-01T10:30:00.999Z"},
      {"2024-02-29T23:59:59.999", "2024-02-29T23:59:59.999Z"},
      {"0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"},
      {"9999-12-31T23:59:59.999", "9999-12-31T23:59:59.999Z"},
  };
  for (const Time& time : times) {
    Stage stage;
    stage.SayRows({PlainRow(101).Set("finished_at", "\"" + std::string(time.text) + "\"").Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.ObservedAt("101"), time.observed) << time.text;
  }
  for (const char* text :
       {"0000-01-01T00:00:00", "2016-12-31T23:59:60", "2026-05-01T24:00:00", "2026-02-29T00:00:00",
        "2026-13-01T00:00:00", "2026-05-01T10:30:00.1234567890", "2026-05-01T10:30:00.", "2026-05-01",
        "10000-01-01T00:00:00", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00", "1780000000",
        "2026-05-01T10:30:00+25:00", "2026-05-01T10:30:00 UTC", "yesterday", "", " 2026-05-01T10:30:00",
        "2026-05-01T10:30:00Z\\u0000"})
    EXPECT_EQ(FateOf("finished_at", "\"" + std::string(text) + "\""), "ROW_TIME") << text;
}

TEST(HostileRow, WithoutAnyTimeIsNotDatedByOurClock) {
  EXPECT_EQ(FateOf(PlainRow(102).Set("finished_at", "null").Set("submitted_at", "null").Text()),
            "ROW_NO_TIME");
  EXPECT_EQ(FateOf(PlainRow(102).Set("finished_at", "").Set("submitted_at", "\"soon\"").Text()), "ROW_TIME");
  EXPECT_EQ(FateOf(PlainRow(102)
                       .Set("finished_at", "null")
                       .Set("submitted_at", "null")
                       .Set("is_correct", "false")
                       .Text()),
            "excluded NOT_CORRECT");
}

// --- names ---

TEST(HostileRow, TakesAnyTextForAUsersName) {
  std::string longest;
  for (int i = 0; i < 10'000; ++i) longest += "é";
  struct Name {
    std::string json, kept, slug;
  };
  const Name names[] = {
      {R"(<script>alert(1)</script>)", "<script>alert(1)</script>", "sol-user-script-alert-1-script"},
      {R"(a\nb\r\n\tc)", "a\nb\r\n\tc", "sol-user-a-b-c"},
      {"\u202Eevil\u202C", "\u202Eevil\u202C", "sol-user-evil"},
      {"", "", "sol-user-"},
      {" ", " ", "sol-user-"},
      {"你好", "你好", "sol-user-"},
      {R"(\u0000)", std::string(1, '\0'), "sol-user-"},
      {R"(\ud83d\ude00 x)", "\U0001F600 x", "sol-user-x"},
      {R"(../../etc/passwd)", "../../etc/passwd", "sol-user-etc-passwd"},
  };
  for (const Name& name : names) {
    Stage stage;
    stage.SayRows({PlainRow(101).Set("username", "\"" + name.json + "\"").Text()});
    EXPECT_EQ(stage.Visit(), "full");
    EXPECT_EQ(stage.Rows(), "101 passed") << name.json;
    const auto row = json::Document::Parse(stage.Newest("submission/101").metadata);
    EXPECT_EQ(row->root().Find("username").AsString(), name.kept);
    const Version user = stage.Newest("user/7", Kind::kSoftwareProject);
    EXPECT_THAT(user.metadata, HasSubstr("\"" + name.slug + "\""));
    const auto object = json::Document::Parse(stage.store->GetObject(*user.digest)->identity);
    EXPECT_EQ(object->root().At({"spec", "name"}).AsString(), name.kept);
  }
  Stage stage;
  stage.SayRows({PlainRow(101).Set("username", "\"" + longest + "\"").Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), "101 passed");
  EXPECT_LT(stage.Newest("user/7", Kind::kSoftwareProject).metadata.size(), 300u);
  EXPECT_LT(stage.Newest("submission/101").metadata.size(), 600u);
}

TEST(HostileRow, OfUsersWhoseNamesDifferInCaseAloneKeepsThemApart) {
  Stage stage;
  stage.SayRows({PlainRow(102).Set("user_id", "8").Set("username", "\"ADA\"").Text(),
                 PlainRow(101).Set("username", "\"ada\"").Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_THAT(stage.Names(Kind::kSoftwareProject), ElementsAre("user/7", "user/8"));
  EXPECT_NE(stage.Newest("user/7", Kind::kSoftwareProject).digest,
            stage.Newest("user/8", Kind::kSoftwareProject).digest);
}

// --- words that are new ---

TEST(HostileRow, WithAWordThatIsNewIsTakenAndReportedOnce) {
  Stage stage;
  stage.SayRows(
      {PlainRow(104).Set("status", "\"PAUSED\"").Text(), PlainRow(103).Set("gpu_type", "\"X_900\"").Text(),
       PlainRow(102).Set("evaluation_stack_version", "\"v9.9-rc 1\"").Text(), PlainRow(101).Text()});
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.Rows(), "101 passed, 102 passed, 103 passed, 104 pending NOT_FINISHED");
  EXPECT_THAT(stage.Drift(), testing::UnorderedElementsAre("submissions[].status=PAUSED: \"PAUSED\"",
                                                           "submissions[].gpu_type=X_900: \"X_900\""));
  EXPECT_THAT(stage.Names(Kind::kBenchmarkProtocol),
              ElementsAre("evaluation-stack/v1.1", "evaluation-stack/v9.9-rc 1"));
  EXPECT_THAT(stage.Names(Kind::kExecutionEnvironment),
              ElementsAre("environment/B200/v1.1", "environment/B200/v9.9-rc 1", "environment/X_900/v1.1"));
  EXPECT_EQ(stage.Visit(), "full");
  EXPECT_EQ(stage.last.drift, 0u);
  EXPECT_THAT(stage.Quarantine(), IsEmpty());
}

TEST(HostileRow, WithAGpuOrStackThatCannotBeAManifestIsSetAside) {
  EXPECT_EQ(FateOf("gpu_type", "\"" + std::string(600, 'G') + "\""), "MANIFEST_RULE");
  EXPECT_EQ(FateOf("evaluation_stack_version", "\"" + std::string(600, 'v') + "\""), "MANIFEST_RULE");
  EXPECT_EQ(FateOf("gpu_type", R"("B200\u0000")"), "ROW_FIELD");
  EXPECT_EQ(FateOf("gpu_type", R"("B200/v1")"), "ROW_FIELD");
  EXPECT_EQ(FateOf("evaluation_stack_version", R"("v1\u0000")"), "MANIFEST_RULE");
}

}  // namespace
}  // namespace etl::test
