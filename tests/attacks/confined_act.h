// One act after lock-down: a throw-away process confines itself as a session does, without Python, performs
// the act, and the caller learns how the kernel answered.
#ifndef GLOVEPORT_TESTS_ATTACKS_CONFINED_ACT_H_
#define GLOVEPORT_TESTS_ATTACKS_CONFINED_ACT_H_

#include <functional>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

// Returns what the system call returned, -1 with errno.
using Act = std::function<long()>;

// "EPERM", "ENOSYS", "ENOTSUP"       refused by the filter with this error
// "killed"                           the process was ended by the filter
// "host refuses", "host: thread", "host: signal"  the host was asked; it refuses here whatever it is
// "passed"                           the kernel was reached: success or any other error
// An error where the process could not confine itself.
Result<std::string> AnswerTo(const SyscallFilter& filter, const Act& act);

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_ATTACKS_CONFINED_ACT_H_
