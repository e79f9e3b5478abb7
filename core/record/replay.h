// Replay: runs what an audit log recorded once more and compares what comes of it.
//
// Cells, variables, files put, checkpoints, branches and approvals are taken from the log in its order; tools
// answer what they answered then, unless they are to be called anew. Policy, seed and clock are the recorded
// ones: what depends on the real time, on random numbers without a seed, on how fast the machine is or on the
// order of threads may differ.
#ifndef GLOVEPORT_CORE_RECORD_REPLAY_H_
#define GLOVEPORT_CORE_RECORD_REPLAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

struct ReplayOptions {
  // Called anew under their names, in place of the recorded answers; null: every answer comes from the log.
  std::shared_ptr<const ToolRegistry> live_tools;
  RuntimeOptions runtime;  // `record` is replaced
};

struct Divergence {
  std::string session;     // as recorded
  std::int64_t cell = -1;  // -1: no cell's
  std::string what;        // "outcome", "value", "stdout", "tool_calls", "files" ...
  Json recorded;
  Json now;
};

struct ReplayReport {
  std::uint64_t sessions = 0;
  std::uint64_t cells = 0;              // that were run again
  std::vector<Divergence> divergences;  // in the log's order
  std::vector<std::string> gaps;  // what the log does not hold, and so could not be repeated or compared
};

// A log as ReadLog gives it. kInvalidArgument where it has no session, or what it says of one cannot be used.
Result<ReplayReport> Replay(const std::vector<Json>& records, const ReplayOptions& options = {});

// Brings sessions back to where the log ends: those that the log does not close.
struct Resumed {
  std::unique_ptr<Runtime> runtime;                          // outlives the sessions
  std::map<std::string, std::unique_ptr<Session>> sessions;  // by recorded id
  ReplayReport report;
};
Result<Resumed> Resume(const std::vector<Json>& records, const ReplayOptions& options = {});

Json ToJson(const ReplayReport& report);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_REPLAY_H_
