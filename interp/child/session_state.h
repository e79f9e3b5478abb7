// SessionState: what the parts of a session share. One per process; fields are guarded by the GIL unless
// atomic.
#ifndef GLOVEPORT_INTERP_CHILD_SESSION_STATE_H_
#define GLOVEPORT_INTERP_CHILD_SESSION_STATE_H_

#include <atomic>
#include <cstdint>

#include "gloveport/interp/child/host_link.h"
#include "gloveport/interp/child/python_ref.h"
#include "gloveport/policy/policy.h"

namespace gloveport::child {

struct SessionState {
  HostLink* link = nullptr;            // null in the template
  const Policy* policy = nullptr;      // null in the template
  PyObject* main_namespace = nullptr;  // __dict__ of __main__
  std::uint32_t cell = 0;              // the running cell, or the last one
  std::atomic<bool> cell_running{false};
  std::atomic<bool> cell_approved{false};  // by a person: what the policy asks for may be imported
};

SessionState& State();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_SESSION_STATE_H_
