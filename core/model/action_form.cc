#include "gloveport/core/model/action_form.h"

#include <fmt/core.h>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr JsonLimits kLimits{.max_bytes = 8u << 20, .max_depth = 16};
constexpr const char* kCallForm =
    "call execute_code with {\"thought\": \"...\", \"code\": \"...\"}, where code is Python";

CodeAction Problem(std::string what) {
  CodeAction action;
  action.problem = fmt::format("{}; {}", what, kCallForm);
  return action;
}

// "```json\n{...}\n```" without its fence; other text as it is.
std::string_view WithoutFence(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 6) return text;
  const auto line_end = text.find('\n');
  if (line_end == std::string_view::npos) return text;
  text.remove_suffix(3);
  return Trim(text.substr(line_end + 1));
}

// Longer than any run of backticks in `code`, so that the code cannot end its own block.
std::string FenceFor(std::string_view code) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return std::string(longest + 1, '`');
}

}  // namespace

const std::string_view kExecuteCodeDescription =
    "Runs one cell of Python in the session and returns what came of it. Variables stay from cell to cell.";

std::string_view ActionFormName(ActionForm form) {
  switch (form) {
    case ActionForm::kText:
      return "text";
    case ActionForm::kJson:
      return "json";
    case ActionForm::kTool:
      return "tool";
  }
  return "text";
}

std::optional<ActionForm> ParseActionForm(std::string_view name) {
  for (const ActionForm form : {ActionForm::kText, ActionForm::kJson, ActionForm::kTool}) {
    if (name == ActionFormName(form)) return form;
  }
  return std::nullopt;
}

ActionForm SimplerForm(ActionForm form) {
  return form == ActionForm::kTool ? ActionForm::kJson : ActionForm::kText;
}

Json ActionSchema() {
  return {
      {"type", "object"},
      {"properties",
       {{"thought", {{"type", "string"}, {"description", "What this code is to find out or do, and why"}}},
        {"code", {{"type", "string"}, {"description", "The Python source of one cell"}}}}},
      {"required", {"thought", "code"}},
      {"additionalProperties", false}};
}

CodeAction ReadToolCall(std::string_view name, std::string_view arguments) {
  if (name != kExecuteCode) {
    return Problem(
        fmt::format("there is no tool \"{}\"", EscapeForTerminal(ToValidUtf8(name.substr(0, 80)))));
  }
  const auto parsed = ParseJson(arguments, kLimits);
  if (!parsed) return Problem("the arguments of execute_code are no JSON: " + parsed.error().message);
  const Json* code = Member(*parsed, "code");
  if (!code || !code->is_string()) return Problem("the arguments of execute_code have no text \"code\"");
  CodeAction action;
  action.thought = TextOf(*parsed, "thought");
  action.code = code->get<std::string>();
  return action;
}

std::optional<CodeAction> ReadStructured(std::string_view text) {
  const auto parsed = ParseJson(WithoutFence(text), kLimits);
  if (!parsed) return std::nullopt;
  const Json* code = Member(*parsed, "code");
  if (!code || !code->is_string()) return std::nullopt;
  CodeAction action;
  action.form = ActionForm::kJson;
  action.thought = TextOf(*parsed, "thought");
  action.code = code->get<std::string>();
  return action;
}

std::string ActionJson(const CodeAction& action) {
  return DumpJson(Json{{"thought", action.thought}, {"code", action.code}});
}

std::string ActionText(std::string_view content, const CodeAction& action) {
  std::string text(Trim(content));
  if (!action.thought.empty()) {
    if (!text.empty()) text += "\n\n";
    text += action.thought;
  }
  if (action.code.empty()) return text;
  if (!text.empty()) text += '\n';
  const std::string fence = FenceFor(action.code);
  return fmt::format("{}{}python\n{}{}{}", text, fence, action.code, action.code.ends_with('\n') ? "" : "\n",
                     fence);
}

}  // namespace gloveport
