#include "gloveport/core/model/openai_chat.h"

#include <fmt/core.h>

#include "gloveport/core/model/stop_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxStopSequences = 4;  // more are an error there; CutAtStop knows them all

const char* RoleName(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
  }
  return "user";
}

EndpointOptions WithKey(EndpointOptions endpoint, const std::string& key) {
  if (endpoint.base_url.empty()) endpoint.base_url = OpenAiChatOptions::kDefaultBaseUrl;
  if (!key.empty()) {
    endpoint.headers.push_back({"Authorization", "Bearer " + key});
    endpoint.secrets.push_back(key);
  }
  return endpoint;
}

// Text, or a list of parts of which those with text count. False for anything else.
bool ReadContent(const Json& content, std::string& text) {
  if (content.is_string()) {
    text = content.get<std::string>();
    return true;
  }
  if (!content.is_array()) return false;
  for (const Json& part : content) text += TextOf(part, "text");
  return true;
}

}  // namespace

OpenAiChat::OpenAiChat(OpenAiChatOptions options)
    : model_(std::move(options.model)),
      name_("openai:" + model_),
      endpoint_(WithKey(options.endpoint, options.api_key)),
      completion_limit_(options.endpoint.base_url.empty() ||
                        options.endpoint.base_url.starts_with("https://api.openai.com")) {}

Json OpenAiChat::Body(const ChatRequest& request) const {
  Json body;
  body["model"] = model_;
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages) {
    messages.push_back({{"role", RoleName(message.role)}, {"content", message.content}});
  }
  body["messages"] = std::move(messages);
  if (temperature_) body["temperature"] = request.temperature;
  if (request.max_tokens)
    body[completion_limit_ ? "max_completion_tokens" : "max_tokens"] = *request.max_tokens;
  Json stop = Json::array();
  for (const std::string& sequence : request.stop) {
    if (!sequence.empty() && stop.size() < kMaxStopSequences) stop.push_back(sequence);
  }
  if (stop_ && !stop.empty()) body["stop"] = std::move(stop);
  return body;
}

bool OpenAiChat::Adapt(const JsonReply& reply, const Json& sent) {
  if (reply.status != 400 && reply.status != 422) return false;
  const Json* error = Member(reply.body, "error");
  const std::string parameter = error ? TextOf(*error, "param") : "";
  const std::string words = JsonEndpoint::ServerMessage(reply.body);
  const auto refused = [&](const char* what) {
    if (!sent.contains(what)) return false;
    return parameter == what ||
           (parameter.empty() && words.find(fmt::format("'{}'", what)) != std::string::npos);
  };
  if (refused("max_tokens")) {
    completion_limit_ = true;
  } else if (refused("max_completion_tokens")) {
    completion_limit_ = false;
  } else if (refused("temperature")) {
    temperature_ = false;
  } else if (refused("stop")) {
    stop_ = false;
  } else {
    return false;
  }
  return true;
}

Result<ChatReply> OpenAiChat::Complete(const ChatRequest& request) {
  constexpr int kMaxAdaptations = 3;
  for (int adaptations = 0;; ++adaptations) {
    const Json sent = Body(request);
    ASSIGN_OR_RETURN(const auto reply,
                     endpoint_.Post("/chat/completions", sent, request.deadline, request.cancel));
    if (reply.status / 100 == 2) {
      ASSIGN_OR_RETURN(auto answer, Read(reply.body));
      CutAtStop(request.stop, answer);
      return answer;
    }
    if (adaptations == kMaxAdaptations || !Adapt(reply, sent)) {
      return tl::unexpected<Error>(endpoint_.ErrorOf(reply));
    }
  }
}

Result<ChatReply> OpenAiChat::Read(const Json& body) const {
  const auto malformed = [&](std::string_view what) {
    return tl::unexpected<Error>(endpoint_.Malformed(what));
  };
  if (Member(body, "error")) return malformed("it reports an error: " + JsonEndpoint::ServerMessage(body));
  const Json* choices = Member(body, "choices");
  if (!choices || !choices->is_array()) return malformed("it has no list \"choices\"");
  if (choices->empty()) return malformed("its list \"choices\" is empty");
  const Json& choice = choices->front();
  const Json* message = Member(choice, "message");
  if (!message || !message->is_object()) return malformed("its first choice has no message");

  ChatReply reply;
  const Json* content = Member(*message, "content");
  if (content && !ReadContent(*content, reply.content))
    return malformed("its content is neither text nor a list");
  reply.finish_reason = TextOf(choice, "finish_reason");
  if (reply.content.empty() && Member(*message, "refusal")) {
    reply.content = TextOf(*message, "refusal");
    reply.finish_reason = "refusal";
  }
  reply.reasoning = TextOf(*message, "reasoning_content");
  if (reply.reasoning.empty()) reply.reasoning = TextOf(*message, "reasoning");
  if (const Json* usage = Member(body, "usage")) {
    reply.usage = {IntegerOf(*usage, "prompt_tokens"), IntegerOf(*usage, "completion_tokens")};
  }
  reply.model = TextOf(body, "model");
  if (reply.model.empty()) reply.model = model_;
  return reply;
}

}  // namespace gloveport
