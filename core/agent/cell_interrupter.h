// CellInterrupter: while it lives, a stop request interrupts the cell that its session runs. Internal to
// core/agent.
//
// The request is repeated until the cell has ended: it may come in the moment before the cell starts, and
// code may catch the first KeyboardInterrupt.
#ifndef GLOVEPORT_CORE_AGENT_CELL_INTERRUPTER_H_
#define GLOVEPORT_CORE_AGENT_CELL_INTERRUPTER_H_

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "gloveport/core/host/session.h"

namespace gloveport {

class CellInterrupter {
 public:
  CellInterrupter(Session& session, std::stop_token request);
  ~CellInterrupter() = default;  // ends the thread

 private:
  void Watch(Session& session, const std::stop_token& request, const std::stop_token& done);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_CELL_INTERRUPTER_H_
