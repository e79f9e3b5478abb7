// Model: a chat endpoint that completes a conversation. Implementations speak to OpenAI-compatible or
// Anthropic servers, or play a script.
//
// Thread-safe: Complete may be called from several threads. Nothing that a reply contains is trusted.
#ifndef GLOVEPORT_CORE_MODEL_MODEL_H_
#define GLOVEPORT_CORE_MODEL_MODEL_H_

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"

namespace gloveport {

enum class Role { kSystem, kUser, kAssistant };

struct ChatMessage {
  Role role;
  std::string content;
};

struct ChatRequest {
  std::vector<ChatMessage> messages;
  std::vector<std::string> stop;
  double temperature = 0;
  std::optional<int> max_tokens;
  Deadline deadline = Deadline::Never();
  std::stop_token cancel;
};

struct TokenUsage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
};

struct ChatReply {
  std::string content;
  std::string reasoning;
  std::string finish_reason;
  TokenUsage usage;
  std::string model;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const std::string& name() const = 0;
  virtual bool scripted() const { return false; }

  // Errors: kDeadlineExceeded, kIo (endpoint not reachable), kInvalidArgument (4xx), kDenied (401, 403),
  // kResourceExhausted (429 after retries), kProtocol (garbage), kClosed (a script that ended too early, or
  // cancelled).
  virtual Result<ChatReply> Complete(const ChatRequest& request) = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_MODEL_H_
