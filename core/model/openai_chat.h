// OpenAiChat: chat completions as OpenAI defined them and many servers speak them (llama.cpp, vLLM, Ollama,
// OpenRouter, Hugging Face's router and others).
#ifndef GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_
#define GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_

#include <atomic>
#include <string>

#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"
#include "gloveport/core/model/model_options.h"

namespace gloveport {

struct OpenAiChatOptions {
  static constexpr const char* kDefaultBaseUrl = "https://api.openai.com/v1";

  std::string model;
  std::string api_key;       // empty for a server that wants none
  EndpointOptions endpoint;  // an empty base_url means kDefaultBaseUrl
  ModelOptions settings;
};

// What a server refuses (400 or 422 that name it: a limit's name, the temperature, stop sequences, streaming,
// the usage of a stream, an action form ...) is left out of this and every later request.
class OpenAiChat : public Model {
 public:
  explicit OpenAiChat(OpenAiChatOptions options);

  const std::string& name() const override { return name_; }
  ActionForm action_form() const override { return settings_.action_form; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Json Body(const ChatRequest& request, ActionForm form) const;
  void AddForm(Json& body, ActionForm form) const;
  // Learns from a refused request which of its members this model does not take. True if another try may
  // succeed.
  bool Adapt(const JsonReply& reply, const Json& sent);
  bool AdaptForm(const Refusal& refusal, const Json& sent);

  std::string model_;
  std::string name_;
  ModelOptions settings_;
  JsonEndpoint endpoint_;
  std::atomic<bool> completion_limit_;  // the limit is called max_completion_tokens, not max_tokens
  std::atomic<bool> temperature_ = true;
  std::atomic<bool> stop_ = true;
  std::atomic<bool> stream_ = true;
  std::atomic<bool> stream_usage_ = true;
  std::atomic<bool> strict_ = true;
  std::atomic<bool> json_schema_ =
      true;  // false: the older json_object, to which llama.cpp's servers take a schema
  std::atomic<bool> parallel_flag_ = true;
  std::atomic<bool> require_call_ = true;
  std::atomic<bool> give_reasoning_back_ = false;
  std::atomic<ActionForm> form_ = ActionForm::kTool;  // the richest that was not refused
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_
