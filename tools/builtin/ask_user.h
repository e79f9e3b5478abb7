// ask_user: a question of the code to the person for whom it runs. The cell waits in the call and its clock
// stands still, as for an approval.
//
//   ask_user(question: str, choices: list[str] | None = None) -> str
#ifndef GLOVEPORT_TOOLS_BUILTIN_ASK_USER_H_
#define GLOVEPORT_TOOLS_BUILTIN_ASK_USER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct UserQuestion {
  std::uint64_t id = 0;  // unique in the process
  std::string session;
  std::string question;              // the code's words: hostile text
  std::vector<std::string> choices;  // the answer must be one of them; empty: any text
};

// Who puts questions to a person: a terminal, a dialogue, a chat. Implemented by the host.
class UserPrompt {
 public:
  // Nothing: the person did not want to answer.
  using Answer = std::function<void(std::optional<std::string>)>;

  virtual ~UserPrompt() = default;
  // Must not block. `answer` may be called at once or later, from any thread, also when nobody waits any
  // more; only the first call counts.
  virtual void Ask(const UserQuestion& question, Answer answer) = 0;
  // The question needs no answer any more. Any thread.
  virtual void Withdraw(std::uint64_t /*id*/) {}
};

struct AskUserOptions {
  std::shared_ptr<UserPrompt> prompt;  // null: nobody is there, and each call says so
  std::chrono::milliseconds timeout{600'000};
  std::size_t max_question_bytes = 4'000;
};

Result<std::shared_ptr<Tool>> MakeAskUser(AskUserOptions options);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_ASK_USER_H_
