// What Landlock lets a session of a policy open: said once, for the session that applies it and for the host
// that tells what to expect of it.
#ifndef GLOVEPORT_POLICY_SESSION_RULES_H_
#define GLOVEPORT_POLICY_SESSION_RULES_H_

#include <string_view>

#include "gloveport/policy/landlock.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

// `work_folder` as the session sees it.
LandlockRules SessionRules(const Policy& policy, std::string_view work_folder, bool own_root);

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_SESSION_RULES_H_
