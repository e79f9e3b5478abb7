#include "gloveport/core/wire/ndarray_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace gloveport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value Array(const char* dtype, Value::List shape, std::size_t bytes) {
  return Value(Form::kNdarray, Value::Object({{"dtype", dtype},
                                              {"shape", Value(std::move(shape))},
                                              {"data", Value(Value::Bytes(bytes))}}));
}

TEST(NdarrayView, ShowsTheNumbersInPlace) {
  const std::array<double, 3> numbers = {1.5, -2, 3};
  const Value value = MakeNdarray(std::span<const double>(numbers));
  const auto view = NdarrayView::Of(value);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->dtype(), "<f8");
  EXPECT_THAT(view->shape(), ElementsAre(3));
  const auto span = view->As<double>();
  ASSERT_TRUE(span);
  EXPECT_THAT(*span, ElementsAre(1.5, -2, 3));
  EXPECT_EQ(static_cast<const void*>(span->data()), value.payload().Find("data")->as_bytes().data());
}

TEST(NdarrayView, KnowsShapesOfAnyDimension) {
  EXPECT_EQ(NdarrayView::Of(Array("<i4", {2, 3}, 24))->size(), 6u);
  EXPECT_EQ(NdarrayView::Of(Array("<i4", {}, 4))->size(), 1u);
  EXPECT_EQ(NdarrayView::Of(Array("<i4", {0, 3}, 0))->size(), 0u);
  EXPECT_EQ(NdarrayView::Of(Array("<U3", {2}, 24))->size(), 2u);
  EXPECT_EQ(NdarrayView::Of(Array("<M8[ns]", {2}, 16))->size(), 2u);
}

TEST(NdarrayView, OtherItemsAreAnErrorWithTheConversion) {
  const Value array = Array("<i8", {2}, 16);
  const auto view = NdarrayView::Of(array);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->As<std::int64_t>());
  const auto wrong = view->As<double>();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "expected a numpy array of float64, got one of int64");
  EXPECT_THAT(wrong.error().hint, HasSubstr("x.astype('float64')"));
}

TEST(NdarrayView, RefusesBytesThatDoNotFitTheShape) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (const Value& value :
       {Array("<f8", {3}, 23), Array("<f8", {3}, 32), Array("<f8", {-1}, 8), Array("<f8", {kHuge, kHuge}, 8),
        Array("", {1}, 8), Array("<f0", {1}, 0), Array("<f99999999999999999999", {1}, 8), Array("|O", {1}, 8),
        Array("<f8x", {1}, 8)}) {
    const auto view = NdarrayView::Of(value);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(NdarrayView::Of(Value(1)));
  EXPECT_FALSE(NdarrayView::Of(Value(Form::kNdarray, Value(1))));
}

}  // namespace
}  // namespace gloveport
