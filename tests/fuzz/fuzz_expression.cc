// Axis expressions, over any text: the first line is evaluated, and the lines together are derived axes a, b,
// c, ...

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "model/expression.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

const etl::Bindings& Axes() {
  static const etl::Bindings axes = {{"n", 7},
                                     {"zero", 0},
                                     {"min", std::numeric_limits<std::int64_t>::min()},
                                     {"max", std::numeric_limits<std::int64_t>::max()}};
  return axes;
}

void Evaluate(std::string_view text) {
  const auto value = etl::EvaluateExpression(text, Axes());
  if (!value) {
    Require(value.error().code.starts_with("EXPRESSION_") && value.error().where.starts_with("character "),
            "a refusal says what and where");
    return;
  }
  if (text.size() > 190) return;
  const std::string in_parentheses = "(" + std::string(text) + ")";
  const auto same = etl::EvaluateExpression(in_parentheses, Axes());
  Require((same && *same == *value) || (!same && same.error().code == "EXPRESSION_TOO_DEEP"),
          "parentheses around it change nothing");
}

void Resolve(std::string_view text) {
  std::map<std::string, std::string, std::less<>> derived;
  for (char name = 'a'; name <= 'z' && !text.empty(); ++name) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    derived.emplace(std::string(1, name), text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  etl::Bindings bindings = Axes();
  if (!etl::ResolveDerived(derived, bindings)) {
    Require(bindings == Axes(), "a refusal leaves the bindings alone");
    return;
  }
  for (const auto& [name, expression] : derived) {
    if (Axes().contains(name)) continue;
    const auto value = etl::EvaluateExpression(expression, bindings);
    Require(value && *value == bindings.at(name), "every axis has the value of its expression");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Evaluate(text.substr(0, text.find('\n')));
  Resolve(text);
  return 0;
}
