#include "gloveport/tools/array_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "gloveport/tools/binding.h"
#include "gloveport/tools/convert.h"

namespace gloveport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value Doubles(std::vector<double> items) { return MakeNdarray(std::span<const double>(items)); }

Result<Value> Call(Tool& tool, Value argument) {
  Value::Map bound;
  bound.emplace_back(Value("x"), std::move(argument));
  CallContext context;
  return tool.Call(Arguments(std::move(bound)), context);
}

TEST(SpanParameter, LooksAtTheArgumentsBytesInPlace) {
  const void* seen = nullptr;
  const auto tool = BindFunction("total", "Adds up.",
                                 [&seen](std::span<const double> x) {
                                   seen = x.data();
                                   return std::accumulate(x.begin(), x.end(), 0.0);
                                 },
                                 {Arg("x", "numbers")});
  ASSERT_TRUE(tool) << tool.error().message;
  EXPECT_EQ((*tool)->spec().Signature(), "total(x: numpy.ndarray) -> float");
  Value argument = Doubles({1, 2, 3.5});
  const void* there = argument.payload().Find("data")->as_bytes().data();
  EXPECT_EQ(*Call(**tool, std::move(argument)), Value(6.5));
  EXPECT_EQ(seen, there);
}

struct Wrong {
  Value value;
  const char* message;
};

TEST(SpanParameter, SaysHowToMakeTheArrayItWants) {
  const auto tool = BindFunction(
      "f", "", [](std::span<const double> x) { return static_cast<int>(x.size()); }, {Arg("x", "")});
  const std::vector<std::int64_t> ints = {1};
  const std::size_t square[] = {1, 1};
  const double one = 1;
  const Wrong cases[] = {
      {Value(Value::List{1.0}),
       "expected a numpy array (make one by numpy.asarray(x, dtype='float64')), got list"},
      {MakeNdarray(std::span<const std::int64_t>(ints)),
       "expected a numpy array of float64, got one of int64; convert it by x.astype('float64')"},
      {MakeNdarray("<f8", square, std::as_bytes(std::span(&one, 1))),
       "expected a numpy array of one dimension, got one of 2; flatten it by x.ravel()"},
      {Value(Form::kNdarray, Value(1)), "dtype or shape is missing"},
  };
  for (const Wrong& wrong : cases) {
    const auto result = Call(**tool, wrong.value);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, HasSubstr("f() argument 'x': "));
    EXPECT_THAT(result.error().message, HasSubstr(wrong.message));
  }
}

TEST(NdarrayViewParameter, TakesEveryShapeAndGivesItBack) {
  const auto tool = BindFunction("same", "", [](const NdarrayView& x) { return x; }, {Arg("x", "")});
  ASSERT_TRUE(tool);
  const std::size_t shape[] = {2, 1};
  const std::uint16_t items[] = {7, 8};
  const Value array = MakeNdarray("<u2", shape, std::as_bytes(std::span(items)));
  EXPECT_EQ(*Call(**tool, array), array);
}

TEST(ValueTo, GivesWhatToolsWouldGet) {
  const Value rates = Value::Object({{"mar", 1.5}, {"may", 2}});
  const auto map = ValueTo<std::map<std::string, double>>(rates);
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->at("may"), 2.0);
  const Value array = Doubles({1, 2});
  EXPECT_THAT(*ValueTo<std::span<const double>>(array), ElementsAre(1, 2));
  EXPECT_THAT(*ValueTo<std::vector<int>>(array), ElementsAre(1, 2));
}

TEST(ValueTo, NamesThePlaceThatDoesNotFit) {
  const Value rates = Value::Object({{"mar", Value(Value::List{1, "x"})}});
  const auto map = ValueTo<std::map<std::string, std::vector<double>>>(rates);
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().message, "value['mar'][1]: expected float, got str 'x'");
}

TEST(ValueOf, IsTheWayBack) {
  EXPECT_EQ(ValueOf("text"), Value("text"));
  EXPECT_EQ(ValueOf(std::vector<int>{1, 2}), Value(Value::List{1, 2}));
  EXPECT_EQ(ValueOf(std::pair<int, bool>(1, true)), Value(Form::kTuple, Value(Value::List{1, true})));
  EXPECT_EQ(ValueOf(std::optional<double>()), Value());
}

}  // namespace
}  // namespace gloveport
