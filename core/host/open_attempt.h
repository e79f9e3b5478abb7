// OpenAttempt: what a stopped call of open, openat, openat2 or creat asks for.
#ifndef GLOVEPORT_CORE_HOST_OPEN_ATTEMPT_H_
#define GLOVEPORT_CORE_HOST_OPEN_ATTEMPT_H_

#include <linux/seccomp.h>

#include <string>

#include "gloveport/core/host/session_memory.h"

namespace gloveport {

struct OpenAttempt {
  std::string path;  // absolute in the session's root, as bytes; empty where it cannot be read
  int flags = 0;     // as of open(2)
};

OpenAttempt ReadOpen(const seccomp_notif& call, const SessionMemory& memory);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_OPEN_ATTEMPT_H_
