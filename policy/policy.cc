#include "gloveport/policy/policy.h"

#include <algorithm>

namespace gloveport {
namespace {

bool Covers(const std::vector<std::string>& names, std::string_view module) {
  return std::any_of(names.begin(), names.end(), [module](const std::string& name) {
    if (name == "*" || module == name) return true;
    return module.size() > name.size() && module[name.size()] == '.' && module.starts_with(name);
  });
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
  if (Covers(deny, module)) return Effect::kDeny;
  if (Covers(ask, module)) return Effect::kAsk;
  if (Covers(allow, module)) return Effect::kAllow;
  return Effect::kDeny;
}

bool Policy::Requires(std::string_view layer) const {
  return std::find(required_layers.begin(), required_layers.end(), layer) != required_layers.end();
}

}  // namespace gloveport
