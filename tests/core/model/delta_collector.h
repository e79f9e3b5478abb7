// What a request's on_delta was given, by kind.
#ifndef GLOVEPORT_TESTS_CORE_MODEL_DELTA_COLLECTOR_H_
#define GLOVEPORT_TESTS_CORE_MODEL_DELTA_COLLECTOR_H_

#include <map>
#include <string>

#include "gloveport/core/model/model.h"

namespace gloveport {

struct DeltaCollector {
  std::map<std::string, std::string, std::less<>> texts;  // by ChatDeltaKindName

  // Attach before the request is sent; this must outlive it.
  ChatRequest Listen(ChatRequest request) {
    request.on_delta = [this](const ChatDelta& delta) {
      texts[std::string(ChatDeltaKindName(delta.kind))] += delta.text;
    };
    return request;
  }
};

// A conversation in which the model has acted once by a tool call, and was told what came of it.
inline std::vector<ChatMessage> ConversationWithACall(std::string opaque = "") {
  CodeAction action;
  action.call_id = "call_1";
  action.thought = "look";
  action.code = "print(1)";
  return {{Role::kSystem, "be good"},
          {Role::kUser, "goal"},
          {Role::kAssistant, "I look.", action, std::move(opaque)},
          {Role::kUser, "it printed 1"}};
}

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_CORE_MODEL_DELTA_COLLECTOR_H_
