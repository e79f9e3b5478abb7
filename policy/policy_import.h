// Policies out of what other programs call their permissions. Pure.
//
// Nothing becomes looser on the way: what this policy cannot say becomes something stricter, or is left out
// where it would have allowed something; a note says so for each such entry, with its place.
#ifndef GLOVEPORT_POLICY_POLICY_IMPORT_H_
#define GLOVEPORT_POLICY_POLICY_IMPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/json_reader.h"

namespace gloveport {

enum class ImportOutcome {
  kStricter,  // taken, in a form that refuses or asks more often
  kLeftOut,   // not taken; what it would have allowed is asked for or refused
  kHolds,     // not taken because it holds in every session anyway
  kIgnored,   // has nothing to do with a policy, or the other program ignores it too
};
std::string_view ImportOutcomeName(
    ImportOutcome outcome);  // "stricter", "left out", "holds anyway", "ignored"

struct ImportNote {
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in characters
  ImportOutcome outcome = ImportOutcome::kLeftOut;
  std::string message;
};

struct ImportedPolicy {
  std::string text;  // a policy as ParsePolicy reads it, with comments that say where each rule is from
  std::vector<ImportNote> notes;
};

struct ImportOptions {
  std::string extends = "default";
  // The absolute path of the project that the permissions belong to; patterns such as Read(/src/**) are
  // relative to it. Without it they are left out.
  std::optional<std::string> root;
};

// Reads, and tells apart by their keys,
//   {"permissions": {"allow": ["Bash(ls:*)", ...], "ask": [...], "deny": [...]}}   as Claude Code has it
//   {"filesystem": {"denyRead", "allowRead", "allowWrite", "denyWrite"}, "network": {...}}   as
//   sandbox-runtime
// and both in one file. kInvalidArgument for a text that is neither.
Result<ImportedPolicy> ImportPolicy(std::string_view text, std::string_view origin,
                                    const ImportOptions& options = {});

// What has been read so far; the parts below add to it.
struct PolicyDraft {
  struct Rule {
    std::string json;     // {"tool": ...}
    std::string comment;  // where it is from
  };
  std::string default_effect;  // empty: the preset's
  std::vector<Rule> rules;
  std::vector<std::string> read;
  std::vector<ImportNote> notes;

  void Note(JsonPosition at, ImportOutcome outcome, std::string message);
};

// `permissions` is the value of that key.
Status ImportPermissions(const JsonNode& permissions, std::string_view origin, const ImportOptions& options,
                         PolicyDraft& draft);
// `root` has "filesystem", "network" or both.
Status ImportSandbox(const JsonNode& root, std::string_view origin, PolicyDraft& draft);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_POLICY_IMPORT_H_
