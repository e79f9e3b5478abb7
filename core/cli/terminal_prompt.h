// TerminalPrompt: what the tool ask_user asks is put to whoever sits at the terminal.
#ifndef GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_
#define GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gloveport/core/cli/terminal_dialog.h"
#include "gloveport/tools/builtin/ask_user.h"

namespace gloveport {

// Thread-safe. The console must outlive it.
class TerminalPrompt : public UserPrompt {
 public:
  // Null where nobody can be asked.
  static std::shared_ptr<TerminalPrompt> Find(Console& console);
  explicit TerminalPrompt(std::unique_ptr<TerminalDialog> dialog) : dialog_(std::move(dialog)) {}

  void Ask(const UserQuestion& question, Answer answer) override;
  void Withdraw(std::uint64_t id) override { dialog_->Withdraw(id); }

 private:
  std::optional<std::string> Put(const UserQuestion& question);

  const std::unique_ptr<TerminalDialog> dialog_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TERMINAL_PROMPT_H_
