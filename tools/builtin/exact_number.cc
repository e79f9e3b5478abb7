#include "gloveport/tools/builtin/exact_number.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gloveport {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

constexpr int kMaxScale = 37;  // digits after the point

bool TimesTen(Wide& number, int times) {
  for (int i = 0; i < times; ++i) {
    if (__builtin_mul_overflow(number, Wide{10}, &number)) return false;
  }
  return true;
}

Wide FloorQuotient(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

double FloorModulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// -2**127 has no positive twin; nothing below has to mind it.
bool IsLeast(Wide number) { return static_cast<UnsignedWide>(number) == UnsignedWide{1} << 127; }

}  // namespace

ExactNumber ExactNumber::Double(double number) {
  ExactNumber out;
  out.exact_ = false;
  out.double_ = number;
  return out;
}

ExactNumber ExactNumber::Make(Wide coefficient, int scale) {
  ExactNumber out;
  while (scale > 0 && coefficient % 10 == 0) {
    coefficient /= 10;
    --scale;
  }
  out.coefficient_ = coefficient;
  out.scale_ = scale;
  return out;
}

ExactNumber ExactNumber::FromText(const std::string& text) {
  Wide coefficient = 0;
  int scale = 0;
  bool fits = true;
  bool after_point = false;
  const auto exponent_at = std::min(text.find_first_of("eE"), text.size());
  for (const char c : text.substr(0, exponent_at)) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    fits =
        fits && TimesTen(coefficient, 1) && !__builtin_add_overflow(coefficient, Wide{c - '0'}, &coefficient);
    scale += after_point ? 1 : 0;
  }
  const long exponent =
      exponent_at < text.size() ? std::strtol(text.c_str() + exponent_at + 1, nullptr, 10) : 0;
  if (std::labs(exponent) > 100) fits = coefficient == 0 && fits;
  const int shifted = scale - static_cast<int>(std::clamp(exponent, -100L, 100L));
  if (fits && shifted < 0) fits = TimesTen(coefficient, -shifted);
  if (!fits || shifted > kMaxScale) return Double(std::strtod(text.c_str(), nullptr));
  return Make(coefficient, std::max(shifted, 0));
}

std::string ExactNumber::Digits() const {
  Wide rest = coefficient_;
  std::string out;
  do {
    const int digit = static_cast<int>(rest % 10);
    out.insert(out.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    rest /= 10;
  } while (rest != 0);
  return (coefficient_ < 0 ? "-" : "") + out;
}

double ExactNumber::ToDouble() const {
  if (!exact_) return double_;
  // By way of the text, so that it is the nearest double and no sum of roundings.
  return std::strtod((Digits() + "e-" + std::to_string(scale_)).c_str(), nullptr);
}

bool ExactNumber::ToInt64(std::int64_t& out) const {
  if (!integer() || coefficient_ > INT64_MAX || coefficient_ < INT64_MIN) return false;
  out = static_cast<std::int64_t>(coefficient_);
  return true;
}

ExactNumber ExactNumber::Negated() const {
  if (!exact_ || IsLeast(coefficient_)) return Double(-ToDouble());
  ExactNumber out = *this;
  out.coefficient_ = -coefficient_;
  return out;
}

bool ExactNumber::Align(const ExactNumber& a, const ExactNumber& b, Wide& first, Wide& second, int& scale) {
  if (!a.exact_ || !b.exact_) return false;
  scale = std::max(a.scale_, b.scale_);
  first = a.coefficient_;
  second = b.coefficient_;
  return TimesTen(first, scale - a.scale_) && TimesTen(second, scale - b.scale_) && !IsLeast(first) &&
         !IsLeast(second);
}

ExactNumber Add(const ExactNumber& a, const ExactNumber& b) {
  ExactNumber::Wide first = 0;
  ExactNumber::Wide second = 0;
  int scale = 0;
  if (ExactNumber::Align(a, b, first, second, scale) && !__builtin_add_overflow(first, second, &first))
    return ExactNumber::Make(first, scale);
  return ExactNumber::Double(a.ToDouble() + b.ToDouble());
}

ExactNumber Multiply(const ExactNumber& a, const ExactNumber& b) {
  ExactNumber::Wide product = 0;
  if (a.exact_ && b.exact_ && a.scale_ + b.scale_ <= kMaxScale &&
      !__builtin_mul_overflow(a.coefficient_, b.coefficient_, &product)) {
    return ExactNumber::Make(product, a.scale_ + b.scale_);
  }
  return ExactNumber::Double(a.ToDouble() * b.ToDouble());
}

ExactNumber Divide(const ExactNumber& a, const ExactNumber& b) {
  constexpr int kMoreDigits = 18;
  ExactNumber::Wide first = 0;
  ExactNumber::Wide second = 0;
  int scale = 0;
  if (ExactNumber::Align(a, b, first, second, scale)) {
    for (int digits = 0; digits <= kMoreDigits; ++digits) {
      if (first % second == 0) return ExactNumber::Make(first / second, digits);
      if (!TimesTen(first, 1)) break;
    }
  }
  return ExactNumber::Double(a.ToDouble() / b.ToDouble());
}

ExactNumber FloorDivide(const ExactNumber& a, const ExactNumber& b) {
  ExactNumber::Wide first = 0;
  ExactNumber::Wide second = 0;
  int scale = 0;
  if (ExactNumber::Align(a, b, first, second, scale))
    return ExactNumber::Make(FloorQuotient(first, second), 0);
  return ExactNumber::Double(std::floor(a.ToDouble() / b.ToDouble()));
}

ExactNumber Modulo(const ExactNumber& a, const ExactNumber& b) {
  ExactNumber::Wide first = 0;
  ExactNumber::Wide second = 0;
  int scale = 0;
  if (!ExactNumber::Align(a, b, first, second, scale))
    return ExactNumber::Double(FloorModulo(a.ToDouble(), b.ToDouble()));
  const ExactNumber::Wide rest = first % second;
  return ExactNumber::Make(rest != 0 && (rest < 0) != (second < 0) ? rest + second : rest, scale);
}

ExactNumber ExactNumber::Rounded(int digits, Rounding rounding) const {
  if (!exact_) {
    const double factor = std::pow(10.0, digits);
    const double shifted = double_ * factor;
    const double whole = rounding == Rounding::kFloor     ? std::floor(shifted)
                         : rounding == Rounding::kCeiling ? std::ceil(shifted)
                                                          : std::nearbyint(shifted);
    return std::isfinite(shifted) ? Double(whole / factor) : *this;
  }
  if (digits >= scale_) return *this;
  if (scale_ - digits > kMaxScale) return rounding == Rounding::kHalfEven ? ExactNumber() : *this;
  Wide unit = 1;
  TimesTen(unit, scale_ - digits);
  Wide whole = FloorQuotient(coefficient_, unit);
  const Wide rest = coefficient_ - whole * unit;
  if (rounding == Rounding::kCeiling && rest != 0) ++whole;
  if (rounding == Rounding::kHalfEven && (rest > unit - rest || (rest == unit - rest && whole % 2 != 0)))
    ++whole;
  if (digits >= 0) return Make(whole, digits);
  return TimesTen(whole, -digits) ? Make(whole, 0) : *this;
}

bool Less(const ExactNumber& a, const ExactNumber& b) {
  ExactNumber::Wide first = 0;
  ExactNumber::Wide second = 0;
  int scale = 0;
  if (ExactNumber::Align(a, b, first, second, scale)) return first < second;
  return a.ToDouble() < b.ToDouble();
}

}  // namespace gloveport
