// ExactNumber: a decimal number of up to 38 digits that is computed with exactly as long as it fits, and a
// double from there on: 0.1 + 0.2 is 0.3, 10**30 is an integer. A plain value.
#ifndef GLOVEPORT_TOOLS_BUILTIN_EXACT_NUMBER_H_
#define GLOVEPORT_TOOLS_BUILTIN_EXACT_NUMBER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gloveport {

class ExactNumber {
 public:
  ExactNumber() = default;  // 0
  ExactNumber(std::int64_t integer) : coefficient_(integer) {}
  static ExactNumber Double(double number);
  // "12", "1.5", "2e-3": what a double's text is, without a sign.
  static ExactNumber FromText(const std::string& text);

  bool exact() const { return exact_; }
  bool integer() const { return exact_ && scale_ == 0; }
  bool is_zero() const { return exact_ ? coefficient_ == 0 : double_ == 0; }
  bool negative() const { return exact_ ? coefficient_ < 0 : double_ < 0; }
  double ToDouble() const;
  std::string Digits() const;  // of an integer
  // Where it is an integer that has 64 bits at most.
  bool ToInt64(std::int64_t& out) const;

  ExactNumber Negated() const;
  friend ExactNumber Add(const ExactNumber& a, const ExactNumber& b);
  friend ExactNumber Multiply(const ExactNumber& a, const ExactNumber& b);
  // The divisor is not zero. The quotient is exact where it has few digits.
  friend ExactNumber Divide(const ExactNumber& a, const ExactNumber& b);
  // As Python's // and %: rounded down; the remainder has the sign of the divisor.
  friend ExactNumber FloorDivide(const ExactNumber& a, const ExactNumber& b);
  friend ExactNumber Modulo(const ExactNumber& a, const ExactNumber& b);
  // Rounded down to `digits` after the point, half to even where `half_even`.
  enum class Rounding { kFloor, kCeiling, kHalfEven };
  ExactNumber Rounded(int digits, Rounding rounding) const;
  friend bool Less(const ExactNumber& a, const ExactNumber& b);

 private:
  __extension__ typedef __int128 Wide;

  static ExactNumber Make(Wide coefficient, int scale);
  // Both with the same scale; false where one does not fit.
  static bool Align(const ExactNumber& a, const ExactNumber& b, Wide& first, Wide& second, int& scale);

  bool exact_ = true;
  Wide coefficient_ = 0;  // of 10**-scale_; no zeros at the end where scale_ is above 0
  int scale_ = 0;
  double double_ = 0;
};

bool Less(const ExactNumber& a, const ExactNumber& b);  // to be named as a function

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_EXACT_NUMBER_H_
