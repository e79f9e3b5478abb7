#include "gloveport/policy/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(JsonReaderTest, ReadsEveryKindOfValueWithItsPlace) {
  const auto read = ReadJson("{\"a\": [1, -2.5e1, true, null,\n  \"\\u00e9\\n\"], \"b\": {}}", "x");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->kind, JsonNode::Kind::kObject);
  const JsonNode& items = *read->Find("a");
  ASSERT_EQ(items.items.size(), 5u);
  EXPECT_EQ(items.at, (JsonPosition{1, 7}));
  EXPECT_TRUE(items.items[0].is_integer());
  EXPECT_EQ(items.items[0].number, 1);
  EXPECT_FALSE(items.items[1].is_integer());
  EXPECT_EQ(items.items[1].number, -25);
  EXPECT_EQ(items.items[1].text, "-2.5e1");
  EXPECT_TRUE(items.items[2].boolean);
  EXPECT_EQ(items.items[3].kind, JsonNode::Kind::kNull);
  EXPECT_EQ(items.items[4].text, "\xC3\xA9\n");
  EXPECT_EQ(items.items[4].at, (JsonPosition{2, 3}));
  EXPECT_EQ(read->members[1].at, (JsonPosition{2, 16}));
  EXPECT_EQ(read->Find("c"), nullptr);
}

TEST(JsonReaderTest, TakesWhatJsonTakesAndComments) {
  for (const std::string_view text : {
           "1",
           "-0",
           "0.5",
           "1e2",
           "1E+2",
           "\"\"",
           "[]",
           "{}",
           " \t\r\n[ ]\n",
           "true",
           "false",
           "null",
           "// first\n1 // last",
           "/* a */ [ /* b */ 1 /* c */ , /* d */ 2 ] /* e */",
           "{/**/\"a\"/**/:/**/1/**/}",
           "\"// no comment\"",
           "\"/* none */\"",
           "\xEF\xBB\xBF{}",
           "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
           "\"\\ud83d\\ude00\"",
           "\"\xF0\x9F\x98\x80\"",
           "[[[[[[1]]]]]]",
           "1//",
           "/*/**/1",
       }) {
    const auto read = ReadJson(text, "x");
    EXPECT_TRUE(read) << text << ": " << read.error().message;
  }
}

struct Refusal {
  std::string_view text;
  std::string_view where;  // "line:column"
  std::string_view why;
};

TEST(JsonReaderTest, RefusesEverythingElseAndSaysWhere) {
  const Refusal cases[] = {
      {"", "1:1", "expected a value"},
      {"  // only a comment", "1:20", "expected a value, found end of the text"},
      {"{\n  \"a\": 1,\n}", "2:9", "a comma before '}'"},
      {"[1, ]", "1:3", "a comma before ']'"},
      {"[1 2]", "1:4", "expected ',' or ']', found '2'"},
      {"[1", "1:1", "never closed"},
      {"{\"a\":\n{\"b\":1}", "1:1", "never closed"},
      {"{\"a\" 1}", "1:6", "expected ':'"},
      {"{a: 1}", "1:2", "expected a key, found 'a'"},
      {"{1: 1}", "1:2", "expected a key"},
      {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", "3:2", "key \"a\" is there twice"},
      {"{\"a\": {\"b\": 1, \"\\u0062\": 2}}", "1:16", "key \"b\" is there twice"},
      {"'x'", "1:1", "found '''"},
      {"True", "1:1", "found 'True'"},
      {"NaN", "1:1", "found 'NaN'"},
      {"-Infinity", "1:1", "not a JSON number"},
      {"01", "1:1", "not a JSON number"},
      {"-", "1:1", "not a JSON number"},
      {"1.", "1:1", "not a JSON number"},
      {"1e", "1:1", "not a JSON number"},
      {"1e999", "1:1", "out of range"},
      {".5", "1:1", "expected a value, found '.'"},
      {"+1", "1:1", "expected a value, found '+'"},
      {"1 1", "1:3", "'1' after the end of the document"},
      {"{}}", "1:3", "after the end of the document"},
      {"\"abc", "1:1", "has no end"},
      {"\"abc\\", "1:5", "unknown escape"},
      {"\"a\nb\"", "1:1", "does not end on its line"},
      {"\"a\tb\"", "1:3", "control character 0x09 in a string"},
      {"\"\\x41\"", "1:2", "unknown escape"},
      {"\"\\u12g4\"", "1:2", "four hexadecimal digits"},
      {"\"\\u12", "1:2", "four hexadecimal digits"},
      {"\"\\u-123\"", "1:2", "four hexadecimal digits"},
      {"\"\\ud800\"", "1:2", "half of a surrogate pair"},
      {"\"\\ud800\\u0041\"", "1:2", "half of a surrogate pair"},
      {"\"\\udc00\"", "1:2", "half of a surrogate pair"},
      {"\n/* no end", "2:1", "comment has no end"},
      {"/*/ 1", "1:1", "comment has no end"},
      {"# 1", "1:1", "found '#'"},
      {"1 / 2", "1:3", "after the end"},
      {"\"\xC3\xA9\" x", "1:5", "after the end"},  // columns count characters, not bytes
      {"\"\n\" \"\xC3(\"", "2:4", "not valid UTF-8"},
      {"\xFF", "1:1", "not valid UTF-8"},
      {std::string_view("\0", 1), "1:1", "control character 0x00"},
  };
  for (const Refusal& c : cases) {
    const auto read = ReadJson(c.text, "file.json");
    ASSERT_FALSE(read) << c.text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(read.error().message, StartsWith("file.json:" + std::string(c.where) + ": ")) << c.text;
    EXPECT_THAT(read.error().message, HasSubstr(c.why)) << c.text;
  }
}

TEST(JsonReaderTest, BoundsDepth) {
  const std::string fits = std::string(kMaxPolicyDepth, '[') + std::string(kMaxPolicyDepth, ']');
  EXPECT_TRUE(ReadJson(fits, "x"));
  const auto read = ReadJson("[" + fits + "]", "x");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("nested deeper than 64"));
  EXPECT_FALSE(ReadJson(std::string(1 << 20, '['), "x"));
}

TEST(JsonReaderTest, BoundsSize) {
  const std::string fits = "1" + std::string(kMaxPolicyBytes - 1, ' ');
  EXPECT_TRUE(ReadJson(fits, "x"));
  const auto read = ReadJson(fits + " ", "x");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kResourceExhausted);
}

TEST(QuoteJsonTest, WritesWhatTheReaderReadsBack) {
  for (const std::string_view text :
       {std::string_view(""), std::string_view("a\"b\\c\n\t\r\x01\x7F/\xC3\xA9"),
        std::string_view("nul\0inside", 10)}) {
    const auto read = ReadJson(QuoteJson(text), "x");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->text, text);
  }
}

}  // namespace
}  // namespace gloveport
