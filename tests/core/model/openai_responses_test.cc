#include "gloveport/core/model/openai_responses.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/core/model/delta_collector.h"
#include "gloveport/tests/core/model/stream_protocols.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHello =
    R"({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}]})";

Json BodyOf(const std::string& request) {
  return ParseJson(std::string_view(request).substr(request.find("\r\n\r\n") + 4)).value();
}

OpenAiResponses At(const FaultServer& server, ModelOptions settings = {}) {
  OpenAiChatOptions options{"m-1", "sk-key", {}, std::move(settings)};
  options.endpoint.base_url = server.url("/v1");
  return OpenAiResponses(std::move(options));
}

std::string Typed(std::string_view type, std::string_view rest) {
  return Event(type, fmt::format(R"({{"type":"{}",{}}})", type, rest));
}

Result<ChatReply> Read(FaultServer::Scene scene, ActionForm form, DeltaCollector& deltas) {
  FaultServer server({std::move(scene)});
  ChatRequest request;
  request.form = form;
  return At(server).Complete(deltas.Listen(std::move(request)));
}

TEST(OpenAiResponses, SendsTheConversationAndKeepsNothingOnTheServer) {
  FaultServer server({Answer(200, kHello)});
  OpenAiResponses model = At(server, {.action_form = ActionForm::kJson, .reasoning_effort = "low"});
  EXPECT_EQ(model.name(), "openai-responses:m-1");
  EXPECT_EQ(model.action_form(), ActionForm::kJson);
  ChatRequest request;
  request.messages = {
      {Role::kSystem, "be good"}, {Role::kUser, "hi"}, {Role::kAssistant, "yes?"}, {Role::kSystem, "really"}};
  request.stop = {"END"};
  request.temperature = 0.5;
  request.max_tokens = 77;
  const auto reply = model.Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "hello");
  const std::string sent = server.requests().at(0);
  EXPECT_THAT(sent, StartsWith("POST /v1/responses HTTP/1.1\r\n"));
  EXPECT_THAT(sent, HasSubstr("Authorization: Bearer sk-key\r\n"));
  EXPECT_EQ(BodyOf(sent), Json::parse(R"({"model":"m-1","instructions":"be good\n\nreally","input":[
      {"role":"user","content":"hi"},{"role":"assistant","content":"yes?"}],"store":false,
      "include":["reasoning.encrypted_content"],"temperature":0.5,"max_output_tokens":77,"reasoning":{"effort":"low"}})"));
}

TEST(OpenAiResponses, OffersTheToolAndGivesACallBackWithItsReasoningAndResult) {
  FaultServer server({Answer(200, kHello)});
  ChatRequest request;
  request.messages = ConversationWithACall(R"([{"type":"reasoning","summary":[],"encrypted_content":"e"}])");
  request.form = ActionForm::kTool;
  ASSERT_TRUE(At(server).Complete(request).has_value());
  const Json body = BodyOf(server.requests().at(0));
  EXPECT_EQ(body["tools"][0]["name"], "execute_code");
  EXPECT_EQ(body["tools"][0]["parameters"], ActionSchema());
  EXPECT_EQ(body["tool_choice"], "required");
  EXPECT_EQ(body["input"], Json::parse(R"json([{"role":"user","content":"goal"},
      {"type":"reasoning","summary":[],"encrypted_content":"e"},{"role":"assistant","content":"I look."},
      {"type":"function_call","call_id":"call_1","name":"execute_code","arguments":"{\"thought\":\"look\",\"code\":\"print(1)\"}"},
      {"type":"function_call_output","call_id":"call_1","output":"it printed 1"}])json"));
}

TEST(OpenAiResponses, AsksForStructuredOutput) {
  FaultServer server({Answer(
      200,
      R"({"output":[{"type":"message","content":[{"type":"output_text","text":"{\"thought\":\"t\",\"code\":\"c\"}"}]}]})")});
  ChatRequest request;
  request.form = ActionForm::kJson;
  const auto reply = At(server).Complete(request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->action->code, "c");
  const Json body = BodyOf(server.requests().at(0));
  EXPECT_EQ(body["text"]["format"]["type"], "json_schema");
  EXPECT_EQ(body["text"]["format"]["schema"], ActionSchema());
}

TEST(OpenAiResponses, ReadsAWholeAnswer) {
  DeltaCollector deltas;
  const auto reply = Read(Answer(200, R"({"model":"m-1-2026","status":"completed","output":[
      {"id":"rs","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],
       "encrypted_content":"e","status":"completed"},
      {"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]},
      {"type":"function_call","call_id":"c1","name":"execute_code","arguments":"{\"code\":\"1\"}"}],
      "usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":20,
               "output_tokens_details":{"reasoning_tokens":15}}})"),
                          ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "ab");
  EXPECT_EQ(reply->reasoning, "one\n\ntwo");
  EXPECT_EQ(reply->finish_reason, "tool_calls");
  EXPECT_EQ(reply->model, "m-1-2026");
  EXPECT_EQ(reply->usage, (TokenUsage{10, 20, 4, 0, 15, true}));
  EXPECT_EQ(*reply->action, (CodeAction{ActionForm::kTool, "c1", "", "1", ""}));
  EXPECT_EQ(Json::parse(reply->opaque)[0]["encrypted_content"], "e");
  EXPECT_FALSE(Json::parse(reply->opaque)[0].contains("id"));
}

TEST(OpenAiResponses, ReadsReasoningAndACallFromAStream) {
  DeltaCollector deltas;
  const std::string events =
      Typed("response.output_item.added", R"("output_index":0,"item":{"type":"reasoning"})") +
      Typed("response.reasoning_summary_part.added", R"("output_index":0)") +
      Typed("response.reasoning_summary_text.delta", R"("output_index":0,"delta":"on")") +
      Typed("response.reasoning_summary_text.delta", R"("output_index":0,"delta":"e")") +
      Typed("response.reasoning_summary_part.added", R"("output_index":0)") +
      Typed("response.reasoning_summary_text.delta", R"("output_index":0,"delta":"two")") +
      Typed("response.output_item.done",
            R"("output_index":0,"item":{"type":"reasoning","id":"x","encrypted_content":"e"})") +
      Typed(
          "response.output_item.added",
          R"("output_index":1,"item":{"type":"function_call","call_id":"c1","name":"execute_code","arguments":""})") +
      Typed("response.function_call_arguments.delta",
            R"("output_index":1,"delta":"{\"thought\":\"t\",\"code\":\"pr")") +
      Typed("response.function_call_arguments.delta", R"("output_index":1,"delta":"int()\"}")") +
      Typed("response.function_call_arguments.done",
            R"("output_index":1,"arguments":"{\"thought\":\"t\",\"code\":\"print()\"}")") +
      Typed(
          "response.completed",
          R"("response":{"status":"completed","model":"m-2","usage":{"input_tokens":1,"output_tokens":2}})");
  const auto reply = Read(StreamOf(events), ActionForm::kTool, deltas);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->reasoning, "one\n\ntwo");
  EXPECT_EQ(deltas.texts["reasoning"], "one\n\ntwo");
  EXPECT_EQ(deltas.texts["code"], "print()");
  EXPECT_EQ(reply->action->code, "print()");
  EXPECT_EQ(reply->finish_reason, "tool_calls");
  EXPECT_THAT(reply->opaque, HasSubstr("\"encrypted_content\":\"e\""));
}

TEST(OpenAiResponses, ArgumentsWithoutDeltasAreTakenFromTheEnd) {
  DeltaCollector deltas;
  const std::string events =
      Typed("response.output_item.added",
            R"("output_index":0,"item":{"type":"function_call","call_id":"c","name":"execute_code"})") +
      Typed("response.function_call_arguments.done", R"("output_index":0,"arguments":"{\"code\":\"1\"}")") +
      Typed("response.completed", R"("response":{"status":"completed"})");
  EXPECT_EQ(Read(StreamOf(events), ActionForm::kTool, deltas)->action->code, "1");
  EXPECT_EQ(deltas.texts["code"], "1");
}

TEST(OpenAiResponses, NamesReasonsAsOtherModelsDo) {
  const std::pair<std::string, const char*> cases[] = {
      {Typed("response.completed", R"("response":{"status":"completed"})"), "stop"},
      {Typed("response.incomplete",
             R"("response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}})"),
       "length"},
      {Typed("response.incomplete",
             R"("response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}})"),
       "content_filter"},
      {Typed("response.refusal.delta", R"("delta":"no")") +
           Typed("response.completed", R"("response":{"status":"completed"})"),
       "refusal"},
  };
  for (const auto& [events, reason] : cases) {
    DeltaCollector deltas;
    EXPECT_EQ(Read(StreamOf(events), ActionForm::kText, deltas)->finish_reason, reason);
  }
}

TEST(OpenAiResponses, AResponseThatFailedIsAnErrorWithTheServersWords) {
  DeltaCollector deltas;
  const auto failed =
      Typed("response.failed",
            R"("response":{"status":"failed","error":{"code":"invalid_prompt","message":"the words"}})");
  const auto reply = Read(StreamOf(failed), ActionForm::kText, deltas);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(reply.error().message, HasSubstr("the stream reports an error: the words"));
}

TEST(OpenAiResponses, ArgumentsOfNoCallAreAProtocolError) {
  DeltaCollector deltas;
  const auto reply =
      Read(StreamOf(Typed("response.function_call_arguments.delta", R"("output_index":5,"delta":"x")")),
           ActionForm::kTool, deltas);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kProtocol);
}

TEST(OpenAiResponses, LearnsWhatAServerDoesNotTake) {
  const auto refusal = [](const char* words, const char* parameter) {
    return Answer(400, DumpJson(Json{{"error", {{"message", words}, {"param", parameter}}}}));
  };
  FaultServer server({refusal("no", "temperature"), refusal("no", "include"),
                      refusal("Unsupported tool_choice", ""), refusal("tools are not supported", ""),
                      refusal("json_schema is not supported", ""), Answer(200, kHello)});
  ChatRequest request;
  request.form = ActionForm::kTool;
  const auto reply = At(server).Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->form, ActionForm::kText);
  EXPECT_EQ(BodyOf(server.requests().at(3))["tool_choice"], "auto");
  EXPECT_EQ(BodyOf(server.requests().at(5)), Json::parse(R"({"model":"m-1","input":[],"store":false})"));
}

}  // namespace
}  // namespace gloveport
