// The "tools" part of a policy, out of JSON.
#ifndef GLOVEPORT_POLICY_TOOL_RULES_CODEC_H_
#define GLOVEPORT_POLICY_TOOL_RULES_CODEC_H_

#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/json_fields.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// Reads `node` into `rules`, whose own rules stay behind those that are read. `warnings` may be null.
Status ReadToolRules(const JsonNode& node, const JsonFields& fields, ToolRules& rules,
                     std::vector<PolicyWarning>* warnings);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_TOOL_RULES_CODEC_H_
