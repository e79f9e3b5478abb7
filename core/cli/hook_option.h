// The option --hook: who may make verdicts stricter.
#ifndef GLOVEPORT_CORE_CLI_HOOK_OPTION_H_
#define GLOVEPORT_CORE_CLI_HOOK_OPTION_H_

#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/decision_hook.h"

namespace gloveport {

// `text` is an http or https URL, or a program and its arguments with spaces between them; empty: null.
Result<std::shared_ptr<DecisionHook>> MakeHook(const std::string& text);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_HOOK_OPTION_H_
