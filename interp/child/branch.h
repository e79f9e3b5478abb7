// Branch: the session forks because its host asked for it, between two cells and with one thread. Both sides
// go on with everything as it was, random state too. The copy talks to the host over descriptors that the
// host put under agreed numbers while the fork was stopped in its hand.
#ifndef GLOVEPORT_INTERP_CHILD_BRANCH_H_
#define GLOVEPORT_INTERP_CHILD_BRANCH_H_

#include "gloveport/core/wire/messages.h"
#include "gloveport/interp/child/host_link.h"

namespace gloveport::child {

// Finds out where the C library keeps the number of a thread, which a copy has to renew. Once, in the
// template; starts a thread and joins it.
void LearnThreadNumbers();

// Forks. Returns the answer to the request, in the copy too, whose `link` goes over the new descriptors. On
// the main thread, with the GIL.
wire::Reply ForkSession(HostLink& link, const wire::Request& request);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_BRANCH_H_
