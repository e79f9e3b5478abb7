// ToolQuestions: approvals that tools ask for themselves while they run (CallContext::Ask), on their own
// threads.
#ifndef GLOVEPORT_CORE_HOST_TOOL_QUESTION_H_
#define GLOVEPORT_CORE_HOST_TOOL_QUESTION_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "gloveport/core/host/approval_desk.h"
#include "gloveport/core/host/tool_dispatcher.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/approval.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// Of one cell. Shared by those who ask, which may outlive the cell, but not the session with its desk and
// dispatcher.
class ToolQuestions {
 public:
  ToolQuestions(ApprovalDesk& desk, ToolDispatcher& dispatcher) : desk_(desk), dispatcher_(dispatcher) {}

  bool waits_for_person() const { return waiting_ > 0; }

  // Asks and waits on the calling thread: for the decision, or until the call is stopped, which is a denial.
  // The loop of the cell is woken at both ends, and the deadline of the context moves on by what was waited.
  ApprovalDecision Ask(CallContext& context, const std::string& tool, std::string reason, Value details);

 private:
  ApprovalDesk& desk_;
  ToolDispatcher& dispatcher_;
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_TOOL_QUESTION_H_
