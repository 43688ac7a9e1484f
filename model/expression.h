#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/error.h"

namespace etl {

// Axis values by name.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

// Evaluates an axis expression: integers, axis names, + - * % // and parentheses, unary minus, Python's
// precedence; division floors and the remainder takes the divisor's sign, as in Python. 64-bit, checked.
//
// Errors (kInvalid, `where` "character N" of the expression): EXPRESSION_SYNTAX, EXPRESSION_UNBOUND (an axis
// without a value; `what` names it), EXPRESSION_DIVISION (by zero), EXPRESSION_OVERFLOW, EXPRESSION_TOO_LONG
// (over 200 characters, the limit of a manifest), EXPRESSION_TOO_DEEP (over 64 open parentheses or signs).
Result<std::int64_t> EvaluateExpression(std::string_view expression, const Bindings& bindings);

// Adds every expression of `derived` to `bindings`, in whatever order they depend on one another; names
// already bound keep their value. Errors: those above, with the axis in `where`; EXPRESSION_CYCLE when what
// is left depends on itself.
Status ResolveDerived(const std::map<std::string, std::string, std::less<>>& derived, Bindings& bindings);

}  // namespace etl
