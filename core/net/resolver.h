// Names to addresses, with a deadline: the C library's resolver has none and cannot be interrupted.
#ifndef GLOVEPORT_CORE_NET_RESOLVER_H_
#define GLOVEPORT_CORE_NET_RESOLVER_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/io_wait.h"

namespace gloveport {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  int family() const { return storage.ss_family; }
};

// At least one stream address, in the order in which they are to be tried. kIo with the resolver's own words
// when the name has none. A name is resolved on a thread of its own, which outlives a wait that was given up
// and then ends by itself, touching nothing of the caller's.
Result<std::vector<SocketAddress>> Resolve(const std::string& host, std::uint16_t port, IoWait& wait);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_RESOLVER_H_
