// The session protocol: JSON lines on two descriptors (`gloveport session`). PROTOCOL.md beside this file is
// the reference. Wrappers, test harnesses and programs in other languages use sessions through it.
#ifndef GLOVEPORT_CORE_SERVE_SESSION_PROTOCOL_H_
#define GLOVEPORT_CORE_SERVE_SESSION_PROTOCOL_H_

#include <chrono>
#include <cstddef>
#include <memory>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/question_desk.h"
#include "gloveport/core/serve/served_session.h"

namespace gloveport {

struct SessionProtocolOptions {
  int input_fd = 0;  // borrowed, as is output_fd
  int output_fd = 1;
  std::size_t max_line_bytes = 64u << 20;
  std::size_t max_sessions = 256;
  // Gives a session that is being opened tools of the host besides those that its client declared: `own` and
  // more of other names. Empty: none. Called on several threads.
  AddTools add_tools;
  // How long requests that were received before the input ended may go on, while somebody still reads the
  // output.
  std::chrono::milliseconds linger{5'000};
  // Where tools of the host ask the client's person; null: they ask nobody.
  std::shared_ptr<QuestionDesk> questions;
};

// Serves until the input ends or the reader of the output goes away; then all sessions have been closed and
// no process is left. Malformed lines are answered with errors and do not end it. SIGPIPE must be ignored by
// the program. kIo when the input cannot be read.
Status ServeSessionProtocol(Runtime& runtime, const SessionProtocolOptions& options = {});

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_SESSION_PROTOCOL_H_
