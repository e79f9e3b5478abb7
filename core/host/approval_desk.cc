#include "gloveport/core/host/approval_desk.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "gloveport/core/host/sha256.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

std::uint64_t NextId() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string HashOf(const ApprovalRequest& request) {
  return Sha256Hex(request.subject == ApprovalSubject::kCell ? request.code
                                                             : ToolCallText(request.tool, request.arguments));
}

ApprovalDecision Denial(std::string reason, std::string by) {
  ApprovalDecision decision;
  decision.reason = std::move(reason);
  decision.by = std::move(by);
  return decision;
}

}  // namespace

std::string ToolCallText(std::string_view tool, const Value& arguments) {
  return DumpJson(Json{{"tool", tool}, {"args", ToJson(arguments)}});
}

void PendingApproval::Answer(ApprovalDecision decision) {
  const std::lock_guard lock(mutex_);
  if (decision_) return;
  decision_ = std::move(decision);
  if (wake_) wake_();
}

std::optional<ApprovalDecision> PendingApproval::decision() const {
  const std::lock_guard lock(mutex_);
  return decision_;
}

void PendingApproval::Forget() {
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  if (!decision_) decision_ = ApprovalDecision();
}

ApprovalDesk::ApprovalDesk(std::string session, std::shared_ptr<Approver> approver,
                           std::chrono::milliseconds timeout, std::shared_ptr<EventSink> sink,
                           std::function<void()> wake)
    : session_(std::move(session)),
      approver_(std::move(approver)),
      timeout_(timeout),
      sink_(std::move(sink)),
      wake_(std::move(wake)) {}

bool ApprovalDesk::UseGrant(const ApprovalRequest& request, ApprovalDecision& decision) {
  const std::lock_guard lock(mutex_);
  const auto grant = std::ranges::find(grants_, request.grant, &Grant::covers);
  if (grant == grants_.end()) return false;
  ++grant->uses;
  decision.allowed = true;
  decision.by = "grant of " + grant->by;
  decision.sha256 = request.sha256;
  return true;
}

std::shared_ptr<PendingApproval> ApprovalDesk::Ask(ApprovalRequest request, std::function<void()> wake) {
  request.id = NextId();
  request.session = session_;
  request.sha256 = HashOf(request);
  request.deadline = Deadline::After(timeout_);
  auto pending = std::make_shared<PendingApproval>(std::move(request), std::move(wake));
  const ApprovalRequest& asked = pending->request();
  ApprovalDecision granted;
  if (UseGrant(asked, granted)) {
    pending->Answer(std::move(granted));
    return pending;
  }
  if (sink_) sink_->OnApprovalAsked(asked.session, asked.cell, asked);
  if (approver_) {
    approver_->Ask(asked, [pending](ApprovalDecision decision) { pending->Answer(std::move(decision)); });
  } else {
    pending->Answer(Denial("nobody is there to give it", "nobody"));
  }
  return pending;
}

std::optional<ApprovalDecision> ApprovalDesk::Settle(PendingApproval& pending) {
  const ApprovalRequest& request = pending.request();
  std::optional<ApprovalDecision> decision = pending.decision();
  if (!decision && !request.deadline.passed()) return std::nullopt;
  if (!decision)
    decision = Denial(fmt::format("approval_timeout: nobody decided within {:g} s",
                                  static_cast<double>(timeout_.count()) / 1e3),
                      "deadline");
  // What runs now must be what was decided on; the arguments have lain here meanwhile.
  const bool same =
      request.sha256 == HashOf(request) && (decision->sha256.empty() || decision->sha256 == request.sha256);
  if (decision->allowed && !same)
    decision = Denial("the decision was made on something else than what would run", decision->by);
  Close(pending, *decision);
  if (decision->allowed && sink_) {
    if (const Status safe = sink_->Commit(); !safe)
      decision = Denial("the decision could not be recorded: " + safe.error().message, "record");
  }
  return decision;
}

void ApprovalDesk::Close(PendingApproval& pending, const ApprovalDecision& decision) {
  const ApprovalRequest& request = pending.request();
  const bool answered = pending.decision().has_value();
  pending.Forget();
  if (!answered && approver_) approver_->Withdraw(request.id);
  if (sink_) sink_->OnApprovalDecided(request.session, request.cell, request, decision);
  if (!decision.allowed || !decision.always) return;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(grants_, request.grant, &Grant::covers) == grants_.end())
    grants_.push_back({request.grant, decision.by, 0});
}

void ApprovalDesk::Withdraw(PendingApproval& pending) {
  Close(pending, Denial("the cell ended while this was waited for", "host"));
}

std::vector<Grant> ApprovalDesk::grants() const {
  const std::lock_guard lock(mutex_);
  return grants_;
}

void ApprovalDesk::Inherit(std::vector<Grant> grants) {
  const std::lock_guard lock(mutex_);
  grants_ = std::move(grants);
}

Status ApprovalDesk::Revoke(std::string_view grant) {
  {
    const std::lock_guard lock(mutex_);
    if (std::erase_if(grants_, [&](const Grant& given) { return given.covers == grant; }) == 0)
      return Fail(ErrorCode::kNotFound, fmt::format("nothing is granted for \"{}\"", grant));
  }
  if (sink_) sink_->OnGrantRevoked(session_, grant);
  return {};
}

}  // namespace gloveport
