// OpenAiChat: chat completions as OpenAI defined them and many servers speak them (llama.cpp, vLLM, Ollama,
// OpenRouter and others). One request, one answer, no streaming.
#ifndef GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_
#define GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_

#include <atomic>
#include <string>

#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

struct OpenAiChatOptions {
  static constexpr const char* kDefaultBaseUrl = "https://api.openai.com/v1";

  std::string model;
  std::string api_key;       // empty for a server that wants none
  EndpointOptions endpoint;  // an empty base_url means kDefaultBaseUrl
};

// finish_reason is the server's: "stop", "length", "content_filter" ...; "refusal" where the model refused,
// with what it said as the content.
class OpenAiChat : public Model {
 public:
  explicit OpenAiChat(OpenAiChatOptions options);

  const std::string& name() const override { return name_; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Json Body(const ChatRequest& request) const;
  // Learns from a refused request which of its members this model does not take. True if another try may
  // succeed.
  bool Adapt(const JsonReply& reply, const Json& sent);
  Result<ChatReply> Read(const Json& body) const;

  std::string model_;
  std::string name_;
  JsonEndpoint endpoint_;
  std::atomic<bool> completion_limit_;  // the limit is called max_completion_tokens, not max_tokens
  std::atomic<bool> temperature_ = true;
  std::atomic<bool> stop_ = true;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_OPENAI_CHAT_H_
