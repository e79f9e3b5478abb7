// Anthropic: the Messages API. One request, one answer, no streaming.
#ifndef GLOVEPORT_CORE_MODEL_ANTHROPIC_H_
#define GLOVEPORT_CORE_MODEL_ANTHROPIC_H_

#include <atomic>
#include <string>

#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

struct AnthropicOptions {
  static constexpr const char* kDefaultBaseUrl = "https://api.anthropic.com";

  std::string model;
  std::string api_key;
  int default_max_tokens = 4096;  // the API wants a limit with each request
  EndpointOptions
      endpoint;  // an empty base_url means kDefaultBaseUrl; one that ends in /v1 is understood too
};

// finish_reason is "stop" for the API's end_turn and stop_sequence, "length" for its max_tokens, else the
// API's own. System messages are sent apart, in order; messages of one role in a row as one.
class Anthropic : public Model {
 public:
  explicit Anthropic(AnthropicOptions options);

  const std::string& name() const override { return name_; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Json Body(const ChatRequest& request) const;
  Result<ChatReply> Read(const Json& body) const;

  std::string model_;
  std::string name_;
  std::string path_;
  int default_max_tokens_;
  JsonEndpoint endpoint_;
  std::atomic<bool> temperature_ = true;  // false once the model has refused to take one
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_ANTHROPIC_H_
