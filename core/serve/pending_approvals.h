// PendingApprovals: questions to the person behind one connection that wait for the client's decision.
// Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_PENDING_APPROVALS_H_
#define GLOVEPORT_CORE_SERVE_PENDING_APPROVALS_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

class PendingApprovals {
 public:
  // False where no decision can come any more; the question has been denied then.
  bool Add(std::uint64_t id, Approver::Answer answer);
  void Remove(std::uint64_t id);
  // kNotFound for one that does not wait.
  Status Decide(std::uint64_t id, ApprovalDecision decision);
  // The client has gone: denies all that wait, and every later one at once.
  void Close();

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, Approver::Answer> waiting_;
  bool closed_ = false;
};

// The members of an approval event: {"approval","subject":{"kind","session","cell","code" or "tool" and
// "args", "sha256","reason","grant","deadline_s"}}.
Json ApprovalEvent(const ApprovalRequest& request, std::string_view session);

// Reads {"decision":"allow"|"always"|"deny","reason"?,"sha256"?,"by"?,"code"?,"args"?}. kInvalidArgument.
Result<ApprovalDecision> ReadDecision(const Json& json);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_PENDING_APPROVALS_H_
