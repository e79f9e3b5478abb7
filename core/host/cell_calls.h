// CellCalls: the tool calls of one running cell, from the message that asks for one to the answer. The
// policy's tool rules, the limits on calls and the tools' own time limits are applied here.
//
// Used by the thread that runs the cell.
#ifndef GLOVEPORT_CORE_HOST_CELL_CALLS_H_
#define GLOVEPORT_CORE_HOST_CELL_CALLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/host/approval_desk.h"
#include "gloveport/core/host/call_limits.h"
#include "gloveport/core/host/decision_hook.h"
#include "gloveport/core/host/memory_budget.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/core/host/session_process.h"
#include "gloveport/core/host/tool_dispatcher.h"
#include "gloveport/core/host/tool_question.h"
#include "gloveport/core/wire/messages.h"
#include "gloveport/policy/policy.h"
#include "gloveport/policy/tool_rules.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// What the calls of a cell borrow; all of it outlives them.
struct CallEnvironment {
  const std::string& session;
  const Policy& policy;
  const ToolGate& gate;
  const ToolRegistry* tools;  // may be null
  ToolDispatcher& dispatcher;
  SessionTotals& totals;
  ApprovalDesk& desk;
  EventSink* sink;                     // may be null
  std::shared_ptr<DecisionHook> hook;  // asked about every call that the policy does not deny; may be null
  std::chrono::milliseconds hook_time;
};

// The run that the calls belong to: what they can make of it.
class CallOwner {
 public:
  virtual ~CallOwner() = default;
  virtual Deadline deadline() const = 0;           // of the cell
  virtual void Violate(std::string what) = 0;      // the session broke the protocol
  virtual void AddRefusal(Refusal refusal) = 0;    // a call was refused
  virtual void Record(ToolCallRecord record) = 0;  // a call has ended
  virtual void Show(Value display) = 0;            // a tool shows something beside its result
  virtual void OnCallLimit(LimitHit hit) = 0;      // a call was refused for this limit, or its result was
  virtual void OnTooManyRefused() = 0;             // the cell goes on calling what is refused
  virtual void OnHalfAnswer() = 0;                 // the session does not read: it cannot go on
};

class CellCalls {
 public:
  // Code that goes on calling after so many calls were refused will not stop by itself.
  static constexpr std::size_t kMaxRefused = 1000;

  CellCalls(SessionProcess& process, const CallEnvironment& environment, CallOwner& owner,
            std::uint32_t cell);

  void Take(wire::ToolCall& call);
  void AnswerCompleted();
  // Calls that a person has decided about, or that nobody decided about in time.
  void AnswerDecided();
  // The cell has ended: what still waits for a person need not be decided.
  void WithdrawApprovals();
  // Calls of tools that have used up their own time: the cell goes on, whatever the tool does.
  void AnswerLate();

  bool none_in_flight() const { return in_flight_.empty(); }
  bool waits_for_person() const { return waiting_ > 0 || asking_ > 0 || questions_->waits_for_person(); }
  Deadline NextDeadline() const;
  std::uint64_t count() const { return limits_.calls(); }

 private:
  struct InFlight {
    std::shared_ptr<Tool> tool;
    Deadline deadline = Deadline::Never();  // of the tool's own time limit
    std::uint64_t cost = 0;                 // of its arguments in budget_
    std::shared_ptr<PendingApproval> approval;
    bool asks = false;                        // runs, and waits for a person itself
    std::optional<ToolDecision> before_hook;  // the policy's, while the hook is asked
  };

  ToolDecision Judge(const std::string& tool, const Value& arguments) const;
  void Decide(std::uint64_t call, InFlight& in_flight, const ToolDecision& decision, Value arguments);
  void AskHookAbout(std::uint64_t call, InFlight& in_flight, const ToolDecision& decision, Value arguments);
  void OnHookAnswer(std::uint64_t call, InFlight& in_flight, CompletedCall& completed);
  void AskFor(InFlight& in_flight, const ToolDecision& decision, Value arguments);
  void OnDecision(std::uint64_t call, InFlight& in_flight, ApprovalDecision decision);
  void Answer(CompletedCall& completed);
  void Start(std::uint64_t call, InFlight& in_flight, Value::Map arguments);
  void Refuse(std::uint64_t call, std::string tool, std::string type, std::string message, std::string rule);
  bool HasCallsLeft(const ToolSpec& spec);
  void Release(std::map<std::uint64_t, InFlight>::iterator ended);
  Result<wire::Encoded> EncodeResult(const ToolCallRecord& record);
  bool Send(const wire::ToolReply& reply);

  SessionProcess& process_;
  const CallEnvironment environment_;
  CallOwner& owner_;
  const std::uint32_t cell_;
  CallLimits limits_;
  std::size_t refused_ = 0;
  std::size_t waiting_ = 0;                        // for a person's approval
  std::size_t asking_ = 0;                         // tools that wait for a person themselves
  std::map<std::string, std::uint32_t> calls_of_;  // tools with a limit of their own
  const std::shared_ptr<ToolQuestions> questions_;
  MemoryBudget budget_;  // arguments of calls that are not answered yet
  std::map<std::uint64_t, InFlight> in_flight_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_CELL_CALLS_H_
