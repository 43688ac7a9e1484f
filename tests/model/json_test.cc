#include "model/json.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/canonical_json.h"

namespace etl::json {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Document Parsed(std::string_view text, const Limits& limits = {}) {
  auto document = Document::Parse(text, limits);
  if (!document) throw std::runtime_error(document.error().Message());
  return *std::move(document);
}

Error Refusal(std::string_view text, const Limits& limits = {}) {
  auto document = Document::Parse(text, limits);
  if (document) return {Errc::kInvalid, "ACCEPTED", "", "", ""};
  return document.error();
}

std::string Repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

struct Refused {
  std::string name;
  std::string text;
  std::string code;
  std::string where;
};

class JsonRefusals : public testing::TestWithParam<Refused> {};

TEST_P(JsonRefusals, NameTheCodeAndTheByte) {
  const Error error = Refusal(GetParam().text);
  EXPECT_EQ(error.errc, Errc::kInvalid);
  EXPECT_EQ(error.code, GetParam().code) << error.Message();
  EXPECT_EQ(error.where, GetParam().where) << error.Message();
  EXPECT_THAT(error.what, Not(IsEmpty()));
  EXPECT_THAT(error.fix, Not(IsEmpty()));
}

const std::vector<Refused>& Refusals() {
  static const std::vector<Refused> all = {
      {"Nothing", "", "JSON_EMPTY", "byte 0"},
      {"Blanks", " \r\n\t", "JSON_EMPTY", "byte 4"},
      {"BomAlone", "\xef\xbb\xbf", "JSON_EMPTY", "byte 3"},
      {"ClosingFirst", "]", "JSON_SYNTAX", "byte 0"},
      {"CommaFirst", " ,", "JSON_SYNTAX", "byte 1"},
      {"OpenArray", "[1", "JSON_SYNTAX", "byte 2"},
      {"OpenObject", R"({"a":1)", "JSON_SYNTAX", "byte 6"},
      {"OpenString", R"(["a)", "JSON_SYNTAX", "byte 3"},
      {"OpenStringAfterEscape", R"(["a\n)", "JSON_SYNTAX", "byte 5"},
      {"OpenLongString", "[\"" + std::string(100, 'a'), "JSON_SYNTAX", "byte 102"},
      {"TrailingCommaInArray", "[1,]", "JSON_SYNTAX", "byte 3"},
      {"TrailingCommaInObject", R"({"a":1,})", "JSON_SYNTAX", "byte 7"},
      {"NoCommaInArray", "[1 2]", "JSON_SYNTAX", "byte 3"},
      {"NoCommaInObject", R"({"a":1 "b":2})", "JSON_SYNTAX", "byte 7"},
      {"NoColon", R"({"a" 1})", "JSON_SYNTAX", "byte 5"},
      {"NumberAfterName", R"({"a"1})", "JSON_SYNTAX", "byte 4"},
      {"BareName", "{a:1}", "JSON_SYNTAX", "byte 1"},
      {"WrongBracket", "[1}", "JSON_SYNTAX", "byte 2"},
      {"SingleQuotes", "['a']", "JSON_SYNTAX", "byte 1"},
      {"Comment", "[1/**/]", "JSON_SYNTAX", "byte 2"},
      {"WrongLiteral", "[nul]", "JSON_SYNTAX", "byte 4"},
      {"UpperLiteral", "True", "JSON_SYNTAX", "byte 0"},
      {"UnknownEscape", R"("\q")", "JSON_SYNTAX", "byte 1"},
      {"ShortUnicodeEscape", R"("\u12")", "JSON_SYNTAX", "byte 1"},
      {"RawNewlineInString", "\"a\nb\"", "JSON_SYNTAX", "byte 2"},
      {"RawTabAfterEscape", "\"\\n\tb\"", "JSON_SYNTAX", "byte 3"},
      {"RawControl1a", "\"0123456789abcdef\x1a\"", "JSON_SYNTAX", "byte 17"},
      {"RawControl1f", "\"0123456789abcdef\x1f\"", "JSON_SYNTAX", "byte 17"},
      {"RawNulInString", std::string("\"a\0b\"", 5), "JSON_SYNTAX", "byte 2"},
      {"NulBehindValue", std::string("1\0", 2), "JSON_SYNTAX", "byte 1"},
      {"NulBeforeMore", std::string("[1]\0[2]", 7), "JSON_SYNTAX", "byte 3"},
      {"LeadingPlus", "+1", "JSON_SYNTAX", "byte 0"},
      {"LeadingZero", "[01]", "JSON_SYNTAX", "byte 2"},
      {"LeadingPoint", "[.5]", "JSON_SYNTAX", "byte 1"},
      {"NoFraction", "[1.]", "JSON_SYNTAX", "byte 3"},
      {"NoExponent", "[1e]", "JSON_SYNTAX", "byte 3"},
      {"NoSignedExponent", "[1e+]", "JSON_SYNTAX", "byte 4"},
      {"MinusAlone", "[-]", "JSON_SYNTAX", "byte 2"},
      {"Hexadecimal", "[0x10]", "JSON_SYNTAX", "byte 2"},
      {"LowerCaseNan", "[nan]", "JSON_SYNTAX", "byte 2"},
      {"SignBeforeTooBigZero", "[--0e400]", "JSON_SYNTAX", "byte 2"},
      {"SignInExponentOfTooBigZero", "[0e400,1e--12345]", "JSON_SYNTAX", "byte 10"},
      {"LeadingZeroNearTooBigZero", "[0e400,01e10]", "JSON_SYNTAX", "byte 8"},
      {"NaN", "NaN", "JSON_NOT_A_NUMBER", "byte 0"},
      {"MinusNaN", "[-NaN]", "JSON_NOT_A_NUMBER", "byte 1"},
      {"Infinity", R"({"a": Infinity})", "JSON_NOT_A_NUMBER", "byte 6"},
      {"MinusInfinity", "[0, -Infinity]", "JSON_NOT_A_NUMBER", "byte 4"},
      {"TooLarge", "[1e400]", "JSON_NUMBER_RANGE", "byte 1"},
      {"MinusTooLarge", "[-1e309]", "JSON_NUMBER_RANGE", "byte 1"},
      {"JustTooLarge", "1.7976931348623159e308", "JSON_NUMBER_RANGE", "byte 0"},
      {"ManyDigits", "[" + std::string(310, '9') + "]", "JSON_NUMBER_RANGE", "byte 1"},
      {"HugeExponent", "1e99999999999999999999", "JSON_NUMBER_RANGE", "byte 0"},
      {"TooLargeBesideTooBigZero", "[0e400, 1E400]", "JSON_NUMBER_RANGE", "byte 8"},
      {"SecondValue", "1 2", "JSON_TRAILING_DATA", "byte 2"},
      {"SecondObject", "{} {}", "JSON_TRAILING_DATA", "byte 3"},
      {"StrayBracket", "[]]", "JSON_TRAILING_DATA", "byte 2"},
      {"TrailingDataAfterBom", "\xef\xbb\xbf[]]", "JSON_TRAILING_DATA", "byte 5"},
      {"SecondBom", "\xef\xbb\xbf\xef\xbb\xbf[]", "JSON_SYNTAX", "byte 3"},
      {"LoneHigh", R"(["\ud800"])", "JSON_LONE_SURROGATE", "byte 2"},
      {"HighBeforeText", R"(["ab\ud83dx"])", "JSON_LONE_SURROGATE", "byte 4"},
      {"TwoHigh", R"(["\ud83d\ud83d"])", "JSON_LONE_SURROGATE", "byte 2"},
      {"LoneLow", R"(["\udc00"])", "JSON_LONE_SURROGATE", "byte 2"},
      {"UpperCaseLoneLow", R"(["x\UDC00"])", "JSON_SYNTAX", "byte 3"},
      {"UpperCaseHexLoneLow", R"(["x\uDFFF"])", "JSON_LONE_SURROGATE", "byte 3"},
      {"LowAfterPair", R"(["\ud83d\ude02\ude02"])", "JSON_LONE_SURROGATE", "byte 14"},
      {"LowInName", R"({"\udc00":1})", "JSON_LONE_SURROGATE", "byte 2"},
      {"RawSurrogate", "[\"\xed\xa0\x80\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"RawLowSurrogate", "[\"\xed\xb0\x80\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"StrayContinuation", "[\"a\x80\"]", "JSON_INVALID_UTF8", "byte 3"},
      {"OverlongSlash", "[\"\xc0\xaf\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"OverlongThree", "[\"\xe0\x80\xaf\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"OverlongFour", "[\"\xf0\x80\x80\xaf\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"BeyondUnicode", "[\"\xf4\x90\x80\x80\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"CutAtQuote", "[\"\xe2\x82\"]", "JSON_INVALID_UTF8", "byte 2"},
      {"CutAtEnd", "[\"\xe2\x82", "JSON_INVALID_UTF8", "byte 2"},
      {"Latin1OutsideStrings", "[\xe9]", "JSON_INVALID_UTF8", "byte 1"},
      {"ByteFf", std::string(40, ' ') + "\xff", "JSON_INVALID_UTF8", "byte 40"},
      {"Utf16", "\xff\xfe[", "JSON_INVALID_UTF8", "byte 0"},
      {"Duplicate", R"({"a":1,"a":2})", "JSON_DUPLICATE_MEMBER", "byte 7"},
      {"DuplicateAfterBom", "\xef\xbb\xbf{\"a\":1,\"a\":2}", "JSON_DUPLICATE_MEMBER", "byte 10"},
      {"DuplicateEmptyName", R"({"":1,"":2})", "JSON_DUPLICATE_MEMBER", "byte 6"},
      {"DuplicateInside", R"([{"x":{"b":[],"c":{},"b":0}}])", "JSON_DUPLICATE_MEMBER", "byte 21"},
  };
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, JsonRefusals, testing::ValuesIn(Refusals()),
                         [](const auto& refused) { return refused.param.name; });

TEST(JsonReader, RefusesADuplicateNameAcrossEscapes) {
  const Error error = Refusal(R"({"a":1,"b":2,"\u0061":3})");
  EXPECT_EQ(error.code, "JSON_DUPLICATE_MEMBER");
  EXPECT_EQ(error.where, "byte 13");
  EXPECT_EQ(Refusal("{\"\xf0\x9f\x98\x82\":1,\"\\ud83d\\ude02\":2}").code, "JSON_DUPLICATE_MEMBER");
  EXPECT_EQ(Refusal(R"({"a\/b":1,"a/b":2})").code, "JSON_DUPLICATE_MEMBER");
}

// Whatever way the names are compared in, by the number of members.
TEST(JsonReader, RefusesADuplicateNameAtEveryPlaceOfAnObject) {
  for (const std::size_t members : {2u, 3u, 8u, 9u, 33u, 64u, 65u, 300u}) {
    for (std::size_t twin = 0; twin + 1 < members; twin += members > 64 ? 37 : 1) {
      std::string text = "{";
      std::size_t where = 0;
      for (std::size_t i = 0; i < members; ++i) {
        if (i + 1 == members) where = text.size();
        text += "\"a_long_common_prefix_" + std::to_string(i + 1 == members ? twin : i) + "_and_suffix\":[" +
                std::to_string(i) + "],";
      }
      text.back() = '}';
      const Error error = Refusal(text);
      EXPECT_EQ(error.code, "JSON_DUPLICATE_MEMBER") << members << " " << twin;
      EXPECT_EQ(error.where, "byte " + std::to_string(where)) << members << " " << twin;
    }
  }
}

TEST(JsonReader, NamesTheFirstRepetitionOfALargeObject) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += "\"n" + std::to_string(i) + "\":0,";
  const std::size_t where = text.size();
  text += R"("n50":0,"n20":0,"n50":0})";
  EXPECT_EQ(Refusal(text).where, "byte " + std::to_string(where));
}

TEST(JsonReader, TakesNamesThatDifferOnlyInLengthOrBehindAZero) {
  const Document document =
      Parsed(R"({"a":1,"a\u0000":2,"a\u0000\u0000":3,"":4,"\u0000":5,"aaaaaaaa":6,"aaaaaaaaa":7,
      "A":8,"á":9,"aaaaaaaaaaaaaaaaa":10})");
  EXPECT_EQ(document.root().size(), 10u);
  EXPECT_EQ(document.root().Find(std::string_view("a\0", 2)).AsInt64(), 2);
  EXPECT_EQ(document.root().Find("a").AsInt64(), 1);
  EXPECT_EQ(document.root().Find("aaaaaaaaa").AsInt64(), 7);
}

TEST(JsonReader, ReadsAnObjectOfAHundredThousandMembersAndFindsItsLast) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += "\"member_with_the_same_ends_" + std::to_string(i) + "_x\":" + std::to_string(i) + ",";
  std::string twice = text + "\"member_with_the_same_ends_99999_x\":0}";
  text.back() = '}';
  const Document document = Parsed(text);
  EXPECT_EQ(document.root().size(), 100'000u);
  EXPECT_EQ(document.root().Find("member_with_the_same_ends_99999_x").AsInt64(), 99'999);
  EXPECT_EQ(Refusal(twice).code, "JSON_DUPLICATE_MEMBER");
}

TEST(JsonReader, DropsALeadingByteOrderMarkAndNotesIt) {
  const Document document = Parsed("\xef\xbb\xbf {\"a\": [1]}");
  EXPECT_TRUE(document.had_bom());
  EXPECT_EQ(document.root().begin_offset(), 1u);
  EXPECT_EQ(document.root().end_offset(), 11u);
  EXPECT_FALSE(Parsed("{}").had_bom());
}

TEST(JsonReader, KeepsMemberOrderAndNumberTextExactly) {
  const std::string text = R"({"z":1.50,"a":-0,"m":1e-7,"k":12345678901234567890123,"e":1E+2,"n":-0.0e-0})";
  const Document document = Parsed(text);
  std::string seen;
  for (const Member member : document.root().members())
    seen.append(member.name).append("=").append(member.value.NumberText()).append(" ");
  EXPECT_EQ(seen, "z=1.50 a=-0 m=1e-7 k=12345678901234567890123 e=1E+2 n=-0.0e-0 ");
}

// RapidJSON itself refuses these, and a double holds all of them.
TEST(JsonReader, TakesEveryNumberThatADoubleHolds) {
  const std::string many = "1" + std::string(400, '0');
  const std::string text =
      "{\"zero\": 0e400, \"minus\":-0.0E+999 ,\"many\":" + many +
      "e-390,\"text\":\"0e400 \\\" 1e999\",\"small\":1e-400,\"ten\":10e0, \"tiny\":-1e-99999999999999999999}";
  const Document document = Parsed(text);
  const Value root = document.root();
  EXPECT_EQ(root.Find("zero").NumberText(), "0e400");
  EXPECT_EQ(root.Find("zero").AsDouble(), 0.0);
  EXPECT_EQ(root.Find("minus").NumberText(), "-0.0E+999");
  EXPECT_EQ(root.Find("many").NumberText(), many + "e-390");
  EXPECT_EQ(root.Find("many").AsDouble(), 1e10);
  EXPECT_EQ(root.Find("text").AsString(), "0e400 \" 1e999");
  EXPECT_EQ(root.Find("small").AsDouble(), 0.0);
  EXPECT_EQ(root.Find("tiny").AsDouble(), 0.0);
  EXPECT_TRUE(std::signbit(*root.Find("tiny").AsDouble()));
  for (const Member member : root.members()) {
    const std::string_view raw = std::string_view(text).substr(
        member.value.begin_offset(), member.value.end_offset() - member.value.begin_offset());
    if (member.value.IsNumber()) {
      EXPECT_EQ(raw, member.value.NumberText());
    }
  }
  EXPECT_TRUE(Document::Parse("0e400").has_value());
}

TEST(JsonReader, DecodesEscapesAndKeepsEmbeddedZeros) {
  const Document document =
      Parsed(R"(["\u0000x\u0000","\"\\\/\b\f\n\r\t","\u00e9\u20AC\ud83d\ude02","","\\\"\"","\ud7ff\ue000"])");
  std::vector<std::string> strings;
  for (const Value value : document.root().elements()) strings.emplace_back(value.AsString());
  EXPECT_THAT(strings, ElementsAre(std::string("\0x\0", 3), "\"\\/\b\f\n\r\t", "é€\xf0\x9f\x98\x82", "",
                                   "\\\"\"", "\xed\x9f\xbf\xee\x80\x80"));
}

// Every value, read again from its own bytes, is the same value.
void ExpectExactOffsets(Value value, std::string_view text) {
  ASSERT_LE(value.end_offset(), text.size());
  const std::string_view raw = text.substr(value.begin_offset(), value.end_offset() - value.begin_offset());
  const auto again = Document::Parse(raw);
  ASSERT_TRUE(again.has_value()) << raw;
  EXPECT_EQ(again->root().end_offset(), raw.size());
  EXPECT_EQ(Canonical(again->root()), Canonical(value));
  for (const Value element : value.elements()) ExpectExactOffsets(element, text);
  for (const Member member : value.members()) ExpectExactOffsets(member.value, text);
}

TEST(JsonReader, GivesTheExactByteRangeOfEveryValue) {
  for (
      const std::string text :
      {R"( { "a" : [ 1 , -2.5e3,true , false,null ] ,"b\n":{"c":"d\"e\\" , "":""}, "é":"\u00e9\ud83d\ude02!" } )",
       R"(["\"\"","\\","\\\"\"","a","",[],{},[[]],[{}],"]","}","\\\\\"\\"])", R"("\"")", "12", " null ",
       "[\"\xe4\xbd\xa0\"]"}) {
    const Document document = Parsed(text);
    ExpectExactOffsets(document.root(), text);
  }
}

TEST(JsonReader, CountsMembersAndElements) {
  const Document document = Parsed(R"({"a":[],"b":{},"c":[1,[2,3],{"x":0}],"d":"four"})");
  const Value root = document.root();
  EXPECT_EQ(root.size(), 4u);
  EXPECT_EQ(root.Find("a").size(), 0u);
  EXPECT_EQ(root.Find("b").size(), 0u);
  EXPECT_EQ(root.Find("c").size(), 3u);
  EXPECT_EQ(root.Find("d").size(), 0u);
  EXPECT_EQ(root.At({"c"}).elements().begin() != root.At({"c"}).elements().end(), true);
}

TEST(JsonReader, TakesEveryDepthUpToTheLimitAndNoneBeyond) {
  const std::string deep = Repeated("[", 128) + Repeated("]", 128);
  EXPECT_TRUE(Document::Parse(deep).has_value());
  const Error error = Refusal("[" + deep + "]");
  EXPECT_EQ(error.code, "JSON_TOO_DEEP");
  EXPECT_EQ(error.where, "byte 128");
  EXPECT_EQ(Refusal("[{}]", {.depth_max = 1}).where, "byte 1");
  EXPECT_EQ(Refusal("[]", {.depth_max = 0}).code, "JSON_TOO_DEEP");
  EXPECT_TRUE(Document::Parse("1", {.depth_max = 0}).has_value());
}

TEST(JsonReader, SurvivesADepthOfAHundredThousand) {
  constexpr std::size_t kDepth = 100'000;
  const Limits limits{.depth_max = kDepth};
  const std::string arrays = Repeated("[", kDepth) + Repeated("]", kDepth);
  EXPECT_EQ(Canonical(Parsed(arrays, limits).root()), arrays);
  const std::string objects = Repeated("{\"a\":", kDepth) + "1" + Repeated("}", kDepth);
  EXPECT_EQ(Canonical(Parsed(objects, limits).root()), objects);
  EXPECT_EQ(Refusal(arrays).code, "JSON_TOO_DEEP");
  EXPECT_EQ(Refusal(Repeated("[", kDepth), limits).code, "JSON_SYNTAX");
}

TEST(JsonReader, RefusesADocumentOverTheSizeLimit) {
  const Error error = Refusal("[1,2]", {.bytes_max = 4});
  EXPECT_EQ(error.code, "JSON_TOO_LARGE");
  EXPECT_EQ(error.where, "byte 4");
  EXPECT_TRUE(Document::Parse("[1,2]", {.bytes_max = 5}).has_value());
}

TEST(JsonReader, RefusesFourGibibytesWhateverTheLimit) {
  if constexpr (sizeof(std::size_t) == 8) {
    const char byte = '1';  // never read
    const Error error = Refusal(std::string_view(&byte, std::size_t{1} << 32),
                                {.bytes_max = std::numeric_limits<std::size_t>::max()});
    EXPECT_EQ(error.code, "JSON_TOO_LARGE");
    EXPECT_EQ(error.where, "byte 4294967295");
  }
}

TEST(JsonReader, FindsInvalidUtf8AtEveryOffsetOfABlock) {
  for (std::size_t at = 0; at < 70; ++at) {
    std::string text = "\"" + std::string(80, 'x') + "\"";
    text[at + 1] = '\xff';
    EXPECT_EQ(Refusal(text).where, "byte " + std::to_string(at + 1));
    text.replace(at + 1, 1, "é");
    EXPECT_TRUE(Document::Parse(text).has_value()) << at;
    text.replace(at + 1, 2, "\x01");
    EXPECT_EQ(Refusal(text).where, "byte " + std::to_string(at + 1));
  }
}

TEST(JsonDocument, ValuesSurviveAMove) {
  Document first = Parsed(R"({"name":"value"})");
  const Value root = first.root();
  const Document second = std::move(first);
  EXPECT_EQ(root.Find("name").AsString(), "value");
  EXPECT_EQ(second.root().node(), root.node());
}

TEST(JsonValue, AnswersNoToEveryQuestionAboutSomethingElse) {
  const Document document = Parsed(R"({"s":"1","n":1,"t":true,"f":false,"z":null,"a":[1],"o":{"x":1}})");
  const Value root = document.root();
  const Value missing = root.Find("absent");
  EXPECT_FALSE(missing.exists());
  EXPECT_TRUE(missing.IsAbsent());
  EXPECT_FALSE(missing.IsNull());
  EXPECT_EQ(missing.AsString(), "");
  EXPECT_EQ(missing.AsDouble(), std::nullopt);
  EXPECT_EQ(missing.size(), 0u);
  EXPECT_FALSE(missing.Find("x").exists());
  EXPECT_TRUE(root.Find("z").IsAbsent());
  EXPECT_FALSE(root.Find("f").IsAbsent());
  EXPECT_TRUE(root.Find("f").IsBool());
  EXPECT_FALSE(root.Find("f").IsTrue());
  EXPECT_TRUE(root.Find("t").IsTrue());
  EXPECT_EQ(root.Find("s").AsInt64(), std::nullopt);
  EXPECT_EQ(root.Find("s").NumberText(), "");
  EXPECT_EQ(root.Find("n").AsString(), "");
  EXPECT_EQ(root.At({"o", "x"}).AsInt64(), 1);
  EXPECT_FALSE(root.At({"a", "x"}).exists());
  EXPECT_FALSE(root.At({"o", "x", "y"}).exists());
  EXPECT_EQ(root.At({}).node(), root.node());
  for (const Member member : root.Find("a").members()) ADD_FAILURE() << member.name;
  for (const Value value : root.Find("o").elements()) ADD_FAILURE() << value.size();
}

TEST(JsonValue, ReadsDoublesCorrectlyRounded) {
  struct Case {
    const char* text;
    double value;
  };
  for (const auto& [text, value] : std::initializer_list<Case>{
           {"0", 0.0},
           {"5e-324", std::numeric_limits<double>::denorm_min()},
           {"2.4703282292062328e-324", std::numeric_limits<double>::denorm_min()},
           {"2.4703282292062327e-324", 0.0},
           {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
           {"2.2250738585072014e-308", std::numeric_limits<double>::min()},
           {"1.7976931348623157e308", std::numeric_limits<double>::max()},
           {"1.7976931348623158e308", std::numeric_limits<double>::max()},
           {"9007199254740993", 9007199254740992.0},
           {"9007199254740993.0000000000000000000000000000000000001", 9007199254740994.0},
           {"0.1", 0.1},
           {"1e23", 1e23},
           {"1e-400", 0.0},
           {"0.0000000000000000000000000000000000000001e-300", 0.0},
           {"123456789012345678901234567890e-400", 0.0}}) {
    EXPECT_EQ(Parsed(text).root().AsDouble(), value) << text;
  }
  EXPECT_TRUE(std::signbit(*Parsed("-0").root().AsDouble()));
}

TEST(JsonValue, ReadsIntegersOnlyFromIntegerTextWithinInt64) {
  EXPECT_EQ(Parsed("9223372036854775807").root().AsInt64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Parsed("-9223372036854775808").root().AsInt64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Parsed("-0").root().AsInt64(), 0);
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "1.0", "1e0", "\"1\"", "null"})
    EXPECT_EQ(Parsed(text).root().AsInt64(), std::nullopt) << text;
}

std::vector<std::string> Elements(std::string_view text, std::initializer_list<std::string_view> path) {
  std::vector<std::string> out;
  const auto found = FindElements(text, path);
  if (!found) return {"nothing"};
  for (const auto& [begin, end] : *found) out.emplace_back(text.substr(begin, end - begin));
  return out;
}

TEST(FindElements, AgreesWithTheReaderOnAValidDocument) {
  const std::string text =
      R"( {"x":[0,{"data":[9]}], "data" : {"a":"]","rows":[ {"id":1, "s":"a,]}\""} , [2,[3]],"four" ,5 ,null]}})";
  const auto found = FindElements(text, {"data", "rows"});
  ASSERT_TRUE(found.has_value());
  const Document document = Parsed(text);
  std::size_t i = 0;
  for (const Value element : document.root().At({"data", "rows"}).elements()) {
    ASSERT_LT(i, found->size());
    EXPECT_EQ((*found)[i].begin, element.begin_offset());
    EXPECT_EQ((*found)[i].end, element.end_offset());
    ++i;
  }
  EXPECT_EQ(i, found->size());
}

TEST(FindElements, PassesOverElementsThatAStrictReaderRefuses) {
  const std::string text =
      "\xef\xbb\xbf{\"total\":NaN,\"rows\":[{\"a\":1,\"a\":2},{\"b\":\"\xff\\\"]\"} , "
      "{\"c\":\"\\udc00\"},{\"d\":01 x},nonsense,"
      "{\"e\":1}],\"rows\":[7]}";
  EXPECT_THAT(Elements(text, {"rows"}),
              ElementsAre("{\"a\":1,\"a\":2}", "{\"b\":\"\xff\\\"]\"}", "{\"c\":\"\\udc00\"}", "{\"d\":01 x}",
                          "nonsense", "{\"e\":1}"));
}

TEST(FindElements, FindsNothingWhereThereIsNoSuchArray) {
  for (const char* text :
       {"", "[]", "{}", "1", R"({"rows":{}})", R"({"rows":1})", R"({"other":[1]})", R"({"rows")",
        R"({"rows":)", R"({"rows)", R"({rows:[1]})", R"({"rows":[1,2)", R"({"rows":[1,"2)", R"({"rows":[)",
        R"({"rows":[1}])", R"({"a":1;"rows":[1]})", R"({"rows":[{"a":1)", R"({"rows":[{"a":"\)"})
    EXPECT_THAT(Elements(text, {"rows"}), ElementsAre("nothing")) << text;
  EXPECT_THAT(Elements(R"({"rows":[]})", {"rows"}), IsEmpty());
  EXPECT_THAT(Elements(R"({"rows":[ ]})", {"rows"}), IsEmpty());
  EXPECT_THAT(Elements(R"([1 , 2])", {}), ElementsAre("1", "2"));
}

TEST(FindElements, KeepsAnEmptyElementAsAnEmptyRange) {
  EXPECT_THAT(Elements(R"({"rows":[1,,2 ]})", {"rows"}), ElementsAre("1", "", "2"));
}

TEST(FindElements, StopsAtTheGivenNumberOfElements) {
  const auto found = FindElements("[1,2,3,4]", {}, 2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), 2u);
}

TEST(FindElements, DoesNotRecurse) {
  const std::string text = "{\"rows\":[" + Repeated("[", 1'000'000) + Repeated("]", 1'000'000) + ",1]}";
  EXPECT_EQ(Elements(text, {"rows"}).size(), 2u);
}

}  // namespace
}  // namespace etl::json
