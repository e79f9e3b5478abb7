// Messages in which a model acts by a tool call or structured output, thinks, or uses the server's cache.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/core/model/delta_collector.h"
#include "gloveport/tests/core/model/stream_protocols.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

constexpr const char* kHello = R"({"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"})";

Json BodyOf(const std::string& request) {
  return ParseJson(std::string_view(request).substr(request.find("\r\n\r\n") + 4)).value();
}

Anthropic At(const FaultServer& server, ModelOptions settings = {}) {
  AnthropicOptions options{"m", "sk-ant", 100, {}, std::move(settings)};
  options.endpoint.base_url = server.url();
  return Anthropic(std::move(options));
}

Json Sent(ChatRequest request, ModelOptions settings = {}) {
  FaultServer server({Answer(200, kHello)});
  EXPECT_TRUE(At(server, std::move(settings)).Complete(request).has_value());
  return BodyOf(server.requests().at(0));
}

Result<ChatReply> Read(FaultServer::Scene scene, ActionForm form, DeltaCollector& deltas) {
  FaultServer server({std::move(scene)});
  ChatRequest request;
  request.form = form;
  return At(server).Complete(deltas.Listen(std::move(request)));
}

std::string Typed(std::string_view type, std::string_view rest) {
  return Event(type, fmt::format(R"({{"type":"{}",{}}})", type, rest));
}
std::string Begin(int index, std::string_view block) {
  return Typed("content_block_start", fmt::format(R"("index":{},"content_block":{})", index, block));
}
std::string Delta(int index, std::string_view delta) {
  return Typed("content_block_delta", fmt::format(R"("index":{},"delta":{})", index, delta));
}
const std::string kEnd =
    Typed("message_delta", R"("delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9})") +
    Event("message_stop", R"({"type":"message_stop"})");

TEST(AnthropicActions, OffersTheToolAndGivesACallBackWithItsThinkingAndResult) {
  ChatRequest request;
  request.messages = ConversationWithACall(R"([{"type":"thinking","thinking":"hm","signature":"s"}])");
  request.messages.push_back({Role::kUser, "go on"});
  request.form = ActionForm::kTool;
  request.stop = {"END"};
  const Json body = Sent(request);
  EXPECT_EQ(body["tools"][0]["name"], "execute_code");
  EXPECT_EQ(body["tools"][0]["input_schema"], ActionSchema());
  EXPECT_EQ(body["tool_choice"], Json::parse(R"({"type":"any","disable_parallel_tool_use":true})"));
  EXPECT_FALSE(body.contains("stop_sequences"));
  EXPECT_EQ(body["messages"], Json::parse(R"json([{"role":"user","content":"goal"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},
        {"type":"tool_use","id":"call_1","name":"execute_code","input":{"thought":"look","code":"print(1)"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"it printed 1"},
        {"type":"text","text":"go on"}]}])json"));
}

TEST(AnthropicActions, AsksForStructuredOutput) {
  ChatRequest request;
  request.messages = ConversationWithACall();
  request.form = ActionForm::kJson;
  const Json body = Sent(request);
  EXPECT_EQ(body["output_config"]["format"]["type"], "json_schema");
  EXPECT_EQ(body["output_config"]["format"]["schema"], ActionSchema());
  EXPECT_EQ(body["messages"][1]["content"], R"json({"thought":"look","code":"print(1)"})json");
}

TEST(AnthropicActions, AFormThatTheServerRefusesGivesWayToASimplerOne) {
  const auto refusal = [](const char* words) {
    return Answer(400, DumpJson(Json{{"type", "error"},
                                     {"error", {{"type", "invalid_request_error"}, {"message", words}}}}));
  };
  FaultServer server({refusal("tool_choice: forced tool use is not supported"),
                      refusal("tools: Extra inputs are not permitted"),
                      refusal("output_config: Extra inputs are not permitted"), Answer(200, kHello)});
  ChatRequest request;
  request.messages = ConversationWithACall();
  request.form = ActionForm::kTool;
  const auto reply = At(server).Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->form, ActionForm::kText);
  EXPECT_EQ(BodyOf(server.requests().at(1))["tool_choice"]["type"], "auto");
  EXPECT_EQ(BodyOf(server.requests().at(3))["messages"][1]["content"],
            "I look.\n\nlook\n```python\nprint(1)\n```");
}

TEST(AnthropicActions, ThinkingHasItsOwnTokensAndLeavesTheChoiceOfTools) {
  ChatRequest request;
  request.form = ActionForm::kTool;
  request.temperature = 0;
  const Json budget = Sent(request, {.reasoning_effort = "2048"});
  EXPECT_EQ(budget["thinking"], Json::parse(R"({"type":"enabled","budget_tokens":2048})"));
  EXPECT_EQ(budget["max_tokens"], 2148);
  EXPECT_FALSE(budget.contains("temperature"));
  EXPECT_EQ(budget["tool_choice"]["type"], "auto");
  const Json effort = Sent({}, {.reasoning_effort = "high"});
  EXPECT_EQ(effort["output_config"]["effort"], "high");
}

TEST(AnthropicActions, ThePromptIsMarkedForTheCacheOfTheServer) {
  ChatRequest request;
  request.messages = {{Role::kSystem, "be good"}, {Role::kUser, "hi"}};
  const Json body = Sent(request, {.prompt_cache = true});
  const Json mark = Json::parse(R"({"type":"ephemeral"})");
  EXPECT_EQ(body["system"][0]["text"], "be good");
  EXPECT_EQ(body["system"][0]["cache_control"], mark);
  EXPECT_EQ(body["messages"][0]["content"][0]["text"], "hi");
  EXPECT_EQ(body["messages"][0]["content"][0]["cache_control"], mark);
  EXPECT_EQ(Sent(request)["system"], "be good");
  FaultServer server(
      {Answer(400, R"({"error":{"message":"system.0.cache_control: Extra inputs are not permitted"}})"),
       Answer(200, kHello)});
  ASSERT_TRUE(At(server, {.prompt_cache = true}).Complete(request).has_value());
  EXPECT_EQ(BodyOf(server.requests().at(1))["system"], "be good");
}

TEST(AnthropicActions, ReadsACallFromAWholeAnswer) {
  DeltaCollector deltas;
  const auto reply = Read(Answer(200, R"({"content":[{"type":"text","text":"I look."},
      {"type":"tool_use","id":"t1","name":"execute_code","input":{"thought":"t","code":"1+1"}}],"stop_reason":"tool_use"})"),
                          ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "I look.");
  EXPECT_EQ(reply->finish_reason, "tool_calls");
  EXPECT_EQ(*reply->action, (CodeAction{ActionForm::kTool, "t1", "t", "1+1", ""}));
}

TEST(AnthropicActions, ReadsThinkingAndACallFromAStream) {
  DeltaCollector deltas;
  const std::string events =
      Typed(
          "message_start",
          R"("message":{"model":"m-2","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}})") +
      Begin(0, R"({"type":"thinking","thinking":"","signature":""})") +
      Delta(0, R"({"type":"thinking_delta","thinking":"h"})") +
      Delta(0, R"({"type":"thinking_delta","thinking":"m"})") +
      Delta(0, R"({"type":"signature_delta","signature":"sig"})") +
      Begin(1, R"({"type":"redacted_thinking","data":"d"})") + Begin(2, R"({"type":"text","text":""})") +
      Delta(2, R"({"type":"text_delta","text":"I look."})") +
      Begin(3, R"({"type":"tool_use","id":"t1","name":"execute_code","input":{}})") +
      Delta(3, R"({"type":"input_json_delta","partial_json":""})") +
      Delta(3, R"({"type":"input_json_delta","partial_json":"{\"thought\": \"t\", \"code\": \"pri"})") +
      Delta(3, R"({"type":"input_json_delta","partial_json":"nt()\"}"})") + kEnd;
  const auto reply = Read(StreamOf(events), ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "I look.");
  EXPECT_EQ(reply->reasoning, "hm");
  EXPECT_EQ(reply->model, "m-2");
  EXPECT_EQ(*reply->action, (CodeAction{ActionForm::kTool, "t1", "t", "print()", ""}));
  EXPECT_EQ(reply->usage, (TokenUsage{325, 9, 300, 20, 0, true}));
  EXPECT_EQ(Json::parse(reply->opaque),
            Json::parse(R"json([{"type":"thinking","thinking":"hm","signature":"sig"},
      {"type":"redacted_thinking","data":"d"}])json"));
  EXPECT_EQ(deltas.texts["reasoning"], "hm");
  EXPECT_EQ(deltas.texts["content"], "I look.");
  EXPECT_EQ(deltas.texts["code"], "print()");
}

TEST(AnthropicActions, StreamsThatMakeNoSenseAreProtocolErrors) {
  const std::pair<std::string, const char*> cases[] = {
      {Delta(0, R"({"type":"text_delta","text":"x"})"), "was not begun"},
      {Begin(3, R"({"type":"text"})"), "out of order"},
      {Begin(0, R"({"type":"text"})") + Delta(0, R"({"type":"input_json_delta","partial_json":"{"})"),
       "no tool call"},
      {Begin(0, R"({"type":"text"})") + Delta(0, R"({"type":"thinking_delta","thinking":"x"})"),
       "what is none"},
  };
  for (const auto& [events, message] : cases) {
    DeltaCollector deltas;
    const auto reply = Read(StreamOf(events), ActionForm::kText, deltas);
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::kProtocol);
    EXPECT_THAT(reply.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace gloveport
