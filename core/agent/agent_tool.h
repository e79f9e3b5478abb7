// AgentTool: an agent as a tool of another. Code calls it as a function with a task in words, and it answers
// with what its own run came to: its own session, policy and model, in the budget of the tree.
#ifndef GLOVEPORT_CORE_AGENT_AGENT_TOOL_H_
#define GLOVEPORT_CORE_AGENT_AGENT_TOOL_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct AgentToolOptions {
  std::string name;         // of the function
  std::string description;  // what it is good at, for the agent that calls it
  SessionOptions session;   // of each call
  // Of each call. `goal` is what is called for; to share a budget with the caller, both have the same
  // `budget`. Its observer hears all calls, from several threads at once.
  AgentOptions agent;
  // Who hears one call, and none of the others that run beside it; asked when it begins, on its thread. May
  // be null, and give null.
  struct Listeners {
    std::shared_ptr<AgentObserver> observer;
    std::shared_ptr<EventSink> sink;
  };
  std::function<Listeners(const CallContext&)> on_call;
  // Called with each run's result, on the thread of the call; may be null.
  std::function<void(const AgentResult&)> on_result;
  bool is_async = false;  // a coroutine function in the cell: `await name(...)`, several with asyncio.gather
};

// Thread-safe: calls from several threads run beside each other, each in a session of its own. `runtime` and
// `model` are borrowed and must outlive the tool; the model is asked from several threads.
//
// The function is name(task: str, context: object = None) -> object. It returns the answer; a run that ends
// without one is a ToolError with the stop reason. When the calling cell is interrupted or out of time, so is
// the agent.
class AgentTool : public Tool {
 public:
  AgentTool(Runtime& runtime, Model& model, AgentToolOptions options);

  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments& arguments, CallContext& context) override;

 private:
  Runtime& runtime_;
  Model& model_;
  const AgentToolOptions options_;
  const ToolSpec spec_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_AGENT_TOOL_H_
