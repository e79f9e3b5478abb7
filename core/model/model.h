// Model: a chat endpoint that completes a conversation. Implementations speak to OpenAI-compatible, OpenAI
// Responses or Anthropic servers, play a script or a recording, or record what another model says.
//
// Thread-safe: Complete may be called from several threads. Nothing that a reply contains is trusted.
#ifndef GLOVEPORT_CORE_MODEL_MODEL_H_
#define GLOVEPORT_CORE_MODEL_MODEL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/model/action_form.h"

namespace gloveport {

enum class Role { kSystem, kUser, kAssistant };

// A message of the assistant in which it acted by a tool call or structured output (ChatReply::action) is
// given back with that action, and the user message that follows is what came of it. A model that is asked in
// another form sees it written in that form.
struct ChatMessage {
  Role role;
  std::string content;
  std::optional<CodeAction> action = std::nullopt;
  std::string opaque = {};  // ChatReply::opaque, given back as it came
};

// A piece of a reply while it is written. `text` is valid during the call only, and not cut within a
// character (kArguments and whatever the server cuts there itself excepted).
struct ChatDelta {
  enum class Kind {
    kContent,    // ChatReply::content, up to a stop sequence
    kReasoning,  // ChatReply::reasoning
    kArguments,  // raw JSON of a tool call
    kThought,    // of an action in the form kTool or kJson: its thought, unpacked from the JSON ...
    kCode,       // ... and its code; the same text comes as kArguments or kContent too
  };
  Kind kind;
  std::string_view text;
};
// "content", "reasoning", "arguments", "thought", "code"
std::string_view ChatDeltaKindName(ChatDelta::Kind kind);

struct ChatRequest {
  std::vector<ChatMessage> messages;
  std::vector<std::string> stop = {};  // of the content; not used in the form kJson
  double temperature = 0;
  std::optional<int> max_tokens = std::nullopt;
  Deadline deadline = Deadline::Never();
  std::stop_token cancel = {};  // looked at at any moment, in the middle of a reply as well

  // How the model is to say what to run; Model::action_form() is what it is set to. A model whose server
  // refuses the form is asked in the next simpler one (kTool, kJson, kText), and ChatReply::form says which
  // it was.
  ActionForm form = ActionForm::kText;

  // If set, the reply is streamed where the server can, and each piece handed on as it arrives, on the thread
  // of Complete. Must not throw. The pieces of one kind together are what the reply has in the end; where an
  // error follows, they are what was said until then. Never called again for what was handed on already:
  // after the first piece nothing is tried again.
  std::function<void(const ChatDelta&)> on_delta = nullptr;
};

// Counts as the server gave them. All are zero where it gave none; then `reported` is false.
struct TokenUsage {
  std::int64_t input_tokens = 0;         // all that was read, from a cache or not
  std::int64_t output_tokens = 0;        // all that was written, reasoning included
  std::int64_t cached_input_tokens = 0;  // the part of input_tokens that came from a cache
  std::int64_t cache_write_tokens = 0;   // the part of input_tokens that was put into one
  std::int64_t reasoning_tokens = 0;     // the part of output_tokens that is reasoning
  bool reported = false;

  // `reported` is then true only if it was for both.
  TokenUsage& operator+=(const TokenUsage& other);
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

struct ChatReply {
  std::string content;    // as the model wrote it; in the form kJson the JSON text
  std::string reasoning;  // thoughts that the server hands out apart
  // "stop", "length", "tool_calls", "content_filter", "refusal", or what the server says.
  std::string finish_reason;
  TokenUsage usage;
  std::string model;  // as the server names it

  ActionForm form = ActionForm::kText;  // in which the model was asked
  // What the model wants to be run, where it said so by a tool call or as structured output. Without it, look
  // for code in the content: models do not always keep to the form.
  std::optional<CodeAction> action = std::nullopt;
  // What the server wants to see again with this message (signed or encrypted reasoning); empty for most.
  std::string opaque = {};
};

// Four bytes a token: for budgets, where a server reports none. `reported` stays false.
TokenUsage EstimateUsage(const ChatRequest& request, const ChatReply& reply);

class Model {
 public:
  virtual ~Model() = default;
  virtual const std::string& name() const = 0;
  virtual bool scripted() const { return false; }

  // The form that this model is set to act in: for ChatRequest::form.
  virtual ActionForm action_form() const { return ActionForm::kText; }

  // Errors: kDeadlineExceeded, kIo (endpoint not reachable, 5xx, or a stream that was cut: the message says
  // so), kInvalidArgument (4xx), kDenied (401, 403), kResourceExhausted (429 after retries; an answer beyond
  // the limits of size), kProtocol (garbage), kClosed (a script that ended too early, or cancelled).
  virtual Result<ChatReply> Complete(const ChatRequest& request) = 0;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_MODEL_H_
