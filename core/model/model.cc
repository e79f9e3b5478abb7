#include "gloveport/core/model/model.h"

namespace gloveport {
namespace {

std::int64_t Tokens(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 3) / 4); }

std::size_t BytesOf(const std::optional<CodeAction>& action) {
  return action ? action->thought.size() + action->code.size() : 0;
}

}  // namespace

std::string_view ChatDeltaKindName(ChatDelta::Kind kind) {
  switch (kind) {
    case ChatDelta::Kind::kContent:
      return "content";
    case ChatDelta::Kind::kReasoning:
      return "reasoning";
    case ChatDelta::Kind::kArguments:
      return "arguments";
    case ChatDelta::Kind::kThought:
      return "thought";
    case ChatDelta::Kind::kCode:
      return "code";
  }
  return "content";
}

TokenUsage& TokenUsage::operator+=(const TokenUsage& other) {
  reported = reported && other.reported;
  input_tokens += other.input_tokens;
  output_tokens += other.output_tokens;
  cached_input_tokens += other.cached_input_tokens;
  cache_write_tokens += other.cache_write_tokens;
  reasoning_tokens += other.reasoning_tokens;
  return *this;
}

TokenUsage EstimateUsage(const ChatRequest& request, const ChatReply& reply) {
  constexpr std::size_t kBytesAroundMessage = 16;  // role and marks
  std::size_t read = 0;
  for (const ChatMessage& message : request.messages) {
    read += message.content.size() + BytesOf(message.action) + kBytesAroundMessage;
  }
  // Structured output is counted once: the content holds it already.
  const bool called = reply.action && reply.action->form == ActionForm::kTool;
  const std::size_t written = reply.content.size() + (called ? BytesOf(reply.action) : 0);
  TokenUsage usage;
  usage.input_tokens = Tokens(read);
  usage.reasoning_tokens = Tokens(reply.reasoning.size());
  usage.output_tokens = Tokens(written) + usage.reasoning_tokens;
  return usage;
}

}  // namespace gloveport
