// RandomHandle: names that nobody can guess: of sessions, of parked calls, of connections. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_RANDOM_HANDLE_H_
#define GLOVEPORT_CORE_SERVE_MCP_RANDOM_HANDLE_H_

#include <string>

#include "gloveport/core/base/result.h"

namespace gloveport {

// 32 hex digits out of 128 bits of the kernel's. kIo where it gives none.
Result<std::string> RandomHandle();

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_RANDOM_HANDLE_H_
