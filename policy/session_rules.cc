#include "gloveport/policy/session_rules.h"

#include "gloveport/policy/environment.h"
#include "gloveport/policy/root_filesystem.h"

namespace gloveport {

LandlockRules SessionRules(const Policy& policy, std::string_view work_folder, bool own_root) {
  LandlockRules rules;
  rules.read_only = RuntimePaths();
  for (const auto& paths : {policy.packages, policy.files.read}) {
    const std::vector<std::string> all = WithLinkTargets(paths);
    rules.read_only.insert(rules.read_only.end(), all.begin(), all.end());
  }
  rules.read_write = WithLinkTargets({std::string(work_folder)});
  rules.read_write.emplace_back("/dev/null");
  if (own_root) rules.read_write.emplace_back(kTempFolder);
  return rules;
}

}  // namespace gloveport
