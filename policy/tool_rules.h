// ToolGate: what a policy's tool rules say of a call. Immutable once compiled; may be used from any thread.
#ifndef GLOVEPORT_POLICY_TOOL_RULES_H_
#define GLOVEPORT_POLICY_TOOL_RULES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/constraint.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// The argument bound to a parameter; nothing where the tool has no such parameter.
using ArgumentLookup = std::function<std::optional<PolicyArgument>(std::string_view parameter)>;

struct ToolDecision {
  Effect effect = Effect::kDeny;
  std::optional<std::size_t> rule;  // index of the rule that decided; absent: the default did
  std::string reason;               // "tool rule 2 (deny send_mail where \"to\")", for messages
};

class ToolGate {
 public:
  // kInvalidArgument for a pattern, path or host that is none (ParsePolicy has refused those already).
  static Result<ToolGate> Compile(const ToolRules& rules);

  // The first rule that matches decides. A rule with `where` matches if all its constraints hold; where a
  // constraint cannot judge the argument (see Judgement), an `ask` or `deny` rule matches and an `allow` rule
  // does not. A constraint on a parameter that the tool does not have never matches.
  ToolDecision Decide(std::string_view tool, const ArgumentLookup& argument) const;

  // Whether no call of the tool can ever be allowed or asked for: for the cell the tool then does not exist.
  bool IsHidden(std::string_view tool) const;

 private:
  struct CompiledRule {
    std::string tool;
    Effect effect = Effect::kDeny;
    std::map<std::string, Constraint> where;
  };
  static bool Matches(const CompiledRule& rule, const ArgumentLookup& argument);

  Effect default_effect_ = Effect::kDeny;
  std::vector<CompiledRule> rules_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_TOOL_RULES_H_
