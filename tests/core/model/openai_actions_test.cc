// Chat completions in which a model acts by a tool call or structured output, and those that stream.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/core/model/delta_collector.h"
#include "gloveport/tests/core/model/stream_protocols.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

Json BodyOf(const std::string& request) {
  return ParseJson(std::string_view(request).substr(request.find("\r\n\r\n") + 4)).value();
}

OpenAiChat At(const FaultServer& server) {
  OpenAiChatOptions options{"m", "", {}, {}};
  options.endpoint.base_url = server.url();
  return OpenAiChat(std::move(options));
}

Result<ChatReply> Read(FaultServer::Scene scene, ActionForm form, DeltaCollector& deltas) {
  FaultServer server({std::move(scene)});
  ChatRequest request;
  request.form = form;
  return At(server).Complete(deltas.Listen(std::move(request)));
}

std::string Chunk(std::string_view delta, std::string_view rest = "") {
  return Data(fmt::format(R"({{"choices":[{{"index":0,"delta":{}{}}}]}})", delta, rest));
}

std::string CallChunk(int index, std::string_view id, std::string_view name, const std::string& arguments) {
  Json function{{"arguments", arguments}};
  if (!name.empty()) function["name"] = name;
  Json call{{"index", index}, {"function", std::move(function)}};
  if (!id.empty()) call["id"] = id;
  return Chunk(DumpJson(Json{{"tool_calls", Json::array({std::move(call)})}}));
}

const std::string kEnd = Chunk("{}", R"(,"finish_reason":"tool_calls")") + Data("[DONE]");

TEST(OpenAiActions, OffersTheToolAndGivesACallBackWithItsResult) {
  FaultServer server({Answer(200, R"({"choices":[{"message":{"content":"x"}}]})")});
  ChatRequest request;
  request.messages = ConversationWithACall();
  request.form = ActionForm::kTool;
  request.stop = {"END"};
  ASSERT_TRUE(At(server).Complete(request).has_value());
  const Json body = BodyOf(server.requests().at(0));
  EXPECT_EQ(body["tools"][0]["function"]["name"], "execute_code");
  EXPECT_EQ(body["tools"][0]["function"]["parameters"], ActionSchema());
  EXPECT_EQ(body["tool_choice"], "required");
  EXPECT_EQ(body["parallel_tool_calls"], false);
  EXPECT_FALSE(body.contains("stop")) << "it could cut the code";
  EXPECT_EQ(body["messages"],
            Json::parse(R"json([{"role":"system","content":"be good"},{"role":"user","content":"goal"},
      {"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function",
        "function":{"name":"execute_code","arguments":"{\"thought\":\"look\",\"code\":\"print(1)\"}"}}]},
      {"role":"tool","tool_call_id":"call_1","content":"it printed 1"}])json"));
}

TEST(OpenAiActions, AsksForStructuredOutput) {
  FaultServer server(
      {Answer(200, R"({"choices":[{"message":{"content":"{\"thought\":\"t\",\"code\":\"c END\"}"}}]})")});
  ChatRequest request;
  request.messages = ConversationWithACall();
  request.form = ActionForm::kJson;
  request.stop = {"END"};
  const auto reply = At(server).Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->form, ActionForm::kJson);
  ASSERT_TRUE(reply->action);
  EXPECT_EQ(reply->action->thought, "t");
  EXPECT_EQ(reply->action->code, "c END");
  const Json body = BodyOf(server.requests().at(0));
  EXPECT_EQ(body["response_format"]["type"], "json_schema");
  EXPECT_EQ(body["response_format"]["json_schema"]["schema"], ActionSchema());
  EXPECT_EQ(body["response_format"]["json_schema"]["strict"], true);
  EXPECT_FALSE(body.contains("tools"));
  EXPECT_EQ(body["messages"][2]["content"], R"json({"thought":"look","code":"print(1)"})json");
  EXPECT_EQ(body["messages"][3], Json::parse(R"({"role":"user","content":"it printed 1"})"));
}

TEST(OpenAiActions, AFormThatTheServerRefusesGivesWayToASimplerOne) {
  const auto refusal = [](int status, const char* words) {
    return Answer(status, DumpJson(Json{{"error", {{"message", words}}}}), {"x-should-retry: false"});
  };
  const std::pair<int, const char*> tools[] = {
      {400, "registry.ollama.ai/library/x:latest does not support tools"},
      {404, "No endpoints found that support tool use."},
      {500, "tools param requires --jinja flag"},
      {422, "Function calling is not supported"},
  };
  for (const auto& [status, words] : tools) {
    const auto hello = Answer(200, R"({"choices":[{"message":{"content":"ok"}}]})");
    FaultServer server({refusal(status, words), refusal(400, "This response_format type is unavailable now"),
                        refusal(400, "response_format is not supported"), hello, hello});
    OpenAiChat model = At(server);
    ChatRequest request;
    request.messages = ConversationWithACall();
    request.form = ActionForm::kTool;
    for (int i = 0; i < 2; ++i) {
      const auto reply = model.Complete(request);
      ASSERT_TRUE(reply.has_value()) << words << reply.error().message;
      EXPECT_EQ(reply->form, ActionForm::kText);
    }
    ASSERT_EQ(server.connections(), 5u) << "it remembers";
    EXPECT_EQ(BodyOf(server.requests().at(1))["response_format"]["type"], "json_schema");
    EXPECT_EQ(BodyOf(server.requests().at(2))["response_format"]["type"], "json_object");
    const Json last = BodyOf(server.requests().at(4));
    EXPECT_FALSE(last.contains("tools"));
    EXPECT_FALSE(last.contains("response_format"));
    EXPECT_EQ(last["messages"][2]["content"], "I look.\n\nlook\n```python\nprint(1)\n```");
  }
}

TEST(OpenAiActions, APromptThatIsTooLongIsNoRefusalOfAForm) {
  FaultServer server(
      {Answer(
           400,
           R"({"error":{"message":"maximum context length is 8192 tokens, 90 of them in the functions"}})"),
       Answer(200, R"({"choices":[{"message":{"content":"ok"}}]})")});
  OpenAiChat model = At(server);
  ChatRequest request;
  request.form = ActionForm::kTool;
  EXPECT_EQ(model.Complete(request).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(model.Complete(request)->form, ActionForm::kTool);
}

TEST(OpenAiActions, AServerThatKnowsOnlyJsonObjectsIsAskedForOne) {
  FaultServer server(
      {Answer(
           422,
           R"({"detail":[{"loc":["body","response_format","type"],"msg":"Input should be 'text' or 'json_object'"}]})"),
       Answer(200, R"({"choices":[{"message":{"content":"{\"thought\":\"t\",\"code\":\"c\"}"}}]})")});
  ChatRequest request;
  request.form = ActionForm::kJson;
  const auto reply = At(server).Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->form, ActionForm::kJson);
  EXPECT_EQ(reply->action->code, "c");
  EXPECT_EQ(BodyOf(server.requests().at(1))["response_format"]["schema"], ActionSchema());
}

TEST(OpenAiActions, AServerThatDoesNotForceCallsIsLeftTheChoice) {
  FaultServer server({Answer(400, R"({"error":{"message":"This model does not support this tool_choice"}})"),
                      Answer(400, R"({"error":{"message":"no","param":"parallel_tool_calls"}})"),
                      Answer(200, R"({"choices":[{"message":{"content":"ok"}}]})")});
  ChatRequest request;
  request.form = ActionForm::kTool;
  EXPECT_EQ(At(server).Complete(request)->form, ActionForm::kTool);
  const Json last = BodyOf(server.requests().at(2));
  EXPECT_EQ(last["tool_choice"], "auto");
  EXPECT_FALSE(last.contains("parallel_tool_calls"));
}

TEST(OpenAiActions, ACallIsReadFromAWholeAnswer) {
  DeltaCollector deltas;
  const auto reply =
      Read(Answer(200, R"({"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"execute_code","arguments":"{\"thought\":\"t\",\"code\":\"1+1\"}"}}]}}]})"),
           ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_TRUE(reply->action);
  EXPECT_EQ(*reply->action, (CodeAction{ActionForm::kTool, "c1", "t", "1+1", ""}));
  EXPECT_EQ(reply->finish_reason, "tool_calls");
  EXPECT_EQ(deltas.texts["code"], "1+1");
}

TEST(OpenAiActions, ACallIsReadFromAStreamWhileItIsWritten) {
  DeltaCollector deltas;
  const auto reply =
      Read(StreamOf(Chunk(R"({"role":"assistant","content":"Let me","reasoning_content":"hm"})") +
                    CallChunk(0, "c1", "execute_code", "") + CallChunk(0, "", "", R"({"thought": "lo)") +
                    CallChunk(0, "", "", R"(ok", "code": "print(\)") + CallChunk(0, "", "", R"("a\")\n)") +
                    CallChunk(0, "", "", "\"}") + kEnd),
           ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "Let me");
  EXPECT_EQ(reply->reasoning, "hm");
  EXPECT_EQ(reply->opaque, "hm");
  ASSERT_TRUE(reply->action);
  EXPECT_EQ(*reply->action, (CodeAction{ActionForm::kTool, "c1", "look", "print(\"a\")\n", ""}));
  EXPECT_EQ(deltas.texts["content"], "Let me");
  EXPECT_EQ(deltas.texts["reasoning"], "hm");
  EXPECT_EQ(deltas.texts["thought"], "look");
  EXPECT_EQ(deltas.texts["code"], "print(\"a\")\n");
  EXPECT_EQ(deltas.texts["arguments"], R"({"thought": "look", "code": "print(\"a\")\n"})");
  EXPECT_FALSE(reply->usage.reported);
}

TEST(OpenAiActions, CallsComeInManyForms) {
  const auto call = [](const char* text) { return Chunk(fmt::format(R"({{"tool_calls":{}}})", text)); };
  const std::pair<std::string, const char*> cases[] = {
      // without an index, whole
      {call(R"([{"id":"a","function":{"name":"execute_code","arguments":"{\"code\":\"one\"}"}}])"), "one"},
      // without an index, in pieces
      {call(R"([{"id":"a","function":{"name":"execute_code","arguments":"{\"code\":"}}])") +
           call(R"([{"function":{"arguments":"\"one\"}"}}])"),
       "one"},
      // arguments as an object
      {call(R"([{"index":0,"function":{"name":"execute_code","arguments":{"code":"one"}}}])"), "one"},
      // indexes that begin elsewhere, calls side by side: one cell
      {call(R"([{"index":3,"id":"a","function":{"name":"execute_code","arguments":"{\"code\":\"one\"}"}},
               {"index":4,"id":"b","function":{"name":"execute_code","arguments":"{\"code\":"}}])") +
           call(R"([{"index":4,"function":{"arguments":"\"two\"}"}}])"),
       "one\ntwo"},
  };
  for (const auto& [events, code] : cases) {
    DeltaCollector deltas;
    std::string lines = events;
    for (auto at = lines.find("},\n"); at != std::string::npos; at = lines.find("},\n"))
      lines.erase(at + 2, 1);
    const auto reply = Read(StreamOf(lines + kEnd), ActionForm::kTool, deltas);
    ASSERT_TRUE(reply.has_value()) << events << reply.error().message;
    ASSERT_TRUE(reply->action);
    EXPECT_EQ(reply->action->code, code) << reply->action->problem;
  }
}

TEST(OpenAiActions, ACallThatCannotBeUsedSaysWhatIsWrong) {
  DeltaCollector deltas;
  const auto reply =
      Read(StreamOf(CallChunk(0, "c1", "lookup", R"({"key":"a"})") + kEnd), ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value());
  ASSERT_TRUE(reply->action);
  EXPECT_EQ(reply->action->call_id, "c1");
  EXPECT_THAT(reply->action->problem, HasSubstr("there is no tool \"lookup\""));
  EXPECT_EQ(reply->action->code, "");
}

TEST(OpenAiActions, ACallThatNobodyOfferedIsText) {
  DeltaCollector deltas;
  const auto reply = Read(
      StreamOf(Chunk(R"({"content":"I search."})") + CallChunk(0, "c1", "search", R"({"q":"a"})") + kEnd),
      ActionForm::kText, deltas);
  ASSERT_TRUE(reply.has_value());
  EXPECT_FALSE(reply->action);
  EXPECT_EQ(reply->content, "I search.\n{\"name\":\"search\",\"arguments\":\"{\\\"q\\\":\\\"a\\\"}\"}");
  EXPECT_EQ(deltas.texts["content"], reply->content);
  const auto known =
      Read(StreamOf(CallChunk(0, "c1", "execute_code", R"({"code":"1"})") + kEnd), ActionForm::kText, deltas);
  EXPECT_EQ(known->action->code, "1");
}

TEST(OpenAiActions, EndlessCallsAreAnError) {
  std::string events;
  for (int i = 0; i < 70; ++i) events += CallChunk(i, "c", "execute_code", "{}");
  DeltaCollector deltas;
  const auto reply = Read(StreamOf(events + kEnd), ActionForm::kTool, deltas);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(reply.error().message, HasSubstr("too many tool calls"));
}

TEST(OpenAiActions, StructuredOutputIsShownInItsParts) {
  DeltaCollector deltas;
  const auto reply = Read(
      StreamOf(Chunk(R"({"content":"{\"thought\":\"why\","})") +
               Chunk(R"({"content":"\"code\":\"x=1\\ny\"}"})") + Chunk("{}", R"(,"finish_reason":"stop")")),
      ActionForm::kJson, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, R"({"thought":"why","code":"x=1\ny"})");
  EXPECT_EQ(deltas.texts["content"], reply->content);
  EXPECT_EQ(deltas.texts["thought"], "why");
  EXPECT_EQ(deltas.texts["code"], "x=1\ny");
  EXPECT_EQ(reply->action->code, "x=1\ny");
}

TEST(OpenAiActions, StreamsOfOtherServersAreRead) {
  struct Case {
    std::string events;
    const char* content;
    const char* reasoning;
    const char* finish_reason;
  };
  const Case cases[] = {
      {Chunk(R"({"reasoning":"r1 "})") + Chunk(R"({"reasoning":"r2"})") +
           Chunk(R"({"content":"a"})", R"(,"finish_reason":"length")"),
       "a", "r1 r2", "length"},
      {Data(R"({"choices":[],"prompt_filter_results":[]})") + Chunk(R"({"content":"a"})") + Data("[DONE]"),
       "a", "", ""},
      {Chunk(R"({"content":[{"type":"text","text":"a"}]})", R"(,"finish_reason":"stop")"), "a", "", "stop"},
      {Chunk(R"({"content":null,"refusal":"I "})") + Chunk(R"({"refusal":"will not"})") +
           Chunk("{}", R"(,"finish_reason":"stop")"),
       "I will not", "", "refusal"},
      {": OPENROUTER PROCESSING\n\n" + Chunk(R"({"content":"a"})", R"(,"finish_reason":"stop","usage":null)"),
       "a", "", "stop"},
  };
  for (const Case& c : cases) {
    DeltaCollector deltas;
    const auto reply = Read(StreamOf(c.events), ActionForm::kText, deltas);
    ASSERT_TRUE(reply.has_value()) << c.events << reply.error().message;
    EXPECT_EQ(reply->content, c.content);
    EXPECT_EQ(reply->reasoning, c.reasoning);
    EXPECT_EQ(reply->finish_reason, c.finish_reason);
    EXPECT_EQ(deltas.texts["content"], c.content);
  }
}

TEST(OpenAiActions, UsageOfAStreamIsAskedForUnlessTheServerRefuses) {
  DeltaCollector deltas;
  FaultServer server(
      {Answer(422, R"({"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]})"),
       StreamThen(Chunk(R"({"content":"a"})", R"(,"finish_reason":"stop")"),
                  [](FaultPeer& peer) { peer.AwaitClose(); })});
  const auto reply = At(server).Complete(deltas.Listen({}));
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(BodyOf(server.requests().at(0))["stream_options"]["include_usage"].get<bool>());
  EXPECT_FALSE(BodyOf(server.requests().at(1)).contains("stream_options"));
}

TEST(OpenAiActions, CachedAndReasoningTokensAreCounted) {
  DeltaCollector deltas;
  const auto reply = Read(
      StreamOf(
          Chunk(R"({"content":"a"})", R"(,"finish_reason":"stop")") +
          Data(
              R"({"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":80},)"
              R"("completion_tokens_details":{"reasoning_tokens":30}}})")),
      ActionForm::kText, deltas);
  EXPECT_EQ(reply->usage, (TokenUsage{100, 50, 80, 0, 30, true}));
}

TEST(OpenAiActions, ReasoningIsGivenBackToAServerThatWantsIt) {
  FaultServer server(
      {Answer(400, R"({"error":{"message":"Missing `reasoning_content` field in the assistant message"}})"),
       Answer(200, R"({"choices":[{"message":{"content":"ok"}}]})")});
  ChatRequest request;
  request.messages = ConversationWithACall("hm");
  request.form = ActionForm::kTool;
  ASSERT_TRUE(At(server).Complete(request).has_value());
  EXPECT_FALSE(BodyOf(server.requests().at(0))["messages"][2].contains("reasoning_content"));
  EXPECT_EQ(BodyOf(server.requests().at(1))["messages"][2]["reasoning_content"], "hm");
}

TEST(EstimateUsage, CountsFourBytesATokenAndSaysThatItIsNoReport) {
  ChatRequest request;
  request.messages = {{Role::kUser, std::string(400, 'x')}};
  ChatReply reply;
  reply.content = std::string(40, 'y');
  reply.reasoning = std::string(80, 'z');
  const TokenUsage usage = EstimateUsage(request, reply);
  EXPECT_EQ(usage.input_tokens, 104);
  EXPECT_EQ(usage.output_tokens, 30);
  EXPECT_EQ(usage.reasoning_tokens, 20);
  EXPECT_FALSE(usage.reported);
}

TEST(TokenUsage, ASumIsReportedOnlyIfAllOfItIs) {
  TokenUsage sum{.reported = true};
  sum += {1, 2, 3, 4, 5, true};
  EXPECT_EQ(sum, (TokenUsage{1, 2, 3, 4, 5, true}));
  sum += {1, 1, 1, 1, 1, false};
  EXPECT_EQ(sum, (TokenUsage{2, 3, 4, 5, 6, false}));
}

}  // namespace
}  // namespace gloveport
