#include "etlctl/escape.h"

#include <string>

#include <gtest/gtest.h>

#include "model/json.h"

namespace etl::ctl {
namespace {

struct Case {
  std::string given, shown;
};

TEST(Safe, ShowsWhatATerminalWouldObeyOrHide) {
  const Case cases[] = {
      {"plain", "plain"},
      {"", ""},
      {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {std::string("nul\0!", 5), "nul\\x00!"},
      {"\x7f", "\\x7f"},
      {"c1 \xc2\x9b"
       "31m",
       "c1 \\x9b31m"},
      {"\u202e"
       "evil",
       "\\u{202e}evil"},
      {"\u2066x\u2069", "\\u{2066}x\\u{2069}"},
      {"zero\u200bwidth", "zero\\u{200b}width"},
      {"line\u2028break", "line\\u{2028}break"},
      {"\ufeffbom", "\\u{feff}bom"},
      {"\U000e0041", "\\u{e0041}"},
      {"soft\u00adhyphen", "soft\\u{00ad}hyphen"},
      {"µs · 1.26× → é 你好 😀", "µs · 1.26× → é 你好 😀"},
      {"back\\slash", "back\\slash"},
  };
  for (const Case& c : cases) EXPECT_EQ(Safe(c.given), c.shown);
}

TEST(Safe, ShowsBytesThatAreNoUtf8) {
  const Case cases[] = {
      {"\xff", "\\xff"},          {"\xc3", "\\xc3"},
      {"\xc0\xaf", "\\xc0\\xaf"}, {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"a\x80z", "a\\x80z"},      {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Safe(c.given), c.shown);
    EXPECT_FALSE(IsUtf8(c.given));
  }
}

TEST(Safe, ChangesNothingTheSecondTime) {
  const std::string once = Safe("a\n\x1b\u202e\xff");
  EXPECT_EQ(Safe(once), once);
}

TEST(SafeLines, KeepsLineBreaksAndTabsOnly) {
  EXPECT_EQ(SafeLines("a\n\tb\r\x1b"), "a\n\tb\\r\\x1b");
}

TEST(SafeJson, KeepsTheMeaningOfWhatItEscapes) {
  const std::string json = "{\"a\u202e\":\"\x7f\xc2\x85\U000e0041 ok\"}";
  const std::string safe = SafeJson(json);
  EXPECT_EQ(safe, R"({"a\u202e":"\u007f\u0085\udb40\udc41 ok"})");
  const auto before = json::Document::Parse(json), after = json::Document::Parse(safe);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->root().Find("a\u202e").AsString(), after->root().Find("a\u202e").AsString());
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("µs"), 2U);
  EXPECT_EQ(DisplayWidth("你好"), 4U);
  EXPECT_EQ(DisplayWidth("😀"), 2U);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1U);
}

TEST(CutToWidth, EndsWithAnEllipsisWhereSomethingWasCut) {
  EXPECT_EQ(CutToWidth("short", 5), "short");
  EXPECT_EQ(CutToWidth("longer", 5), "long…");
  EXPECT_EQ(CutToWidth("你好你好", 5), "你好…");
  EXPECT_EQ(CutToWidth("你好你好", 4), "你…");
  EXPECT_EQ(CutToWidth("any", 0), "");
}

}  // namespace
}  // namespace etl::ctl
