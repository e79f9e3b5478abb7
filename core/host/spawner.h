// Spawner: starts gloveport-interp from one long-lived thread. PR_SET_PDEATHSIG fires when the *thread* that
// started a child ends, so children must not be started by a thread that may end before the host does.
#ifndef GLOVEPORT_CORE_HOST_SPAWNER_H_
#define GLOVEPORT_CORE_HOST_SPAWNER_H_

#include <sys/types.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

struct SpawnRequest {
  std::filesystem::path program;
  std::vector<std::string> environment;  // the whole of it
  int control = -1;                      // becomes descriptor 3; the caller keeps its own copy
  int diagnostics = -1;                  // becomes descriptor 2
};

class Spawner {
 public:
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Thread-safe. The child gets /dev/null as 0 and 1, and nothing else of the host. The caller reaps it.
  Result<pid_t> Spawn(const SpawnRequest& request);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::queue<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;  // last: starts when all else stands
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_SPAWNER_H_
