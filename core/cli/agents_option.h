// The option --agents: a file that names agents which code can call as tools (core/agent/agent_tool.h).
//
//   {
//     "researcher": {
//       "description": "Finds facts in the reports",     // for the agent that calls it; needed
//       "model": "openai:NAME",                          // as --model has it; absent: that of the run
//       "policy": "default",                             // a preset, or a file; absent: that of the run
//       "tools": ["read_text"],                          // out of the run's; absent: none
//       "instructions": "Cite the file and the line.",
//       "max_steps": 10,                                 // of each call
//       "timeout_s": 60,                                 // of each call; absent: what its cell has left
//       "schema": {"type": "string"},                    // JSON Schema of its answer
//       "async": true                                    // to be awaited in the cell
//     }
//   }
//
// Paths are relative to the file; comments are allowed.
#ifndef GLOVEPORT_CORE_CLI_AGENTS_OPTION_H_
#define GLOVEPORT_CORE_CLI_AGENTS_OPTION_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/agent_tool.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/model/model.h"

namespace gloveport {

// What --help says of it.
extern const char* const kAgentsHelp;

struct NamedAgent {
  AgentToolOptions options;        // without tools, budget and listeners
  std::vector<std::string> tools;  // by name
  std::unique_ptr<Model> model;    // null: that of the run
};

// `policy` is that of the run. kInvalidArgument with the place for what is wrong in the file.
Result<std::vector<NamedAgent>> ReadAgents(const std::string& file, const Policy& policy);

// Who hears a call of the agent `name`.
using ListenToAgent = std::function<AgentToolOptions::Listeners(std::string_view name, const CallContext&)>;

// What the agents share with the run that calls them.
struct AgentCaller {
  Runtime& runtime;
  Model& model;
  const SessionOptions& session;  // its tools and approver
  const AgentOptions& options;    // its budget, prices, check and rules for what goes out
  ListenToAgent listen;           // may be empty
};

// The caller's tools and the agents. `runtime`, all models and `agents` must outlive it. kInvalidArgument for
// a tool that there is not, a name that is taken, or a schema that is none.
Result<std::shared_ptr<const ToolRegistry>> AddAgents(const std::vector<NamedAgent>& agents,
                                                      const AgentCaller& caller);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_AGENTS_OPTION_H_
