#include "gloveport/policy/presets.h"

#include <fmt/format.h>

#include <vector>

#include "gloveport/policy/codec.h"
#include "gloveport/policy/json_reader.h"
#include "gloveport/policy/suggest.h"

namespace gloveport {

std::optional<std::string_view> PresetText(std::string_view name) {
  for (const Preset& preset : Presets()) {
    if (preset.name == name) return preset.text;
  }
  return std::nullopt;
}

Result<Policy> PresetPolicy(std::string_view name) {
  const auto text = PresetText(name);
  if (!text) {
    std::vector<std::string_view> names;
    for (const Preset& preset : Presets()) names.push_back(preset.name);
    return Fail(ErrorCode::kNotFound, fmt::format("there is no preset {}", QuoteJson(name.substr(0, 100))),
                SuggestionFor(name, names));
  }
  ASSIGN_OR_RETURN(Policy policy, ParsePolicy(*text, fmt::format("preset {}", name)));
  policy.name = name;
  return policy;
}

}  // namespace gloveport
