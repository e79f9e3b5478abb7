// TerminalApprover: asks whoever sits at the terminal, one question after the other, on a thread of its own.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "gloveport/core/cli/terminal_dialog.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// Thread-safe. The console must outlive it.
class TerminalApprover : public Approver {
 public:
  // Null where nobody can be asked: no terminal to read from, or to show the question on.
  static std::shared_ptr<TerminalApprover> Find(Console& console);
  explicit TerminalApprover(std::unique_ptr<TerminalDialog> dialog) : dialog_(std::move(dialog)) {}

  void Ask(const ApprovalRequest& request, Answer answer) override;
  void Withdraw(std::uint64_t id) override { dialog_->Withdraw(id); }

 private:
  ApprovalDecision Decide(const ApprovalRequest& request);
  void Show(const ApprovalRequest& request);
  void Edit(const ApprovalRequest& request, ApprovalDecision& decision);

  const std::unique_ptr<TerminalDialog> dialog_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_
