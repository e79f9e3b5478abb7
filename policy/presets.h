// The shipped policies, embedded from policy/presets/*.json when Gloveport is built.
#ifndef GLOVEPORT_POLICY_PRESETS_H_
#define GLOVEPORT_POLICY_PRESETS_H_

#include <optional>
#include <span>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

struct Preset {
  std::string_view name;
  std::string_view text;  // JSON with comments, as a person would want to read it
};

std::span<const Preset> Presets();  // in order of their names
std::optional<std::string_view> PresetText(std::string_view name);

// The JSON Schema of policy files, for editors: policy/policy.schema.json.
std::string_view PolicySchema();

// kNotFound with the names that exist.
Result<Policy> PresetPolicy(std::string_view name);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_PRESETS_H_
