// TerminalDialog: asks whoever sits at the terminal one question after the other, on a thread of its own.
// What asks and what the answers mean is its users' matter: terminal_approver.h, terminal_prompt.h.
//
// Thread-safe. Dialogs of one process take turns, so that two questions do not take each other's answer.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_DIALOG_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_DIALOG_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/cli/console.h"

namespace gloveport {

class TerminalDialog {
 public:
  // Null where nobody can be asked: no terminal to read from, or to show the question on. The console must
  // outlive it.
  static std::unique_ptr<TerminalDialog> Open(Console& console);
  TerminalDialog(Console& console, UniqueFd terminal);
  // The question that is being asked is over; those that wait are not asked.
  ~TerminalDialog();

  // `put` shows the question and reads the answer, when its turn has come, on the dialog's thread; the
  // console's status line is away meanwhile.
  void Ask(std::uint64_t id, std::function<void()> put);
  // The question needs no answer any more: what waits for a line gets none.
  void Withdraw(std::uint64_t id);

  // ---- for `put` ----
  bool IsOver(std::uint64_t id);  // it was withdrawn, or the dialog ends
  // The line that is typed from here on; nothing where the question is over or the terminal is gone.
  std::optional<std::string> ReadLine(std::uint64_t id);
  void DropTyped();  // what was typed before a question is no answer to it
  Console& console() { return console_; }

 private:
  struct Question {
    std::uint64_t id;
    std::function<void()> put;
  };
  void Work();
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

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_DIALOG_H_
