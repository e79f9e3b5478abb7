#include "gloveport/core/mcp/json_rpc.h"

#include <fmt/core.h>

#include <utility>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxMethodBytes = 256;
constexpr std::size_t kMaxIdBytes = 256;

// An upper bound of how many values and members a text holds, counted before any memory is taken for them.
std::size_t CountItems(std::string_view text) {
  std::size_t items = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '[' || c == '{') {
      ++items;
    }
  }
  return items;
}

tl::unexpected<Error> NoMessage(std::string_view problem) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("this is no JSON-RPC message: {}", problem));
}

bool IsId(const Json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kMaxIdBytes;
  return id.is_number_integer();
}

Status ReadError(const Json& error, RpcError& out) {
  const Json& code = MemberOf(error, "code");
  const Json& message = MemberOf(error, "message");
  if (!error.is_object() || !code.is_number_integer()) return NoMessage("the error has no integer \"code\"");
  out.code = code.get<std::int64_t>();
  out.message = message.is_string() ? message.get<std::string>() : "";
  out.data = MemberOf(error, "data");
  return {};
}

Status ReadCall(const Json& json, bool has_id, RpcMessage& message) {
  const Json& method = MemberOf(json, "method");
  if (!method.is_string()) return NoMessage("\"method\" is no text");
  message.method = method.get<std::string>();
  if (message.method.empty() || message.method.size() > kMaxMethodBytes)
    return NoMessage("\"method\" is empty or too long");
  message.params = MemberOf(json, "params");
  if (!message.params.is_null() && !message.params.is_object()) return NoMessage("\"params\" is no object");
  message.kind = has_id ? RpcMessage::Kind::kRequest : RpcMessage::Kind::kNotification;
  return {};
}

Result<RpcMessage> ReadMessage(const Json& json) {
  if (!json.is_object()) return NoMessage("it is no object");
  if (MemberOf(json, "jsonrpc") != "2.0") return NoMessage("\"jsonrpc\" is not \"2.0\"");
  RpcMessage message;
  message.id = MemberOf(json, "id");
  const bool has_id = json.contains("id");
  const bool may_lack_id = json.contains("error");  // an error that answers something unreadable
  if (has_id && !IsId(message.id) && !(may_lack_id && message.id.is_null()))
    return NoMessage("\"id\" is neither an integer nor a short text");
  if (json.contains("method")) {
    RETURN_IF_ERROR(ReadCall(json, has_id, message));
  } else if (json.contains("error")) {
    message.kind = RpcMessage::Kind::kError;
    RETURN_IF_ERROR(ReadError(MemberOf(json, "error"), message.error));
  } else if (has_id && MemberOf(json, "result").is_object()) {
    message.kind = RpcMessage::Kind::kResult;
    message.result = MemberOf(json, "result");
  } else {
    return NoMessage("it has neither \"method\" nor an object \"result\" nor \"error\"");
  }
  return message;
}

Json Envelope(const Json& id) {
  Json json = {{"jsonrpc", "2.0"}};
  if (!id.is_null()) json["id"] = id;
  return json;
}

}  // namespace

Result<std::vector<RpcMessage>> ParseRpc(std::string_view text, const McpLimits& limits) {
  if (text.size() > limits.max_message_bytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a message is longer than {} bytes", limits.max_message_bytes));
  }
  if (CountItems(text) > limits.max_items) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a message holds more than {} values", limits.max_items));
  }
  const auto json = ParseJson(text, {.max_bytes = limits.max_message_bytes, .max_depth = limits.max_depth});
  if (!json) return NoMessage(CleanLine(json.error().message, 300));
  std::vector<RpcMessage> messages;
  if (!json->is_array()) {
    ASSIGN_OR_RETURN(RpcMessage message, ReadMessage(*json));
    messages.push_back(std::move(message));
    return messages;
  }
  if (json->empty()) return NoMessage("the batch is empty");
  if (json->size() > limits.max_batch) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("a batch holds more than {} messages", limits.max_batch));
  }
  for (const Json& item : *json) {
    ASSIGN_OR_RETURN(RpcMessage message, ReadMessage(item));
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string RpcRequest(const Json& id, std::string_view method, Json params) {
  Json json = Envelope(id);
  json["method"] = method;
  if (!params.is_null()) json["params"] = std::move(params);
  return DumpJson(json);
}

std::string RpcNotification(std::string_view method, Json params) {
  return RpcRequest(nullptr, method, std::move(params));
}

std::string RpcResult(const Json& id, Json result) {
  Json json = Envelope(id);
  json["result"] = std::move(result);
  return DumpJson(json);
}

std::string RpcErrorReply(const Json& id, RpcCode code, std::string_view message, Json data) {
  Json json = {{"jsonrpc", "2.0"}, {"id", id}};  // null where none could be read
  json["error"] = {{"code", static_cast<std::int64_t>(code)}, {"message", message}};
  if (!data.is_null()) json["error"]["data"] = std::move(data);
  return DumpJson(json);
}

Value ValueOfPlainJson(const Json& json) {
  if (json.is_array()) {
    Value::List list;
    list.reserve(json.size());
    for (const Json& item : json) list.push_back(ValueOfPlainJson(item));
    return Value(std::move(list));
  }
  if (!json.is_object()) return FromPlainJson(json);
  if (json.size() == 1 && json.begin().key() == "$int" && json.begin()->is_string()) {
    if (auto number = BigInt::FromDecimal(json.begin()->get_ref<const std::string&>()))
      return Value(std::move(*number));
  }
  Value::Map map;
  map.reserve(json.size());
  for (const auto& [key, item] : json.items()) map.emplace_back(Value(key), ValueOfPlainJson(item));
  return Value(std::move(map));
}

}  // namespace gloveport
