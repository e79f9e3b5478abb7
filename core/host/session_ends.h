// SessionEnds: all that host and session talk over, both ends of it, made by the host before the session is.
#ifndef GLOVEPORT_CORE_HOST_SESSION_ENDS_H_
#define GLOVEPORT_CORE_HOST_SESSION_ENDS_H_

#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/channel.h"

namespace gloveport {

struct SessionEnds {
  static Result<SessionEnds> Make();

  // The session's ends in the order of ForkRequest (core/wire/template_messages.h); borrowed.
  std::vector<int> ForSession() const;

  // The host's: non-blocking.
  Channel channel;
  UniqueFd out;
  UniqueFd err;

  // The session's.
  UniqueFd session_socket;
  UniqueFd session_out;
  UniqueFd session_err;
  UniqueFd session_ring;
  UniqueFd session_wake;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_ENDS_H_
