// How a model says what code to run: as text with a code block, as structured output {"thought", "code"}, or
// by calling the one tool that models are offered, execute_code. Pure functions and plain values.
#ifndef GLOVEPORT_CORE_MODEL_ACTION_FORM_H_
#define GLOVEPORT_CORE_MODEL_ACTION_FORM_H_

#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {

enum class ActionForm { kText, kJson, kTool };

std::string_view ActionFormName(ActionForm form);  // "text", "json", "tool"
std::optional<ActionForm> ParseActionForm(std::string_view name);

// The form to fall back to where a server refuses `form`: kTool, kJson, kText.
ActionForm SimplerForm(ActionForm form);

// What a model wants to be run.
struct CodeAction {
  ActionForm form = ActionForm::kTool;
  std::string call_id;  // of a tool call; empty in other forms
  std::string thought;
  std::string code;
  // For the model, where there is no code to run because the call has the wrong form ("there is no tool
  // \"lookup\"; ..."); empty otherwise.
  std::string problem;

  friend bool operator==(const CodeAction&, const CodeAction&) = default;
};

inline constexpr std::string_view kExecuteCode = "execute_code";
extern const std::string_view kExecuteCodeDescription;

// JSON Schema of the arguments of execute_code and of structured output: an object with exactly "thought" and
// "code".
Json ActionSchema();

// The arguments of a call of the tool `name`. Total: what cannot be used becomes a `problem`.
CodeAction ReadToolCall(std::string_view name, std::string_view arguments);

// Structured output; nothing where `text` is no JSON object with a text "code" (white space and a code fence
// around it are allowed).
std::optional<CodeAction> ReadStructured(std::string_view text);

// The arguments of the call, or the structured output, that `action` stands for.
std::string ActionJson(const CodeAction& action);

// `content` and `action` as a model writes them in the form kText: text, then a Python block.
std::string ActionText(std::string_view content, const CodeAction& action);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_ACTION_FORM_H_
