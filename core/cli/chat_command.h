// `gloveport chat`: goals one after the other in one session and one conversation, at a terminal or line by
// line from a pipe.
#ifndef GLOVEPORT_CORE_CLI_CHAT_COMMAND_H_
#define GLOVEPORT_CORE_CLI_CHAT_COMMAND_H_

#include <string>

#include "gloveport/core/cli/agent_flags.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/program.h"

namespace gloveport {

struct ChatOptions {
  AgentFlags agent;
  std::string resume;  // a run that was kept, as `gloveport runs` names it; empty: a new conversation
};

ExitCode RunChat(const Program& program, const ChatOptions& options, Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_CHAT_COMMAND_H_
