#include "model/expression.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace etl {
namespace {

constexpr std::size_t kCharactersMax = 200;
constexpr int kDepthMax = 64;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsInName(char c) {
  return StartsName(c) || IsDigit(c);
}
bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

Error At(std::string code, std::size_t at, std::string what, std::string fix) {
  return {Errc::kInvalid, std::move(code), "character " + std::to_string(at), std::move(what),
          std::move(fix)};
}

Error Overflow(std::size_t at) {
  return At("EXPRESSION_OVERFLOW", at, "the value does not fit 64 bits",
            "correct the expression or its axes");
}

// Evaluates while it reads:
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "//" | "%") factor }
//   factor  = "-" factor | integer | name | "(" sum ")"
class Evaluator {
 public:
  Evaluator(std::string_view text, const Bindings& bindings) : text_(text), bindings_(bindings) {}

  Result<std::int64_t> Evaluate() {
    if (text_.size() > kCharactersMax)
      return Fail(At("EXPRESSION_TOO_LONG", kCharactersMax,
                     "the expression has " + std::to_string(text_.size()) + " characters, of at most " +
                         std::to_string(kCharactersMax),
                     "shorten it"));
    ETL_TRY(const std::int64_t value, Sum());
    if (at_ != text_.size()) return Syntax("an operator was expected");
    return value;
  }

 private:
  tl::unexpected<Error> Syntax(std::string what) const {
    if (at_ == text_.size()) what += "; the expression ends here";
    return Fail(At("EXPRESSION_SYNTAX", at_, std::move(what),
                   "write integers, axis names, + - * % // and parentheses"));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Result<std::int64_t> Sum() {
    ETL_TRY(std::int64_t value, Product());
    while (Peek() == '+' || Peek() == '-') {
      const std::size_t at = at_;
      const bool plus = text_[at_++] == '+';
      ETL_TRY(const std::int64_t right, Product());
      const bool overflow =
          plus ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value);
      if (overflow) return Fail(Overflow(at));
    }
    return value;
  }

  Result<std::int64_t> Product() {
    ETL_TRY(std::int64_t value, Factor());
    while (Peek() == '*' || Peek() == '/' || Peek() == '%') {
      const std::size_t at = at_;
      const char sign = text_[at_++];
      if (sign == '/') {
        if (Peek() != '/') return Syntax("division is written //");
        ++at_;
      }
      ETL_TRY(const std::int64_t right, Factor());
      ETL_TRY(value, Apply(sign, at, value, right));
    }
    return value;
  }

  static Result<std::int64_t> Apply(char sign, std::size_t at, std::int64_t left, std::int64_t right) {
    if (sign == '*') {
      std::int64_t value = 0;
      if (__builtin_mul_overflow(left, right, &value)) return Fail(Overflow(at));
      return value;
    }
    if (right == 0)
      return Fail(At("EXPRESSION_DIVISION", at, "division by zero", "correct the expression or its axes"));
    if (right == -1) {  // by itself, because the hardware traps on the smallest integer
      if (sign == '%') return 0;
      if (left == std::numeric_limits<std::int64_t>::min()) return Fail(Overflow(at));
      return -left;
    }
    // C++ cuts towards zero, Python goes down.
    const std::int64_t rest = left % right;
    const bool lower = rest != 0 && (rest < 0) != (right < 0);
    if (sign == '%') return lower ? rest + right : rest;
    return left / right - (lower ? 1 : 0);
  }

  // With the blanks before and behind it.
  Result<std::int64_t> Factor() {
    SkipBlanks();
    const std::size_t at = at_;
    const char c = Peek();
    if (IsDigit(c)) return Integer(false);
    if (StartsName(c)) return Name();
    if (c != '-' && c != '(') return Syntax("an integer, an axis or ( was expected");
    if (++depth_ > kDepthMax)
      return Fail(At("EXPRESSION_TOO_DEEP", at,
                     "over " + std::to_string(kDepthMax) + " open parentheses or signs", "use fewer"));
    ++at_;
    ETL_TRY(const std::int64_t value, c == '-' ? Negated(at) : Parenthesis());
    --depth_;
    return value;
  }

  Result<std::int64_t> Negated(std::size_t at) {
    SkipBlanks();
    if (IsDigit(Peek())) return Integer(true);
    ETL_TRY(const std::int64_t value, Factor());
    std::int64_t negated = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, value, &negated)) return Fail(Overflow(at));
    return negated;
  }

  Result<std::int64_t> Parenthesis() {
    ETL_TRY(const std::int64_t value, Sum());
    if (Peek() != ')') return Syntax("an operator or ) was expected");
    ++at_;
    SkipBlanks();
    return value;
  }

  Result<std::int64_t> Integer(bool negative) {
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; IsDigit(Peek()); ++at_) {
      const std::int64_t digit = text_[at_] - '0';
      if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
          __builtin_add_overflow(value, negative ? -digit : digit, &value))
        return Fail(Overflow(begin));
    }
    if (StartsName(Peek())) return Syntax("a letter inside a number");
    SkipBlanks();
    return value;
  }

  Result<std::int64_t> Name() {
    const std::size_t begin = at_;
    while (IsInName(Peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto found = bindings_.find(name);
    if (found == bindings_.end())
      return Fail(At("EXPRESSION_UNBOUND", begin, "axis " + std::string(name) + " has no value",
                     "give it a value or a definition"));
    SkipBlanks();
    return found->second;
  }

  std::string_view text_;
  const Bindings& bindings_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::vector<std::string_view> NamesIn(std::string_view expression) {
  std::vector<std::string_view> names;
  if (expression.size() > kCharactersMax) return names;  // refused when it is evaluated
  for (std::size_t i = 0; i < expression.size();) {
    const std::size_t begin = i;
    while (i < expression.size() && IsInName(expression[i])) ++i;
    if (i == begin)
      ++i;
    else if (StartsName(expression[begin]))
      names.push_back(expression.substr(begin, i - begin));
  }
  return names;
}

using Expressions = std::map<std::string, std::string, std::less<>>;

// Evaluates what has all it needs, then what that was missing from, and so on: each expression once.
class Resolver {
 public:
  Resolver(const Expressions& derived, Bindings& bindings) : bindings_(bindings) {
    for (const auto& [name, expression] : derived)
      if (!bindings.contains(name)) axes_.emplace(name, Axis{&name, &expression, 0, {}});
    for (auto& [name, axis] : axes_) {
      for (const std::string_view needed : NamesIn(*axis.expression)) {
        const auto other = axes_.find(needed);
        if (other == axes_.end()) continue;  // bound, or without a value, which evaluation will say
        ++axis.missing;
        other->second.needed_by.push_back(&axis);
      }
      if (axis.missing == 0) ready_.push_back(&axis);
    }
  }

  Status Resolve() {
    for (; !ready_.empty(); ready_.pop_front()) {
      const Axis& axis = *ready_.front();
      auto value = EvaluateExpression(*axis.expression, bindings_);
      if (!value) {
        Error error = std::move(value).error();
        error.where = "axis " + *axis.name + ", " + error.where;
        return Fail(std::move(error));
      }
      bindings_.emplace(*axis.name, *value);
      done_.push_back(axis.name);
      for (Axis* other : axis.needed_by)
        if (--other->missing == 0) ready_.push_back(other);
    }
    for (const auto& [name, axis] : axes_)
      if (axis.missing > 0)
        return Fail(Errc::kInvalid, "EXPRESSION_CYCLE", "axis " + std::string(name),
                    "its value depends on itself, or on an axis that does", "break the cycle");
    return {};
  }

  // Takes back what was added.
  void Undo() {
    for (const std::string* name : done_) bindings_.erase(*name);
  }

 private:
  struct Axis {
    const std::string* name = nullptr;
    const std::string* expression = nullptr;
    std::size_t missing = 0;  // uses of axes that are still to be evaluated
    std::vector<Axis*> needed_by;
  };

  Bindings& bindings_;
  std::map<std::string_view, Axis> axes_;
  std::deque<const Axis*> ready_;
  std::vector<const std::string*> done_;
};

}  // namespace

Result<std::int64_t> EvaluateExpression(std::string_view expression, const Bindings& bindings) {
  return Evaluator(expression, bindings).Evaluate();
}

Status ResolveDerived(const std::map<std::string, std::string, std::less<>>& derived, Bindings& bindings) {
  Resolver resolver(derived, bindings);
  Status status = resolver.Resolve();
  if (!status) resolver.Undo();
  return status;
}

}  // namespace etl
