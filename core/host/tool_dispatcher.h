// ToolDispatcher: runs the tool calls of one session on threads of its own, so that a slow tool blocks
// neither the host nor the other calls. Completed calls wait in a queue; wake_fd() becomes readable.
#ifndef GLOVEPORT_CORE_HOST_TOOL_DISPATCHER_H_
#define GLOVEPORT_CORE_HOST_TOOL_DISPATCHER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct DispatchedCall {
  std::uint64_t call = 0;
  std::uint32_t cell = 0;
  std::shared_ptr<Tool> tool;
  Value::Map arguments;
  Deadline deadline = Deadline::Never();
  std::function<void(const ToolProgress&)> on_progress;  // CallContext's; both may be empty
  std::function<ApprovalDecision(CallContext&, std::string, Value)> on_ask;
};

struct CompletedCall {
  std::uint64_t call = 0;
  std::uint32_t cell = 0;
  ToolCallRecord record;
  Error error;  // if !record.ok
};

class ToolDispatcher {
 public:
  static Result<std::unique_ptr<ToolDispatcher>> Create(std::string session);
  // Asks running tools to stop and waits for them: a tool must heed CallContext::stop.
  ~ToolDispatcher();
  ToolDispatcher(const ToolDispatcher&) = delete;
  ToolDispatcher& operator=(const ToolDispatcher&) = delete;

  void Dispatch(DispatchedCall call);
  // Performs the call here and now, on the calling thread; StopCalls does not reach it.
  CompletedCall Perform(DispatchedCall& call, std::stop_token stop = {});
  int wake_fd() const { return wake_.get(); }
  std::vector<CompletedCall> TakeCompleted();
  void Wake();  // makes wake_fd() readable without a completed call

  // Asks the calls that wait or run now, or one of them, to stop; what they still answer is dropped by the
  // receiver.
  void StopCalls();
  void StopCall(std::uint32_t cell, std::uint64_t call);

 private:
  explicit ToolDispatcher(std::string session, UniqueFd wake)
      : session_(std::move(session)), wake_(std::move(wake)) {}
  void Work();
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // cell and call

  const std::string session_;
  UniqueFd wake_;  // eventfd
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<DispatchedCall> waiting_;
  std::vector<CompletedCall> completed_;
  std::map<Key, std::stop_source> running_;
  std::size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_TOOL_DISPATCHER_H_
