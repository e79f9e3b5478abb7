// ParseAction: takes the Python code out of what a model wrote, or says why there is none.
//
// Total and linear in the text: any bytes give an Action. Code is never rewritten, only cut out; what a model
// may have invented or only thought (reasoning blocks, observations of its own, drafts before a "Code:"
// label) is left behind. Thread-safe as far as the checker is.
#ifndef GLOVEPORT_CORE_AGENT_ACTION_PARSER_H_
#define GLOVEPORT_CORE_AGENT_ACTION_PARSER_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"

namespace gloveport {

// Says whether a text is Python; Runtime::Syntax outside of tests. Asked at most a few times per text, and
// not at all for the usual answer with one code block.
using SyntaxChecker = std::function<Result<SyntaxInfo>(std::string_view code)>;

enum class ActionError {
  kNone,
  kEmpty,         // the model said nothing
  kNoCode,        // text without code
  kToolCallJson,  // a JSON tool call instead of code
  kBadJson,       // structured output that is not valid JSON
  kBadCall,       // a call of execute_code that cannot be used; `problem` says why (not of ParseAction)
};
// "", "empty", "no_code", "tool_call_json", "bad_json", "bad_call"
std::string_view ActionErrorName(ActionError error);

struct Action {
  std::optional<std::string> code;  // present exactly if error is kNone
  ActionError error = ActionError::kNone;
  std::string problem;        // of kBadCall, for the model
  std::string thought;        // the text before the code; without code all of it but reasoning blocks
  bool cut_invented = false;  // text behind the code that pretended to be an observation was left out

  // Set when the checker could not answer: the action is then what the text looks like without it.
  std::optional<Error> checker_error;
};

Action ParseAction(std::string_view text, const SyntaxChecker& checker);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_ACTION_PARSER_H_
