#include "gloveport/core/wire/large_copy.h"

#include <sys/mman.h>

#include <cstdint>

namespace gloveport {

void PreferHugePages(void* memory, std::size_t size) {
  if (size < kLeastHugeBytes) return;
  constexpr std::uintptr_t kHugePage = 2u
                                       << 20;  // only whole ones: the rest of a page may be somebody else's
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (at + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (at + size) & ~(kHugePage - 1);
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // where it cannot be had, without
}

Value::Bytes CopyBytes(std::span<const std::byte> bytes) {
  Value::Bytes copy;
  copy.reserve(bytes.size());
  PreferHugePages(copy.data(), bytes.size());
  copy.assign(bytes.begin(), bytes.end());
  return copy;
}

}  // namespace gloveport
