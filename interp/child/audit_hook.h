// The audit hook: C, installed before Python starts, so that nothing runs unseen.
//
// It explains and it reports; it does not protect. Native code, and enough pure Python, can unlink it; the
// kernel's layers are the boundary, and refuse the same attempts with an errno that says less.
#ifndef GLOVEPORT_INTERP_CHILD_AUDIT_HOOK_H_
#define GLOVEPORT_INTERP_CHILD_AUDIT_HOOK_H_

#include <string>
#include <vector>

#include "gloveport/core/base/result.h"

namespace gloveport::child {

// Before Py_Initialize. In a session it reports files that cells open, and answers attempts to start programs
// or processes and to reach a network with a PermissionError that says what to do instead. In the template it
// does nothing.
Status InstallAuditHook();

// Files below these folders are the runtime's own and are not reported.
void SetRuntimeFolders(std::vector<std::string> folders);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_AUDIT_HOOK_H_
