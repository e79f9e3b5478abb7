#include "gloveport/core/cli/attack_setting.h"

#include <utility>

#include "gloveport/policy/presets.h"

namespace gloveport {
std::string_view AttackSettingName(AttackSetting setting) {
  switch (setting) {
    case AttackSetting::kInspected:
      return "inspected";
    case AttackSetting::kDefault:
      return "default";
    case AttackSetting::kOpen:
      return "open";
    case AttackSetting::kWitnessed:
      return "witnessed";
    case AttackSetting::kDegraded:
      return "degraded";
  }
  return "open";
}

std::optional<AttackSetting> AttackSettingFromName(std::string_view name) {
  for (const AttackSetting setting : kAttackSettings) {
    if (AttackSettingName(setting) == name) return setting;
  }
  return std::nullopt;
}

Result<Policy> AttackPolicy(AttackSetting setting, std::chrono::milliseconds time) {
  ASSIGN_OR_RETURN(Policy policy, PresetPolicy(TakesHookOut(setting) ? "open" : "default"));
  if (setting != AttackSetting::kInspected) policy.inspection = Inspection::kOptional;
  if (setting == AttackSetting::kWitnessed) policy.evidence.opens = EvidenceSource::kKernel;
  if (setting == AttackSetting::kDegraded) {
    policy.required_layers = {"seccomp", "landlock"};
    // Native modules cannot be loaded later in that mode, and without them most payloads would end at an
    // import.
    policy.preload = {"ctypes",
                      "mmap",
                      "socket",
                      "sqlite3",
                      "resource",
                      "fcntl",
                      "hashlib",
                      "asyncio",
                      "array",
                      "_decimal",
                      "termios",
                      "select",
                      "_posixshmem",
                      "zipfile",
                      "lzma",
                      "readline",
                      "_xxsubinterpreters",
                      "multiprocessing",
                      "subprocess"};
  }
  policy.limits.wall = policy.limits.cpu = time;
  policy.tools.rules = {ToolRule{"tool_secret", Effect::kDeny, {}}};
  return policy;
}

bool TakesHookOut(AttackSetting setting) {
  return setting == AttackSetting::kOpen || setting == AttackSetting::kWitnessed ||
         setting == AttackSetting::kDegraded;
}

InspectMode AttackInspection(AttackSetting setting) {
  return setting == AttackSetting::kInspected ? InspectMode::kAsPolicySays : InspectMode::kOff;
}

}  // namespace gloveport
