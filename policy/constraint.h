// Judging one argument of a tool call by an ArgumentConstraint. Pure; a compiled Constraint may be used from
// any thread.
#ifndef GLOVEPORT_POLICY_CONSTRAINT_H_
#define GLOVEPORT_POLICY_CONSTRAINT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/policy.h"

namespace re2 {
class RE2;
}

namespace gloveport {

// As much of an argument as a policy can judge. The caller makes it from the value that the call carries.
struct PolicyArgument {
  struct Opaque {};  // bytes, dicts, objects ...: nothing here can judge them
  using List = std::vector<PolicyArgument>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Opaque>
      value;  // monostate: None
};

// Whether a constraint holds. kUnknown where the argument is of a kind, or in a form, that the constraint
// cannot judge: an `allow` rule then does not match, an `ask` or `deny` rule does.
enum class Judgement { kHolds, kFails, kUnknown };

class Constraint {
 public:
  // kInvalidArgument for a pattern that RE2 does not take or a host that is none.
  static Result<Constraint> Compile(const ArgumentConstraint& constraint);

  // All that is set must hold. A list holds if it is not empty and all its items hold; it fails if all of
  // them fail or it is empty; else the answer is kUnknown. None fails everything but `one_of` with null.
  Judgement Judge(const PolicyArgument& argument) const;

 private:
  Judgement JudgeItem(const PolicyArgument& argument) const;
  Judgement JudgeOneOf(const PolicyArgument& argument) const;
  Judgement JudgeRange(const PolicyArgument& argument) const;
  Judgement JudgeText(const std::string& text) const;
  Judgement JudgePath(std::string_view path) const;

  ArgumentConstraint constraint_;  // path prefix and hosts in their normal form
  std::shared_ptr<const re2::RE2> pattern_;
};

// kInvalidArgument with RE2's reason for a pattern that it does not take.
Status CheckPattern(std::string_view pattern);

// The JSON text of a number, in the form in which `one_of` holds it: "5" for 5 and 5.0, "0.25".
std::string CanonicalNumber(double number);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_CONSTRAINT_H_
