#include "gloveport/core/model/anthropic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHello = R"({"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"})";

AnthropicOptions At(const std::string& url) {
  AnthropicOptions options;
  options.model = "claude-x";
  options.api_key = "sk-ant-key";
  options.endpoint.base_url = url;
  return options;
}

Json BodyOf(const std::string& request) {
  return ParseJson(std::string_view(request).substr(request.find("\r\n\r\n") + 4)).value();
}

TEST(Anthropic, SendsTheConversation) {
  FaultServer server({Answer(200, kHello)});
  Anthropic model(At(server.url()));
  EXPECT_EQ(model.name(), "anthropic:claude-x");
  ChatRequest request;
  request.messages = {{Role::kSystem, "be good"},     {Role::kUser, "hi"},
                      {Role::kAssistant, "yes?"},     {Role::kSystem, "really"},
                      {Role::kAssistant, "and more"}, {Role::kUser, ""},
                      {Role::kUser, "one"},           {Role::kUser, "two"}};
  request.stop = {"END", "\n", ""};
  request.temperature = 0.25;
  request.max_tokens = 55;
  const auto reply = model.Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  const std::string sent = server.requests().at(0);
  EXPECT_THAT(sent, StartsWith("POST /v1/messages HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("x-api-key: sk-ant-key\r\n"));
  EXPECT_THAT(sent, HasSubstr("anthropic-version: 2023-06-01\r\n"));
  EXPECT_EQ(BodyOf(sent),
            Json::parse(R"({"model":"claude-x","max_tokens":55,"system":"be good\n\nreally","messages":[
      {"role":"user","content":"hi"},{"role":"assistant","content":"yes?\n\nand more"},
      {"role":"user","content":"one\n\ntwo"}],"temperature":0.25,"stop_sequences":["END"]})"));
}

TEST(Anthropic, AlwaysSendsALimit) {
  FaultServer server({Answer(200, kHello)});
  AnthropicOptions options = At(server.url());
  options.default_max_tokens = 321;
  ASSERT_TRUE(Anthropic(std::move(options)).Complete({}).has_value());
  EXPECT_EQ(BodyOf(server.requests().at(0))["max_tokens"], 321);
}

TEST(Anthropic, AsksForLessWhereAModelAllowsLess) {
  const auto refusal =
      Answer(400, R"({"type":"error","error":{"message":"max_tokens: 16384 > 8192, which is the maximum"}})");
  FaultServer server({refusal, Answer(200, kHello), Answer(200, kHello), refusal});
  Anthropic model(At(server.url()));
  ASSERT_TRUE(model.Complete({}).has_value());
  ASSERT_TRUE(model.Complete({}).has_value());
  EXPECT_EQ(BodyOf(server.requests().at(0))["max_tokens"], 16384);
  EXPECT_EQ(BodyOf(server.requests().at(2))["max_tokens"], 4096);
  ChatRequest asked;
  asked.max_tokens = 9000;
  EXPECT_FALSE(model.Complete(asked).has_value()) << "what the user asked for is not changed";
}

TEST(Anthropic, BaseUrlMayEndInV1) {
  for (const char* path : {"", "/", "/v1", "/v1/"}) {
    FaultServer server({Answer(200, kHello)});
    ASSERT_TRUE(Anthropic(At(server.url(path))).Complete({}).has_value());
    EXPECT_THAT(server.requests().at(0), StartsWith("POST /v1/messages HTTP/1.1\r\n")) << path;
  }
}

TEST(Anthropic, ReadsBlocksUsageAndReason) {
  FaultServer server({Answer(200, R"({"model":"claude-x-2026","content":[{"type":"thinking","thinking":"hm"},
      {"type":"text","text":"a"},{"type":"citation"},{"type":"text","text":"b"}],"stop_reason":"max_tokens",
      "usage":{"input_tokens":1,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":4}})")});
  const auto reply = Anthropic(At(server.url())).Complete({});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "ab");
  EXPECT_EQ(reply->reasoning, "hm");
  EXPECT_EQ(reply->finish_reason, "length");
  EXPECT_EQ(reply->model, "claude-x-2026");
  EXPECT_EQ(reply->usage.input_tokens, 321);
  EXPECT_EQ(reply->usage.output_tokens, 4);
}

TEST(Anthropic, NamesReasonsAsOtherModelsDo) {
  const std::pair<const char*, const char*> cases[] = {
      {"end_turn", "stop"}, {"stop_sequence", "stop"}, {"max_tokens", "length"}, {"refusal", "refusal"}};
  for (const auto& [reason, name] : cases) {
    FaultServer server({Answer(200, std::string(R"({"content":[],"stop_reason":")") + reason + "\"}")});
    EXPECT_EQ(Anthropic(At(server.url())).Complete({})->finish_reason, name);
  }
}

TEST(Anthropic, CutsAtStopSequencesItself) {
  FaultServer server(
      {Answer(200, R"({"content":[{"type":"text","text":"one\ntwo"}],"stop_reason":"end_turn"})")});
  ChatRequest request;
  request.stop = {"\n"};
  EXPECT_EQ(Anthropic(At(server.url())).Complete(request)->content, "one");
}

TEST(Anthropic, LearnsThatAModelTakesNoTemperature) {
  const auto refusal =
      Answer(400, R"({"type":"error","error":{"message":"`temperature` is deprecated for this model"}})");
  FaultServer server({refusal, Answer(200, kHello), Answer(200, kHello), refusal});
  Anthropic model(At(server.url()));
  ASSERT_TRUE(model.Complete({}).has_value());
  ASSERT_TRUE(model.Complete({}).has_value());
  EXPECT_FALSE(BodyOf(server.requests().at(2)).contains("temperature"));
  EXPECT_FALSE(model.Complete({}).has_value());  // refused although none was sent: no further try
  EXPECT_EQ(server.connections(), 4u);
}

}  // namespace
}  // namespace gloveport
