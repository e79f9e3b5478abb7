// TerminalPrompt: puts questions of the tool ask_user to whoever sits at the terminal, one after the other,
// on a thread of its own.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/tools/builtin/ask_user.h"

namespace gloveport {

// Held by who asks at the terminal, so that an approval and a question do not take each other's answer.
std::mutex& TerminalTurn();

// Thread-safe. The console must outlive it.
class TerminalPrompt : public UserPrompt {
 public:
  // Null where nobody can be asked: no terminal to read from, or to show the question on.
  static std::shared_ptr<TerminalPrompt> Find(Console& console);
  TerminalPrompt(Console& console, UniqueFd terminal);
  ~TerminalPrompt() override;

  void Ask(const UserQuestion& question, Answer answer) override;
  void Withdraw(std::uint64_t id) override;

 private:
  struct Waiting {
    UserQuestion question;
    Answer answer;
  };

  void Work();
  std::optional<std::string> Put(const UserQuestion& question);
  bool IsOver(std::uint64_t id);
  // The line that was typed; nothing where the question was withdrawn or the terminal is gone.
  std::optional<std::string> ReadLine(std::uint64_t id);
  void Wake();

  Console& console_;
  const UniqueFd terminal_;
  const UniqueFd wake_;  // eventfd
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Waiting> waiting_;
  std::uint64_t shown_ = 0;  // the question on the screen; 0: none
  bool shown_is_over_ = false;
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_
