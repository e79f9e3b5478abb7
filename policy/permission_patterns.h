// The patterns in permissions of Claude Code, as constraints of a tool rule. Pure.
//
// For a rule that allows, a constraint never holds for more than the pattern; for one that asks or denies,
// never for less.
#ifndef GLOVEPORT_POLICY_PERMISSION_PATTERNS_H_
#define GLOVEPORT_POLICY_PERMISSION_PATTERNS_H_

#include <optional>
#include <string>
#include <string_view>

#include "gloveport/policy/policy.h"

namespace gloveport {

struct TranslatedPattern {
  std::optional<ArgumentConstraint> constraint;  // absent: it cannot be said
  std::string note;  // what became stricter, or why it cannot be said; may be empty
};

// "npm run test:*", "git * main", "ls": of a shell command.
TranslatedPattern TranslateCommand(std::string_view pattern, Effect effect);

// "//abs/**", "~/x", "/of/the/project", "./x", "*.env": of a path, by the rules of gitignore. `root` is the
// project's folder, where it is known.
TranslatedPattern TranslatePath(std::string_view pattern, Effect effect,
                                const std::optional<std::string>& root);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_PERMISSION_PATTERNS_H_
