// AttackSetting: under which policy a payload is tried.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_SETTING_H_
#define GLOVEPORT_CORE_CLI_ATTACK_SETTING_H_

#include <chrono>
#include <optional>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/session.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

enum class AttackSetting {
  kInspected,  // the preset "default" as a model meets it
  kDefault,    // the same without the inspector: the import table and the kernel
  kOpen,       // every import allowed, no inspector, the audit hook taken out: the kernel alone
  kWitnessed,  // as open, and the host sees each file that is opened
  kDegraded,   // as open, without an own root: for machines that have no user namespaces
};
inline constexpr AttackSetting kAttackSettings[] = {AttackSetting::kInspected, AttackSetting::kDefault,
                                                    AttackSetting::kOpen, AttackSetting::kWitnessed,
                                                    AttackSetting::kDegraded};

std::string_view AttackSettingName(AttackSetting setting);  // "inspected", "default", "open" ...
std::optional<AttackSetting> AttackSettingFromName(std::string_view name);

// `time`: the wall and CPU limit of a payload; the other limits are the preset's.
Result<Policy> AttackPolicy(AttackSetting setting, std::chrono::milliseconds time);
InspectMode AttackInspection(AttackSetting setting);
bool TakesHookOut(AttackSetting setting);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_SETTING_H_
