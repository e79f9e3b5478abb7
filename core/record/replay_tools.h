// Tools that answer what a log says they answered, and an approver that decides what was decided then.
#ifndef GLOVEPORT_CORE_RECORD_REPLAY_TOOLS_H_
#define GLOVEPORT_CORE_RECORD_REPLAY_TOOLS_H_

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/approval.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// The answers of one session, by tool and arguments, in the order in which they were given. Thread-safe.
class RecordedAnswers {
 public:
  // Of one call: its tool_call and tool_result records; the latter null where the call has no end in the log.
  void Add(const Json& call, const Json& result);
  // The next one for these arguments; null where the log has none.
  Json Take(const std::string& tool, const std::string& args_sha256);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::deque<Json>> answers_;
};

// `live` may be null; a tool that it has is called anew.
Result<std::shared_ptr<const ToolRegistry>> ReplayTools(const Json& specs,
                                                        std::shared_ptr<RecordedAnswers> answers,
                                                        std::shared_ptr<const ToolRegistry> live);

// Decides by the hash of what is asked; what the log does not know is denied. Thread-safe.
class RecordedApprover : public Approver {
 public:
  void Add(const Json& decision);
  void Ask(const ApprovalRequest& request, Answer answer) override;

 private:
  std::mutex mutex_;
  std::map<std::string, std::deque<Json>> decisions_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_RECORD_REPLAY_TOOLS_H_
