// TerminalApprover: asks whoever sits at the terminal, one question after the other, on a thread of its own.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// Thread-safe. The console must outlive it.
class TerminalApprover : public Approver {
 public:
  // Null where nobody can be asked: no terminal to read from, or to show the question on.
  static std::shared_ptr<TerminalApprover> Find(Console& console);
  TerminalApprover(Console& console, UniqueFd terminal);
  ~TerminalApprover() override;

  void Ask(const ApprovalRequest& request, Answer answer) override;
  void Withdraw(std::uint64_t id) override;

 private:
  struct Question {
    ApprovalRequest request;
    Answer answer;
  };

  void Work();
  ApprovalDecision Decide(const ApprovalRequest& request);
  ApprovalDecision DecideAtThePrompt(const ApprovalRequest& request);
  void Show(const ApprovalRequest& request);
  // The line that was typed; nothing where the question was withdrawn or the terminal is gone.
  bool ReadLine(std::uint64_t id, std::string& line);
  void Edit(const ApprovalRequest& request, ApprovalDecision& decision);
  bool IsWithdrawn(std::uint64_t id);
  void Wake();

  Console& console_;
  const UniqueFd terminal_;
  const UniqueFd wake_;  // eventfd
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Question> waiting_;
  std::uint64_t shown_ = 0;     // the question on the screen; 0: none
  bool shown_is_over_ = false;  // it was withdrawn
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_APPROVER_H_
