#include "gloveport/core/model/recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/model_options.h"
#include "gloveport/core/model/reply_builder.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr int kVersion = 1;
constexpr JsonLimits kLimits{.max_bytes = 64u << 20, .max_depth = 32};

void PutText(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

Json ActionToJson(const CodeAction& action) {
  Json json{{"form", ActionFormName(action.form)}};
  PutText(json, "call_id", action.call_id);
  PutText(json, "thought", action.thought);
  json["code"] = action.code;
  PutText(json, "problem", action.problem);
  return json;
}

std::optional<CodeAction> ActionFromJson(const Json& holder) {
  const Json* json = Member(holder, "action");
  if (!json) return std::nullopt;
  return CodeAction{.form = ParseActionForm(TextOf(*json, "form")).value_or(ActionForm::kTool),
                    .call_id = TextOf(*json, "call_id"),
                    .thought = TextOf(*json, "thought"),
                    .code = TextOf(*json, "code"),
                    .problem = TextOf(*json, "problem")};
}

Json MessageToJson(const ChatMessage& message) {
  Json json{{"role", RoleName(message.role)}, {"content", message.content}};
  if (message.action) json["action"] = ActionToJson(*message.action);
  PutText(json, "opaque", message.opaque);
  return json;
}

Result<ChatMessage> MessageFromJson(const Json& json) {
  const std::string name = TextOf(json, "role");
  for (const Role role : {Role::kSystem, Role::kUser, Role::kAssistant}) {
    if (name == RoleName(role))
      return ChatMessage{role, TextOf(json, "content"), ActionFromJson(json), TextOf(json, "opaque")};
  }
  return Fail(ErrorCode::kInvalidArgument, "a message has no role that is known");
}

bool SameMessage(const ChatMessage& a, const ChatMessage& b) {
  return a.role == b.role && a.content == b.content && a.action == b.action && a.opaque == b.opaque;
}

Json UsageToJson(const TokenUsage& usage) {
  return {{"input", usage.input_tokens},
          {"output", usage.output_tokens},
          {"cached_input", usage.cached_input_tokens},
          {"cache_write", usage.cache_write_tokens},
          {"reasoning", usage.reasoning_tokens}};
}

TokenUsage UsageFromJson(const Json* json) {
  if (!json) return {};
  return {.input_tokens = IntegerOf(*json, "input"),
          .output_tokens = IntegerOf(*json, "output"),
          .cached_input_tokens = IntegerOf(*json, "cached_input"),
          .cache_write_tokens = IntegerOf(*json, "cache_write"),
          .reasoning_tokens = IntegerOf(*json, "reasoning"),
          .reported = true};
}

Json ReplyToJson(const ChatReply& reply) {
  Json json{{"content", reply.content}};
  PutText(json, "reasoning", reply.reasoning);
  json["finish_reason"] = reply.finish_reason;
  json["model"] = reply.model;
  if (reply.form != ActionForm::kText) json["form"] = ActionFormName(reply.form);
  if (reply.action) json["action"] = ActionToJson(*reply.action);
  PutText(json, "opaque", reply.opaque);
  if (reply.usage.reported) json["usage"] = UsageToJson(reply.usage);
  return json;
}

ChatReply ReplyFromJson(const Json& json) {
  return {.content = TextOf(json, "content"),
          .reasoning = TextOf(json, "reasoning"),
          .finish_reason = TextOf(json, "finish_reason"),
          .usage = UsageFromJson(Member(json, "usage")),
          .model = TextOf(json, "model"),
          .form = ParseActionForm(TextOf(json, "form")).value_or(ActionForm::kText),
          .action = ActionFromJson(json),
          .opaque = TextOf(json, "opaque")};
}

constexpr std::array kCodes = {ErrorCode::kInvalidArgument,
                               ErrorCode::kDenied,
                               ErrorCode::kDeadlineExceeded,
                               ErrorCode::kResourceExhausted,
                               ErrorCode::kProtocol,
                               ErrorCode::kClosed,
                               ErrorCode::kIo};

Error ErrorFromJson(const Json& json) {
  const std::string name = TextOf(json, "code");
  const auto found =
      std::find_if(kCodes.begin(), kCodes.end(), [&](ErrorCode code) { return name == ErrorCodeName(code); });
  return {found == kCodes.end() ? ErrorCode::kInternal : *found, TextOf(json, "message"),
          TextOf(json, "hint")};
}

Status ReadRequest(const Json& json, ChatRequest& request) {
  for (const Json& message : MemberOf(json, "messages")) {
    ASSIGN_OR_RETURN(auto read, MessageFromJson(message));
    request.messages.push_back(std::move(read));
  }
  for (const Json& sequence : MemberOf(json, "stop")) request.stop.push_back(TextOf(&sequence));
  request.temperature = NumberOf(json, "temperature");
  if (Member(json, "max_tokens")) request.max_tokens = static_cast<int>(IntegerOf(json, "max_tokens"));
  request.form = ParseActionForm(TextOf(json, "form")).value_or(ActionForm::kText);
  return {};
}

// ---- differences ----

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMaxShown = 80;
  const bool cut = text.size() > kMaxShown;
  return fmt::format("\"{}{}\"", EscapeForTerminal(ToValidUtf8(text.substr(0, kMaxShown))), cut ? "..." : "");
}

std::string TextDifference(std::string_view what, std::string_view recorded, std::string_view now) {
  const auto old_lines = SplitLines(recorded);
  const auto new_lines = SplitLines(now);
  std::size_t line = 0;
  while (line < old_lines.size() && line < new_lines.size() && old_lines[line] == new_lines[line]) ++line;
  const auto shown = [&](const auto& lines) {
    return line < lines.size() ? Quoted(lines[line]) : "no such line";
  };
  return fmt::format("{}, line {}: recorded {}, now {}", what, line + 1, shown(old_lines), shown(new_lines));
}

// "(0.07 s)" becomes "( s)": no run takes as long as another.
std::string WithoutTimes(std::string_view text) {
  constexpr std::string_view kEnd = " s)";
  std::string kept;
  while (!text.empty()) {
    const auto open = std::min(text.find('('), text.size() - 1) + 1;
    kept += text.substr(0, open);
    text.remove_prefix(open);
    const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
    if (end > 0 && text.substr(end).starts_with(kEnd)) text.remove_prefix(end);
  }
  return kept;
}

std::string FormOf(const ChatMessage& message) {
  return message.action
             ? ActionText(message.action->form == ActionForm::kJson ? "" : message.content, *message.action)
             : message.content;
}

std::optional<std::string> MessageDifference(std::size_t number, const ChatMessage& recorded,
                                             const ChatMessage& now) {
  if (recorded.role != now.role) {
    return fmt::format("message {}: recorded as of the {}, now of the {}", number, RoleName(recorded.role),
                       RoleName(now.role));
  }
  const std::string what = fmt::format("message {} ({})", number, RoleName(now.role));
  if (WithoutTimes(recorded.content) != WithoutTimes(now.content)) {
    return TextDifference(what, WithoutTimes(recorded.content), WithoutTimes(now.content));
  }
  const bool acted = recorded.action || now.action;
  if (acted && FormOf(recorded) != FormOf(now))
    return TextDifference(what + ", its action", FormOf(recorded), FormOf(now));
  return std::nullopt;
}

}  // namespace

Json ExchangeJson(const Exchange& exchange, const std::vector<ChatMessage>& previous) {
  const auto& messages = exchange.request.messages;
  const auto parted =
      std::mismatch(messages.begin(), messages.end(), previous.begin(), previous.end(), SameMessage).first;
  Json sent = Json::array();
  for (auto message = parted; message != messages.end(); ++message) sent.push_back(MessageToJson(*message));
  Json json{{"version", kVersion}, {"model", exchange.model}, {"same", parted - messages.begin()}};
  json["request"] = {
      {"messages", std::move(sent)},
      {"stop", exchange.request.stop},
      {"temperature", exchange.request.temperature},
      {"max_tokens", exchange.request.max_tokens ? Json(*exchange.request.max_tokens) : Json()},
      {"form", ActionFormName(exchange.request.form)}};
  if (exchange.reply) {
    json["reply"] = ReplyToJson(*exchange.reply);
  } else {
    const Error& error = exchange.reply.error();
    json["error"] = {{"code", ErrorCodeName(error.code)}, {"message", error.message}, {"hint", error.hint}};
  }
  return json;
}

Result<Exchange> ParseExchange(std::string_view line, const std::vector<ChatMessage>& previous) {
  const auto wrong = [](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, std::string(what));
  };
  const auto json = ParseJson(line, kLimits);
  if (!json) return wrong(json.error().message);
  if (!json->is_object()) return wrong("this is no JSON object");
  if (IntegerOf(*json, "version") != kVersion) return wrong("this is no line of a recording of version 1");
  const Json* reply = Member(*json, "reply");
  const Json* error = Member(*json, "error");
  if (!reply && !error) return wrong("there is neither a \"reply\" nor an \"error\"");
  const std::uint64_t same = CountOf(*json, "same");
  if (same > previous.size()) return wrong("\"same\" is more than the messages of the line before");
  Exchange exchange{TextOf(*json, "model"), {}, ChatReply()};
  exchange.request.messages.assign(previous.begin(), previous.begin() + static_cast<std::ptrdiff_t>(same));
  RETURN_IF_ERROR(ReadRequest(MemberOf(*json, "request"), exchange.request));
  if (reply) {
    exchange.reply = ReplyFromJson(*reply);
  } else {
    exchange.reply = tl::unexpected<Error>(ErrorFromJson(*error));
  }
  return exchange;
}

std::optional<std::string> FirstDifference(const ChatRequest& recorded, const ChatRequest& now) {
  const std::size_t both = std::min(recorded.messages.size(), now.messages.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (auto difference = MessageDifference(i + 1, recorded.messages[i], now.messages[i])) return difference;
  }
  if (recorded.messages.size() != now.messages.size()) {
    return fmt::format("recorded with {} messages, now {}", recorded.messages.size(), now.messages.size());
  }
  if (recorded.stop != now.stop) return "the stop sequences";
  if (recorded.temperature != now.temperature) {
    return fmt::format("the temperature: recorded {:g}, now {:g}", recorded.temperature, now.temperature);
  }
  const auto limit = [](const std::optional<int>& tokens) {
    return tokens ? fmt::format("{}", *tokens) : "none";
  };
  if (recorded.max_tokens != now.max_tokens) {
    return fmt::format("the limit of tokens: recorded {}, now {}", limit(recorded.max_tokens),
                       limit(now.max_tokens));
  }
  if (recorded.form != now.form) {
    return fmt::format("the form of actions: recorded {}, now {}", ActionFormName(recorded.form),
                       ActionFormName(now.form));
  }
  return std::nullopt;
}

std::vector<std::string_view> StreamPieces(std::string_view text) {
  constexpr std::size_t kLeastBytes = 12;
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const auto end =
        text.size() <= kLeastBytes ? std::string_view::npos : text.find_first_of(" \n", kLeastBytes);
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

void PlayDeltas(const ChatRequest& request, const ChatReply& reply) {
  if (!request.on_delta) return;
  ReplyBuilder builder(request, reply.form);
  for (const auto piece : StreamPieces(reply.reasoning)) builder.AddReasoning(piece);
  for (const auto piece : StreamPieces(reply.content)) builder.AddContent(piece);
  if (reply.action && reply.action->form == ActionForm::kTool && reply.action->problem.empty()) {
    const std::string arguments = ActionJson(*reply.action);
    bool added = true;
    for (const auto piece : StreamPieces(arguments))
      added = added && builder.AddCall(0, "", kExecuteCode, piece);
  }
  builder.Finish("");  // hands on what was held back
}

}  // namespace gloveport
