// What processes hold in memory, as the kernel counts it.
#ifndef GLOVEPORT_TESTS_BENCH_PROCESS_MEMORY_H_
#define GLOVEPORT_TESTS_BENCH_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <set>

#include "gloveport/core/base/result.h"

namespace gloveport::bench {

// Every process below `ancestor`.
std::set<pid_t> ProcessesBelow(pid_t ancestor);

struct PrivateMemory {
  double pages_kib = 0;  // private, dirty or not
  double page_tables_kib = 0;
  double total_mib() const { return (pages_kib + page_tables_kib) / 1024; }
};
// kIo where it may not be read: a session is its own user's, and root reads it.
Result<PrivateMemory> PrivateMemoryOf(pid_t pid);

double AvailableMemoryMib();

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_PROCESS_MEMORY_H_
