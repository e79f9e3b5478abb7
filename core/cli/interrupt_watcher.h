// InterruptWatcher: what Ctrl-C does while a command runs something: the first SIGINT or SIGTERM calls back,
// a second one ends the program. One instance at a time in a process.
#ifndef GLOVEPORT_CORE_CLI_INTERRUPT_WATCHER_H_
#define GLOVEPORT_CORE_CLI_INTERRUPT_WATCHER_H_

#include <atomic>
#include <functional>
#include <thread>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"

namespace gloveport {

class InterruptWatcher {
 public:
  // `on_interrupt` is called at most once, on a thread of the watcher's own.
  explicit InterruptWatcher(std::function<void()> on_interrupt);
  ~InterruptWatcher();  // the signals do what they did before
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  void Trigger();  // as the first signal would
  bool interrupted() const;

 private:
  void Loop();

  const std::function<void()> on_interrupt_;
  UniqueFd wake_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_INTERRUPT_WATCHER_H_
