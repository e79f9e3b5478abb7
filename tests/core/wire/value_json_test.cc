#include "gloveport/core/wire/value_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace gloveport {
namespace {

using testing::HasSubstr;

struct JsonCase {
  Value value;
  const char* json;
};

TEST(ValueJson, EachFormHasItsOneWriting) {
  const std::vector<JsonCase> cases = {
      {Value(), "null"},
      {Value(true), "true"},
      {Value(42), "42"},
      {Value(std::int64_t{1} << 53), "9007199254740992"},
      {Value((std::int64_t{1} << 53) + 1), R"({"$int":"9007199254740993"})"},
      {Value(*BigInt::FromDecimal("-123456789012345678901")), R"({"$int":"-123456789012345678901"})"},
      {Value(HUGE_VAL), R"({"$float":"inf"})"},
      {Value(-HUGE_VAL), R"({"$float":"-inf"})"},
      {Value(Value::Bytes{std::byte{'h'}, std::byte{'i'}}), R"({"$bytes":"aGk="})"},
      {Value(Form::kBytearray, Value(Value::Bytes{std::byte{'h'}})), R"({"$bytearray":"aA=="})"},
      {Value(Form::kTuple, Value(Value::List{1, 2})), R"({"$tuple":[1,2]})"},
      {Value(Value::Map{{Value(1), Value("a")}}), R"({"$map":[[1,"a"]]})"},
      {Value(Value::Map{{Value("$x"), Value(1)}}), R"({"$map":[["$x",1]]})"},
      {Value::Object({{"a", 1}, {"b", Value::List{}}}), R"({"a":1,"b":[]})"},
      {Value(Form::kNdarray, Value::Object({{"dtype", "|u1"}, {"data", Value(Value::Bytes{std::byte{1}})}})),
       R"({"$ndarray":{"dtype":"|u1","data":"AQ=="}})"},
      {Value(Form::kArrow, Value::Object({{"kind", "table"}, {"ipc", Value(Value::Bytes{std::byte{1}})}})),
       R"({"$arrow":{"kind":"table","ipc":"AQ=="}})"},
  };
  for (const JsonCase& c : cases) {
    EXPECT_EQ(DumpJson(c.value), c.json);
    const auto parsed = ParseJson(c.json);
    ASSERT_TRUE(parsed) << c.json;
    const auto value = FromJson(*parsed);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(*value, c.value) << c.json;
  }
  EXPECT_EQ(DumpJson(Value(std::nan(""))), R"({"$float":"nan"})");
}

TEST(ValueJson, ABadFormNamesItsPlace) {
  for (const char* text : {R"({"a":[0,{"$bytes":"!"}]})", R"([{"$float":"big"}])", R"({"$unknown":1})",
                           R"([{"$map":[1]}])", R"({"$int":"1.5"})"}) {
    const auto value = FromJson(*ParseJson(text));
    ASSERT_FALSE(value) << text;
    EXPECT_THAT(value.error().message, HasSubstr("at ")) << text;
  }
  EXPECT_THAT(FromJson(*ParseJson(R"({"a":[0,{"$bytes":"!"}]})")).error().message, HasSubstr("/a/1"));
}

TEST(ParseJson, ErrorsNameLineAndColumn) {
  const auto parsed = ParseJson("{\n  \"a\": 1,\n  oops\n}");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("line 3"));
}

TEST(ParseJson, HoldsItsLimits) {
  EXPECT_TRUE(ParseJson("[[1]]", {100, 2}));
  EXPECT_FALSE(ParseJson("[[[1]]]", {100, 2}));
  EXPECT_FALSE(ParseJson(std::string(101, ' '), {100, 2}));
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')));
  EXPECT_FALSE(ParseJson(R"({"a":1,"a":2})"));
  EXPECT_TRUE(ParseJson(R"({"a":1,"b":{"a":2}})"));
  EXPECT_FALSE(ParseJson("1e999"));
  EXPECT_FALSE(ParseJson("// no\n1"));
  EXPECT_TRUE(ParseJson("// yes\n1", {100, 2, true}));
}

TEST(ParseJson, IntegersStayExactAtAnySize) {
  const auto parsed =
      ParseJson("[18446744073709551615, 123456789012345678901234567890, -9223372036854775808]");
  ASSERT_TRUE(parsed);
  const auto value = FromJson(*parsed);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->as_list()[0].as_big_int().ToDecimal(), "18446744073709551615");
  EXPECT_EQ(value->as_list()[1].as_big_int().ToDecimal(), "123456789012345678901234567890");
  EXPECT_EQ(value->as_list()[2].as_int(), std::numeric_limits<std::int64_t>::min());
}

TEST(DumpJson, AnObjectOfManyKeysTakesLinearTime) {
  Value::Map map;
  for (int i = 0; i < 200'000; ++i) map.emplace_back(Value(std::to_string(i)), Value(i));
  const std::string text = DumpJson(Value(std::move(map)));  // quadratic time would take minutes
  EXPECT_EQ(ParseJson(text)->size(), 200'000u);
}

}  // namespace
}  // namespace gloveport
