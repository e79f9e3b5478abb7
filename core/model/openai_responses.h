// OpenAiResponses: OpenAI's Responses API, which others (vLLM, Ollama, OpenRouter, llama.cpp) speak in part.
// The conversation is sent with each request; nothing is kept on the server.
#ifndef GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_H_
#define GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_H_

#include <atomic>
#include <string>

#include "gloveport/core/model/model.h"
#include "gloveport/core/model/openai_chat.h"

namespace gloveport {

// The API knows no stop sequences: they are cut on our side only. finish_reason is "stop", "tool_calls",
// "length" (its max_output_tokens), "refusal", or the API's reason for an incomplete answer.
//
// What a server refuses (400 or 422 that names it) is left out of this and every later request.
class OpenAiResponses : public Model {
 public:
  explicit OpenAiResponses(OpenAiChatOptions options);

  const std::string& name() const override { return name_; }
  ActionForm action_form() const override { return settings_.action_form; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Json Body(const ChatRequest& request, ActionForm form) const;
  void AddForm(Json& body, ActionForm form) const;
  bool Adapt(const JsonReply& reply, const Json& sent);

  std::string model_;
  std::string name_;
  ModelOptions settings_;
  JsonEndpoint endpoint_;
  std::atomic<bool> temperature_ = true;
  std::atomic<bool> stream_ = true;
  std::atomic<bool> encrypted_reasoning_ = true;
  std::atomic<bool> require_call_ = true;
  std::atomic<ActionForm> form_ = ActionForm::kTool;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_OPENAI_RESPONSES_H_
