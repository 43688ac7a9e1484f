#include "etlctl/output.h"

#include <gtest/gtest.h>

#include "etlctl/json_changes.h"
#include "etlctl/json_out.h"
#include "etlctl/progress.h"
#include "model/json.h"
#include "tests/etlctl/ctl.h"

namespace etl::ctl {
namespace {

using test::CapturedOutput;

TEST(Table, AlignsColumnsByWhatIsSeenAndTrailsNothing) {
  CapturedOutput captured;
  Table table({{"N", Align::kRight}, {"NAME"}, {"LAST"}});
  table.Add({"1", "你好", "x"});
  table.Add({"100", "a", ""});
  table.Write(captured.out);
  EXPECT_EQ(captured.Data(), "  N  NAME  LAST\n  1  你好  x\n100  a\n");
}

TEST(Table, EscapesEveryCell) {
  CapturedOutput captured;
  Table table({{"NAME"}});
  table.Add({"two\nlines\x1b[2J"});
  table.Write(captured.out, false);
  EXPECT_EQ(captured.Data(), "two\\nlines\\x1b[2J\n");
}

TEST(Fields, PadsLabelsAndEscapesValues) {
  CapturedOutput captured;
  Fields fields;
  fields.Add("user",
             "a\u202e"
             "b");
  fields.Add("external id", "7");
  fields.AddUnlessEmpty("nothing", "");
  fields.Write(captured.out, "  ");
  EXPECT_EQ(captured.Data(), "  user         a\\u{202e}b\n  external id  7\n");
}

TEST(ListWriter, WritesOneObjectOrALineEachOrATable) {
  const auto write = [](Format format, int items) {
    CapturedOutput captured(format);
    ListWriter list(captured.out, "things", {{"A"}});
    for (int i = 0; i < items; ++i) list.Add("{\"a\":" + std::to_string(i) + "}", {std::to_string(i)});
    list.Finish("\"more\":false", "nothing there");
    return captured.Data() + "|" + captured.talk.Text();
  };
  EXPECT_EQ(write(Format::kJson, 2), "{\"things\":[{\"a\":0},{\"a\":1}],\"more\":false}\n|");
  EXPECT_EQ(write(Format::kJson, 0), "{\"things\":[],\"more\":false}\n|");
  EXPECT_EQ(write(Format::kJsonl, 2), "{\"a\":0}\n{\"a\":1}\n|");
  EXPECT_EQ(write(Format::kJsonl, 0), "|");
  EXPECT_EQ(write(Format::kTable, 2), "A\n0\n1\n|");
  EXPECT_EQ(write(Format::kTable, 0), "|nothing there\n");
}

TEST(Output, HasNoColourWhereNoTerminalIs) {
  CapturedOutput captured;
  EXPECT_EQ(captured.out.Styled("x", Style::kBad), "x");
  EXPECT_EQ(captured.out.StyledTalk("x", Style::kBad), "x");
}

TEST(Output, TellsWhenDataDidNotArrive) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "this system has no /dev/full";
  {
    test::Captured talk;
    Output out(full, talk.file(), Format::kTable);
    out.DataLine("lost");
    const Status status = out.Finish();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, "OUTPUT_WRITE");
    EXPECT_EQ(status.error().where, "standard output");
    EXPECT_TRUE(out.data_failed());
  }
  std::fclose(full);
}

TEST(JsonObject, WritesMembersInTheOrderGiven) {
  EXPECT_EQ(JsonObject().Text("b", "x\"").Count("a", 7).Null("n").Bool("t", true).Raw("r", "").Done(),
            R"({"b":"x\"","a":7,"n":null,"t":true,"r":null})");
  EXPECT_EQ(JsonObject().Texts("list", {"a", "b\n"}).Texts("none", {}).Done(),
            R"({"list":["a","b\n"],"none":[]})");
  EXPECT_EQ(JsonObject().Text("bad", "\xff").Done(), R"({"bad":"\\xff"})");
}

TEST(PrettyJson, PutsShorterNamesFirstAndIndentsByTwo) {
  const auto document = json::Document::Parse(R"({"longer":[1,{"b":2}],"a":{},"zz":[],"ab":"x"})");
  ASSERT_TRUE(document);
  EXPECT_EQ(PrettyJson(document->root()),
            "{\n  \"a\": {},\n  \"ab\": \"x\",\n  \"zz\": [],\n  \"longer\": [\n    1,\n    {\n      \"b\": "
            "2\n    }\n  ]\n}");
}

TEST(ChangesBetween, NamesEachPlaceWithBothValues) {
  const auto changes =
      ChangesBetween(R"({"a":{"b":1,"c":[1]},"gone":true})", R"({"a":{"b":2,"c":[1,2]},"new":"x"})", 10);
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0].path + changes[0].before + changes[0].after, "a.b12");
  EXPECT_EQ(changes[1].path + changes[1].before + changes[1].after, "a.c[1][1,2]");
  EXPECT_EQ(changes[2].path + changes[2].before + changes[2].after, "gonetrue");
  EXPECT_EQ(changes[3].path + changes[3].before + changes[3].after, "new\"x\"");
  EXPECT_EQ(ChangesBetween(R"({"a":1,"b":2})", R"({"a":2,"b":3})", 1).size(), 1U);
  EXPECT_TRUE(ChangesBetween("{\"a\":1.0}", "{\"a\":1}", 10).empty());
  EXPECT_EQ(ChangesBetween("", "{}", 10).size(), 1U);
}

TEST(ProgressText, SaysKernelsRowsRateAndTimeLeft) {
  const VisitProgress progress{120, 30, 1500, 40};
  EXPECT_EQ(ProgressText(progress, 10, 0), "kernels 30/120  rows 1,500  150 rows/s  0:30 left");
  EXPECT_EQ(ProgressText({0, 0, 0, 0}, 0, 0), "kernels 0  rows 0  0 rows/s");
  EXPECT_EQ(ProgressText(progress, 10, 73),
            "kernels 30/120  rows 1,500  150 rows/s  0:30 left  [#####---------------]");
  EXPECT_EQ(ProgressText(progress, 10, 20), "kernels 30/120  row…");
}

}  // namespace
}  // namespace etl::ctl
