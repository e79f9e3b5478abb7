#include "gloveport/core/model/openai_chat.h"

#include <fmt/core.h>

#include "gloveport/core/model/conversation.h"
#include "gloveport/core/model/openai_chat_stream.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxStopSequences = 4;  // more are an error there; ReplyBuilder knows them all

EndpointOptions WithKey(EndpointOptions endpoint, const std::string& key) {
  if (endpoint.base_url.empty()) endpoint.base_url = OpenAiChatOptions::kDefaultBaseUrl;
  if (!key.empty()) {
    endpoint.headers.push_back({"Authorization", "Bearer " + key});
    endpoint.secrets.push_back(key);
  }
  return endpoint;
}

Json CallMessage(const ChatMessage& message, const std::string& id) {
  Json json{{"role", "assistant"}};
  json["content"] = message.content.empty() ? Json() : Json(message.content);
  json["tool_calls"] =
      Json::array({{{"id", id},
                    {"type", "function"},
                    {"function", {{"name", kExecuteCode}, {"arguments", ActionJson(*message.action)}}}}});
  return json;
}

Json Messages(const std::vector<ChatMessage>& messages, ActionForm form) {
  Json list = Json::array();
  std::string open_call;  // waits for its result
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role == Role::kAssistant && message.action && form == ActionForm::kTool) {
      open_call = CallIdOf(*message.action, i);
      list.push_back(CallMessage(message, open_call));
    } else if (message.role == Role::kUser && !open_call.empty()) {
      list.push_back(
          {{"role", "tool"}, {"tool_call_id", std::exchange(open_call, {})}, {"content", message.content}});
    } else {
      list.push_back({{"role", RoleName(message.role)}, {"content", ContentIn(form, message)}});
    }
  }
  return list;
}

}  // namespace

OpenAiChat::OpenAiChat(OpenAiChatOptions options)
    : model_(std::move(options.model)),
      name_("openai:" + model_),
      settings_(std::move(options.settings)),
      endpoint_(WithKey(options.endpoint, options.api_key)),
      completion_limit_(options.endpoint.base_url.empty() ||
                        options.endpoint.base_url.starts_with("https://api.openai.com")) {}

void OpenAiChat::AddForm(Json& body, ActionForm form) const {
  if (form == ActionForm::kJson && !json_schema_) {
    body["response_format"] = {{"type", "json_object"}, {"schema", ActionSchema()}};
  } else if (form == ActionForm::kJson) {
    Json schema{{"name", "action"}, {"schema", ActionSchema()}};
    if (strict_) schema["strict"] = true;
    body["response_format"] = {{"type", "json_schema"}, {"json_schema", std::move(schema)}};
  } else if (form == ActionForm::kTool) {
    Json function{
        {"name", kExecuteCode}, {"description", kExecuteCodeDescription}, {"parameters", ActionSchema()}};
    if (strict_) function["strict"] = true;
    body["tools"] = Json::array({{{"type", "function"}, {"function", std::move(function)}}});
    body["tool_choice"] = require_call_ ? "required" : "auto";
    if (parallel_flag_) body["parallel_tool_calls"] = false;
  }
}

Json OpenAiChat::Body(const ChatRequest& request, ActionForm form) const {
  Json body;
  body["model"] = model_;
  body["messages"] = Messages(request.messages, form);
  if (give_reasoning_back_) {
    for (std::size_t i = 0; i < request.messages.size(); ++i) {
      const std::string& reasoning = request.messages[i].opaque;
      if (!reasoning.empty()) body["messages"][i]["reasoning_content"] = reasoning;
    }
  }
  if (temperature_) body["temperature"] = request.temperature;
  if (request.max_tokens)
    body[completion_limit_ ? "max_completion_tokens" : "max_tokens"] = *request.max_tokens;
  if (auto stop = StopToSend(request, form, kMaxStopSequences); stop_ && !stop.empty())
    body["stop"] = std::move(stop);
  if (!settings_.reasoning_effort.empty()) body["reasoning_effort"] = settings_.reasoning_effort;
  AddForm(body, form);
  if (request.on_delta && stream_) {
    body["stream"] = true;
    if (stream_usage_) body["stream_options"] = {{"include_usage", true}};
  }
  return body;
}

// Servers word it in many ways: "does not support tools", "tool choice requires ...", "tools param requires
// --jinja flag".
bool OpenAiChat::AdaptForm(const Refusal& refusal, const Json& sent) {
  if (refusal.Says("context")) return false;  // the prompt is too long, be it "in the functions" as well
  if (sent.contains("tools")) {
    if (!refusal.Says("tool") && !refusal.Says("function")) return false;
    const bool choice = refusal.Says("tool_choice") || refusal.Says("tool choice");
    if (choice && sent["tool_choice"] == "required") {
      require_call_ = false;
    } else {
      form_ = ActionForm::kJson;
    }
    return true;
  }
  if (!sent.contains("response_format")) return false;
  if (!refusal.Says("response_format") && !refusal.Says("schema") && !refusal.Says("structured"))
    return false;
  if (!json_schema_.exchange(false)) form_ = ActionForm::kText;
  return true;
}

bool OpenAiChat::Adapt(const JsonReply& reply, const Json& sent) {
  const Refusal refusal(reply);
  if (reply.status != 400 && reply.status != 422) {
    const bool of_kind = reply.status == 404 || reply.status == 500 || reply.status == 501;
    return of_kind && AdaptForm(refusal, sent);
  }
  const std::pair<const char*, std::atomic<bool>*> optional[] = {{"temperature", &temperature_},
                                                                 {"stop", &stop_},
                                                                 {"stream_options", &stream_usage_},
                                                                 {"parallel_tool_calls", &parallel_flag_},
                                                                 {"stream", &stream_}};
  if (refusal.Names(sent, "max_tokens")) {
    completion_limit_ = true;
    return true;
  }
  if (refusal.Names(sent, "max_completion_tokens")) {
    completion_limit_ = false;
    return true;
  }
  for (const auto& [name, flag] : optional) {
    if (!refusal.Names(sent, name)) continue;
    *flag = false;
    return true;
  }
  if (sent.contains("stream_options") && refusal.Says("stream_options")) return stream_usage_.exchange(false);
  if (sent.contains("stream") && refusal.Says("streaming")) return stream_.exchange(false);
  const bool form = sent.contains("tools") || sent.contains("response_format");
  if (form && refusal.Says("strict")) return strict_.exchange(false);
  if (refusal.Says("reasoning_content")) return !give_reasoning_back_.exchange(true);
  return AdaptForm(refusal, sent);
}

Result<ChatReply> OpenAiChat::Complete(const ChatRequest& request) {
  const auto prepare = [&] {
    const ActionForm form = SimplerOf(request.form, form_);
    Json body = Body(request, form);
    const auto usage = body.contains("stream_options") ? OpenAiChatStream::Usage::kExpected
                                                       : OpenAiChatStream::Usage::kNotExpected;
    return Question{std::move(body), std::make_unique<OpenAiChatStream>(request, form, usage)};
  };
  const auto adapt = [&](const JsonReply& refusal, const Json& sent) { return Adapt(refusal, sent); };
  return Converse(endpoint_, request, {"/chat/completions", model_, prepare, adapt});
}

}  // namespace gloveport
