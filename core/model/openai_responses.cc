#include "gloveport/core/model/openai_responses.h"

#include <utility>

#include "gloveport/core/model/conversation.h"
#include "gloveport/core/model/openai_responses_stream.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

EndpointOptions WithKey(EndpointOptions endpoint, const std::string& key) {
  if (endpoint.base_url.empty()) endpoint.base_url = OpenAiChatOptions::kDefaultBaseUrl;
  if (!key.empty()) {
    endpoint.headers.push_back({"Authorization", "Bearer " + key});
    endpoint.secrets.push_back(key);
  }
  return endpoint;
}

void AddCall(Json& input, const ChatMessage& message, const std::string& id) {
  if (const auto reasoning = ParseJson(message.opaque); reasoning && reasoning->is_array()) {
    for (const Json& item : *reasoning) input.push_back(item);
  }
  if (!message.content.empty()) input.push_back({{"role", "assistant"}, {"content", message.content}});
  input.push_back({{"type", "function_call"},
                   {"call_id", id},
                   {"name", kExecuteCode},
                   {"arguments", ActionJson(*message.action)}});
}

Json Input(const std::vector<ChatMessage>& messages, ActionForm form) {
  Json input = Json::array();
  std::string open_call;  // waits for its result
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role == Role::kSystem) continue;
    if (message.role == Role::kAssistant && message.action && form == ActionForm::kTool) {
      open_call = CallIdOf(*message.action, i);
      AddCall(input, message, open_call);
    } else if (message.role == Role::kUser && !open_call.empty()) {
      input.push_back({{"type", "function_call_output"},
                       {"call_id", std::exchange(open_call, {})},
                       {"output", message.content}});
    } else {
      input.push_back({{"role", RoleName(message.role)}, {"content", ContentIn(form, message)}});
    }
  }
  return input;
}

std::string Instructions(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (message.role != Role::kSystem || message.content.empty()) continue;
    if (!text.empty()) text += "\n\n";
    text += message.content;
  }
  return text;
}

}  // namespace

OpenAiResponses::OpenAiResponses(OpenAiChatOptions options)
    : model_(std::move(options.model)),
      name_("openai-responses:" + model_),
      settings_(std::move(options.settings)),
      endpoint_(WithKey(std::move(options.endpoint), options.api_key)) {}

void OpenAiResponses::AddForm(Json& body, ActionForm form) const {
  if (form == ActionForm::kJson) {
    body["text"]["format"] = {
        {"type", "json_schema"}, {"name", "action"}, {"schema", ActionSchema()}, {"strict", true}};
  } else if (form == ActionForm::kTool) {
    body["tools"] = Json::array({{{"type", "function"},
                                  {"name", kExecuteCode},
                                  {"description", kExecuteCodeDescription},
                                  {"parameters", ActionSchema()},
                                  {"strict", true}}});
    body["tool_choice"] = require_call_ ? "required" : "auto";
    body["parallel_tool_calls"] = false;
  }
}

Json OpenAiResponses::Body(const ChatRequest& request, ActionForm form) const {
  Json body;
  body["model"] = model_;
  if (auto instructions = Instructions(request.messages); !instructions.empty()) {
    body["instructions"] = std::move(instructions);
  }
  body["input"] = Input(request.messages, form);
  body["store"] = false;
  if (encrypted_reasoning_) body["include"] = Json::array({"reasoning.encrypted_content"});
  if (temperature_) body["temperature"] = request.temperature;
  if (request.max_tokens) body["max_output_tokens"] = *request.max_tokens;
  if (!settings_.reasoning_effort.empty()) body["reasoning"]["effort"] = settings_.reasoning_effort;
  AddForm(body, form);
  if (request.on_delta && stream_) body["stream"] = true;
  return body;
}

bool OpenAiResponses::Adapt(const JsonReply& reply, const Json& sent) {
  if (reply.status != 400 && reply.status != 404 && reply.status != 422) return false;
  const Refusal refusal(reply);
  if (refusal.Says("context")) return false;  // the prompt is too long
  if (refusal.Names(sent, "temperature")) return temperature_.exchange(false);
  if (refusal.Names(sent, "include") || refusal.Says("encrypted"))
    return encrypted_reasoning_.exchange(false);
  if (refusal.Names(sent, "stream")) return stream_.exchange(false);
  if (sent.contains("tools") && refusal.Says("tool_choice") && require_call_.exchange(false)) return true;
  if (sent.contains("tools") && refusal.Says("tool")) {
    form_ = ActionForm::kJson;
    return true;
  }
  if (sent.contains("text") &&
      (refusal.Says("text.format") || refusal.Says("schema") || refusal.Says("structured"))) {
    form_ = ActionForm::kText;
    return true;
  }
  return false;
}

Result<ChatReply> OpenAiResponses::Complete(const ChatRequest& request) {
  const auto prepare = [&] {
    const ActionForm form = SimplerOf(request.form, form_);
    return Question{Body(request, form), std::make_unique<OpenAiResponsesStream>(request, form)};
  };
  const auto adapt = [&](const JsonReply& refusal, const Json& sent) { return Adapt(refusal, sent); };
  return Converse(endpoint_, request, {"/responses", model_, prepare, adapt});
}

}  // namespace gloveport
