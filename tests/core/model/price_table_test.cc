#include "gloveport/core/model/price_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/temporary_folder.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

PriceTable Table() {
  return PriceTable::Parse(R"({"currency":"EUR","as_of":"2026-01-02","models":{
      "m": {"input": 2, "output": 10, "cached_input": 0.5, "cache_write": 2.5, "reasoning": 20},
      "m-5": {"input": 1, "output": 4},
      "free": {"input": 0, "output": 0}}})")
      .value();
}

TokenUsage Usage(std::int64_t input, std::int64_t output) {
  return {.input_tokens = input, .output_tokens = output, .reported = true};
}

TEST(PriceTable, CountsCachedAndReasoningTokensAtTheirOwnPrice) {
  TokenUsage usage = Usage(1'000'000, 100'000);
  EXPECT_DOUBLE_EQ(Table().Cost("m", usage).value(), 2 + 1);
  usage.cached_input_tokens = 400'000;
  usage.cache_write_tokens = 200'000;
  usage.reasoning_tokens = 50'000;
  EXPECT_DOUBLE_EQ(Table().Cost("m", usage).value(), 0.4 * 2 + 0.4 * 0.5 + 0.2 * 2.5 + 0.5 + 1.0);
  // Without prices of their own they cost what others do.
  EXPECT_DOUBLE_EQ(Table().Cost("m-5", usage).value(), 1 + 0.4);
  EXPECT_EQ(Table().Cost("free", usage), 0.0);
}

TEST(PriceTable, NonsensicalCountsCostNothingNegative) {
  TokenUsage usage = Usage(-5, 10);
  usage.cached_input_tokens = 100;
  usage.reasoning_tokens = 50;
  EXPECT_GE(Table().Cost("m", usage).value(), 0);
}

TEST(PriceTable, WhatIsNotKnownIsNotFree) {
  EXPECT_EQ(Table().Cost("other", Usage(1, 1)), std::nullopt);
  EXPECT_EQ(Table().Cost("m", TokenUsage{}), std::nullopt);
  EXPECT_EQ(PriceTable().Cost("m", Usage(1, 1)), std::nullopt);
}

TEST(PriceTable, KnowsEditionsOfAModelButNoOtherModel) {
  for (const char* name : {"m", "openai:m", "anthropic:m", "openai-responses:m", "m-2026-01-02", "m-20260102",
                           "m@20260102", "m-latest"}) {
    EXPECT_TRUE(Table().Find(name)) << name;
    EXPECT_EQ(Table().Find(name)->input, 2) << name;
  }
  EXPECT_EQ(Table().Find("m-5-20260102")->input, 1);
  for (const char* name :
       {"m-mini", "m-5-5", "m-5-5-20260102", "m.5", "mm", "", "x/m", "m-", "m-2026", "m-2026-01-0x"}) {
    EXPECT_FALSE(Table().Find(name)) << name;
  }
}

TEST(PriceTable, MistakesInAFileAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "line 1"},
      {"[]", "no object \"models\""},
      {R"({"models": []})", "no object \"models\""},
      {R"({"models": {}, "modles": {}})", "unknown member \"modles\""},
      {R"({"models": {}, "currency": 1})", "\"currency\" is no text"},
      {R"({"models": {"a": 1}})", "\"a\": there is no object"},
      {R"({"models": {"a": {"input": 1}}})", "\"a\": \"output\" is missing"},
      {R"({"models": {"a": {"input": 1, "output": "2"}}})", "\"a\": \"output\" is no number from 0 on"},
      {R"({"models": {"a": {"input": -1, "output": 2}}})", "\"a\": \"input\" is no number from 0 on"},
      {R"({"models": {"a": {"input": 1, "output": 2, "cached": 1}}})", "\"a\": unknown member \"cached\""},
  };
  const TemporaryFolder folder;
  for (const auto& [text, message] : cases) {
    const auto file = folder / "prices.json";
    ASSERT_TRUE(WriteFile(file, text));
    const auto table = PriceTable::Load(file);
    ASSERT_FALSE(table.has_value()) << text;
    EXPECT_EQ(table.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(table.error().message, StartsWith(file.string()));
    EXPECT_THAT(table.error().message, HasSubstr(message));
  }
  EXPECT_EQ(PriceTable::Load(folder / "absent.json").error().code, ErrorCode::kNotFound);
}

TEST(PriceTable, BuiltInTableHasADateAndWellKnownModels) {
  const PriceTable& table = PriceTable::BuiltIn();
  EXPECT_FALSE(table.empty());
  EXPECT_THAT(table.as_of(), StartsWith("20"));
  EXPECT_EQ(table.currency(), "USD");
  EXPECT_TRUE(table.Find("gpt-5-2025-08-07"));
  EXPECT_TRUE(table.Find("anthropic:claude-sonnet-4-5-20250929"));
  EXPECT_FALSE(table.Find("llama3"));
}

}  // namespace
}  // namespace gloveport
