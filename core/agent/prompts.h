// The words with which a run begins. Pure.
//
// The system prompt is a template with {{marks}}; a program may bring its own. Names of the marks: form,
// example, final_example (how the model is to reply), tools, imports, limits, files, answer, instructions,
// goal. A mark that is not known stays as it is.
#ifndef GLOVEPORT_CORE_AGENT_PROMPTS_H_
#define GLOVEPORT_CORE_AGENT_PROMPTS_H_

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/action_parser.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/host/session.h"
#include "gloveport/core/model/action_form.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/policy/policy.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct PromptInput {
  std::string goal;
  std::string instructions;                               // of the program, besides the goal; may be empty
  std::optional<Value> schema;                            // that the answer has to fit
  std::vector<ToolSpec> tools;                            // that exist for the cell
  std::vector<FileInfo> files;                            // of the work folder
  std::optional<std::chrono::milliseconds> cell_timeout;  // where it is less than the policy's
  ActionForm form = ActionForm::kText;                    // in which the model says what to run
};

std::string_view DefaultSystemTemplate();
std::string_view DefaultTaskTemplate();

std::string RenderPrompt(std::string_view text_template, const PromptInput& input, const Policy& policy);

// Replaces each {{name}} by its value, once: values are not looked into again.
std::string FillTemplate(std::string_view text_template,
                         const std::map<std::string, std::string, std::less<>>& values);

// A tool as the head of a Python function with a docstring.
std::string ToolStub(const ToolSpec& spec);

// The tools of `all` that a call could ever reach under `rules`.
std::vector<ToolSpec> VisibleTools(const std::vector<ToolSpec>& all, const ToolRules& rules);
// The tools of a session that a call could ever reach under its policy.
std::vector<ToolSpec> VisibleTools(const SessionOptions& session, const Policy& policy);

// How to reply, with an example, where that changes within a conversation.
std::string ReplyRules(ActionForm form);

// What a cell can use, where that changes within a conversation: tools, imports, limits.
std::string SessionRules(const SessionOptions& session, const Policy& policy,
                         std::optional<std::chrono::milliseconds> cell_timeout);

// A reply in the one form that the model shall keep to: thought, then the code in a fence. Without code
// `reply` itself.
std::string CanonicalReply(const Action& action, std::string_view reply);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_PROMPTS_H_
