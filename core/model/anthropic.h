// Anthropic: the Messages API.
#ifndef GLOVEPORT_CORE_MODEL_ANTHROPIC_H_
#define GLOVEPORT_CORE_MODEL_ANTHROPIC_H_

#include <atomic>
#include <string>

#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"
#include "gloveport/core/model/model_options.h"

namespace gloveport {

struct AnthropicOptions {
  static constexpr const char* kDefaultBaseUrl = "https://api.anthropic.com";

  std::string model;
  std::string api_key;
  // The API wants a limit with each request, and counts thinking too. A model that allows less is asked with
  // 4096 from then on.
  int default_max_tokens = 16'384;
  EndpointOptions
      endpoint;  // an empty base_url means kDefaultBaseUrl; one that ends in /v1 is understood too
  // A number as reasoning_effort is a budget of tokens for thinking; a word is the API's "effort".
  ModelOptions settings;
};

// finish_reason is "stop" for the API's end_turn and stop_sequence, "length" for its max_tokens and
// model_context_window_exceeded, "tool_calls" for its tool_use, else the API's own. System messages are sent
// apart, in order; messages of one role in a row as one.
//
// What a server refuses (400 that names it) is left out of this and every later request.
class Anthropic : public Model {
 public:
  explicit Anthropic(AnthropicOptions options);

  const std::string& name() const override { return name_; }
  ActionForm action_form() const override { return settings_.action_form; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Json Body(const ChatRequest& request, ActionForm form) const;
  void AddForm(Json& body, ActionForm form) const;
  void AddThinking(Json& body) const;
  bool Adapt(const JsonReply& reply, const Json& sent);

  std::string model_;
  std::string name_;
  std::string path_;
  ModelOptions settings_;
  JsonEndpoint endpoint_;
  std::atomic<int> default_max_tokens_;
  std::atomic<bool> temperature_ = true;
  std::atomic<bool> stream_ = true;
  std::atomic<bool> cache_;
  std::atomic<bool> require_call_ = true;
  std::atomic<ActionForm> form_ = ActionForm::kTool;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_ANTHROPIC_H_
