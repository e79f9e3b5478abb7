// DescribeArguments: what a stopped system call was about, for records and messages: "AF_INET, SOCK_STREAM"
// of a socket, "127.0.0.1:80" of a connect. Pure but for the memory that it reads.
#ifndef GLOVEPORT_CORE_HOST_CALL_DETAIL_H_
#define GLOVEPORT_CORE_HOST_CALL_DETAIL_H_

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <string>

#include "gloveport/core/host/session_memory.h"

namespace gloveport {

// Valid UTF-8. Empty for calls of which nothing more is known than the name; what stands in memory that
// cannot be read is left out.
std::string DescribeArguments(const seccomp_data& call, const SessionMemory& memory);

// The flags of a clone3, whose arguments stand in memory.
std::optional<std::uint64_t> Clone3Flags(const seccomp_data& call, const SessionMemory& memory);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CALL_DETAIL_H_
