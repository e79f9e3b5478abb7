#include "gloveport/core/serve/mcp/message_reader.h"

#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {

namespace {

// Of JSON that is no message, so that whoever waits for an answer gets one.
Json IdOf(const Json& json) {
  constexpr std::size_t kMaxIdBytes = 256;
  const Json& id = MemberOf(json, "id");
  if (id.is_string() && id.get_ref<const std::string&>().size() <= kMaxIdBytes) return id;
  return id.is_number_integer() ? id : Json();
}

}  // namespace

tl::expected<RpcMessage, McpReply> ReadMcpMessage(std::string_view text, const McpLimits& limits) {
  const auto refuse = [](const Json& id, RpcCode code, std::string_view why) {
    return tl::unexpected<McpReply>(ErrorReply(id, code, why));
  };
  if (Trim(text).starts_with('['))
    return refuse(nullptr, RpcCode::kInvalidRequest, "batches are not taken: send one message");
  auto messages = ParseRpc(text, limits);
  if (messages) return std::move(messages->front());
  const std::string& why = messages.error().message;
  // What is too much is not read again.
  if (messages.error().code == ErrorCode::kResourceExhausted)
    return refuse(nullptr, RpcCode::kInvalidRequest, why);
  const auto json = ParseJson(text, {limits.max_message_bytes, limits.max_depth});
  if (!json) return refuse(nullptr, RpcCode::kParseError, why);
  // An answer is not answered, whatever is wrong with it: under its id the client may have asked something
  // itself. It is one that says nothing.
  const bool is_answer =
      json->is_object() && !json->contains("method") && (json->contains("result") || json->contains("error"));
  if (!is_answer) return refuse(IdOf(*json), RpcCode::kInvalidRequest, why);
  RpcMessage message;
  message.kind = RpcMessage::Kind::kError;
  message.id = IdOf(*json);
  return message;
}

}  // namespace gloveport
