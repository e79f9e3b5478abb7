// The "cost" part of a policy, out of JSON.
#ifndef GLOVEPORT_POLICY_COST_RULES_CODEC_H_
#define GLOVEPORT_POLICY_COST_RULES_CODEC_H_

#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/json_fields.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// Reads `node` into `cost`; prices are added to those that are there, thresholds replace them. `warnings` may
// be null.
Status ReadCostRules(const JsonNode& node, const JsonFields& fields, CostRules& cost,
                     std::vector<PolicyWarning>* warnings);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_COST_RULES_CODEC_H_
