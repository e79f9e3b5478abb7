#include "gloveport/core/model/factory.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/fault_server/fault_server.h"
#include "gloveport/tests/support/temporary_folder.h"

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
  EXPECT_EQ(MakeModel("openai-responses:gpt", environment).value()->name(), "openai-responses:gpt");
  EXPECT_FALSE(MakeModel("openai:gpt", environment).value()->scripted());
}

TEST(MakeModel, OptionsStandBehindTheName) {
  FaultServer server({Answer(200, R"({"choices":[{"message":{"content":"x"}}]})")});
  const auto environment = Environment({{"OPENAI_BASE_URL", server.url()}, {"ANTHROPIC_API_KEY", "k"}});
  EXPECT_EQ(MakeModel("openai:m", environment).value()->action_form(), ActionForm::kText);
  EXPECT_EQ(MakeModel("openai-responses:m?action=json", environment).value()->action_form(),
            ActionForm::kJson);
  EXPECT_EQ(MakeModel("anthropic:m?cache=off&action=tool", environment).value()->action_form(),
            ActionForm::kTool);
  const auto model = MakeModel("openai:m?action=tool&effort=high", environment);
  EXPECT_EQ((*model)->name(), "openai:m");
  ASSERT_TRUE((*model)->Complete({}).has_value());
  EXPECT_THAT(server.requests().at(0), HasSubstr(R"("reasoning_effort":"high")"));
}

TEST(MakeModel, RecordsAModelAndPlaysTheRecording) {
  const TemporaryFolder folder;
  const std::string file = folder / "run.jsonl";
  FaultServer server(
      {Answer(200, R"({"choices":[{"message":{"content":"Bearer sk-1"},"finish_reason":"stop"}]})")});
  const auto environment = Environment({{"OPENAI_API_KEY", "sk-1"}, {"OPENAI_BASE_URL", server.url()}});
  const ChatRequest asked{.messages = {{Role::kUser, "hi"}}};
  {
    const auto recorded = MakeModel("record:" + file + "=openai:m?action=json", environment);
    ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
    EXPECT_EQ((*recorded)->name(), "openai:m");
    EXPECT_EQ((*recorded)->action_form(), ActionForm::kJson);
    EXPECT_EQ((*recorded)->Complete(asked)->content, "Bearer sk-1");
  }
  EXPECT_THAT(ReadFile(file).value(), Not(HasSubstr("sk-1")));
  EXPECT_EQ(MakeModel("replay:" + file, Environment({})).value()->Complete(asked)->content,
            "Bearer [secret]");
  EXPECT_FALSE(MakeModel("replay:" + file, Environment({})).value()->Complete({}).has_value());
  EXPECT_FALSE(
      MakeModel("replay:" + file + "?match=prompt", Environment({})).value()->Complete({}).has_value());
  EXPECT_TRUE(
      MakeModel("replay:" + file + "?match=order", Environment({})).value()->Complete({}).has_value());
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
      {"openai:?action=tool", {{"OPENAI_API_KEY", "k"}}, "names no model", "openai:NAME"},
      {"openai:m?action=xml",
       {{"OPENAI_API_KEY", "k"}},
       "\"action=xml\" is no option of a model",
       "action=text|json|tool"},
      {"openai:m?effort=", {{"OPENAI_API_KEY", "k"}}, "\"effort=\" is no option", "effort=LEVEL"},
      {"anthropic:m?cache=maybe",
       {{"ANTHROPIC_API_KEY", "k"}},
       "\"cache=maybe\" is no option",
       "cache=on|off"},
      {"anthropic:m?x", {{"ANTHROPIC_API_KEY", "k"}}, "\"x=\" is no option", "action="},
      {"replay:", {}, "names no file", "replay:FILE"},
      {"record:run.jsonl", {}, "does not say which model to record", "record:run.jsonl=openai:gpt-5"},
      {"record:=openai:m", {}, "does not say which model to record", "record:FILE=MODEL"},
      {"record:a=record:b=scripted:c", {}, "a recording cannot be recorded", ""},
      {"record:a=gpt", {}, "\"gpt\" names no kind of model", "openai:NAME"},
      {"record:a=openai:m", {}, "OPENAI_API_KEY is not set", "set OPENAI_API_KEY"},
      {"openai-responses:m", {}, "OPENAI_API_KEY is not set", "set OPENAI_API_KEY"},
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

TEST(MakeModel, TrustsTheAuthoritiesThatOtherProgramsAreTold) {
  for (const char* variable : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    const auto with = [&](std::map<std::string, std::string> more) {
      more.insert({{"OPENAI_BASE_URL", "https://127.0.0.1:1/v1"}, {variable, "/nonexistent/ca.pem"}});
      return MakeModel("openai:m", Environment(std::move(more)))
          .value()
          ->Complete({.deadline = Deadline::After(std::chrono::milliseconds(300))});
    };
    EXPECT_THAT(with({}).error().message, HasSubstr("/nonexistent/ca.pem"));
    // OpenSSL's own variables come first.
    EXPECT_THAT(with({{"SSL_CERT_DIR", "/etc/ssl/certs"}}).error().message,
                Not(HasSubstr("/nonexistent/ca.pem")));
  }
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
