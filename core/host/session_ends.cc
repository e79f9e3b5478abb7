#include "gloveport/core/host/session_ends.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {

// Each side wakes the other with a socket pair and no eventfd: that would be one open file in both processes,
// and a session that clears O_NONBLOCK there could make the host wait for ever.
Result<SessionEnds> SessionEnds::Make() {
  ASSIGN_OR_RETURN(auto socket, MakeSocketPair());
  ASSIGN_OR_RETURN(Pipe out, MakePipe());
  ASSIGN_OR_RETURN(Pipe err, MakePipe());
  ASSIGN_OR_RETURN(auto ring, RingMemory::Make());
  ASSIGN_OR_RETURN(auto wake, MakeSocketPair());
  UniqueFd wake_again(
      ::fcntl(wake.first.get(), F_DUPFD_CLOEXEC, 0));  // the same end, for the other direction
  if (!wake_again) return FailErrno("fcntl(F_DUPFD_CLOEXEC)", errno);
  for (const int fd : {socket.first.get(), out.read_end.get(), err.read_end.get()})
    RETURN_IF_ERROR(SetNonBlocking(fd));
  SessionEnds ends;
  ends.channel = Channel(std::move(socket.first));
  ends.channel.Attach(RingEnd::ForHost(std::move(ring.first), std::move(wake.first), std::move(wake_again)));
  ends.out = std::move(out.read_end);
  ends.err = std::move(err.read_end);
  ends.session_socket = std::move(socket.second);
  ends.session_out = std::move(out.write_end);
  ends.session_err = std::move(err.write_end);
  ends.session_ring = std::move(ring.second);
  ends.session_wake = std::move(wake.second);
  return ends;
}

std::vector<int> SessionEnds::ForSession() const {
  return {session_socket.get(), session_out.get(),  session_err.get(),
          session_ring.get(),   session_wake.get(), session_wake.get()};
}

}  // namespace gloveport
