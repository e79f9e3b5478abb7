// What a message there and back costs without us: over a socket pair, and by a futex in shared memory.
#ifndef GLOVEPORT_TESTS_BENCH_ROUND_TRIP_H_
#define GLOVEPORT_TESTS_BENCH_ROUND_TRIP_H_

#include <sys/types.h>

#include <memory>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/tests/bench/placement.h"
#include "gloveport/tests/bench/samples.h"

namespace gloveport::bench {

// A child process that does nothing but `body`, until this goes or the program ends.
class Helper {
 public:
  template <typename Body>
  explicit Helper(Body body) : pid_(Fork()) {
    if (pid_ != 0) return;
    body();
    ::_exit(0);
  }
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

 private:
  static pid_t Fork();
  pid_t pid_;
};

// A peer process on the sessions' CPU that sends 14 bytes for each 26 that it gets, as a small tool call
// does.
class RoundTrip {
 public:
  static Result<std::unique_ptr<RoundTrip>> Start(const Placement& placement);
  ~RoundTrip();

  // Mean microseconds per round trip, one sample for each batch.
  Samples OverSocket(int batches, int batch = 100);
  Samples ByFutex(int batches, int batch = 100);

 private:
  struct Shared;
  RoundTrip() = default;

  UniqueFd socket_;
  Shared* shared_ = nullptr;
  std::unique_ptr<Helper> socket_peer_;
  std::unique_ptr<Helper> futex_peer_;
};

// A process that takes all the CPU time it can get, on no CPU in particular.
std::unique_ptr<Helper> StartBusyProcess(const Placement& placement);

}  // namespace gloveport::bench

#endif  // GLOVEPORT_TESTS_BENCH_ROUND_TRIP_H_
