#include "gloveport/core/model/factory.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

EnvLookup Environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(MakeModel, MakesEachKind) {
  const auto environment = Environment({{"OPENAI_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "k"}});
  EXPECT_EQ(MakeModel("openai:gpt:latest", environment).value()->name(), "openai:gpt:latest");
  EXPECT_EQ(MakeModel("anthropic:claude", environment).value()->name(), "anthropic:claude");
  EXPECT_FALSE(MakeModel("openai:gpt", environment).value()->scripted());
}

TEST(MakeModel, MistakesAreExplained) {
  struct Case {
    const char* spec;
    std::map<std::string, std::string> environment;
    const char* message;
    const char* hint;
  };
  const Case cases[] = {
      {"gpt-5", {}, "\"gpt-5\" names no kind of model", "openai:NAME"},
      {"", {}, "names no kind of model", "openai:NAME"},
      {"ollama:x", {}, "names no kind of model", "scripted:FILE"},
      {"openai", {{"OPENAI_API_KEY", "k"}}, "names no model", "openai:NAME"},
      {"openai:", {{"OPENAI_API_KEY", "k"}}, "names no model", "openai:NAME"},
      {"scripted:", {}, "names no file", "scripted:FILE"},
      {"openai:m", {}, "OPENAI_API_KEY is not set", "set OPENAI_API_KEY"},
      {"openai:m", {{"OPENAI_API_KEY", "  "}}, "OPENAI_API_KEY is not set", "set OPENAI_API_KEY"},
      {"anthropic:m", {{"OPENAI_API_KEY", "k"}}, "ANTHROPIC_API_KEY is not set", "set ANTHROPIC_API_KEY"},
      {"anthropic:m", {{"ANTHROPIC_BASE_URL", "http://127.0.0.1:1"}}, "ANTHROPIC_API_KEY is not set", ""},
      {"openai:m", {{"OPENAI_API_KEY", "sk-1\r\nX: y"}}, "OPENAI_API_KEY cannot be an API key", "copy"},
      {"openai:m", {{"OPENAI_API_KEY", "sk-1\xc3\xa4"}}, "OPENAI_API_KEY cannot be an API key", "copy"},
      {"openai:m",
       {{"OPENAI_API_KEY", "sk-1"}, {"OPENAI_BASE_URL", "localhost:8000"}},
       "OPENAI_BASE_URL: ",
       "https://"},
      {"openai:m", {{"OPENAI_BASE_URL", "ftp://x"}}, "OPENAI_BASE_URL: ", "https://"},
      {"openai:m", {{"OPENAI_BASE_URL", "http://me:sk-1@x"}}, "OPENAI_BASE_URL: ", "variable"},
      {"anthropic:m",
       {{"ANTHROPIC_API_KEY", "sk-1"}, {"ANTHROPIC_BASE_URL", "http://a b"}},
       "ANTHROPIC_BASE_URL: ",
       "https://"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    const auto model = MakeModel(c.spec, Environment(c.environment));
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(model.error().message, HasSubstr(c.message));
    EXPECT_THAT(model.error().hint, HasSubstr(c.hint));
    EXPECT_THAT(model.error().message + model.error().hint, Not(HasSubstr("sk-1")));
  }
}

TEST(MakeModel, ScriptThatIsNotThereIsNotFound) {
  const auto model = MakeModel("scripted:/nonexistent/transcript.jsonl", Environment({}));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(model.error().message, HasSubstr("/nonexistent/transcript.jsonl"));
}

TEST(MakeModel, KeyAndBaseUrlReachTheEndpoint) {
  FaultServer server({Answer(200, R"({"choices":[{"message":{"content":"from there"}}]})")});
  const auto model = MakeModel(
      "openai:m", Environment({{"OPENAI_API_KEY", " sk-1\n"}, {"OPENAI_BASE_URL", server.url("/v1")}}));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto reply = (*model)->Complete({});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "from there");
  EXPECT_THAT(server.requests().at(0), HasSubstr("Authorization: Bearer sk-1\r\n"));
}

TEST(MakeModel, LocalServerNeedsNoKey) {
  EXPECT_TRUE(
      MakeModel("openai:m", Environment({{"OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"}})).has_value());
}

TEST(MakeModel, GoesThroughTheProxyOfTheEnvironment) {
  FaultServer proxy({Answer(200, R"({"choices":[{"message":{"content":"by proxy"}}]})")});
  const auto model = MakeModel(
      "openai:m",
      Environment({{"OPENAI_BASE_URL", "http://model.example.invalid/v1"}, {"HTTP_PROXY", proxy.url()}}));
  const auto reply = model.value()->Complete({});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "by proxy");
  EXPECT_THAT(proxy.requests().at(0),
              HasSubstr("POST http://model.example.invalid/v1/chat/completions HTTP/1.1"));
}

}  // namespace
}  // namespace gloveport
