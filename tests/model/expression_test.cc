#include "model/expression.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace etl {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr const char* kMinText = "-9223372036854775808";

using Derived = std::map<std::string, std::string, std::less<>>;

const Bindings& Axes() {
  static const Bindings axes = {{"heads", 80}, {"kv_heads", 8}, {"n1", 7}, {"zero", 0},
                                {"min", kMin}, {"max", kMax},   {"N", 3}};
  return axes;
}

// The value, or code and place of the refusal.
std::string Evaluated(std::string_view expression) {
  const auto value = EvaluateExpression(expression, Axes());
  return value ? std::to_string(*value) : value.error().code + " " + value.error().where;
}

void ExpectEach(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [expression, expected] : cases) EXPECT_EQ(Evaluated(expression), expected) << expression;
}

TEST(Expression, ReadsIntegersAndAxes) {
  ExpectEach({{"0", "0"},
              {"12", "12"},
              {" heads ", "80"},
              {"n1", "7"},
              {"N", "3"},
              {"\t5", "5"},
              {"9223372036854775807", "9223372036854775807"},
              {kMinText, kMinText}});
}

TEST(Expression, HasThePrecedenceOfPython) {
  ExpectEach({{"1+2*3", "7"},
              {"(1+2)*3", "9"},
              {"10-3-2", "5"},
              {"100//7//2", "7"},
              {"100//(7//2)", "33"},
              {"7%4*2", "6"},
              {"2*7%4", "2"},
              {"-2*3", "-6"},
              {"2*-3", "-6"},
              {"2- -3", "5"},
              {"--2", "2"},
              {"-(2+3)", "-5"},
              {"- 3", "-3"},
              {"heads // kv_heads", "10"},
              {"heads//kv_heads+n1%4", "13"},
              {"((((1))))", "1"},
              {"-n1//2", "-4"}});
}

TEST(Expression, FloorsDivisionAndGivesTheRemainderTheSignOfTheDivisor) {
  ExpectEach({{"7//2", "3"},
              {"-7//2", "-4"},
              {"7//-2", "-4"},
              {"-7//-2", "3"},
              {"6//-2", "-3"},
              {"0//-5", "0"},
              {"7%2", "1"},
              {"-7%2", "1"},
              {"7%-2", "-1"},
              {"-7%-2", "-1"},
              {"6%-2", "0"},
              {"-1%10", "9"},
              {"1%-10", "-9"}});
}

TEST(Expression, HandlesTheSmallestInteger) {
  ExpectEach({{"min//-1", "EXPRESSION_OVERFLOW character 3"},
              {"min%-1", "0"},
              {"min//1", kMinText},
              {"min%2", "0"},
              {"min//max", "-2"},
              {"min%max", "9223372036854775806"},
              {"-min", "EXPRESSION_OVERFLOW character 0"},
              {"max//-1", "-9223372036854775807"},
              {"-max-1", kMinText},
              {"--9223372036854775808", "EXPRESSION_OVERFLOW character 0"}});
}

TEST(Expression, RefusesWhatDoesNotFit64Bits) {
  ExpectEach({{"max+1", "EXPRESSION_OVERFLOW character 3"},
              {"1 + max", "EXPRESSION_OVERFLOW character 2"},
              {"min-1", "EXPRESSION_OVERFLOW character 3"},
              {"max*2", "EXPRESSION_OVERFLOW character 3"},
              {"min*-1", "EXPRESSION_OVERFLOW character 3"},
              {"0-min", "EXPRESSION_OVERFLOW character 1"},
              {"9223372036854775808", "EXPRESSION_OVERFLOW character 0"},
              {"1+99999999999999999999", "EXPRESSION_OVERFLOW character 2"},
              {"-9223372036854775809", "EXPRESSION_OVERFLOW character 1"}});
}

TEST(Expression, RefusesDivisionByZero) {
  ExpectEach({{"1//0", "EXPRESSION_DIVISION character 1"},
              {"heads % zero", "EXPRESSION_DIVISION character 6"},
              {"1//(n1-7)", "EXPRESSION_DIVISION character 1"},
              {"min//zero", "EXPRESSION_DIVISION character 3"}});
}

TEST(Expression, RefusesAnAxisWithoutAValueAndNamesIt) {
  const auto value = EvaluateExpression("heads + head_dim", Axes());
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().errc, Errc::kInvalid);
  EXPECT_EQ(value.error().code, "EXPRESSION_UNBOUND");
  EXPECT_EQ(value.error().where, "character 8");
  EXPECT_NE(value.error().what.find("head_dim"), std::string::npos);
  EXPECT_FALSE(value.error().fix.empty());
}

TEST(Expression, RefusesEveryOtherShape) {
  ExpectEach({{"", "EXPRESSION_SYNTAX character 0"},
              {"  ", "EXPRESSION_SYNTAX character 2"},
              {"1+", "EXPRESSION_SYNTAX character 2"},
              {"*1", "EXPRESSION_SYNTAX character 0"},
              {"+1", "EXPRESSION_SYNTAX character 0"},
              {"1 2", "EXPRESSION_SYNTAX character 2"},
              {"heads n1", "EXPRESSION_SYNTAX character 6"},
              {"1/2", "EXPRESSION_SYNTAX character 2"},
              {"1///2", "EXPRESSION_SYNTAX character 3"},
              {"2**3", "EXPRESSION_SYNTAX character 2"},
              {"(1", "EXPRESSION_SYNTAX character 2"},
              {"1)", "EXPRESSION_SYNTAX character 1"},
              {"()", "EXPRESSION_SYNTAX character 1"},
              {"12a", "EXPRESSION_SYNTAX character 2"},
              {"1.5", "EXPRESSION_SYNTAX character 1"},
              {"-", "EXPRESSION_SYNTAX character 1"},
              {"max(1,2)", "EXPRESSION_SYNTAX character 3"},
              {"1\n", "EXPRESSION_SYNTAX character 1"},
              {"é", "EXPRESSION_SYNTAX character 0"},
              {std::string("1\0", 2), "EXPRESSION_SYNTAX character 1"}});
}

TEST(Expression, HasALimitOnLengthAndDepth) {
  std::string longest = "1";
  while (longest.size() + 2 <= 199) longest += "+1";
  EXPECT_EQ(Evaluated(longest + " "), "100");
  EXPECT_EQ(Evaluated(longest + "  "), "EXPRESSION_TOO_LONG character 200");
  EXPECT_EQ(Evaluated(std::string(64, '(') + "1" + std::string(64, ')')), "1");
  EXPECT_EQ(Evaluated(std::string(65, '(') + "1" + std::string(65, ')')), "EXPRESSION_TOO_DEEP character 64");
  EXPECT_EQ(Evaluated(std::string(64, '-') + "n1"), "7");
  EXPECT_EQ(Evaluated(std::string(65, '-') + "n1"), "EXPRESSION_TOO_DEEP character 64");
  EXPECT_EQ(Evaluated("(1)+(1)+(1)"), "3");
}

TEST(ResolveDerived, FindsTheOrderByItself) {
  // Declared, and sorted, before what they use.
  const Derived derived = {
      {"a_groups", "heads // b_kv"}, {"b_kv", "c_total - 2"}, {"c_total", "zz + 2"}, {"zz", "kv_heads"}};
  Bindings bindings = Axes();
  ASSERT_TRUE(ResolveDerived(derived, bindings).has_value());
  EXPECT_EQ(bindings.at("a_groups"), 10);
  EXPECT_EQ(bindings.at("b_kv"), 8);
  EXPECT_EQ(bindings.at("c_total"), 10);
  EXPECT_EQ(bindings.at("zz"), 8);
}

TEST(ResolveDerived, KeepsAValueThatIsAlreadyBound) {
  Bindings bindings = {{"a", 5}};
  ASSERT_TRUE(ResolveDerived({{"a", "1 // 0"}, {"b", "a + a"}}, bindings).has_value());
  EXPECT_EQ(bindings, (Bindings{{"a", 5}, {"b", 10}}));
}

struct Unresolved {
  Derived derived;
  std::string code;
  std::string where;
};

TEST(ResolveDerived, RefusesWithTheAxisAndLeavesTheBindingsAlone) {
  for (const auto& [derived, code, where] : std::vector<Unresolved>{
           {{{"a", "b"}, {"b", "a"}}, "EXPRESSION_CYCLE", "axis a"},
           {{{"a", "a + 1"}}, "EXPRESSION_CYCLE", "axis a"},
           {{{"ok", "1"}, {"x", "y"}, {"y", "z"}, {"z", "y"}}, "EXPRESSION_CYCLE", "axis x"},
           {{{"ok", "1"}, {"x", "ok + nowhere"}}, "EXPRESSION_UNBOUND", "axis x, character 5"},
           {{{"x", "1 +"}}, "EXPRESSION_SYNTAX", "axis x, character 3"},
           {{{"x", "one // 0"}, {"one", "1"}}, "EXPRESSION_DIVISION", "axis x, character 4"},
           {{{"x", std::string(201, '1')}}, "EXPRESSION_TOO_LONG", "axis x, character 200"},
           {{{"x", "9223372036854775807 + ok"}, {"ok", "1"}},
            "EXPRESSION_OVERFLOW",
            "axis x, character 20"}}) {
    Bindings bindings = {{"bound", 1}};
    const Status status = ResolveDerived(derived, bindings);
    ASSERT_FALSE(status.has_value()) << where;
    EXPECT_EQ(status.error().code, code);
    EXPECT_EQ(status.error().where, where);
    EXPECT_EQ(bindings, (Bindings{{"bound", 1}})) << where;
  }
}

TEST(ResolveDerived, TakesALongChainInEitherDirection) {
  constexpr int kAxes = 20'000;
  const auto name = [](int i) { return "axis_" + std::to_string(100'000 + i); };
  Derived up = {{name(0), "1"}}, down = {{name(kAxes - 1), "1"}};
  for (int i = 1; i < kAxes; ++i) {
    up.emplace(name(i), name(i - 1) + " + 1");
    down.emplace(name(i - 1), name(i) + " + 1");
  }
  Bindings rising, falling;
  ASSERT_TRUE(ResolveDerived(up, rising).has_value());
  ASSERT_TRUE(ResolveDerived(down, falling).has_value());
  EXPECT_EQ(rising.at(name(kAxes - 1)), kAxes);
  EXPECT_EQ(falling.at(name(0)), kAxes);
}

}  // namespace
}  // namespace etl
