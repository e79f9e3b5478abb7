// Copies of large byte strings into fresh memory: filling it page by page takes longer than the copy, so
// where the system lets programs ask for huge pages, these do.
#ifndef GLOVEPORT_CORE_WIRE_LARGE_COPY_H_
#define GLOVEPORT_CORE_WIRE_LARGE_COPY_H_

#include <cstddef>
#include <span>

#include "gloveport/core/wire/value.h"

namespace gloveport {

inline constexpr std::size_t kLeastHugeBytes = 4u << 20;  // less is filled page by page

// For memory that is about to be filled, by its owner, for the first time. Changes nothing of what is in it.
void PreferHugePages(void* memory, std::size_t size);

Value::Bytes CopyBytes(std::span<const std::byte> bytes);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_WIRE_LARGE_COPY_H_
