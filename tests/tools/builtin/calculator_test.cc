#include "gloveport/tools/builtin/calculator.h"

#include <gtest/gtest.h>

#include <string>

#include "call_tool.h"

namespace gloveport {
namespace {

std::string Computed(std::string_view expression) {
  const auto tool = MakeCalculator();
  return Said(**tool, {{"expression", expression}});
}

TEST(Calculator, ComputesAsPythonDoesAndDecimalsAsOnPaper) {
  struct Case {
    const char* expression;
    const char* result;
  };
  static constexpr Case kCases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"0.1 + 0.2", "0.3"},
      {"1.10 * 3", "3.3"},
      {"7 / 2", "3.5"},
      {"6 / 2", "3"},
      {"1 / 3", "0.3333333333333333"},
      {"-7 // 2", "-4"},
      {"-7 % 3", "2"},
      {"7 % -3", "-2"},
      {"7.5 % 2", "1.5"},
      {"-2 ** 2", "-4"},
      {"2 ** -1", "0.5"},
      {"2 ** 3 ** 2", "512"},
      {"2**100", "1267650600228229401496703205376"},
      {"10**37 + 1", "10000000000000000000000000000000000001"},
      {"2**200", "1.6069380442589903e+60"},
      {"1_000_000 * 2", "2000000"},
      {"1e3", "1000"},
      {"2.5e-3", "0.0025"},
      {".5 + 5.", "5.5"},
      {"--1", "1"},
      {"+-+1", "-1"},
      {"sqrt(16)", "4"},
      {"sqrt(2)", "1.4142135623730951"},
      {"round(2.675, 2)", "2.68"},
      {"round(2.5)", "2"},
      {"round(3.5)", "4"},
      {"round(1234, -2)", "1200"},
      {"floor(-1.5) + ceil(1.2)", "0"},
      {"abs(-3.25)", "3.25"},
      {"min(3, 1, 2) + max(4, 5)", "6"},
      {"sum(0.1, 0.2, 0.3)", "0.6"},
      {"mean(1, 2, 4)", "2.3333333333333335"},
      {"factorial(20)", "2432902008176640000"},
      {"gcd(12, 18)", "6"},
      {"log(8, 2)", "3.0"},
      {"log10(1000)", "3.0"},
      {"cos(0)", "1.0"},
      {"degrees(pi)", "180.0"},
      {"hypot(3, 4)", "5.0"},
      {"atan2(1, 1) * 4 - pi", "0.0"},
      {"0 * -1", "0"},
      {"100 * 1.19 ** 2", "141.61"},
      {"2 ** (-9223372036854775807 - 1)", "0.0"},
      {"-(2**126) * 2 + 2**126", "-8.507059173023462e+37"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Computed(c.expression), c.result) << c.expression;
}

TEST(Calculator, SaysWhereAndWhatIsWrong) {
  struct Case {
    const char* expression;
    const char* message;
  };
  static constexpr Case kCases[] = {
      {"", "column 1: expected a number, found the end"},
      {"1 +", "column 4: expected a number, found the end"},
      {"(1", "column 3: expected ')', found the end"},
      {"1 2", "column 3: expected an operator, found '2'"},
      {"1 / 0", "column 3: division by zero"},
      {"1 % (2 - 2)", "column 3: division by zero"},
      {"2 ^ 3", "column 3: '^' is no operator here: write ** for a power"},
      {"x + 1", "column 1: 'x' is not known here: write numbers, pi, e, tau or a function such as sqrt(x)"},
      {"x = 1", "column 1: 'x' is not known here: write numbers, pi, e, tau or a function such as sqrt(x)"},
      {"5 km", "column 3: expected an operator, found 'k'"},
      {"5km", "column 2: a number must be followed by an operator; units are not known here"},
      {"1,000", "column 2: a number has no commas: write 1000000 or 1_000_000"},
      {"1.2.3", "column 4: a number with two points"},
      {"sqrt(-1)", "column 1: sqrt of a negative number"},
      {"sqrt 4", "column 6: expected '(' after sqrt, found '4'"},
      {"sqrt(1, 2)", "column 1: sqrt() takes 1 argument, got 2"},
      {"max()", "column 1: max() takes 1 or more arguments, got 0"},
      {"log(0)", "column 1: log of what is not above 0"},
      {"(-8) ** 0.5", "column 6: a negative number has no such power"},
      {"0 ** -1", "column 3: 0 has no negative power"},
      {"9e999", "the result is too large for a number of this calculator"},
      {"1 + \xC3\xA4", "column 5: expected a number, found '\xC3\xA4'"},
      {"round(1, -9223372036854775807 - 1)", "column 1: round to a number of digits"},
      {"1e", "column 2: an exponent without digits"},
  };
  for (const Case& c : kCases)
    EXPECT_EQ(Computed(c.expression), std::string("error: ") + c.message) << c.expression;
}

TEST(Calculator, BearsHostileExpressions) {
  EXPECT_NE(Computed(std::string(5000, '(')).find("levels of nesting"), std::string::npos);
  EXPECT_NE(Computed(std::string(5000, '-') + "1").find("levels of nesting"), std::string::npos);
  EXPECT_NE(Computed(std::string(20'000, '1')).find("more than 10000"), std::string::npos);
  EXPECT_EQ(Computed(std::string(9'000, '1')),
            "error: the result is too large for a number of this calculator");
  EXPECT_EQ(Computed("9**9**9**9").find("error: "), 0u);
}

}  // namespace
}  // namespace gloveport
