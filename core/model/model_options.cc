#include "gloveport/core/model/model_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/server_error.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

Refusal::Refusal(const JsonReply& reply)
    : parameter_(TextOf(MemberOf(reply.body, "error"), "param")), words_(Lower(ServerMessage(reply.body))) {
  // Lists of findings ("detail": [{"loc": [...]}]) are looked through as they came.
  if (words_.empty()) words_ = Lower(reply.text);
}

bool Refusal::Names(const Json& sent, std::string_view name) const {
  if (!sent.contains(name)) return false;
  if (!parameter_.empty()) return parameter_ == name;
  return std::ranges::any_of(std::string_view("'\"`"), [&](char quote) {
    return words_.find(fmt::format("{0}{1}{0}", quote, name)) != std::string::npos;
  });
}

bool Refusal::Says(std::string_view word) const {
  return parameter_.find(word) != std::string::npos || words_.find(word) != std::string::npos;
}

ActionForm SimplerOf(ActionForm a, ActionForm b) { return std::min(a, b); }

std::vector<std::string> StopToSend(const ChatRequest& request, ActionForm form, std::size_t max_count) {
  std::vector<std::string> stop;
  if (form != ActionForm::kText) return stop;
  for (const std::string& sequence : request.stop) {
    if (!sequence.empty() && stop.size() < max_count) stop.push_back(sequence);
  }
  return stop;
}

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

std::string ContentIn(ActionForm form, const ChatMessage& message) {
  if (!message.action) return message.content;
  const CodeAction& action = *message.action;
  if (action.form == ActionForm::kText) return message.content;
  const bool was_json = action.form == ActionForm::kJson;
  if (form == ActionForm::kText) return ActionText(was_json ? "" : message.content, action);
  if (was_json) return message.content;
  CodeAction whole = action;
  if (whole.thought.empty()) whole.thought = Trim(message.content);
  return ActionJson(whole);
}

std::string CallIdOf(const CodeAction& action, std::size_t message_index) {
  return action.call_id.empty() ? fmt::format("call_{}", message_index) : action.call_id;
}

}  // namespace gloveport
