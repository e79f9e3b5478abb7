#include "gloveport/core/wire/value.h"

#include <gtest/gtest.h>

#include <string>

namespace gloveport {
namespace {

TEST(BigInt, DecimalGoesThereAndBack) {
  for (const std::string digits :
       {"0", "1", "-1", "255", "256", "18446744073709551616", "-18446744073709551616",
        "999999999999999999999999999999", "1000000000000000000000000000000",
        "123456789012345678901234567890123456789"}) {
    const auto big = BigInt::FromDecimal(digits);
    ASSERT_TRUE(big) << digits;
    EXPECT_EQ(big->ToDecimal(), digits);
  }
}

TEST(BigInt, RefusesWhatIsNoNumber) {
  for (const std::string_view text : {"", "-", "1.5", "+1", "1e5", " 1", "0x10", "--1"})
    EXPECT_FALSE(BigInt::FromDecimal(text)) << text;
  EXPECT_FALSE(BigInt::FromDecimal(std::string(BigInt::kMaxDigits + 1, '9')));
}

TEST(Value, UnsignedBeyondInt64BecomesABigInt) {
  EXPECT_TRUE(Value(std::uint64_t{1} << 62).is_int());
  const Value big(std::uint64_t{1} << 63);
  ASSERT_TRUE(big.is_big_int());
  EXPECT_EQ(big.as_big_int().ToDecimal(), "9223372036854775808");
}

TEST(Value, ObjectsAreLookedUpByTextKeys) {
  Value value = Value::Object({{"a", 1}, {"b", "text"}, {"c", true}});
  value.Set("d", Value(Form::kTuple, Value(Value::List{1, 2})));
  EXPECT_EQ(value.IntOr("a", 0), 1);
  EXPECT_EQ(value.IntOr("b", 7), 7);
  EXPECT_EQ(value.TextOr("b", ""), "text");
  EXPECT_TRUE(value.BoolOr("c", false));
  ASSERT_NE(value.Find("d"), nullptr);
  EXPECT_TRUE(value.Find("d")->is(Form::kTuple));
  EXPECT_EQ(value.Find("d")->TypeName(), "tuple");
  EXPECT_EQ(value.Find("nothing"), nullptr);
}

TEST(Form, NamesGoThereAndBack) {
  for (int i = 0; i <= static_cast<int>(Form::kArrow); ++i) {
    const auto form = static_cast<Form>(i);
    EXPECT_EQ(FormFromName(FormName(form)), form);
  }
  EXPECT_FALSE(FormFromName("bytes"));
}

}  // namespace
}  // namespace gloveport
