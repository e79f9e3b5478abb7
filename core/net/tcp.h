// TCP connections with a deadline over all addresses of a host.
#ifndef GLOVEPORT_CORE_NET_TCP_H_
#define GLOVEPORT_CORE_NET_TCP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/byte_stream.h"
#include "gloveport/core/net/io_wait.h"

namespace gloveport {

struct SocketAddress;

// Whether an address may be connected to; an error says why not.
using AdmitAddress = std::function<Status(const SocketAddress&)>;

// Resolves `host` and connects to the first address that accepts. An address that does not answer gets 10 s
// while there is another to try. kIo with the reason of the last address when none accepts. `wait` must
// outlive the stream. `admit`, where it is set, is asked about each address just before it would be connected
// to; one that it refuses is passed over, and its error is that of the whole where no other one accepts.
Result<std::unique_ptr<ByteStream>> ConnectTcp(const std::string& host, std::uint16_t port, IoWait& wait,
                                               const AdmitAddress& admit = {});

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_TCP_H_
