// What `gloveport run` and `gloveport chat` have in common: the options that say who works, with what, under
// which rules and for how much, and what is made of them before anything starts.
#ifndef GLOVEPORT_CORE_CLI_AGENT_FLAGS_H_
#define GLOVEPORT_CORE_CLI_AGENT_FLAGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/cli/agents_option.h"
#include "gloveport/core/cli/audit_option.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/exit_code.h"
#include "gloveport/core/cli/mcp_option.h"
#include "gloveport/core/cli/program.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/model/model.h"

namespace CLI {
class App;
}

namespace gloveport {

struct AgentFlags {
  std::string model;               // as MakeModel reads it
  std::string second_model;        // that, or empty
  std::vector<std::string> files;  // copied into the work folder under their base names
  std::vector<std::string> tools;  // names out of the program's registry
  std::string schema;              // path; empty: any answer
  std::string policy = "default";
  std::string fallback_policy;  // empty: none
  std::string instructions;     // text, or "@FILE"
  std::string system_template;  // path; empty: the built-in one
  std::string task_template;
  int max_steps = 10;
  int plan_every = 0;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_cost;
  std::string prices;  // path; empty: the built-in table
  std::optional<double> timeout_s;
  std::size_t max_verbatim = 0;
  bool fresh_session = false;
  bool save = false;
  bool no_stream = false;
  bool check = false;
  AuditFile audit;
  std::string hook;  // as MakeHook reads it
  McpFlags mcp;
  std::string builtin;  // as WithBuiltinTools reads it
  std::string agents;   // path, as ReadAgents reads it; empty: none
};

// Declares them. `flags` must outlive the parsing.
void AddAgentFlags(CLI::App& command, AgentFlags& flags);

// The tools of the program with these names. kInvalidArgument, with --tools, for one that it does not have.
Result<std::shared_ptr<const ToolRegistry>> GrantTools(const Program& program,
                                                       const std::vector<std::string>& names);

// Everything that a run needs, read and checked before anything starts.
struct AgentInputs {
  std::unique_ptr<Model> model;
  std::unique_ptr<Model> second_model;  // may be null
  std::vector<NamedAgent> agents;       // that code can call
  SessionOptions session;
  AgentOptions agent;  // without a goal and an observer
  std::shared_ptr<DecisionHook> hook;
};

// Errors name the option. The console, at which a tool may ask, must outlive the session.
Result<AgentInputs> ReadAgentInputs(const Program& program, const AgentFlags& flags, Console& console);

// Gives the session an approver where somebody can be asked, the tools of MCP servers, which are started, and
// the agents, whose calls `listen` hears of. `runtime`, the models and the console must outlive the session.
Status Connect(AgentInputs& inputs, const AgentFlags& flags, Runtime& runtime, ListenToAgent listen,
               Console& console);

// What a reader is told before.
void Introduce(const AgentInputs& inputs, const AgentFlags& flags, Console& console);

ExitCode ExitCodeOf(const AgentResult& result);

// What an auditor asks of the run as a whole.
Json RunEnd(const AgentResult& result);

// Keeps the run where --save says so, and says under which id. False, and said, where it could not be kept.
bool SaveRun(const AgentFlags& flags, const Agent& agent, const AgentResult& result, const Policy& policy,
             Console& console);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_AGENT_FLAGS_H_
