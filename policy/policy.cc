#include "gloveport/policy/policy.h"

#include <algorithm>

namespace gloveport {
namespace {

// The entry that covers the module; null where none does.
const std::string* Covering(const std::vector<std::string>& names, std::string_view module) {
  const auto found = std::find_if(names.begin(), names.end(), [module](const std::string& name) {
    if (name == "*" || module == name) return true;
    return module.size() > name.size() && module[name.size()] == '.' && module.starts_with(name);
  });
  return found == names.end() ? nullptr : &*found;
}

}  // namespace

std::string_view EffectName(Effect effect) {
  switch (effect) {
    case Effect::kAllow:
      return "allow";
    case Effect::kAsk:
      return "ask";
    case Effect::kDeny:
      return "deny";
  }
  return "deny";
}

Effect ImportRules::EffectOf(std::string_view module) const {
  if (Covering(deny, module)) return Effect::kDeny;
  if (Covering(ask, module)) return Effect::kAsk;
  if (Covering(allow, module)) return Effect::kAllow;
  return Effect::kDeny;
}

ImportDecision ImportRules::Decide(std::string_view module) const {
  if (const std::string* entry = Covering(deny, module)) return {Effect::kDeny, "deny", *entry};
  if (const std::string* entry = Covering(ask, module)) return {Effect::kAsk, "ask", *entry};
  if (const std::string* entry = Covering(allow, module)) return {Effect::kAllow, "allow", *entry};
  return {};
}

bool Policy::Requires(std::string_view layer) const {
  return std::find(required_layers.begin(), required_layers.end(), layer) != required_layers.end();
}

}  // namespace gloveport
