#include "gloveport/core/host/memory_budget.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

Value ManyItems(std::size_t count) { return Value(Value::List(count, Value(1))); }

TEST(MemoryBudgetTest, TakesUpToTheLimitAndGivesBack) {
  MemoryBudget budget(10);
  EXPECT_TRUE(budget.Take(10));
  EXPECT_FALSE(budget.Take(1));
  budget.Release(4);
  EXPECT_TRUE(budget.Take(4));
  EXPECT_FALSE(budget.Take(~std::uint64_t{0}));
  EXPECT_EQ(budget.used_bytes(), 10u);
}

TEST(MemoryBudgetTest, CountsWhatAValueTakesInMemoryAndNotOnTheWire) {
  const std::string encoded = EncodeValue(ManyItems(1000));
  ASSERT_LT(encoded.size(), 1100u);
  MemoryBudget small(10'000);
  const auto refused = DecodeWithin(small, encoded);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(small.used_bytes(), 0u);

  MemoryBudget large(100'000);
  const auto kept = DecodeWithin(large, encoded);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->value, ManyItems(1000));
  EXPECT_EQ(large.used_bytes(), kept->cost);
  EXPECT_GE(kept->cost, 1000 * sizeof(Value));
}

TEST(MemoryBudgetTest, WhatIsNoValueIsAProtocolErrorAndTakesNothing) {
  MemoryBudget budget(1000);
  for (const std::string& encoded :
       {std::string("\xff"), std::string(), std::string("\x01\x01"), std::string("\x82\x01")}) {
    const auto value = DecodeWithin(budget, encoded);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, ErrorCode::kProtocol);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryBudgetTest, CostsGrowWithSize) {
  EXPECT_LT(CostOf(Value(1)), CostOf(Value(std::string(1000, 'x'))));
  EXPECT_GT(CostOf(Value(std::string(1000, 'x'))), 1000u);
  EXPECT_GT(CostOf(Value::Object({{"a", ManyItems(10)}})), 10 * sizeof(Value));
  EXPECT_GT(CostOf(Value(Form::kTuple, ManyItems(10))), 10 * sizeof(Value));
}

}  // namespace
}  // namespace gloveport
