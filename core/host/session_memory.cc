#include "gloveport/core/host/session_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gloveport {
namespace {

constexpr std::uint64_t kPage = 4096;  // of the smallest kind: a boundary more does no harm

}  // namespace

std::size_t SessionMemory::Read(std::uint64_t address, std::span<std::byte> bytes) const {
  if (address == 0 || bytes.empty()) return 0;
  // Of what crosses into a page that is not there, the kernel gives whole pieces only.
  const std::size_t first = std::min<std::size_t>(kPage - address % kPage, bytes.size());
  const iovec here{bytes.data(), bytes.size()};
  const std::array<iovec, 2> there = {
      iovec{reinterpret_cast<void*>(address), first},
      iovec{reinterpret_cast<void*>(address + first), bytes.size() - first},
  };
  const ssize_t read = ::process_vm_readv(process_, &here, 1, there.data(), bytes.size() > first ? 2 : 1, 0);
  return read > 0 ? static_cast<std::size_t>(read) : 0;
}

std::optional<std::string> SessionMemory::ReadText(std::uint64_t address) const {
  std::array<std::byte, kMaxTextBytes> bytes;
  const std::size_t size = Read(address, bytes);
  if (size == 0) return std::nullopt;
  const char* text = reinterpret_cast<const char*>(bytes.data());
  return std::string(text, ::strnlen(text, size));
}

}  // namespace gloveport
