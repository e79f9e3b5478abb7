#include "gloveport/core/serve/mcp/message_reader.h"

#include <utility>

#include "gloveport/core/base/text.h"

namespace gloveport {

tl::expected<RpcMessage, McpReply> ReadMcpMessage(std::string_view text, const McpLimits& limits) {
  const auto refuse = [](RpcCode code, std::string_view why) {
    return tl::unexpected<McpReply>(ErrorReply(nullptr, code, why));
  };
  if (Trim(text).starts_with('['))
    return refuse(RpcCode::kInvalidRequest, "batches are not taken: send one message");
  auto messages = ParseRpc(text, limits);
  if (!messages) {
    // JSON that is no message is one thing, what is no JSON another.
    const bool limit = messages.error().code == ErrorCode::kResourceExhausted;
    const bool json = limit || ParseJson(text, {limits.max_message_bytes, limits.max_depth}).has_value();
    return refuse(json ? RpcCode::kInvalidRequest : RpcCode::kParseError, messages.error().message);
  }
  return std::move(messages->front());
}

}  // namespace gloveport
