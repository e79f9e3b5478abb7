#include "gloveport/core/serve/mcp/random_handle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace gloveport {

Result<std::string> RandomHandle() {
  std::array<std::uint8_t, 16> bytes;
  ssize_t got = -1;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  // So few bytes come whole or not at all.
  if (got != static_cast<ssize_t>(bytes.size())) return FailErrno("the kernel gives no random bytes", errno);
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace gloveport
