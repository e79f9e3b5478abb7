// ApprovalDesk: where one session's questions to a person are asked, and the answers are checked. It keeps
// what was granted for good, and tells the sink of every question and decision.
//
// Thread-safe.
#ifndef GLOVEPORT_CORE_HOST_APPROVAL_DESK_H_
#define GLOVEPORT_CORE_HOST_APPROVAL_DESK_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/host/session.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// The JSON text of a tool call whose SHA-256 a decision covers.
std::string ToolCallText(std::string_view tool, const Value& arguments);

// A question that was asked. The approver may answer when it likes; the desk looks here.
class PendingApproval {
 public:
  PendingApproval(ApprovalRequest request, std::function<void()> wake)
      : request_(std::move(request)), wake_(std::move(wake)) {}

  const ApprovalRequest& request() const { return request_; }
  void Answer(ApprovalDecision decision);  // the first counts
  std::optional<ApprovalDecision> decision() const;
  void Forget();  // nobody is woken any more

 private:
  const ApprovalRequest request_;
  mutable std::mutex mutex_;
  std::optional<ApprovalDecision> decision_;
  std::function<void()> wake_;
};

class ApprovalDesk {
 public:
  // `approver` may be null: then nobody is there; so may `sink`. `wake` is called when an answer has come.
  ApprovalDesk(std::string session, std::shared_ptr<Approver> approver, std::chrono::milliseconds timeout,
               std::shared_ptr<EventSink> sink, std::function<void()> wake);

  bool someone_is_there() const { return approver_ != nullptr; }

  // Fills in id, hash and deadline, and asks. The answer is at hand at once where a grant covers it.
  std::shared_ptr<PendingApproval> Ask(ApprovalRequest request) { return Ask(std::move(request), wake_); }
  // The same for somebody else who waits: `wake` in the place of the desk's.
  std::shared_ptr<PendingApproval> Ask(ApprovalRequest request, std::function<void()> wake);

  // Nothing while it is still waited for. Else what holds: a decision on something else than what was asked,
  // one that came too late or could not be recorded is a denial with the reason. Once only.
  std::optional<ApprovalDecision> Settle(PendingApproval& pending);
  void Withdraw(PendingApproval& pending);

  std::vector<Grant> grants() const;
  void Inherit(std::vector<Grant> grants);
  Status Revoke(std::string_view grant);

 private:
  void Close(PendingApproval& pending, const ApprovalDecision& decision);
  bool UseGrant(const ApprovalRequest& request, ApprovalDecision& decision);

  const std::string session_;
  const std::shared_ptr<Approver> approver_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<EventSink> sink_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<Grant> grants_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_APPROVAL_DESK_H_
