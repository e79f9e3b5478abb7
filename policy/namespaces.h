// Namespaces of a template and its sessions. Every function acts on the calling process, which must be
// single-threaded, and is irreversible.
#ifndef GLOVEPORT_POLICY_NAMESPACES_H_
#define GLOVEPORT_POLICY_NAMESPACES_H_

#include <sys/types.h>

#include <string_view>

#include "gloveport/core/base/result.h"

namespace gloveport {

// uid and gid inside: never 0.
inline constexpr uid_t kSandboxUid = 1000;

// An error of a step that the machine does not allow: kConfinementUnavailable, with what to do about it.
tl::unexpected<Error> NamespacesUnavailable(std::string_view what, int error_number);

// Gives up root for `uid`, which must not be 0: groups, gid, uid, and every capability with them.
[[nodiscard]] Status BecomeUser(uid_t uid, gid_t gid);

// A new user namespace in which the caller's own uid and gid appear as kSandboxUid, with a mount namespace
// that it owns. `proc_self` is a directory descriptor of /proc/self, for /proc may not be visible here.
// kConfinementUnavailable with the remedy where the machine refuses it.
[[nodiscard]] Status EnterUserAndMountNamespace(int proc_self);

// New pid (for children), ipc, uts and net namespaces; sets the constant host name.
[[nodiscard]] Status EnterOtherNamespaces();

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_NAMESPACES_H_
