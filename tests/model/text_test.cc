#include "model/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/canonical_json.h"
#include "model/digest.h"
#include "model/json.h"
#include "tests/support/golden.h"

namespace etl {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Kebab, LowersAndJoinsWhatIsLeftByDashes) {
  for (const auto& [text, expected] : Pairs{{"Fused RMS Norm", "fused-rms-norm"},
                                            {"013_fused_residual", "013-fused-residual"},
                                            {"v1.1", "v1-1"},
                                            {"--a__b--", "a-b"},
                                            {"", ""},
                                            {"你好", ""},
                                            {"a你好b", "a-b"},
                                            {"ÀB", "b"},
                                            {"model:Seed", "model-seed"}})
    EXPECT_EQ(Kebab(text), expected);
}

TEST(Kebab, HasAtMostAHundredCharactersAndNoDashAtItsEnd) {
  EXPECT_EQ(Kebab(std::string(150, 'A')), std::string(100, 'a'));
  EXPECT_EQ(Kebab(std::string(99, 'a') + " b"), std::string(99, 'a'));
  EXPECT_EQ(Kebab(std::string(100, 'a') + " b"), std::string(100, 'a'));
  EXPECT_EQ(Kebab(std::string(300, ' ') + "x"), "x");
}

TEST(Patterns, TakeWhatTheyDescribeAndNothingElse) {
  for (const char* text : {"a", "abc_1", "a__"}) EXPECT_TRUE(IsToken(text)) << text;
  for (const char* text : {"", "1a", "_a", "A", "a-b", "a b", "é"}) EXPECT_FALSE(IsToken(text)) << text;
  for (const char* text : {"a", "1", "a-b", "a--", "0-1"}) EXPECT_TRUE(IsSlug(text)) << text;
  for (const char* text : {"", "-a", "A", "a_b", "a.b"}) EXPECT_FALSE(IsSlug(text)) << text;
  EXPECT_TRUE(IsSlug(std::string(100, 'a')));
  EXPECT_FALSE(IsSlug(std::string(101, 'a')));
  for (const char* text : {"a", "1.2_b-c"}) EXPECT_TRUE(IsName(text)) << text;
  for (const char* text : {"", ".a", "_a", "-a", "a/b", "aB"}) EXPECT_FALSE(IsName(text)) << text;
  EXPECT_TRUE(IsName(std::string(200, 'a')));
  EXPECT_FALSE(IsName(std::string(201, 'a')));
  EXPECT_TRUE(IsCommit("0123456789abcdef0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("0123456789ABCDEF0123456789abcdef01234567"));
  EXPECT_FALSE(IsCommit("0123456789abcdef0123456789abcdef0123456"));
  EXPECT_FALSE(IsCommit("0123456789abcdef0123456789abcdef0123456g"));
}

TEST(HttpsUrl, NeedsASchemeAHostAndPrintableAscii) {
  for (const char* text :
       {"https://example.org", "https://example.org/a?b=c#d", "https://[::1]/", "https://u@h:1/"})
    EXPECT_TRUE(IsHttpsUrl(text)) << text;
  for (const char* text :
       {"", "http://example.org", "HTTPS://example.org", "https://", "https:///a", "https://?q", "https://#f",
        "https://:80", "https://u@", "https://exa mple.org", "https://example.org/é", "https://e.org/\n"})
    EXPECT_FALSE(IsHttpsUrl(text)) << text;
  EXPECT_TRUE(IsHttpsUrl("https://e.org/" + std::string(1986, 'a')));
  EXPECT_FALSE(IsHttpsUrl("https://e.org/" + std::string(1987, 'a')));
}

TEST(Lower, TouchesAsciiLettersOnly) {
  EXPECT_EQ(Lower("AbC_É1"), "abc_É1");
}

TEST(CodePoints, AreCountedNotBytes) {
  EXPECT_EQ(CodePoints(""), 0u);
  EXPECT_EQ(CodePoints("aé你\xf0\x9f\x98\x80"), 4u);
}

TEST(CutTo, KeepsWholeCodePointsAndMarksTheCut) {
  EXPECT_EQ(CutTo("abc", 3), "abc");
  EXPECT_EQ(CutTo("abcd", 3), "ab…");
  EXPECT_EQ(CutTo("éééé", 4), "éééé");
  EXPECT_EQ(CutTo("ééééé", 4), "ééé…");
  EXPECT_EQ(CutTo("a\xf0\x9f\x98\x80"
                  "bc",
                  3),
            "a\xf0\x9f\x98\x80…");
  EXPECT_EQ(CutTo("ab", 1), "…");
  EXPECT_EQ(CutTo("ab", 0), "");
  EXPECT_EQ(CutTo("", 0), "");
  EXPECT_EQ(CutTo(std::string(201, 'x'), 200), std::string(199, 'x') + "…");
}

TEST(TokenFrom, MakesATokenOfAnything) {
  for (const auto& [text, expected] : Pairs{{"Grad_Output", "grad_output"},
                                            {"a.b-c", "a_b_c"},
                                            {"1st", "x_1st"},
                                            {"_a", "x__a"},
                                            {"", "x_"},
                                            {"你好", "x___"},
                                            {"aéb", "a_b"}}) {
    EXPECT_EQ(TokenFrom(text), expected);
    EXPECT_TRUE(IsToken(TokenFrom(text)));
  }
}

TEST(CollatedLess, PutsUnderscoreBeforeDigitsBeforeLettersWithoutCase) {
  const std::vector<std::string> sorted = {"",   "-",  ".",  "é",  "_",  "_a", "0",  "9",  "a",   "A",
                                           "a_", "A_", "a0", "aa", "aA", "Aa", "AA", "ab", "a_b", "heads"};
  std::vector<std::string> expected = {"",   "-",  ".",   "é",  "_",  "_a", "0",  "9",  "a",  "A",
                                       "a_", "A_", "a_b", "a0", "aa", "aA", "Aa", "AA", "ab", "heads"};
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<std::string> names = sorted;
    std::rotate(names.begin(), names.begin() + seed % static_cast<unsigned>(names.size()), names.end());
    std::sort(names.begin(), names.end(), CollatedLess);
    EXPECT_EQ(names, expected);
  }
}

TEST(CollatedLess, LooksAtCaseOnlyWhereNamesAreOtherwiseEqual) {
  EXPECT_TRUE(CollatedLess("B", "c"));
  EXPECT_TRUE(CollatedLess("a", "B"));
  EXPECT_TRUE(CollatedLess("Ab", "aC"));
  EXPECT_TRUE(CollatedLess("aB", "AB"));
  EXPECT_FALSE(CollatedLess("AB", "aB"));
  EXPECT_TRUE(CollatedLess("M", "m1"));
  EXPECT_FALSE(CollatedLess("x", "x"));
}

TEST(CollatedLess, IsAStrictTotalOrder) {
  const std::vector<std::string> names = {"a",  "A",  "ab", "aB", "Ab", "_", "1",
                                          "a1", "a_", "-",  "é",  "b",  ""};
  for (const auto& a : names)
    for (const auto& b : names) {
      EXPECT_EQ(CollatedLess(a, b) + CollatedLess(b, a), a == b ? 0 : 1);
      for (const auto& c : names) {
        if (CollatedLess(a, b) && CollatedLess(b, c)) {
          EXPECT_TRUE(CollatedLess(a, c));
        }
      }
    }
}

// The first 12 hex digits of the digest over the axes as upstream names them, ordered by collation.
std::string CaseKey(json::Value axes) {
  std::vector<json::Member> members;
  for (const json::Member member : axes.members()) members.push_back(member);
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return CollatedLess(a.name, b.name); });
  std::string text = "{";
  for (const auto& [name, value] : members) {
    if (text.size() > 1) text += ',';
    json::AppendString(text, name);
    text += ':';
    json::AppendCanonical(text, value);
  }
  return Sha256(text + "}").Hex().substr(0, 12);
}

TEST(CollatedLess, GivesThePublishedKeyOfEveryGoldenCase) {
  ETL_GOLDEN(golden);
  std::map<std::string, std::vector<std::string>> expected;
  const std::string lines = test::ReadFile(golden + "/sol-execbench/expected.jsonl");
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const auto line = json::Document::Parse(std::string_view(lines).substr(begin, end - begin));
    ASSERT_TRUE(line.has_value()) << line.error().Message();
    if (line->root().Find("kind").AsString() == "WorkloadCase")
      expected[std::string(line->root().Find("kernel").AsString())].emplace_back(
          line->root().Find("externalId").AsString());
    begin = end + 1;
  }
  std::size_t kernels = 0;
  for (const auto& file : std::filesystem::directory_iterator(golden + "/sol-execbench/kernels")) {
    const auto kernel = json::Document::Parse(test::ReadFile(file.path()));
    ASSERT_TRUE(kernel.has_value()) << file.path();
    const json::Value data = kernel->root().Find("data");
    std::vector<std::string> keys;
    for (const json::Value workload : data.Find("workloads").elements()) {
      const std::string_view uuid = workload.Find("uuid").AsString();
      keys.push_back(uuid.empty() ? CaseKey(workload.Find("axes")) : std::string(uuid));
    }
    EXPECT_EQ(keys, expected[std::string(data.Find("name").AsString())]) << file.path();
    ++kernels;
  }
  EXPECT_EQ(kernels, expected.size());
  EXPECT_GT(kernels, 100u);
}

}  // namespace
}  // namespace etl
