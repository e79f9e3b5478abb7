// Asks a real, small and weak model at GLOVEPORT_REAL_MODEL_URL: what is checked is the protocol and the
// stream, not what the model says. Started by smollm2.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "gloveport/core/model/openai_chat.h"

namespace gloveport {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

OpenAiChat SmolLm2() {
  OpenAiChatOptions options{"smollm2", "", {}, {}};
  const char* url = std::getenv("GLOVEPORT_REAL_MODEL_URL");
  options.endpoint.base_url = url ? url : "";
  options.endpoint.retry.max_retries = 0;
  return OpenAiChat(std::move(options));
}

ChatRequest Asking(std::string question, int max_tokens) {
  ChatRequest request;
  request.messages = {{Role::kSystem, "You are brief."}, {Role::kUser, std::move(question)}};
  request.max_tokens = max_tokens;
  request.deadline = Deadline::After(std::chrono::minutes(10));
  return request;
}

TEST(RealModel, AnswersAsAWhole) {
  OpenAiChat model = SmolLm2();
  const auto reply = model.Complete(Asking("Say hello.", 8));
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_FALSE(reply->content.empty());
  EXPECT_THAT(reply->finish_reason, AnyOf("stop", "length"));
  EXPECT_TRUE(reply->usage.reported);
  EXPECT_GT(reply->usage.input_tokens, 0);
  EXPECT_LE(reply->usage.output_tokens, 9);
}

TEST(RealModel, StreamsItsAnswerInPieces) {
  OpenAiChat model = SmolLm2();
  std::string content;
  int pieces = 0;
  ChatRequest request = Asking("Name three colours and say why you like each of them.", 24);
  request.on_delta = [&](const ChatDelta& delta) {
    content += delta.text;
    ++pieces;
  };
  const auto reply = model.Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(content, reply->content);
  EXPECT_GT(pieces, 3);
  EXPECT_THAT(reply->finish_reason, AnyOf("stop", "length"));
}

TEST(RealModel, StopSequenceEndsTheAnswerBeforeIt) {
  OpenAiChat model = SmolLm2();
  ChatRequest request = Asking("Count from one to ten in words.", 24);
  request.stop = {" ", "e"};
  std::string content;
  request.on_delta = [&](const ChatDelta& delta) { content += delta.text; };
  const auto reply = model.Complete(request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content.find_first_of(" e"), std::string::npos);
  EXPECT_EQ(content, reply->content);
  EXPECT_EQ(reply->finish_reason, "stop");
}

TEST(RealModel, EveryFormOfActionGetsAnAnswer) {
  OpenAiChat model = SmolLm2();
  for (const ActionForm form : {ActionForm::kTool, ActionForm::kJson, ActionForm::kText}) {
    ChatRequest request = Asking("Print the sum of 2 and 3 with Python.", 24);
    request.form = form;
    std::string content;
    request.on_delta = [&](const ChatDelta& delta) {
      if (delta.kind == ChatDelta::Kind::kContent) content += delta.text;
    };
    const auto reply = model.Complete(request);
    ASSERT_TRUE(reply.has_value()) << ActionFormName(form) << ": " << reply.error().message;
    EXPECT_EQ(content, reply->content);
    EXPECT_FALSE(reply->content.empty() && !reply->action) << ActionFormName(form);
    std::printf("asked in the form %s, answered in the form %s\n", ActionFormName(form).data(),
                ActionFormName(reply->form).data());
  }
}

TEST(RealModel, CancelInTheMiddleOfAnAnswerEndsItAndTheServerGoesOn) {
  OpenAiChat model = SmolLm2();
  std::stop_source stop;
  ChatRequest request = Asking("Tell a long story about the sea.", 400);
  request.cancel = stop.get_token();
  request.on_delta = [&](const ChatDelta&) { stop.request_stop(); };
  const auto cancelled = model.Complete(request);
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, ErrorCode::kClosed);
  const auto after = model.Complete(Asking("Say hello.", 4));
  EXPECT_TRUE(after.has_value()) << after.error().message;
}

TEST(RealModel, DeadlineInTheMiddleOfAnAnswerEndsIt) {
  OpenAiChat model = SmolLm2();
  ChatRequest request = Asking("Tell a long story about the sea.", 2000);
  request.deadline = Deadline::After(std::chrono::seconds(5));
  request.on_delta = [](const ChatDelta&) {};
  const auto reply = model.Complete(request);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(RealModel, PromptThatIsTooLongIsRefusedInTheServersWords) {
  OpenAiChat model = SmolLm2();
  std::string words;
  for (int i = 0; i < 6000; ++i) words += "word " + std::to_string(i) + ", ";
  const auto reply = model.Complete(Asking(words, 4));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalidArgument) << reply.error().message;
  EXPECT_THAT(reply.error().message, HasSubstr("context"));
}

}  // namespace
}  // namespace gloveport
