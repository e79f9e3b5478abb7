#include "gloveport/core/serve/mcp/tool_definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::HasSubstr;

Json Parsed(const char* text) { return ParseJson(text).value(); }

TEST(ToolDefinitions, SayWhatHolds) {
  McpServerOptions options;
  options.policy.name = "mine";
  options.policy.limits.wall = std::chrono::seconds(7);
  options.limits.max_sessions_per_client = 3;
  const std::string description = ToolDefinitions(options)[0]["description"];
  for (const char* part : {"\"mine\"", "7 seconds", "At most 3 sessions"})
    EXPECT_THAT(description, HasSubstr(part));
}

TEST(ReadExecuteArguments, NamesWhatIsWrong) {
  const auto good = ReadExecuteArguments(Parsed(R"({"code":"1","session":"h","timeout_s":0.5})"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->code, "1");
  EXPECT_EQ(good->session, "h");
  EXPECT_EQ(good->timeout_s, 0.5);
  EXPECT_FALSE(ReadExecuteArguments(Parsed(R"({"code":"1","session":null})"))->session);
  const std::pair<const char*, const char*> cases[] = {
      {"null", "\"code\" is missing"},
      {"{}", "\"code\" is missing"},
      {R"({"code":5})", "\"code\""},
      {R"({"code":"1","sesion":"x"})", "\"sesion\""},
      {R"({"code":"1","session":5})", "\"session\""},
      {R"({"code":"1","timeout_s":-1})", "\"timeout_s\""},
      {R"({"code":"1","timeout_s":"1"})", "\"timeout_s\""},
      {"[]", "object"},
  };
  for (const auto& [text, part] : cases) {
    const auto read = ReadExecuteArguments(Parsed(text));
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(part));
  }
}

}  // namespace
}  // namespace gloveport
