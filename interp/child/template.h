// Template: a warm interpreter that forks sessions on request. It never runs model code and stays
// single-threaded.
#ifndef GLOVEPORT_INTERP_CHILD_TEMPLATE_H_
#define GLOVEPORT_INTERP_CHILD_TEMPLATE_H_

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/template_messages.h"
#include "gloveport/policy/policy.h"

namespace gloveport::child {

// Warms up, answers the start packet, then serves requests until the host closes its end. Returns the exit
// status; in a forked session it returns when that session ends.
int RunTemplate(UniqueFd control, const wire::TemplateStart& start, const Policy& policy);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_TEMPLATE_H_
