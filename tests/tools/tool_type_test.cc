#include "gloveport/tools/tool_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "gloveport/core/wire/value_json.h"

#include "call.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

Value Big(std::string_view digits) { return Value(*BigInt::FromDecimal(digits)); }
Value List(Value::List items) { return Value(std::move(items)); }
Value Tuple(Value::List items) { return Value(Form::kTuple, Value(std::move(items))); }
Value Bytes(std::string_view text) {
  Value::Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return Value(std::move(bytes));
}
Value Array(std::string_view dtype, Value::List shape, Value data) {
  return Value(Form::kNdarray,
               Value::Object({{"dtype", Value(dtype)}, {"shape", List(std::move(shape))}, {"data", data}}));
}

template <typename T>
std::string SchemaText() {
  return DumpJson(ToolType<T>::Schema());
}

TEST(ToolTypeTest, AnnotationsAreThoseOfPython) {
  EXPECT_EQ(ToolType<bool>::Annotation(), "bool");
  EXPECT_EQ(ToolType<signed char>::Annotation(), "int");
  EXPECT_EQ(ToolType<unsigned long long>::Annotation(), "int");
  EXPECT_EQ(ToolType<BigInt>::Annotation(), "int");
  EXPECT_EQ(ToolType<float>::Annotation(), "float");
  EXPECT_EQ(ToolType<std::string>::Annotation(), "str");
  EXPECT_EQ(ToolType<std::string_view>::Annotation(), "str");
  EXPECT_EQ(ToolType<Value::Bytes>::Annotation(), "bytes");
  EXPECT_EQ(ToolType<Value>::Annotation(), "object");
  EXPECT_EQ(ToolType<std::monostate>::Annotation(), "None");
  EXPECT_EQ(ToolType<std::vector<double>>::Annotation(), "list[float]");
  EXPECT_EQ(ToolType<std::vector<Value>>::Annotation(), "list");
  EXPECT_EQ((ToolType<std::array<int, 2>>::Annotation()), "list[int]");
  EXPECT_EQ((ToolType<std::map<std::string, std::vector<int>>>::Annotation()), "dict[str, list[int]]");
  EXPECT_EQ((ToolType<std::unordered_map<std::string, Value>>::Annotation()), "dict[str, object]");
  EXPECT_EQ(ToolType<Value::Map>::Annotation(), "dict");
  EXPECT_EQ(ToolType<std::optional<std::string>>::Annotation(), "str | None");
  EXPECT_EQ(ToolType<std::optional<Value>>::Annotation(), "object");
  EXPECT_EQ((ToolType<std::pair<int, bool>>::Annotation()), "tuple[int, bool]");
  EXPECT_EQ((ToolType<std::tuple<>>::Annotation()), "tuple[()]");
}

TEST(ToolTypeTest, SchemasSayTheSame) {
  EXPECT_EQ(SchemaText<bool>(), R"({"type":"boolean"})");
  EXPECT_EQ(SchemaText<std::int64_t>(), R"({"type":"integer"})");
  EXPECT_EQ(SchemaText<std::uint64_t>(), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(SchemaText<std::uint8_t>(), R"({"type":"integer","minimum":0,"maximum":255})");
  EXPECT_EQ(SchemaText<std::int16_t>(), R"({"type":"integer","minimum":-32768,"maximum":32767})");
  EXPECT_EQ(SchemaText<double>(), R"({"type":"number"})");
  EXPECT_EQ(SchemaText<std::string>(), R"({"type":"string"})");
  EXPECT_EQ(SchemaText<Value>(), "{}");
  EXPECT_EQ(SchemaText<std::vector<bool>>(), R"({"type":"array","items":{"type":"boolean"}})");
  EXPECT_EQ((SchemaText<std::array<double, 3>>()),
            R"({"type":"array","items":{"type":"number"},"minItems":3,"maxItems":3})");
  EXPECT_EQ((SchemaText<std::map<std::string, double>>()),
            R"({"type":"object","additionalProperties":{"type":"number"}})");
  EXPECT_EQ(SchemaText<std::optional<bool>>(), R"({"anyOf":[{"type":"boolean"},{"type":"null"}]})");
  EXPECT_EQ(SchemaText<std::optional<Value>>(), "{}");
  EXPECT_EQ(
      (SchemaText<std::tuple<bool, double>>()),
      R"({"type":"array","prefixItems":[{"type":"boolean"},{"type":"number"}],"minItems":2,"maxItems":2})");
}

struct Conversion {
  std::string (*echo)(Value);
  Value value;
  std::string_view answer;  // the whole literal, or part of the error
};

void ExpectConverted(const std::vector<Conversion>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string answer = cases[i].echo(cases[i].value);
    if (cases[i].answer.starts_with("error: ")) {
      EXPECT_EQ(answer, "error: f() argument 'a'" + std::string(cases[i].answer.substr(7))) << "case " << i;
    } else {
      EXPECT_EQ(answer, cases[i].answer) << "case " << i;
    }
  }
}

TEST(ToolTypeTest, BoolsAreNoNumbersAndNumbersNoBools) {
  ExpectConverted({
      {Echo<bool>, true, "True"},
      {Echo<bool>, false, "False"},
      {Echo<bool>, 1, "error: : expected bool, got int 1"},
      {Echo<bool>, Value(), "error: : expected bool, got None"},
      {Echo<bool>, "True", "error: : expected bool, got str 'True'"},
      {Echo<int>, true, "error: : expected int, got bool True"},
      {Echo<double>, true, "error: : expected float, got bool True"},
  });
}

TEST(ToolTypeTest, IntegersOfEveryWidthAreCheckedForRange) {
  constexpr auto kMost64 = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast64 = std::numeric_limits<std::int64_t>::min();
  ExpectConverted({
      {Echo<std::int8_t>, -128, "-128"},
      {Echo<std::int8_t>, 127, "127"},
      {Echo<std::int8_t>, 128, "error: : expected int from -128 to 127, got 128"},
      {Echo<std::int8_t>, -129, "error: : expected int from -128 to 127, got -129"},
      {Echo<std::uint8_t>, 255, "255"},
      {Echo<std::uint8_t>, 256, "error: : expected int from 0 to 255, got 256"},
      {Echo<std::uint8_t>, -1, "error: : expected int from 0 to 255, got -1"},
      {Echo<short>, 32768, "error: : expected int from -32768 to 32767, got 32768"},
      {Echo<unsigned short>, 65535, "65535"},
      {Echo<int>, 2147483647, "2147483647"},
      {Echo<int>, Value(2147483648LL),
       "error: : expected int from -2147483648 to 2147483647, got 2147483648"},
      {Echo<unsigned>, Value(4294967295LL), "4294967295"},
      {Echo<unsigned>, Value(4294967296LL), "error: : expected int from 0 to 4294967295, got 4294967296"},
      {Echo<long>, Value(kMost64), "9223372036854775807"},
      {Echo<long long>, Value(kLeast64), "-9223372036854775808"},
      {Echo<std::int64_t>, Big("9223372036854775808"),
       "error: : expected int from -9223372036854775808 to 9223372036854775807, got 9223372036854775808"},
      {Echo<std::uint64_t>, Value(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615"},
      {Echo<std::uint64_t>, Big("18446744073709551616"),
       "error: : expected int from 0 to 18446744073709551615, got 18446744073709551616"},
      {Echo<std::uint64_t>, -1, "error: : expected int from 0 to 18446744073709551615, got -1"},
      {Echo<std::uint64_t>, Big("-9223372036854775809"),
       "error: : expected int from 0 to 18446744073709551615, got -9223372036854775809"},
      {Echo<unsigned>, Big("18446744073709551615"),
       "error: : expected int from 0 to 4294967295, got 18446744073709551615"},
  });
}

TEST(ToolTypeTest, WholeFloatsAreIntegersAsInJsonSchema) {
  ExpectConverted({
      {Echo<int>, 3.0, "3"},
      {Echo<unsigned>, 3.0, "3"},
      {Echo<int>, -0.0, "0"},
      {Echo<int>, 3.5, "error: : expected int, got float 3.5"},
      {Echo<int>, 1e300, "error: : expected int, got float 1e+300"},
      {Echo<std::int64_t>, 9007199254740992.0, "9007199254740992"},
      {Echo<std::int64_t>, 9007199254740994.0, "error: : expected int, got float 9007199254740994.0"},
      {Echo<int>, std::nan(""), "error: : expected int, got float float('nan')"},
      {Echo<int>, 3e9, "error: : expected int from -2147483648 to 2147483647, got 3000000000.0"},
      {Echo<unsigned>, -1.0, "error: : expected int from 0 to 4294967295, got -1.0"},
      {Echo<int>, "3", "error: : expected int, got str '3'"},
      {Echo<int>, Value(), "error: : expected int, got None"},
  });
}

TEST(ToolTypeTest, BigIntsKeepEveryDigit) {
  ExpectConverted({
      {Echo<BigInt>, Big("123456789012345678901234567890"), "123456789012345678901234567890"},
      {Echo<BigInt>, Big("-9223372036854775809"), "-9223372036854775809"},
      {Echo<BigInt>, -5, "-5"},
      {Echo<BigInt>, 0, "0"},
      {Echo<BigInt>, Value(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808"},
      {Echo<BigInt>, 2.0, "2"},
      {Echo<BigInt>, 2.5, "error: : expected int, got float 2.5"},
      {Echo<BigInt>, "2", "error: : expected int, got str '2'"},
  });
  const auto tool = Bound([](const BigInt& a) { return a; }, 1);
  EXPECT_TRUE(Called(*tool, {5})->is_int());  // a small number has one form only
}

TEST(ToolTypeTest, FloatsTakeIntegersThatFit) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ExpectConverted({
      {Echo<double>, 2.5, "2.5"},
      {Echo<double>, 2, "2.0"},
      {Echo<double>, Big("100000000000000000000"), "1e+20"},
      {Echo<double>, kInfinity, "float('inf')"},
      {Echo<double>, std::nan(""), "float('nan')"},
      {Echo<float>, 0.5, "0.5"},
      {Echo<float>, -kInfinity, "float('-inf')"},
      {Echo<float>, 1e39, "error: : expected float, got 1e+39, which is too large for one"},
      {Echo<double>, Big("1" + std::string(400, '0')),
       "error: : expected float, got <int of 167 bytes>, which is too large for one"},
      {Echo<double>, "2.5", "error: : expected float, got str '2.5'"},
      {Echo<double>, Value(), "error: : expected float, got None"},
  });
}

TEST(ToolTypeTest, TextIsText) {
  ExpectConverted({
      {Echo<std::string>, "caf\xC3\xA9", "'caf\xC3\xA9'"},
      {Echo<std::string>, "", "''"},
      {Echo<std::string_view>, "view", "'view'"},
      {Echo<std::string>, 5, "error: : expected str, got int 5"},
      {Echo<std::string>, Bytes("x"), "error: : expected str, got bytes b'x'"},
      {Echo<std::string>, Value(Form::kStr, "\\udc80"),
       "error: : expected str, got a str with lone surrogates, which is no valid Unicode text"},
      {Echo<Value::Bytes>, Bytes("a\x01"), "b'a\\x01'"},
      {Echo<Value::Bytes>, Value(Form::kBytearray, Bytes("a")), "b'a'"},
      {Echo<Value::Bytes>, "a", "error: : expected bytes, got str 'a'"},
  });
}

TEST(ToolTypeTest, InvalidUtf8OfAToolBecomesReplacementCharacters) {
  const auto tool = Bound([] { return std::string("a\xFF"); }, 0);
  EXPECT_EQ(Answer(*tool, {}), "'a\xEF\xBF\xBD'");
  const auto keys = Bound([] { return std::map<std::string, int>{{"\xFF", 1}}; }, 0);
  EXPECT_EQ(Answer(*keys, {}), "{'\xEF\xBF\xBD': 1}");
}

TEST(ToolTypeTest, ListsConvertTheirItemsAndNameTheOneThatDoesNotFit) {
  ExpectConverted({
      {Echo<std::vector<int>>, List({1, 2, 3}), "[1, 2, 3]"},
      {Echo<std::vector<int>>, List({}), "[]"},
      {Echo<std::vector<int>>, Tuple({1, 2}), "[1, 2]"},
      {Echo<std::vector<bool>>, List({true, false}), "[True, False]"},
      {Echo<std::vector<int>>, List({1, "two"}), "error: [1]: expected int, got str 'two'"},
      {Echo<std::vector<std::vector<double>>>, List({List({1}), List({2, 3, Value()})}),
       "error: [1][2]: expected float, got None"},
      {Echo<std::vector<int>>, "123", "error: : expected list[int], got str '123'"},
      {Echo<std::vector<int>>, Value(Form::kSet, List({1})), "error: : expected list[int], got set {1}"},
      {Echo<std::array<int, 2>>, List({1, 2}), "[1, 2]"},
      {Echo<std::array<int, 2>>, List({1}), "error: : expected list[int] with 2 items, got 1 items"},
      {Echo<std::array<int, 2>>, List({1, "x"}), "error: [1]: expected int, got str 'x'"},
  });
}

template <typename T>
Value Packed(std::vector<T> numbers) {
  Value::Bytes bytes(numbers.size() * sizeof(T));
  if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return Value(std::move(bytes));
}

TEST(ToolTypeTest, NumberListsTakeNumpyArrays) {
  ExpectConverted({
      {Echo<std::vector<double>>, Array("<f8", {2}, Packed<double>({1.5, -2})), "[1.5, -2.0]"},
      {Echo<std::vector<double>>, Array("<f4", {1}, Packed<float>({0.5f})), "[0.5]"},
      {Echo<std::vector<double>>, Array("<i8", {2}, Packed<std::int64_t>({1, -1})), "[1.0, -1.0]"},
      {Echo<std::vector<int>>, Array("<i4", {1}, Packed<std::int32_t>({-7})), "[-7]"},
      {Echo<std::vector<int>>, Array("|u1", {3}, Packed<std::uint8_t>({1, 2, 255})), "[1, 2, 255]"},
      {Echo<std::vector<int>>, Array("|u1", {0}, Packed<std::uint8_t>({})), "[]"},
      {Echo<std::vector<std::uint64_t>>, Array("<u8", {1}, Packed<std::uint64_t>({~0ull})),
       "[18446744073709551615]"},
      {Echo<std::vector<std::int8_t>>, Array("<i2", {2}, Packed<std::int16_t>({1, 300})),
       "error: [1]: expected int from -128 to 127, got 300"},
      {Echo<std::array<double, 2>>, Array("<f8", {2}, Packed<double>({1, 2})), "[1.0, 2.0]"},
      {Echo<std::array<double, 3>>, Array("<f8", {2}, Packed<double>({1, 2})),
       "error: : expected list[float] with 3 items, got 2 items"},
      {Echo<std::vector<double>>, Array("<f8", {1, 2}, Packed<double>({1, 2})),
       "error: : expected list[float], got ndarray ..."},
      {Echo<std::vector<double>>, Array("|O", {1}, Bytes("12345678")),
       "error: : expected list[float], got ndarray ..."},
      {Echo<std::vector<double>>, Array("<f8", {1}, Bytes("123")),
       "error: : expected list[float], got ndarray ..."},
      {Echo<std::vector<double>>, Array("<f8", {1}, "text"),
       "error: : expected list[float], got ndarray ..."},
      {Echo<std::vector<double>>, Value(Form::kNdarray, 5), "error: : expected list[float], got ndarray ..."},
      {Echo<std::vector<std::string>>, Array("<f8", {1}, Packed<double>({1})),
       "error: : expected list[str], got ndarray ..."},
  });
}

TEST(ToolTypeTest, DictsHaveTextKeys) {
  using Dict = std::map<std::string, std::optional<int>>;
  ExpectConverted({
      {Echo<Dict>, Value(Value::Map{{"b", 1}, {"a", Value()}}), "{'a': None, 'b': 1}"},
      {Echo<Dict>, Value(Value::Map{}), "{}"},
      {Echo<Dict>, Value(Value::Map{{"it's", "x"}}), "error: [\"it's\"]: expected int, got str 'x'"},
      {Echo<Dict>, Value(Value::Map{{1, 1}}),
       "error: : expected dict[str, int | None], got a dict with the key 1"},
      {Echo<Dict>, List({}), "error: : expected dict[str, int | None], got list []"},
      {Echo<std::unordered_map<std::string, bool>>, Value(Value::Map{{"a", true}}), "{'a': True}"},
      {Echo<Value::Map>, Value(Value::Map{{1, "x"}}), "{1: 'x'}"},
      {Echo<Value::Map>, 1, "error: : expected dict, got int 1"},
  });
}

TEST(ToolTypeTest, TuplesHaveALengthAndATypeForEachPlace) {
  using Pair = std::pair<int, std::string>;
  ExpectConverted({
      {Echo<Pair>, Tuple({1, "a"}), "(1, 'a')"},
      {Echo<Pair>, List({1, "a"}), "(1, 'a')"},
      {Echo<Pair>, Tuple({1}), "error: : expected tuple[int, str] with 2 items, got 1 items"},
      {Echo<Pair>, Tuple({"a", 1}), "error: [0]: expected int, got str 'a'"},
      {Echo<Pair>, Tuple({1, 1}), "error: [1]: expected str, got int 1"},
      {Echo<std::tuple<bool>>, Tuple({true}), "(True,)"},
      {Echo<std::tuple<>>, Tuple({}), "()"},
  });
}

TEST(ToolTypeTest, OptionalsTakeNone) {
  ExpectConverted({
      {Echo<std::optional<int>>, 5, "5"},
      {Echo<std::optional<int>>, Value(), "None"},
      {Echo<std::optional<int>>, "5", "error: : expected int, got str '5'"},
      {Echo<std::monostate>, Value(), "None"},
      {Echo<std::monostate>, 0, "error: : expected None, got int 0"},
  });
}

TEST(ToolTypeTest, ValuesPassUntouched) {
  const auto tool = Bound([](const Value& a) { return a; }, 1);
  for (const Value& value : {Value(), Value(true), Big("100000000000000000000"), Tuple({1}),
                             Value(Form::kDecimal, "1.5"), Value(Value::Map{{1, List({})}})}) {
    EXPECT_EQ(*Called(*tool, {value}), value);
  }
}

TEST(ToolTypeTest, LongValuesAreCutInMessages) {
  const std::string answer = Echo<int>(Value(std::string(100'000, 'x')));
  EXPECT_LT(answer.size(), 150u);
  EXPECT_THAT(answer, HasSubstr("got str 'xxx"));
  EXPECT_THAT(answer, HasSubstr("x..."));
}

}  // namespace
}  // namespace gloveport
