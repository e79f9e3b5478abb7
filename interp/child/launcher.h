// Launcher: turns a freshly started gloveport-interp into a template, before Python exists in the process:
// user, namespaces, own root. What can be done once for all sessions is done here.
#ifndef GLOVEPORT_INTERP_CHILD_LAUNCHER_H_
#define GLOVEPORT_INTERP_CHILD_LAUNCHER_H_

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/template_messages.h"
#include "gloveport/policy/policy.h"

namespace gloveport::child {

// Returns in the process that becomes the template: pid 1 of the new pid namespace, so that everything in
// there ends with it. The process that was started stays behind only to wait for it, and passes its status
// on. In the degraded mode (start.own_root false) no process is made and only the user changes.
[[nodiscard]] Status BecomeTemplate(const wire::TemplateStart& start, const Policy& policy,
                                    UniqueFd& control);

// Ends with the parent: nothing of ours outlives its host.
[[nodiscard]] Status DieWithParent();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_LAUNCHER_H_
