// Commands that decide something: review, quarantine drop and retry.
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/digest.h"
#include "model/json.h"
#include "tests/etlctl/ctl.h"
#include "tests/support/temp_dir.h"

namespace etl::ctl {
namespace {

using test::Ctl;
using test::Ran;
using ::testing::HasSubstr;
using ::testing::Not;
using Args = std::vector<std::string>;

const std::string kExample = std::string(ETL_SOURCE_DIR) + "/fixtures/leaderboard/1";
constexpr const char* kRow = "sol-execbench:submission/70015";  // below its kernel's bound

json::Document Parsed(const std::string& text) {
  auto document = json::Document::Parse(text);
  if (!document) throw std::runtime_error(document.error().Message() + " in " + text);
  return *std::move(document);
}

// The example leaderboard, with a row that cannot be read and an answer that is none.
class Decide : public ::testing::Test {
 protected:
  Decide() {
    std::filesystem::copy(kExample, dir_.File("saved"), std::filesystem::copy_options::recursive);
    std::ofstream(dir_.File("saved/submissions/41.json"))
        << R"({"data":{"submissions":[{"id": "no number"}],"total":1,"offset":0,"limit":50}})";
    std::ofstream(dir_.File("saved/submissions/23.json")) << "<html>";
    Take("2026-10-01T00:00:00Z");
  }
  Ran Take(const std::string& when) {
    return On({"backfill", "--source", "sol-execbench", "--from", dir_.File("saved"), "--captured-at", when});
  }
  Ran On(Args args) {
    args.insert(args.end(), {"--store", dir_.File("store")});
    return Ctl(args);
  }
  std::vector<std::string> Ids(const Args& more = {}) {
    Args args{"quarantine", "list", "-o", "json"};
    args.insert(args.end(), more.begin(), more.end());
    std::vector<std::string> ids;
    const auto document = Parsed(On(args).out);
    for (const json::Value item : document.root().Find("quarantine").elements())
      ids.emplace_back(item.Find("id").AsString());
    return ids;
  }
  std::string IdOf(const std::string& code) {
    const auto document = Parsed(On({"quarantine", "list", "--all", "-o", "json"}).out);
    for (const json::Value item : document.root().Find("quarantine").elements())
      if (item.Find("code").AsString() == code)
        return std::string(item.Find("id").AsString().substr(7));  // "sha256:"
    return "";
  }

  const etl::test::TempDir dir_{"ctl"};
};

TEST_F(Decide, TheReviewListShowsWhatAPersonNeedsToJudge) {
  const Ran table = On({"review", "list"});
  EXPECT_EQ(table.exit, 0) << table.err;
  for (const char* text : {"submission/70015", "nine-pines", "009_floor_rows_topk", "0.01 ms", "0.021 ms"})
    EXPECT_THAT(table.out, HasSubstr(text));
  const auto document = Parsed(On({"review", "list", "-o", "json"}).out);
  const json::Value items = document.root().Find("review");
  ASSERT_EQ(items.size(), 2u);
  for (const json::Value item : items.elements()) {
    EXPECT_TRUE(item.Find("open").IsTrue());
    EXPECT_EQ(item.Find("boundMs").AsDouble(), 0.021);
    EXPECT_EQ(item.Find("since").AsString(), "2026-10-01T00:00:00.000Z");
    EXPECT_EQ(item.Find("decisions").size(), 0u);
  }
  EXPECT_THAT(On({"review", "list", "--source", "another"}).err, HasSubstr("no row waits for a decision"));
}

TEST_F(Decide, AnAdmittedRowIsRankedAndLeavesTheList) {
  const Ran admitted = On({"review", "admit", kRow, "--reason", "the bound is too high", "-o", "json"});
  ASSERT_EQ(admitted.exit, 0) << admitted.err;
  EXPECT_EQ(
      admitted.out,
      R"({"source":"sol-execbench","externalId":"submission/70015","decision":"admitted","changed":true,"rank":1})"
      "\n");
  EXPECT_THAT(On({"review", "list"}).out, Not(HasSubstr("70015")));
  const Ran all = On({"review", "list", "--all"});
  EXPECT_THAT(all.out, HasSubstr("passed"));
  EXPECT_THAT(all.out, HasSubstr("the bound is too high"));
  EXPECT_THAT(On({"history", kRow}).out, HasSubstr("a person decided so"));
  EXPECT_THAT(On({"changes"}).out,
              HasSubstr("submission/70015 · decision admitted · reason the bound is too high"));
  const Ran again = On({"review", "admit", "submission/70015", "--reason", "once more"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out, "Nothing changed: sol-execbench:submission/70015 was admitted before.\n");
  const Ran rejected = On({"review", "reject", "submission/70015", "--reason", "it answers from a cache"});
  EXPECT_EQ(rejected.out, "sol-execbench:submission/70015 rejected: it stands in no ranking\n")
      << rejected.err;
  EXPECT_EQ(On({"verify"}).exit, 0);
  const std::string target = dir_.File("rebuilt");
  EXPECT_EQ(On({"rebuild", target}).exit, 0);
  EXPECT_EQ(Ctl({"export", "--store", target}).out, On({"export"}).out);
  EXPECT_EQ(Ctl({"review", "list", "--all", "-o", "json", "--store", target}).out,
            On({"review", "list", "--all", "-o", "json"}).out);
}

TEST_F(Decide, EveryRefusalHasItsCodeAndStatus) {
  const std::string before = On({"status", "-o", "json"}).out;
  struct Case {
    Args args;
    int exit;
    const char* code;
  };
  const std::string row = IdOf("ROW_ID"), page = IdOf("JSON_SYNTAX");
  ASSERT_NE(row, "");
  const Case cases[] = {
      {{"review", "admit", kRow}, 2, "USAGE"},
      {{"review", "admit", kRow, "--reason", ""}, 2, "USAGE"},
      {{"review", "admit", kRow, "--reason", " \t"}, 2, "USAGE"},
      {{"review", "admit", kRow, "--reason", "\xff"}, 2, "USAGE"},
      {{"review", "admit", kRow, "--reason", std::string(1001, 'x')}, 2, "USAGE"},
      {{"review", "reject", "", "--reason", "x"}, 2, "USAGE"},
      {{"review", "reject", "submission/1", "--reason", "x"}, 4, "NOT_FOUND"},
      {{"review", "admit", "submission/70016", "--reason", "x"}, 1, "NOT_UNDER_REVIEW"},
      {{"review", "reject", "submission/70011", "--reason", "x"}, 1, "NOT_UNDER_REVIEW"},
      {{"quarantine", "drop", row}, 2, "USAGE"},
      {{"quarantine", "drop", "abc", "--reason", "x"}, 2, "USAGE"},
      {{"quarantine", "drop", "abcdef", "--reason", "x"}, 4, "NOT_FOUND"},
      {{"quarantine", "retry", "abcdef"}, 4, "NOT_FOUND"},
      {{"quarantine", "retry", row}, 3, "ROW_ID"},
  };
  for (const Case& c : cases) {
    Args args = c.args;
    args.insert(args.end(), {"-o", "json"});
    const Ran ran = On(args);
    EXPECT_EQ(ran.exit, c.exit) << ::testing::PrintToString(c.args) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(std::string("\"code\":\"") + c.code + "\""))
        << ::testing::PrintToString(args);
    EXPECT_THAT(ran.err, HasSubstr("\"exit\":" + std::to_string(c.exit)));
  }
  EXPECT_EQ(On({"review", "admit", kRow, "--reason", std::string(1000, 'x')}).exit, 0);
  for (const Args& args :
       {Args{"review", "admit", kRow, "--reason", "x"}, Args{"quarantine", "retry", "abcd"},
        Args{"quarantine", "drop", "abcd", "--reason", "x"}, Args{"review", "list"}}) {
    Args missing = args;
    missing.insert(missing.end(), {"--store", "/nonexistent-store"});
    EXPECT_EQ(Ctl(missing).exit, 4) << ::testing::PrintToString(args);
  }
  EXPECT_EQ(page, IdOf("JSON_SYNTAX"));
}

TEST_F(Decide, ADroppedItemIsListedWithAllAlone) {
  ASSERT_EQ(Ids().size(), 2u);
  const std::string row = IdOf("ROW_ID");
  const Ran dropped = On({"quarantine", "drop", row.substr(0, 12), "--reason", "a row of upstream's tests"});
  ASSERT_EQ(dropped.exit, 0) << dropped.err;
  EXPECT_EQ(dropped.out, row + " dropped (ROW_ID).\n");
  EXPECT_EQ(Ids().size(), 1u);
  EXPECT_EQ(Ids({"--all"}).size(), 2u);
  EXPECT_THAT(On({"quarantine", "list", "--all"}).out, HasSubstr("a row of upstream's tests"));
  EXPECT_THAT(On({"quarantine", "show", row}).err, HasSubstr("dropped by "));
  Take("2026-10-02T00:00:00Z");
  EXPECT_EQ(Ids().size(), 1u);
  EXPECT_EQ(On({"quarantine", "drop", row, "--reason", "again"}).out,
            "Nothing changed: " + row + " was dropped before.\n");
  EXPECT_EQ(On({"verify"}).exit, 0);
}

TEST_F(Decide, RetryBringsAShrunkenListIn) {
  std::filesystem::copy(kExample + "/submissions/41.json", dir_.File("saved/submissions/41.json"),
                        std::filesystem::copy_options::overwrite_existing);
  Take("2026-10-02T00:00:00Z");
  std::ofstream(dir_.File("saved/submissions/41.json"))
      << R"({"data":{"submissions":[],"total":0,"offset":0,"limit":50}})";
  EXPECT_EQ(Take("2026-10-03T00:00:00Z").exit, 3);
  const std::string list = IdOf("ROWS_VANISHED");
  ASSERT_NE(list, "");
  const Ran retried = On({"quarantine", "retry", list, "-o", "json"});
  ASSERT_EQ(retried.exit, 0) << retried.err;
  EXPECT_EQ(retried.out,
            R"({"id":"sha256:)" + list +
                R"(","source":"sol-execbench","code":"ROWS_VANISHED","decision":"resolved","changed":true})"
                "\n");
  EXPECT_EQ(On({"quarantine", "retry", list}).out, "Nothing changed: " + list + " was resolved before.\n");
  EXPECT_EQ(On({"quarantine", "drop", list, "--reason", "x"}).exit, 1);
  std::filesystem::copy(kExample + "/submissions/23.json", dir_.File("saved/submissions/23.json"),
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Take("2026-10-04T00:00:00Z").exit, 0);
  EXPECT_EQ(On({"verify"}).exit, 0);
}

TEST(DecideHelp, EveryCommandHasAnExample) {
  for (const Args& args :
       {Args{"review"}, Args{"review", "list"}, Args{"review", "admit"}, Args{"review", "reject"},
        Args{"quarantine", "drop"}, Args{"quarantine", "retry"}}) {
    Args help = args;
    help.emplace_back("--help");
    const Ran ran = Ctl(help);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_THAT(ran.out, HasSubstr("Example:\n  etlctl ")) << ::testing::PrintToString(args);
  }
}

// Two rows without an id whose items begin with the same four digits.
std::pair<std::string, std::string> RowsOfOnePrefix(std::string& prefix) {
  std::map<std::string, std::string> rows;
  for (int n = 0;; ++n) {
    std::string row = R"({"id":"n)" + std::to_string(n) + "\"}";
    const std::string source = "sol-execbench", code = "ROW_ID";
    prefix = Sha256(source + '\0' + code + '\0' + Sha256(row).Text()).Hex().substr(0, 4);
    const auto [other, fresh] = rows.emplace(prefix, row);
    if (!fresh) return {other->second, row};
  }
}

TEST_F(Decide, AnIdThatTwoItemsBeginWithDecidesNothingAndNamesBoth) {
  std::string prefix;
  const auto [one, two] = RowsOfOnePrefix(prefix);
  std::ofstream(dir_.File("saved/submissions/41.json"))
      << R"({"data":{"submissions":[)" << one << "," << two << R"(],"total":2,"offset":0,"limit":50}})";
  Take("2026-10-02T00:00:00Z");
  std::vector<std::string> ids;
  for (const std::string& id : Ids())
    if (id.starts_with("sha256:" + prefix)) ids.push_back(id.substr(7));
  ASSERT_EQ(ids.size(), 2u);
  const std::size_t open = Ids().size();
  for (const Args& command : {Args{"quarantine", "drop", prefix, "--reason", "which"},
                              Args{"quarantine", "retry", prefix}, Args{"quarantine", "show", prefix}}) {
    const Ran ran = On(command);
    EXPECT_EQ(ran.exit, 4) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("AMBIGUOUS at " + prefix));
    for (const std::string& id : ids) EXPECT_THAT(ran.err, HasSubstr(id));
  }
  EXPECT_EQ(Ids().size(), open);
  EXPECT_EQ(On({"quarantine", "drop", ids[0], "--reason", "this one"}).exit, 0);
  EXPECT_EQ(Ids().size(), open - 1);
}

}  // namespace
}  // namespace etl::ctl
