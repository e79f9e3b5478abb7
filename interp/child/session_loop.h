// RunSession: serves one session over its channel.
#ifndef GLOVEPORT_INTERP_CHILD_SESSION_LOOP_H_
#define GLOVEPORT_INTERP_CHILD_SESSION_LOOP_H_

#include <optional>

#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/messages.h"
#include "gloveport/policy/policy.h"

namespace gloveport {

struct SessionConfig {
  bool inspector = false;  // answers check, syntax and validate; runs no cells
  Policy policy;
  std::optional<wire::Encoded> ready_report;  // with it RunSession first says that it is ready
};

// What all sessions of a template have in common besides modules: streams, builtins, hooks, guard. Done in
// the template, its pages need not be copied in each of them. RunSession does it where it has not been done.
// With the GIL held.
Status PrepareSessions(const SessionConfig& config);

// Takes the host's messages one by one until the channel closes; returns the exit status for the process (0:
// the host closed the channel; 1: the channel broke or the session could not be prepared). Besides answers
// it sends nothing but that it is ready.
//
// Call it once per process, on the main thread with the GIL held, after Interpreter::Start and lock-down.
// Descriptors 1 and 2 are the cell's stdout and stderr. Afterwards leave the process by _exit: threads of
// cells may still run.
int RunSession(Channel channel, const SessionConfig& config);

}  // namespace gloveport

#endif  // GLOVEPORT_INTERP_CHILD_SESSION_LOOP_H_
