// RunStore: agent runs that were kept, a JSON file each, for looking back, comparing, going on and training.
// Files are readable by their owner only. Thread-safe; several processes may use one folder.
//
// A file: {"gloveport_run": 1, "id", "time", "prompt": [{"role", "content"}], "memory", "audit", "run"},
// where `run` is what evidence.h writes, `memory` what Agent::SaveMemory gives, and `audit` the audit log's
// path or null. What the policy redacts is taken out of all of it.
#ifndef GLOVEPORT_CORE_AGENT_RUN_STORE_H_
#define GLOVEPORT_CORE_AGENT_RUN_STORE_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/agent_result.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/policy/redaction.h"

namespace gloveport {

struct RunExtras {
  Json memory;        // Agent::SaveMemory
  std::string audit;  // path of the audit log; empty: none
};

class RunStore {
 public:
  // `folder` is made where it is not there. kIo where it cannot be.
  static Result<RunStore> Open(const std::filesystem::path& folder);
  // $GLOVEPORT_RUNS, else gloveport/runs in $XDG_STATE_HOME, else in ~/.local/state. kNotFound where none of
  // them is set.
  static Result<std::filesystem::path> DefaultFolder();

  // Returns the run's id, which sorts by time: "20261130-101500-0419a".
  Result<std::string> Save(const AgentResult& result, const RunExtras& extras, const Redactor& redactor);

  // Newest first, at most `most`; files that are no runs are left out.
  Result<std::vector<Json>> List(std::size_t most = 1000) const;
  // By its id, the beginning of one that no other has, "last", or the path of a file. kNotFound with what
  // there is; kInvalidArgument for a file that is no run.
  Result<Json> Load(std::string_view name) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit RunStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<std::vector<std::string>> Ids() const;  // newest first

  std::filesystem::path folder_;
};

// As it would be saved, without a store.
Json RunFile(const AgentResult& result, const RunExtras& extras, const Redactor& redactor,
             std::string_view id, std::string_view time);
// kInvalidArgument, with the reason, for JSON that is none.
Status CheckRunFile(const Json& file);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_AGENT_RUN_STORE_H_
