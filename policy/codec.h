// Policies as JSON. The form is that of DESIGN's policy object and policy.schema.json: JSON with comments,
// unknown keys are errors. All functions are pure but LoadPolicy, and may be called from any thread.
//
// Meaning of "extends": the policy begins as a copy of that preset. The lists under imports, builtins,
// attributes, files.read, packages, preload and redact, and cost.prices, are added to the preset's; tool
// rules come before the preset's; every other key replaces the preset's value. Without "extends" a policy
// begins with no importable module and the default limits.
#ifndef GLOVEPORT_POLICY_CODEC_H_
#define GLOVEPORT_POLICY_CODEC_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// Something that is legal and probably not meant, such as a rule that can never match.
struct PolicyWarning {
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in characters
  std::string message;
  friend bool operator==(const PolicyWarning&, const PolicyWarning&) = default;
};

struct PolicyError {
  int line = 0;  // 1-based; 0 where the fault is with the text as a whole
  int column = 0;
  std::string message;
  std::string hint;
  friend bool operator==(const PolicyError&, const PolicyError&) = default;
};

// All that can be said of a policy's text at once, for people who write one.
struct PolicyReport {
  std::optional<Policy> policy;  // absent where there are errors
  std::vector<PolicyError> errors;
  std::vector<PolicyWarning> warnings;
};

// Reads on after an error where that makes sense: a wrong value does not hide the next one.
PolicyReport CheckPolicy(std::string_view text);

// `origin` names the text in errors ("origin:line:column: ..."), for example a file name. Errors:
// kInvalidArgument with what is allowed in the hint, kResourceExhausted for more than 1 MiB of text.
// `warnings` may be null.
Result<Policy> ParsePolicy(std::string_view text, std::string_view origin,
                           std::vector<PolicyWarning>* warnings = nullptr);

// A preset's name, or the path of a policy file. kNotFound where it is neither.
Result<Policy> LoadPolicy(std::string_view name_or_path, std::vector<PolicyWarning>* warnings = nullptr);

// The whole policy in one line, with every key and without "extends"; the same text for equal policies.
// ParsePolicy of it gives an equal policy.
std::string PolicyToJson(const Policy& policy);

// The attributes that the inspector refuses unless "attributes.allow" names them. (Members of modules, such
// as "sys._getframe", come on top.)
std::span<const std::string_view> GuardedAttributes();

// The names that "layers.require" may hold.
std::span<const std::string_view> KnownLayers();

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_CODEC_H_
