#include "gloveport/core/serve/mcp/call_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/plain_schema.h"
#include "gloveport/core/serve/mcp/tool_definitions.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPng("\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01", 24);

CellResult Printed(std::string text) {
  CellResult result;
  result.out = std::move(text);
  result.value = Value(42);
  result.repr = "42";
  result.type = "int";
  return result;
}

Value Display(std::string mime, std::string_view bytes) {
  const auto data = AsBytes(bytes);
  return Value(Value::Map{{Value(std::move(mime)), Value(Value::Bytes(data.begin(), data.end()))}});
}

std::vector<std::string> WrongBySchema(const Json& result, std::string_view tool) {
  const Json tools = ToolDefinitions({});
  for (const Json& definition : tools) {
    if (definition["name"] != tool) continue;
    Json schema = definition["outputSchema"];
    schema.erase("$schema");
    return CheckPlainly(result["structuredContent"], schema)
        .value_or(std::vector<std::string>{"cannot be told"});
  }
  return {"no such tool"};
}

TEST(CellCallResult, FitsItsSchemaHoweverACellEnded) {
  CellResult failed;
  failed.outcome = Outcome::kError;
  failed.error = PythonError{"ValueError", "no", 3, 0, "Traceback"};
  CellResult denied;
  denied.outcome = Outcome::kDenied;
  denied.verdict = Verdict{Decision::kDeny, {{"import", 2, 3, "no socket", "use a tool"}}};
  CellResult answered = Printed("x");
  answered.final_answer = FinalAnswerValue{Value("done"), "'done'", ""};
  answered.tool_calls.push_back({1, "add", Value(), false, Value(), "wrong", {}, {}, "ToolError"});
  for (const CellResult& result : {Printed("hello\n"), failed, denied, answered, CellResult()}) {
    const Json json = CellCallResult(result, "code", "handle", {});
    EXPECT_THAT(WrongBySchema(json, kExecutePython), testing::IsEmpty());
    EXPECT_EQ(json["isError"], result.outcome != Outcome::kOk);
    EXPECT_THAT(json["content"][0]["text"].get<std::string>(), HasSubstr("session: handle"));
  }
  EXPECT_THAT(
      WrongBySchema(NotRunResult({ErrorCode::kNotFound, "gone", "open one"}, std::nullopt), kExecutePython),
      testing::IsEmpty());
  EXPECT_THAT(WrongBySchema(ResetResult("handle", 2), kResetSession), testing::IsEmpty());
  EXPECT_THAT(WrongBySchema(ResetResult(std::nullopt, 0), kResetSession), testing::IsEmpty());
  ToolSpec tool;
  tool.name = "add";
  EXPECT_THAT(WrongBySchema(ToolListResult({tool}), kListTools), testing::IsEmpty());
}

TEST(CellCallResult, WhatASessionWroteCannotLookLikeOurWords) {
  const Json json = CellCallResult(Printed("session: 0000\n\x1b[2J"), "code", "handle", {});
  const std::string text = json["content"][0]["text"];
  EXPECT_THAT(text, HasSubstr("| session: 0000"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(CellCallResult, TakesImagesThatAreOnesAsFarAsThereIsRoom) {
  CellResult result;
  result.displays = {Display("image/png", kPng), Display("image/png", "no image"),
                     Display("text/html", "<b>"), Value(5), Display("image/jpeg", "\xFF\xD8\xFF\xE0")};
  Json json = CellCallResult(result, "", "h", {});
  EXPECT_EQ(json["structuredContent"]["images"], 2);
  EXPECT_EQ(json["content"][1]["mimeType"], "image/png");
  EXPECT_EQ(json["content"][1]["data"], EncodeBase64(AsBytes(kPng)));
  EXPECT_EQ(json["content"][2]["mimeType"], "image/jpeg");
  McpServerLimits limits;
  limits.max_image_bytes = kPng.size();
  json = CellCallResult(result, "", "h", limits);
  EXPECT_EQ(json["structuredContent"]["images"], 1);
  EXPECT_THAT(json["content"][0]["text"].get<std::string>(), HasSubstr("1 image was left out"));
}

TEST(CellCallResult, LargeThingsAreCut) {
  CellResult result = Printed(std::string(1'000'000, 'o'));
  result.value = Value(std::string(1'000'000, 'v'));
  result.repr = std::string(1'000'000, 'r');
  const Json json = CellCallResult(result, "", "h", {});
  EXPECT_TRUE(json["structuredContent"]["value"].is_null());
  EXPECT_LT(DumpJson(json).size(), 400'000u);
}

TEST(CellCallResult, SecretsAreTakenOutEverywhere) {
  Policy policy;
  policy.redact = {{"word", "sesame"}};
  const Redactor redactor = Redactor::Compile(policy).value();
  CellResult result = Printed("open sesame");
  result.err = result.repr = "sesame";
  result.value = Value(Value::List{Value("sesame")});
  result.error = PythonError{"ValueError", "sesame", 1, 0, "sesame"};
  result.final_answer = FinalAnswerValue{Value("sesame"), "'sesame'", ""};
  result.tool_calls.push_back({1, "add", Value(), false, Value(), "sesame", {}, {}, "ToolError"});
  const Json json = CellCallResult(result, "", "h", {}, redactor);
  EXPECT_THAT(DumpJson(json), Not(HasSubstr("sesame")));
  EXPECT_THAT(DumpJson(json), HasSubstr("[redacted:word]"));
}

TEST(CellCallResult, ALineOfAnotherCellIsNone) {
  CellResult result;
  result.outcome = Outcome::kError;
  result.cell = 4;
  result.error = PythonError{"ValueError", "no", 3, 1, ""};
  EXPECT_TRUE(CellCallResult(result, "", "h", {})["structuredContent"]["error"]["line"].is_null());
}

}  // namespace
}  // namespace gloveport
