// calculator: arithmetic in Python's notation, where sums of decimals come out as on paper.
//
//   calculator(expression: str) -> int | float
//
// Operators + - * / // % ** and parentheses, constants pi, e, tau, functions sqrt, cbrt, exp, log, log2,
// log10, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, degrees, radians, hypot, abs, round,
// floor, ceil, min, max, sum, mean, factorial, gcd. Decimals of up to 38 digits are exact; what does not end
// or is larger is a float.
#ifndef GLOVEPORT_TOOLS_BUILTIN_CALCULATOR_H_
#define GLOVEPORT_TOOLS_BUILTIN_CALCULATOR_H_

#include <memory>
#include <string_view>
#include <variant>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// kInvalidArgument with the column (from 1) of what is wrong: "column 5: ...". Pure.
Result<std::variant<BigInt, double>> Calculate(std::string_view expression);

Result<std::shared_ptr<Tool>> MakeCalculator();

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_CALCULATOR_H_
