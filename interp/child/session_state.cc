#include "gloveport/interp/child/session_state.h"

namespace gloveport::child {

SessionState& State() {
  static auto* state = new SessionState();  // outlives every thread of the process
  return *state;
}

}  // namespace gloveport::child
