// SessionMemory: what the host reads in the memory of a session's process while one of its calls is stopped.
// Everything there is the session's to choose, and another of its threads may change it at any time. Nothing
// can be read where the kernel does not let the host (a session of an ordinary user's host that is not
// dumpable).
#ifndef GLOVEPORT_CORE_HOST_SESSION_MEMORY_H_
#define GLOVEPORT_CORE_HOST_SESSION_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gloveport {

class SessionMemory {
 public:
  static constexpr std::size_t kMaxTextBytes = 4096;

  explicit SessionMemory(pid_t process) : process_(process) {}

  // How many bytes from `address` on could be read into `bytes`.
  std::size_t Read(std::uint64_t address, std::span<std::byte> bytes) const;
  // A text that ends with a zero byte, cut at kMaxTextBytes: bytes as they are. Nothing where the first byte
  // cannot be read.
  std::optional<std::string> ReadText(std::uint64_t address) const;

 private:
  pid_t process_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SESSION_MEMORY_H_
