// A policy in words for people: what it says, and where each value comes from. Pure functions; what they
// return is safe to show.
#ifndef GLOVEPORT_CORE_CLI_POLICY_PAGE_H_
#define GLOVEPORT_CORE_CLI_POLICY_PAGE_H_

#include <string>

#include "gloveport/core/cli/console.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/policy_source.h"

namespace gloveport {

std::string PolicyPage(const Policy& policy, const PolicySource& source, const Console& console);

// "send_mail where to matches \"@example\\.org$\"".
std::string ToolRuleText(const ToolRule& rule);

Style StyleOf(Effect effect);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_POLICY_PAGE_H_
