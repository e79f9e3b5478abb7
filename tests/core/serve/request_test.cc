#include "gloveport/core/serve/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace gloveport {
namespace {

using testing::HasSubstr;

Request Parsed(std::string_view line) {
  auto request = Request::Parse(line);
  EXPECT_TRUE(request.has_value()) << line;
  return request ? *request : Request();
}

TEST(Request, IdMayBeANumberATextOrAbsent) {
  EXPECT_EQ(Parsed(R"({"id":1,"op":"x"})").id(), Json(1));
  EXPECT_EQ(Parsed(R"({"id":"a","op":"x"})").id(), Json("a"));
  EXPECT_EQ(Parsed(R"({"op":"x"})").id(), Json());
}

TEST(Request, RefusesWhatIsNoRequest) {
  const std::array<std::pair<std::string_view, std::string_view>, 9> kCases = {{
      {"", "no valid JSON"},
      {"{", "no valid JSON"},
      {"{} {}", "no valid JSON"},
      {"[1]", "not an object"},
      {"7", "not an object"},
      {R"({"id":1})", "no text \"op\""},
      {R"({"id":1,"op":2})", "no text \"op\""},
      {R"({"id":[1],"op":"x"})", "\"id\" must be"},
      {R"({"id":1,"op":"x","op":"y"})", "duplicate"},
  }};
  for (const auto& [line, text] : kCases) {
    const auto request = Request::Parse(line);
    ASSERT_FALSE(request.has_value()) << line;
    EXPECT_THAT(request.error().message, HasSubstr(text)) << line;
  }
}

TEST(Request, FindsTheIdOfALineThatIsMalformedFurtherOn) {
  const std::array<std::pair<std::string_view, Json>, 10> kCases = {{
      {R"({"id":7,"op":)", 7},
      {R"({"op":"run","id":"a")", "a"},
      {R"({"op":"run","code":"x)", Json()},
      {R"({"value":{"id":3},"id":4,,)", 4},
      {R"({"value":[{"id":3}],)", Json()},
      {R"({"id":5,"id":6})", 5},
      {R"({"id":{"id":1},"op":"x"})", Json()},
      {R"({"id":-2,)", -2},
      {"no json at all", Json()},
      {"", Json()},
  }};
  for (const auto& [line, id] : kCases) EXPECT_EQ(Request::FindId(line), id) << line;
}

TEST(Request, FindsTheIdBehindDeepNesting) {
  const std::string deep = R"({"v":)" + std::string(100'000, '[') + std::string(100'000, ']') + R"(,"id":9,)";
  EXPECT_EQ(Request::FindId(deep), Json(9));
}

TEST(Request, UnknownKeysAreRefusedAndKnownOnesAreNot) {
  const std::array<std::string_view, 2> known = {"session", "code"};
  EXPECT_TRUE(Parsed(R"({"id":1,"op":"run","session":"s1","code":""})").RefuseUnknownKeys(known));
  const Status refused = Parsed(R"({"id":1,"op":"run","timeout":1})").RefuseUnknownKeys(known);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("\"timeout\""));
  EXPECT_THAT(refused.error().hint, HasSubstr("session, code"));
}

TEST(Request, GettersNameTheOperationAndTheKey) {
  const Request request =
      Parsed(R"({"op":"run","code":1,"flag":"yes","limit":0,"text":"t","on":true,"n":2.5,"none":null})");
  EXPECT_EQ(*request.Text("text"), "t");
  EXPECT_EQ(*request.BoolOr("on", false), true);
  EXPECT_EQ(*request.BoolOr("absent", true), true);
  EXPECT_EQ(*request.PositiveNumber("n"), 2.5);
  EXPECT_EQ(*request.PositiveNumber("none"), std::nullopt);
  EXPECT_THAT(request.Text("code").error().message, HasSubstr("run: \"code\" must be a string, not integer"));
  EXPECT_THAT(request.Text("absent").error().message, HasSubstr("run: \"absent\" is missing"));
  EXPECT_THAT(request.BoolOr("flag", false).error().message, HasSubstr("\"flag\""));
  EXPECT_THAT(request.PositiveNumber("limit").error().message, HasSubstr("above 0"));
}

}  // namespace
}  // namespace gloveport
