// NestedNarrator: tells what an agent does that a cell calls as a tool, below the line of that call: its
// steps, and their tool calls. Thread-safe as a sink; as an observer it belongs to the thread of the call.
#ifndef GLOVEPORT_CORE_CLI_NESTED_NARRATOR_H_
#define GLOVEPORT_CORE_CLI_NESTED_NARRATOR_H_

#include <atomic>
#include <string>
#include <string_view>

#include "gloveport/core/agent/agent_observer.h"
#include "gloveport/core/cli/call_tree.h"
#include "gloveport/core/host/event_sink.h"

namespace gloveport {

class NestedNarrator : public AgentObserver, public EventSink {
 public:
  NestedNarrator(TreeBranch call, std::string tag) : steps_(std::move(call)), tag_(std::move(tag)) {}

  // Other such calls are under way: from here on each line has the tag before it, so that one sees which it
  // belongs to.
  void TagLines() { is_tagged_ = true; }

  // The call has ended; says why where the run never did.
  void Close(std::string_view error);

  // ---- AgentObserver ----
  void OnStep(std::size_t number, std::size_t max_steps) override;
  void OnAction(const Action& action) override;
  void OnCheck(const Result<std::vector<Finding>>& found) override;
  void OnResult(const CellResult& result) override;
  void OnStop(const AgentResult& result) override;

  // ---- EventSink ----
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& call) override;
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override;

 private:
  std::string Tagged(std::string_view text) const;
  TreeBranch InStep() const { return steps_.Below(); }

  const TreeBranch steps_;
  const std::string tag_;
  std::atomic<bool> is_tagged_{false};
  std::atomic<bool> closed_{false};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_NESTED_NARRATOR_H_
