#include "gloveport/core/model/anthropic.h"

#include <charconv>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/anthropic_stream.h"
#include "gloveport/core/model/conversation.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr int kAllowedByAll = 4096;  // output tokens that every model takes
constexpr const char* kApiVersion = "2023-06-01";
constexpr std::size_t kMaxStopSequences = 8192;

EndpointOptions WithKey(EndpointOptions endpoint, const std::string& key) {
  if (endpoint.base_url.empty()) endpoint.base_url = AnthropicOptions::kDefaultBaseUrl;
  endpoint.headers.push_back({"anthropic-version", kApiVersion});
  if (!key.empty()) {
    endpoint.headers.push_back({"x-api-key", key});
    endpoint.secrets.push_back(key);
  }
  return endpoint;
}

std::string PathBelow(std::string base_url) {
  while (base_url.ends_with('/')) base_url.pop_back();
  return base_url.ends_with("/v1") ? "/messages" : "/v1/messages";
}

void AppendParagraph(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "\n\n";
  text += more;
}

Json TextBlock(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

void MakeBlocks(Json& content) {
  if (content.is_string()) content = Json::array({TextBlock(content.get<std::string>())});
}

// A turn's content is a text while it can be, else a list of blocks.
void AddTurn(Json& turns, const char* role, Json content) {
  if (turns.empty() || turns.back()["role"] != role) {
    turns.push_back({{"role", role}, {"content", std::move(content)}});
    return;
  }
  Json& last = turns.back()["content"];
  if (last.is_string() && content.is_string()) {
    std::string text = last.get<std::string>();
    AppendParagraph(text, content.get<std::string>());
    last = std::move(text);
    return;
  }
  MakeBlocks(last);
  MakeBlocks(content);
  for (Json& block : content) last.push_back(std::move(block));
}

Json CallBlocks(const ChatMessage& message, const std::string& id) {
  Json blocks = Json::array();
  if (const auto thinking = ParseJson(message.opaque); thinking && thinking->is_array()) blocks = *thinking;
  if (!Trim(message.content).empty()) blocks.push_back(TextBlock(message.content));
  blocks.push_back({{"type", "tool_use"},
                    {"id", id},
                    {"name", kExecuteCode},
                    {"input", {{"thought", message.action->thought}, {"code", message.action->code}}}});
  return blocks;
}

Json ResultBlocks(const std::string& id, const std::string& content) {
  Json block{{"type", "tool_result"}, {"tool_use_id", id}};
  if (!content.empty()) block["content"] = content;
  return Json::array({std::move(block)});
}

// The API refuses empty texts and expects the roles to take turns.
Json Turns(const std::vector<ChatMessage>& messages, ActionForm form) {
  Json turns = Json::array();
  std::string open_call;  // waits for its result
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role == Role::kSystem) continue;
    const char* role = RoleName(message.role);
    if (message.role == Role::kAssistant && message.action && form == ActionForm::kTool) {
      open_call = CallIdOf(*message.action, i);
      AddTurn(turns, role, CallBlocks(message, open_call));
    } else if (message.role == Role::kUser && !open_call.empty()) {
      AddTurn(turns, role, ResultBlocks(std::exchange(open_call, {}), message.content));
    } else if (std::string text = ContentIn(form, message); !text.empty()) {
      AddTurn(turns, role, std::move(text));
    }
  }
  return turns;
}

void MarkForCache(Json& content) {
  MakeBlocks(content);
  if (!content.empty()) content.back()["cache_control"] = {{"type", "ephemeral"}};
}

std::optional<int> TokenBudget(const std::string& effort) {
  int tokens = 0;
  const char* end = effort.data() + effort.size();
  const auto read = std::from_chars(effort.data(), end, tokens);
  if (effort.empty() || read.ec != std::errc() || read.ptr != end || tokens <= 0) return std::nullopt;
  return tokens;
}

}  // namespace

Anthropic::Anthropic(AnthropicOptions options)
    : model_(std::move(options.model)),
      name_("anthropic:" + model_),
      path_(PathBelow(options.endpoint.base_url)),
      settings_(std::move(options.settings)),
      endpoint_(WithKey(std::move(options.endpoint), options.api_key)),
      default_max_tokens_(options.default_max_tokens),
      cache_(settings_.prompt_cache) {}

void Anthropic::AddForm(Json& body, ActionForm form) const {
  if (form == ActionForm::kJson) {
    body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", ActionSchema()}};
  } else if (form == ActionForm::kTool) {
    body["tools"] = Json::array({{{"name", kExecuteCode},
                                  {"description", kExecuteCodeDescription},
                                  {"input_schema", ActionSchema()}}});
    // A model that thinks first may not be made to call.
    const bool require = require_call_ && !body.contains("thinking");
    body["tool_choice"] = {{"type", require ? "any" : "auto"}, {"disable_parallel_tool_use", true}};
  }
}

void Anthropic::AddThinking(Json& body) const {
  const std::string& effort = settings_.reasoning_effort;
  if (const auto budget = TokenBudget(effort)) {
    body["thinking"] = {{"type", "enabled"}, {"budget_tokens", *budget}};
    body["max_tokens"] = body["max_tokens"].get<int>() + *budget;  // the API counts both together
    body.erase("temperature");
  } else if (!effort.empty()) {
    body["output_config"]["effort"] = effort;
  }
}

Json Anthropic::Body(const ChatRequest& request, ActionForm form) const {
  Json body;
  body["model"] = model_;
  body["max_tokens"] = request.max_tokens.value_or(default_max_tokens_.load());
  std::string system;
  for (const ChatMessage& message : request.messages) {
    if (message.role == Role::kSystem) AppendParagraph(system, message.content);
  }
  if (!system.empty()) body["system"] = system;
  body["messages"] = Turns(request.messages, form);
  if (cache_) {
    if (!system.empty()) MarkForCache(body["system"]);
    if (!body["messages"].empty()) MarkForCache(body["messages"].back()["content"]);
  }
  if (temperature_) body["temperature"] = request.temperature;
  Json stop = Json::array();
  for (const std::string& sequence : StopToSend(request, form, kMaxStopSequences)) {
    if (!Trim(sequence).empty())
      stop.push_back(sequence);  // white space alone is refused there; we cut for ourselves
  }
  if (!stop.empty()) body["stop_sequences"] = std::move(stop);
  AddThinking(body);
  AddForm(body, form);
  if (request.on_delta && stream_) body["stream"] = true;
  return body;
}

bool Anthropic::Adapt(const JsonReply& reply, const Json& sent) {
  if (reply.status != 400 && reply.status != 422) return false;
  const Refusal refusal(reply);
  if (refusal.Says("max_tokens") && sent["max_tokens"] == default_max_tokens_.load()) {
    return default_max_tokens_.exchange(kAllowedByAll) > kAllowedByAll;
  }
  if (sent.contains("temperature") && refusal.Says("temperature")) return temperature_.exchange(false);
  if (cache_ && refusal.Says("cache_control")) return cache_.exchange(false);
  if (sent.contains("tools") && refusal.Says("tool_choice")) {
    if (require_call_.exchange(false)) return true;
  }
  if (sent.contains("tools") && refusal.Says("tool") && !refusal.Says("tool_result")) {
    form_ = ActionForm::kJson;
    return true;
  }
  const bool structured = sent.contains("output_config") && sent["output_config"].contains("format");
  if (structured && (refusal.Says("output_config") || refusal.Says("output_format") ||
                     refusal.Says("schema") || refusal.Says("structured"))) {
    form_ = ActionForm::kText;
    return true;
  }
  return sent.contains("stream") && refusal.Says("stream") && stream_.exchange(false);
}

Result<ChatReply> Anthropic::Complete(const ChatRequest& request) {
  const auto prepare = [&] {
    const ActionForm form = SimplerOf(request.form, form_);
    return Question{Body(request, form), std::make_unique<AnthropicStream>(request, form)};
  };
  const auto adapt = [&](const JsonReply& refusal, const Json& sent) { return Adapt(refusal, sent); };
  return Converse(endpoint_, request, {path_, model_, prepare, adapt});
}

}  // namespace gloveport
