#include "gloveport/core/model/openai_chat.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/core/model/fake_clock.h"
#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHello = R"({"choices":[{"message":{"content":"hello"}}]})";

OpenAiChatOptions At(const std::string& url) {
  OpenAiChatOptions options{"m-1", "sk-key", {}};
  options.endpoint.base_url = url;
  return options;
}

Json BodyOf(const std::string& request) {
  return ParseJson(std::string_view(request).substr(request.find("\r\n\r\n") + 4)).value();
}

Result<ChatReply> Read(std::string_view body, std::vector<std::string> stop = {}) {
  FaultServer server({Answer(200, std::string(body))});
  ChatRequest request;
  request.stop = std::move(stop);
  return OpenAiChat(At(server.url("/v1"))).Complete(request);
}

TEST(OpenAiChat, SendsTheConversation) {
  FaultServer server({Answer(200, kHello)});
  OpenAiChat model(At(server.url("/v1/")));
  EXPECT_EQ(model.name(), "openai:m-1");
  EXPECT_FALSE(model.scripted());
  ChatRequest request;
  request.messages = {
      {Role::kSystem, "be \"good\""}, {Role::kUser, "h\xc3\xa4llo"}, {Role::kAssistant, "yes?"}};
  request.stop = {"END", ""};
  request.temperature = 0.5;
  request.max_tokens = 77;
  ASSERT_TRUE(model.Complete(request).has_value());
  const std::string sent = server.requests().at(0);
  EXPECT_THAT(sent, StartsWith("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("Authorization: Bearer sk-key\r\n"));
  EXPECT_THAT(sent, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_EQ(BodyOf(sent), Json::parse(R"({"model":"m-1","messages":[{"role":"system","content":"be \"good\""},
      {"role":"user","content":"hällo"},{"role":"assistant","content":"yes?"}],
      "temperature":0.5,"max_tokens":77,"stop":["END"]})"));
}

TEST(OpenAiChat, SendsNoKeyWhereThereIsNone) {
  FaultServer server({Answer(200, kHello)});
  OpenAiChatOptions options = At(server.url("/v1"));
  options.api_key = "";
  ASSERT_TRUE(OpenAiChat(std::move(options)).Complete({}).has_value());
  EXPECT_THAT(server.requests().at(0), Not(HasSubstr("Authorization")));
}

TEST(OpenAiChat, KeepsTheQueryOfTheBaseUrl) {
  FaultServer server({Answer(200, kHello)});
  ASSERT_TRUE(OpenAiChat(At(server.url("/openai/deployments/d?api-version=1"))).Complete({}).has_value());
  EXPECT_THAT(server.requests().at(0),
              StartsWith("POST /openai/deployments/d/chat/completions?api-version=1 HTTP/1.1\r\n"));
}

TEST(OpenAiChat, InvalidUtf8InTheConversationIsReplaced) {
  FaultServer server({Answer(200, kHello)});
  ChatRequest request;
  request.messages = {{Role::kUser, "a\xff"}};
  ASSERT_TRUE(OpenAiChat(At(server.url())).Complete(request).has_value());
  EXPECT_EQ(BodyOf(server.requests().at(0))["messages"][0]["content"], "a\xef\xbf\xbd");
}

TEST(OpenAiChat, ReadsEveryFormOfAnAnswer) {
  struct Case {
    const char* body;
    const char* content;
    const char* reasoning;
    const char* finish_reason;
  };
  static constexpr Case kCases[] = {
      {R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})", "a", "", "stop"},
      {R"({"choices":[{"message":{"content":null},"finish_reason":"length"}]})", "", "", "length"},
      {R"({"choices":[{"message":{"role":"assistant"}}]})", "", "", ""},
      {R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}]})",
       "ab", "", ""},
      {R"({"choices":[{"message":{"content":"a","reasoning_content":"r"}}]})", "a", "r", ""},
      {R"({"choices":[{"message":{"content":"a","reasoning":"r"}}]})", "a", "r", ""},
      {R"({"choices":[{"message":{"content":"a","reasoning_content":null,"reasoning":"r"}}]})", "a", "r", ""},
      {R"({"choices":[{"message":{"content":null,"refusal":"I will not"},"finish_reason":"stop"}]})",
       "I will not", "", "refusal"},
      {R"({"choices":[{"message":{"content":"first"}},{"message":{"content":"second"}}],"error":null})",
       "first", "", ""},
  };
  for (const Case& c : kCases) {
    const auto reply = Read(c.body);
    ASSERT_TRUE(reply.has_value()) << c.body << reply.error().message;
    EXPECT_EQ(reply->content, c.content) << c.body;
    EXPECT_EQ(reply->reasoning, c.reasoning) << c.body;
    EXPECT_EQ(reply->finish_reason, c.finish_reason) << c.body;
    EXPECT_EQ(reply->model, "m-1");
  }
}

TEST(OpenAiChat, ReadsUsageAndModel) {
  const auto reply = Read(R"({"model":"m-1-2026","choices":[{"message":{"content":"a"}}],
      "usage":{"prompt_tokens":12,"completion_tokens":34}})");
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->model, "m-1-2026");
  EXPECT_EQ(reply->usage.input_tokens, 12);
  EXPECT_EQ(reply->usage.output_tokens, 34);
  const auto odd = Read(
      R"({"model":7,"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":"x","completion_tokens":1e3}})");
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->usage.input_tokens, 0);
}

TEST(OpenAiChat, CutsAtStopSequencesItself) {
  const char* body = R"({"choices":[{"message":{"content":"one END two STOP"},"finish_reason":"length"}]})";
  EXPECT_EQ(Read(body, {"STOP", "END"})->content, "one ");
  EXPECT_EQ(Read(body, {"STOP", "END"})->finish_reason, "stop");
  EXPECT_EQ(Read(body, {"absent", ""})->content, "one END two STOP");
  EXPECT_EQ(Read(body, {"absent", ""})->finish_reason, "length");
}

TEST(OpenAiChat, SendsNoMoreStopSequencesThanTheProtocolAllowsButKnowsAll) {
  FaultServer server({Answer(200, R"({"choices":[{"message":{"content":"x six y"}}]})")});
  ChatRequest request;
  request.stop = {"one", "two", "three", "four", "five", "six"};
  const auto reply = OpenAiChat(At(server.url())).Complete(request);
  EXPECT_EQ(reply->content, "x ");
  EXPECT_EQ(BodyOf(server.requests().at(0))["stop"].size(), 4u);
}

TEST(OpenAiChat, LearnsWhatAModelDoesNotTake) {
  const auto refusal = [](const char* parameter) {
    return Answer(400,
                  fmt::format(R"({{"error":{{"message":"no","param":"{}","code":"unsupported_parameter"}}}})",
                              parameter));
  };
  FaultServer server({refusal("max_tokens"), refusal("temperature"), refusal("stop"), Answer(200, kHello),
                      Answer(200, kHello)});
  OpenAiChat model(At(server.url()));
  ChatRequest request;
  request.max_tokens = 5;
  request.stop = {"END"};
  ASSERT_TRUE(model.Complete(request).has_value());
  ASSERT_TRUE(model.Complete(request).has_value());  // it remembers: one request is enough
  ASSERT_EQ(server.connections(), 5u);
  const Json last = BodyOf(server.requests().at(4));
  EXPECT_EQ(last, Json::parse(R"({"model":"m-1","messages":[],"max_completion_tokens":5})"));
}

TEST(OpenAiChat, AdaptsWhenOnlyTheMessageNamesTheParameter) {
  FaultServer server(
      {Answer(400, R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported"}})"),
       Answer(200, kHello)});
  ChatRequest request;
  request.max_tokens = 5;
  ASSERT_TRUE(OpenAiChat(At(server.url())).Complete(request).has_value());
  EXPECT_EQ(BodyOf(server.requests().at(1))["max_completion_tokens"], 5);
}

TEST(OpenAiChat, DoesNotAdaptForEver) {
  const auto refusal = Answer(400, R"({"error":{"message":"no","param":"temperature"}})");
  FaultServer server({refusal, refusal, refusal});
  const auto reply = OpenAiChat(At(server.url())).Complete({});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(server.connections(), 2u);
  const auto swing = [](const char* parameter) {
    return Answer(400, fmt::format(R"({{"error":{{"message":"no","param":"{}"}}}})", parameter));
  };
  std::vector<FaultServer::Scene> scenes;
  for (int i = 0; i < 10; ++i) scenes.push_back(swing(i % 2 == 0 ? "max_tokens" : "max_completion_tokens"));
  FaultServer swinging(std::move(scenes));
  ChatRequest request;
  request.max_tokens = 5;
  EXPECT_FALSE(OpenAiChat(At(swinging.url())).Complete(request).has_value());
  EXPECT_EQ(swinging.connections(), 9u);
}

}  // namespace
}  // namespace gloveport
