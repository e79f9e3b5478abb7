#include "gloveport/core/model/anthropic.h"

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/stop_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr const char* kApiVersion = "2023-06-01";

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

std::string FinishReason(const std::string& stop_reason) {
  if (stop_reason == "end_turn" || stop_reason == "stop_sequence") return "stop";
  return stop_reason == "max_tokens" ? "length" : stop_reason;
}

// The API refuses empty texts and expects the roles to take turns.
Json Turns(const std::vector<ChatMessage>& messages) {
  std::vector<ChatMessage> turns;
  for (const ChatMessage& message : messages) {
    if (message.role == Role::kSystem || message.content.empty()) continue;
    if (!turns.empty() && turns.back().role == message.role) {
      AppendParagraph(turns.back().content, message.content);
    } else {
      turns.push_back(message);
    }
  }
  Json list = Json::array();
  for (const ChatMessage& turn : turns) {
    list.push_back({{"role", turn.role == Role::kUser ? "user" : "assistant"}, {"content", turn.content}});
  }
  return list;
}

}  // namespace

Anthropic::Anthropic(AnthropicOptions options)
    : model_(std::move(options.model)),
      name_("anthropic:" + model_),
      path_(PathBelow(options.endpoint.base_url)),
      default_max_tokens_(options.default_max_tokens),
      endpoint_(WithKey(std::move(options.endpoint), options.api_key)) {}

Json Anthropic::Body(const ChatRequest& request) const {
  Json body;
  body["model"] = model_;
  body["max_tokens"] = request.max_tokens.value_or(default_max_tokens_);
  std::string system;
  for (const ChatMessage& message : request.messages) {
    if (message.role == Role::kSystem) AppendParagraph(system, message.content);
  }
  if (!system.empty()) body["system"] = system;
  body["messages"] = Turns(request.messages);
  if (temperature_) body["temperature"] = request.temperature;
  Json stop = Json::array();
  for (const std::string& sequence : request.stop) {
    if (!Trim(sequence).empty())
      stop.push_back(sequence);  // white space alone is refused there; we cut for ourselves
  }
  if (!stop.empty()) body["stop_sequences"] = std::move(stop);
  return body;
}

Result<ChatReply> Anthropic::Complete(const ChatRequest& request) {
  while (true) {
    const Json sent = Body(request);
    ASSIGN_OR_RETURN(const auto reply, endpoint_.Post(path_, sent, request.deadline, request.cancel));
    if (reply.status / 100 == 2) {
      ASSIGN_OR_RETURN(auto answer, Read(reply.body));
      CutAtStop(request.stop, answer);
      return answer;
    }
    const bool temperature_refused =
        reply.status == 400 && sent.contains("temperature") &&
        JsonEndpoint::ServerMessage(reply.body).find("temperature") != std::string::npos;
    if (!temperature_refused) return tl::unexpected<Error>(endpoint_.ErrorOf(reply));
    temperature_ = false;
  }
}

Result<ChatReply> Anthropic::Read(const Json& body) const {
  const auto malformed = [&](std::string_view what) {
    return tl::unexpected<Error>(endpoint_.Malformed(what));
  };
  if (TextOf(body, "type") == "error") {
    return malformed("it reports an error: " + JsonEndpoint::ServerMessage(body));
  }
  const Json* content = Member(body, "content");
  if (!content || !content->is_array()) return malformed("it has no list \"content\"");
  ChatReply reply;
  for (const Json& block : *content) {
    const std::string type = TextOf(block, "type");
    if (type == "text") reply.content += TextOf(block, "text");
    if (type == "thinking") reply.reasoning += TextOf(block, "thinking");
  }
  reply.finish_reason = FinishReason(TextOf(body, "stop_reason"));
  if (const Json* usage = Member(body, "usage")) {
    reply.usage.input_tokens = IntegerOf(*usage, "input_tokens") +
                               IntegerOf(*usage, "cache_creation_input_tokens") +
                               IntegerOf(*usage, "cache_read_input_tokens");
    reply.usage.output_tokens = IntegerOf(*usage, "output_tokens");
  }
  reply.model = TextOf(body, "model");
  if (reply.model.empty()) reply.model = model_;
  return reply;
}

}  // namespace gloveport
