// What the models that speak to a server have in common. Plain values and pure functions; Refusal and
// PoorerForm are internal to core/model.
#ifndef GLOVEPORT_CORE_MODEL_MODEL_OPTIONS_H_
#define GLOVEPORT_CORE_MODEL_MODEL_OPTIONS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/model/json_endpoint.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

struct ModelOptions {
  ActionForm action_form = ActionForm::kText;  // what Model::action_form() says
  std::string
      reasoning_effort;  // "low", "medium", "high" ... as the server knows it; empty: the server's own
  // Anthropic only: marks the prompt for the server's cache, which makes the same beginning much cheaper from
  // the second step on. (Others cache by themselves.)
  bool prompt_cache = false;
};

// Why a server did not take a request, for finding out which member it meant.
class Refusal {
 public:
  explicit Refusal(const JsonReply& reply);

  // Whether it is about the member `name` of what was sent: by name of the parameter, or where that is
  // missing, by the words with the name in quotes.
  bool Names(const Json& sent, std::string_view name) const;
  // Whether the parameter or the words hold `word`, in lower case.
  bool Says(std::string_view word) const;

 private:
  std::string parameter_;
  std::string words_;  // lower case
};

// Of two forms the simpler one.
ActionForm SimplerOf(ActionForm a, ActionForm b);

// The sequences that can be sent in this form, no more than `max_count`: none where they would fall into
// JSON. ReplyBuilder knows them all.
std::vector<std::string> StopToSend(const ChatRequest& request, ActionForm form, std::size_t max_count);

// The role of a message, and how its content reads in `form` where it acted without a tool call.
const char* RoleName(Role role);
std::string ContentIn(ActionForm form, const ChatMessage& message);

// For an action that a server is to see as a tool call although it was none.
std::string CallIdOf(const CodeAction& action, std::size_t message_index);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_MODEL_OPTIONS_H_
