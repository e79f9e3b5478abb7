// Lockdown: what a fork of the template does to become a session, in order; afterwards model code may run.
#ifndef GLOVEPORT_INTERP_CHILD_LOCKDOWN_H_
#define GLOVEPORT_INTERP_CHILD_LOCKDOWN_H_

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/messages.h"
#include "gloveport/core/wire/template_messages.h"
#include "gloveport/policy/policy.h"

namespace gloveport::child {

// Proves, in throw-away forks of the warm template, that the filter ends a process where it must.
[[nodiscard]] Status CheckTemplate(const wire::TemplateStart& start, const Policy& policy);

// Mounts the session's folders, confines the process, hands the notification listener and the work folder to
// the host over the channel (one byte kHandOver with two descriptors), and checks itself. Gives the report
// that Ready will carry. On failure nothing may go on; the host gets SetupFailed where it can still be sent.
[[nodiscard]] Result<wire::Encoded> LockDown(const wire::TemplateStart& start, const Policy& policy,
                                             const wire::ForkRequest& request, Channel& channel);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_LOCKDOWN_H_
