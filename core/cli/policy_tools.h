// The tools that a policy is looked at with: those of the program, or those that a file lists.
#ifndef GLOVEPORT_CORE_CLI_POLICY_TOOLS_H_
#define GLOVEPORT_CORE_CLI_POLICY_TOOLS_H_

#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/program.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/policy_source.h"

namespace gloveport {

// `file` holds a JSON list of names, or of tools as the session protocol declares them ({"name",
// "parameters":
// [{"name"}]}). Empty: the program's tools.
Result<std::vector<KnownTool>> LoadKnownTools(const Program& program, const std::string& file);

// Those, and the tools that the policy itself names.
std::vector<std::string> ToolNames(const std::vector<KnownTool>& tools, const Policy& policy);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_POLICY_TOOLS_H_
