#include "gloveport/tools/builtin/calculator.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/builtin/exact_number.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxBytes = 10'000;
constexpr int kMaxDepth = 100;

using Numbers = std::vector<ExactNumber>;

// What a function makes of its arguments, or why it cannot.
using Outcome = tl::expected<ExactNumber, std::string>;

tl::unexpected<std::string> Cannot(std::string reason) {
  return tl::unexpected<std::string>(std::move(reason));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Outcome Power(const ExactNumber& base, const ExactNumber& exponent) {
  std::int64_t times = 0;
  if (base.is_zero() && exponent.negative()) return Cannot("0 has no negative power");
  if (base.exact() && exponent.ToInt64(times) && times >= -1024 && times <= 1024) {
    ExactNumber product(1);
    for (std::int64_t i = 0; i < std::abs(times) && product.exact(); ++i) product = Multiply(product, base);
    if (product.exact()) return times < 0 ? Divide(ExactNumber(1), product) : product;
  }
  if (base.negative() && !exponent.integer()) return Cannot("a negative number has no such power");
  return ExactNumber::Double(std::pow(base.ToDouble(), exponent.ToDouble()));
}

template <double (*kFunction)(double)>
Outcome Real(const Numbers& x) {
  return ExactNumber::Double(kFunction(x[0].ToDouble()));
}

// An integer's root is one where it is a square number.
Outcome Root(const Numbers& x) {
  if (x[0].negative()) return Cannot("sqrt of a negative number");
  const double root = std::sqrt(x[0].ToDouble());
  if (x[0].exact() && root < 9e15) {
    const ExactNumber whole(static_cast<std::int64_t>(std::llround(root)));
    if (Add(Multiply(whole, whole), x[0].Negated()).is_zero()) return whole;
  }
  return ExactNumber::Double(root);
}

Outcome Logarithm(const Numbers& x) {
  if (x[0].is_zero() || x[0].negative()) return Cannot("log of what is not above 0");
  if (x.size() == 1) return ExactNumber::Double(std::log(x[0].ToDouble()));
  if (x[1].is_zero() || x[1].negative() || x[1].ToDouble() == 1) return Cannot("log to a base that is none");
  return ExactNumber::Double(std::log(x[0].ToDouble()) / std::log(x[1].ToDouble()));
}

template <double (*kFunction)(double)>
Outcome OfPositive(const Numbers& x) {
  if (x[0].is_zero() || x[0].negative()) return Cannot("log of what is not above 0");
  return Real<kFunction>(x);
}

template <double (*kFunction)(double)>
Outcome OfUnit(const Numbers& x) {
  if (std::fabs(x[0].ToDouble()) > 1) return Cannot("the argument must be from -1 to 1");
  return Real<kFunction>(x);
}

Outcome Round(const Numbers& x) {
  std::int64_t digits = 0;
  if (x.size() > 1 && (!x[1].ToInt64(digits) || digits < -30 || digits > 30))
    return Cannot("round to a number of digits");
  return x[0].Rounded(static_cast<int>(digits), ExactNumber::Rounding::kHalfEven);
}

Outcome Factorial(const Numbers& x) {
  std::int64_t n = 0;
  if (!x[0].ToInt64(n) || n < 0 || n > 170) return Cannot("factorial takes an integer from 0 to 170");
  ExactNumber product(1);
  for (std::int64_t i = 2; i <= n; ++i) product = Multiply(product, ExactNumber(i));
  return product;
}

Outcome Gcd(const Numbers& x) {
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (!x[0].ToInt64(a) || !x[1].ToInt64(b) || a == INT64_MIN || b == INT64_MIN)
    return Cannot("gcd takes two integers of 64 bits");
  return ExactNumber(std::gcd(a, b));
}

Outcome Sum(const Numbers& x) {
  return std::accumulate(x.begin(), x.end(), ExactNumber(),
                         [](const auto& a, const auto& b) { return Add(a, b); });
}
Outcome Mean(const Numbers& x) { return Divide(*Sum(x), ExactNumber(static_cast<std::int64_t>(x.size()))); }
Outcome Least(const Numbers& x) { return *std::min_element(x.begin(), x.end(), Less); }
Outcome Most(const Numbers& x) { return *std::max_element(x.begin(), x.end(), Less); }
Outcome Absolute(const Numbers& x) { return x[0].negative() ? x[0].Negated() : x[0]; }
Outcome Floor(const Numbers& x) { return x[0].Rounded(0, ExactNumber::Rounding::kFloor); }
Outcome Ceiling(const Numbers& x) { return x[0].Rounded(0, ExactNumber::Rounding::kCeiling); }
Outcome Atan2(const Numbers& x) { return ExactNumber::Double(std::atan2(x[0].ToDouble(), x[1].ToDouble())); }
Outcome Hypot(const Numbers& x) { return ExactNumber::Double(std::hypot(x[0].ToDouble(), x[1].ToDouble())); }
Outcome Degrees(const Numbers& x) { return ExactNumber::Double(x[0].ToDouble() * 180 / std::numbers::pi); }
Outcome Radians(const Numbers& x) { return ExactNumber::Double(x[0].ToDouble() * std::numbers::pi / 180); }

struct Function {
  std::string_view name;
  std::size_t least;
  std::size_t most;
  Outcome (*call)(const Numbers&);
};
constexpr std::size_t kMany = 1000;
constexpr Function kFunctions[] = {
    {"sqrt", 1, 1, Root},
    {"cbrt", 1, 1, Real<std::cbrt>},
    {"exp", 1, 1, Real<std::exp>},
    {"log", 1, 2, Logarithm},
    {"log2", 1, 1, OfPositive<std::log2>},
    {"log10", 1, 1, OfPositive<std::log10>},
    {"sin", 1, 1, Real<std::sin>},
    {"cos", 1, 1, Real<std::cos>},
    {"tan", 1, 1, Real<std::tan>},
    {"asin", 1, 1, OfUnit<std::asin>},
    {"acos", 1, 1, OfUnit<std::acos>},
    {"atan", 1, 1, Real<std::atan>},
    {"atan2", 2, 2, Atan2},
    {"sinh", 1, 1, Real<std::sinh>},
    {"cosh", 1, 1, Real<std::cosh>},
    {"tanh", 1, 1, Real<std::tanh>},
    {"degrees", 1, 1, Degrees},
    {"radians", 1, 1, Radians},
    {"hypot", 2, 2, Hypot},
    {"abs", 1, 1, Absolute},
    {"round", 1, 2, Round},
    {"floor", 1, 1, Floor},
    {"ceil", 1, 1, Ceiling},
    {"min", 1, kMany, Least},
    {"max", 1, kMany, Most},
    {"sum", 1, kMany, Sum},
    {"mean", 1, kMany, Mean},
    {"factorial", 1, 1, Factorial},
    {"gcd", 2, 2, Gcd},
};

struct Constant {
  std::string_view name;
  double value;
};
constexpr Constant kConstants[] = {
    {"pi", std::numbers::pi}, {"e", std::numbers::e}, {"tau", 2 * std::numbers::pi}};

// Recursive descent: sum, product, sign, power, atom, as Python binds them.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<ExactNumber> Whole() {
    ASSIGN_OR_RETURN(ExactNumber value, Sum());
    SkipSpace();
    if (at_ < text_.size()) return Unexpected("an operator");
    return value;
  }

 private:
  tl::unexpected<Error> FailAt(std::size_t at, std::string_view problem) const {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("column {}: {}", at + 1, problem));
  }

  tl::unexpected<Error> Unexpected(std::string_view wanted) const {
    if (at_ >= text_.size()) return FailAt(at_, fmt::format("expected {}, found the end", wanted));
    if (text_[at_] == '^') return FailAt(at_, "'^' is no operator here: write ** for a power");
    if (text_[at_] == '=') return FailAt(at_, "there are no variables: write the numbers themselves");
    std::size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return FailAt(
        at_, fmt::format("expected {}, found '{}'", wanted, EscapeForTerminal(text_.substr(at_, end - at_))));
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  // "*" is not taken from the beginning of "**", nor "/" from "//".
  bool Take(std::string_view sign) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const char next = at_ + sign.size() < text_.size() ? text_[at_ + sign.size()] : '\0';
    if (sign.size() == 1 && (sign == "*" || sign == "/") && next == sign[0]) return false;
    at_ += sign.size();
    return true;
  }

  Result<ExactNumber> Sum() {
    ASSIGN_OR_RETURN(ExactNumber value, Product());
    while (true) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) return value;
      ASSIGN_OR_RETURN(const ExactNumber next, Product());
      value = Add(value, plus ? next : next.Negated());
    }
  }

  Result<ExactNumber> Product() {
    ASSIGN_OR_RETURN(ExactNumber value, Signed());
    while (true) {
      SkipSpace();
      const std::size_t where = at_;
      const bool times = Take("*");
      const bool floor = !times && Take("//");
      const bool over = !times && !floor && Take("/");
      const bool rest = !times && !floor && !over && Take("%");
      if (!times && !floor && !over && !rest) return value;
      ASSIGN_OR_RETURN(const ExactNumber next, Signed());
      if (!times && next.is_zero()) return FailAt(where, "division by zero");
      value = times   ? Multiply(value, next)
              : floor ? FloorDivide(value, next)
              : over  ? Divide(value, next)
                      : Modulo(value, next);
    }
  }

  Result<ExactNumber> Signed() {
    if (++depth_ > kMaxDepth) return FailAt(at_, fmt::format("more than {} levels of nesting", kMaxDepth));
    const bool minus = Take("-");
    const bool sign = minus || Take("+");
    auto value = sign ? Signed() : Raised();
    --depth_;
    if (!value || !minus) return value;
    return value->Negated();
  }

  Result<ExactNumber> Raised() {
    ASSIGN_OR_RETURN(const ExactNumber base, Atom());
    SkipSpace();
    const std::size_t where = at_;
    if (!Take("**")) return base;
    ASSIGN_OR_RETURN(const ExactNumber exponent, Signed());
    auto power = Power(base, exponent);
    if (!power) return FailAt(where, power.error());
    return *power;
  }

  Result<ExactNumber> Atom() {
    SkipSpace();
    if (Take("(")) {
      ASSIGN_OR_RETURN(ExactNumber value, Sum());
      if (!Take(")")) return Unexpected("')'");
      return value;
    }
    if (at_ < text_.size() && (IsDigit(text_[at_]) || text_[at_] == '.')) return Number();
    if (at_ < text_.size() && IsLetter(text_[at_])) return Named();
    return Unexpected("a number");
  }

  Result<ExactNumber> Number() {
    const std::size_t begin = at_;
    std::string digits;
    bool point = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '_' && !digits.empty() && IsDigit(digits.back())) continue;  // 1_000_000
      if (c == '.' && point) return FailAt(at_, "a number with two points");
      if (!IsDigit(c) && c != '.') break;
      point = point || c == '.';
      digits += c;
    }
    if (digits == ".") return FailAt(begin, "expected a number, found '.'");
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      std::size_t end = at_ + 1;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      if (end >= text_.size() || !IsDigit(text_[end])) return FailAt(at_, "an exponent without digits");
      while (end < text_.size() && IsDigit(text_[end])) ++end;
      digits += text_.substr(at_, end - at_);
      at_ = end;
    }
    if (at_ < text_.size() && text_[at_] == ',' && depth_in_call_ == 0)
      return FailAt(at_, "a number has no commas: write 1000000 or 1_000_000");
    if (at_ < text_.size() && IsLetter(text_[at_]))
      return FailAt(at_, "a number must be followed by an operator; units are not known here");
    return ExactNumber::FromText(digits);
  }

  Result<ExactNumber> Named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                       [&](const Function& known) { return known.name == name; });
    if (function != std::end(kFunctions)) return Call(*function, begin);
    for (const Constant& constant : kConstants) {
      if (constant.name == name) return ExactNumber::Double(constant.value);
    }
    return FailAt(
        begin,
        fmt::format("'{}' is not known here: write numbers, pi, e, tau or a function such as sqrt(x)", name));
  }

  Result<ExactNumber> Call(const Function& function, std::size_t begin) {
    if (!Take("(")) return Unexpected(fmt::format("'(' after {}", function.name));
    Numbers arguments;
    ++depth_in_call_;
    while (arguments.size() < kMany && !Take(")")) {
      if (!arguments.empty() && !Take(",")) return Unexpected("',' or ')'");
      ASSIGN_OR_RETURN(const ExactNumber argument, Sum());
      arguments.push_back(argument);
    }
    --depth_in_call_;
    if (arguments.size() < function.least || arguments.size() > function.most)
      return FailAt(begin, fmt::format("{}() takes {} argument{}, got {}", function.name,
                                       function.least == function.most ? std::to_string(function.least)
                                       : function.most == kMany
                                           ? "1 or more"
                                           : fmt::format("{} or {}", function.least, function.most),
                                       function.most == 1 ? "" : "s", arguments.size()));
    auto value = function.call(arguments);
    if (!value) return FailAt(begin, value.error());
    return *value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int depth_in_call_ = 0;
};

}  // namespace

Result<std::variant<BigInt, double>> Calculate(std::string_view expression) {
  if (expression.size() > kMaxBytes)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the expression has {} bytes, more than {}", expression.size(), kMaxBytes));
  ASSIGN_OR_RETURN(const ExactNumber value, Parser(expression).Whole());
  if (value.integer()) {
    ASSIGN_OR_RETURN(BigInt integer, BigInt::FromDecimal(value.Digits()));
    return std::variant<BigInt, double>(std::move(integer));
  }
  const double number = value.ToDouble();
  if (!std::isfinite(number))
    return Fail(ErrorCode::kInvalidArgument, "the result is too large for a number of this calculator");
  return std::variant<BigInt, double>(number);
}

Result<std::shared_ptr<Tool>> MakeCalculator() {
  ToolOptions options;
  options.is_quick = true;
  return BindFunction(
      "calculator",
      "Computes an arithmetic expression. Decimals are exact: 0.1 + 0.2 is 0.3. Units are not known",
      [](std::string_view expression) { return Calculate(expression); },
      {Arg("expression", "in Python's notation: + - * / // % **, sqrt(x), round(x, 2), pi ...")}, options);
}

}  // namespace gloveport
