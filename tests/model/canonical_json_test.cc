#include "model/canonical_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etl::json {
namespace {

std::string Canon(std::string_view text) {
  auto out = Canonicalize(text);
  if (!out) throw std::runtime_error(out.error().Message());
  return *std::move(out);
}

std::string Exact(std::string_view text) {
  auto document = Document::Parse(text);
  if (!document) throw std::runtime_error(document.error().Message());
  return Canonical(document->root(), Integers::kExact);
}

std::string Number(double value) {
  std::string out;
  AppendNumber(out, value);
  return out;
}

// Unpacks valid UTF-8 to the UTF-16 code units that JCS sorts by.
std::u16string Utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i + k]));
    };
    const std::uint32_t lead = byte(0);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t point = bytes == 1 ? lead : lead & (0xffu >> (bytes + 1));
    for (std::size_t k = 1; k < bytes; ++k) point = point << 6 | (byte(k) & 0x3f);
    if (point >= 0x10000) {
      out += static_cast<char16_t>(0xd800 + ((point - 0x10000) >> 10));
      out += static_cast<char16_t>(0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
      out += static_cast<char16_t>(point);
    }
    i += bytes;
  }
  return out;
}

TEST(CanonicalJson, DropsWhiteSpaceAndKeepsArrayOrder) {
  EXPECT_EQ(Canon(" [ 3 , 1 ,\n{ } , [ ] , { \"a\" : [ ] } ]\t"), R"([3,1,{},[],{"a":[]}])");
}

TEST(CanonicalJson, SortsMembersAtEveryLevel) {
  EXPECT_EQ(Canon(R"({"b":{"z":1,"a":2},"a":[{"d":1,"c":[{"f":0,"e":0}]}],"":0})"),
            R"({"":0,"a":[{"c":[{"e":0,"f":0}],"d":1}],"b":{"a":2,"z":1}})");
}

TEST(CanonicalJson, SortsMembersByUtf16CodeUnits) {
  // U+1F600 is written d83d de00 in UTF-16, before U+E000 and U+FFFD; its UTF-8 sorts after theirs.
  EXPECT_EQ(
      Canon("{\"\xef\xbf\xbd\":1,\"\xf0\x9f\x98\x80\":2,\"\xee\x80\x80\":3,\"\xed\x9f\xbf\":4,\"z\":5}"),
      "{\"z\":5,\"\xed\x9f\xbf\":4,\"\xf0\x9f\x98\x80\":2,\"\xee\x80\x80\":3,\"\xef\xbf\xbd\":1}");
  EXPECT_EQ(Canon(R"({"a":1,"A":2,"aa":3,"a\u0000":4,"_":5,"10":6,"9":7})"),
            R"({"10":6,"9":7,"A":2,"_":5,"a":1,"a\u0000":4,"aa":3})");
}

TEST(CanonicalJson, SortsNamesThatShareALongPrefix) {
  EXPECT_EQ(
      Canon(
          R"({"collection_title":1,"collection_id":2,"collection_":3,"collectio":4,"collection_submission_id":5})"),
      R"({"collectio":4,"collection_":3,"collection_id":2,"collection_submission_id":5,"collection_title":1})");
}

// The sort tries the order of the last object with as many members first; it must not matter what came
// before.
TEST(CanonicalJson, SortsTheSameWhateverWasSortedBefore) {
  std::mt19937 random(7);
  for (std::size_t members = 0; members < 70; ++members) {
    for (int round = 0; round < 6; ++round) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < members; ++i)
        names.push_back("name_" + std::to_string(random()) + "_" + std::to_string(i));
      std::string text = "{";
      for (const auto& name : names) text += "\"" + name + "\":1,";
      std::sort(names.begin(), names.end());
      std::string expected = "{";
      for (const auto& name : names) expected += "\"" + name + "\":1,";
      (members > 0 ? text.back() : text.append(" ").back()) = '}';
      (members > 0 ? expected.back() : expected.append(" ").back()) = '}';
      EXPECT_EQ(Canon(text), expected);
      EXPECT_EQ(Canon(expected), expected);
    }
  }
}

TEST(CanonicalJson, ComparesNamesAsTheirUtf16Does) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {"",
                                           "a",
                                           "b",
                                           "_",
                                           "Z",
                                           "\x7f",
                                           "\xc2\x80",
                                           "é",
                                           "\xed\x9f\xbf",
                                           "\xee\x80\x80",
                                           "\xef\xbf\xbd",
                                           "\xf0\x90\x80\x80",
                                           "\xf0\x9f\x98\x80",
                                           "\xf4\x8f\xbf\xbf"};
  const auto piece = [&] { return pieces[random() % pieces.size()]; };
  for (int i = 0; i < 20'000; ++i) {
    const std::string common = piece() + piece() + piece() + piece() + piece();
    const std::string a = common.substr(0, i % 2 == 0 ? common.size() : 0) + piece() + piece() + piece();
    const std::string b = common.substr(0, i % 2 == 0 ? common.size() : 0) + piece() + piece() + piece();
    ASSERT_EQ(Utf16Less(a, b), Utf16(a) < Utf16(b)) << a << " | " << b;
    if (a == b) continue;
    const std::string sorted = Canon("{\"" + a + "\":1,\"" + b + "\":1}");
    ASSERT_EQ(sorted.substr(2, a.size() + 2) == a + "\":", Utf16(a) < Utf16(b)) << a << " | " << b;
  }
}

TEST(CanonicalJson, WritesTheShortestEscapes) {
  EXPECT_EQ(
      Canon(R"("\u0000\u0001\u0008\u0009\u000a\u000b\u000c\u000d\u001F\u0022\u005c\/\u007f\u0080\u2028")"),
      "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\x7f\xc2\x80\xe2\x80\xa8\"");
  EXPECT_EQ(Canon(R"({"\n\"":"\ud83d\ude02"})"), "{\"\\n\\\"\":\"\xf0\x9f\x98\x82\"}");
}

TEST(CanonicalJson, WritesEveryStringWithASpecialCharacterAtEveryPlace) {
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    for (std::size_t at = 0; at < bytes; ++at) {
      for (const auto& [raw, escaped] :
           std::vector<std::pair<std::string, std::string>>{{"\n", "\\n"},
                                                            {"\"", "\\\""},
                                                            {"\\", "\\\\"},
                                                            {std::string(1, '\0'), "\\u0000"},
                                                            {"\x1f", "\\u001f"}}) {
        const std::string before(at, 'x'), after(bytes - at - 1, 'y');
        std::string appended;
        AppendString(appended, before + raw + after);
        const std::string expected = "\"" + before + escaped + after + "\"";
        ASSERT_EQ(appended, expected);
        ASSERT_EQ(Canon(expected), expected);
        ASSERT_EQ(Canon("[" + expected + ",1]"), "[" + expected + ",1]");
      }
    }
  }
}

TEST(CanonicalJson, WritesNumbersAsEcmaScriptDoes) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"0", "0"},
           {"-0", "0"},
           {"-0.0", "0"},
           {"0e400", "0"},
           {"0.0", "0"},
           {"1.0", "1"},
           {"1.50", "1.5"},
           {"-12.25", "-12.25"},
           {"100", "100"},
           {"1e2", "100"},
           {"1E+2", "100"},
           {"0.238721", "0.238721"},
           {"0.0105274999999999", "0.0105274999999999"},
           {"5.7511020684977955e-06", "0.0000057511020684977955"},
           {"0.000001", "0.000001"},
           {"0.00000123", "0.00000123"},
           {"0.0000001", "1e-7"},
           {"0.00000012", "1.2e-7"},
           {"1e-6", "0.000001"},
           {"1e-7", "1e-7"},
           {"9.5367431640625e-7", "9.5367431640625e-7"},
           {"999999999999999", "999999999999999"},
           {"9007199254740991", "9007199254740991"},
           {"9007199254740992", "9007199254740992"},
           {"9007199254740993", "9007199254740992"},
           {"-9007199254740993", "-9007199254740992"},
           {"123456789012345678", "123456789012345680"},
           {"999999999999999999999", "1e+21"},
           {"100000000000000000000", "100000000000000000000"},
           {"1e21", "1e+21"},
           {"-1.5e300", "-1.5e+300"},
           {"333333333.33333329", "333333333.3333333"},
           {"1E30", "1e+30"},
           {"2e-3", "0.002"},
           {"0.000000000000000000000000001", "1e-27"},
           {"0.30000000000000004", "0.30000000000000004"},
           {"0.1000000000000000055511151231257827", "0.1"},
           {"5e-324", "5e-324"},
           {"1e-400", "0"},
           {"1.7976931348623157e308", "1.7976931348623157e+308"}})
    EXPECT_EQ(Canon(text), expected) << text;
}

TEST(CanonicalJson, AppendsNumbersOfBothTypesAlike) {
  EXPECT_EQ(Number(-0.0), "0");
  EXPECT_EQ(Number(1e21), "1e+21");
  EXPECT_EQ(Number(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(Number(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
  for (const auto& [value, expected] : std::vector<std::pair<std::int64_t, std::string>>{
           {0, "0"},
           {-1, "-1"},
           {9007199254740992, "9007199254740992"},
           {-9007199254740993, "-9007199254740992"},
           {std::numeric_limits<std::int64_t>::max(), "9223372036854775807"},
           {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"}}) {
    std::string out = "x";
    AppendNumber(out, value);
    const bool beyond = value > 9007199254740992 || value < -9007199254740992;
    EXPECT_EQ(out, "x" + (beyond ? Number(static_cast<double>(value)) : expected));
  }
  std::string out;
  AppendNumber(out, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(out, "9223372036854776000");
}

TEST(CanonicalJson, KeepsLargeIntegersOnlyWhenAsked) {
  EXPECT_EQ(Exact("[9007199254740993,-9007199254740993,12345678901234567890123456789,-0,0,1.0,1e3,"
                  "9007199254740993.0]"),
            "[9007199254740993,-9007199254740993,12345678901234567890123456789,0,0,1,1000,9007199254740992]");
  EXPECT_EQ(Canon("[9007199254740993,12345678901234567890123456789]"),
            "[9007199254740992,1.2345678901234568e+28]");
}

// A text that is canonical already is copied; that must be the same as writing its double.
TEST(CanonicalJson, CopiesNoTextThatItWouldWriteOtherwise) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t digits = random() % (std::uint64_t{1} << (random() % 60));
    std::string text = std::to_string(digits);
    const std::size_t point = random() % 20;
    if (point > 0) {
      if (text.size() <= point) text.insert(0, point + 1 - text.size(), '0');
      text.insert(text.size() - point, ".");
    }
    if (random() % 2 == 0) text.insert(0, "-");
    auto document = Document::Parse(text);
    ASSERT_TRUE(document.has_value()) << text;
    ASSERT_EQ(Canonical(document->root()), Number(*document->root().AsDouble())) << text;
  }
}

TEST(CanonicalJson, AppendsToWhatIsThere) {
  std::string out = "before ";
  auto document = Document::Parse(R"({"b":[1,{"c":null}],"a":true})");
  ASSERT_TRUE(document.has_value());
  AppendCanonical(out, document->root());
  EXPECT_EQ(out, R"(before {"a":true,"b":[1,{"c":null}]})");
  AppendCanonical(out, document->root().Find("b"));
  EXPECT_EQ(out, R"(before {"a":true,"b":[1,{"c":null}]}[1,{"c":null}])");
}

TEST(CanonicalJson, GrowsBeyondTheLengthOfTheText) {
  std::string text = "[", expected = "[";
  for (int i = 0; i < 5000; ++i) {
    text += "1e20,";
    expected += "100000000000000000000,";
  }
  text.back() = expected.back() = ']';
  EXPECT_EQ(Canon(text), expected);
}

TEST(CanonicalJson, PassesOnTheErrorsOfTheReader) {
  const auto out = Canonicalize(R"({"a":1,"a":2})");
  ASSERT_FALSE(out.has_value());
  EXPECT_EQ(out.error().code, "JSON_DUPLICATE_MEMBER");
  EXPECT_EQ(out.error().where, "byte 7");
}

}  // namespace
}  // namespace etl::json
