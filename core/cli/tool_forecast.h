// What the tool rules will say of a call of which only some arguments are known: the call as a cell's text
// has it. Pure.
#ifndef GLOVEPORT_CORE_CLI_TOOL_FORECAST_H_
#define GLOVEPORT_CORE_CLI_TOOL_FORECAST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/policy_source.h"

namespace gloveport {

struct ToolForecast {
  // A rule that decides if arguments that are known at run time only are as it demands.
  struct Possible {
    std::size_t rule = 0;
    std::vector<std::string> unknown;  // the parameters
  };
  std::vector<Possible> possible;   // before `rule`, in order
  std::optional<std::size_t> rule;  // decides otherwise; absent: the default does
  Effect effect = Effect::kDeny;    // of `rule` or the default
};

// `tool` may be null: then positional arguments cannot be told by name.
Result<ToolForecast> ForecastToolCall(const ToolRules& rules, const CodeUse& call, const KnownTool* tool);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TOOL_FORECAST_H_
