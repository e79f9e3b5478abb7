#include "gloveport/core/serve/pending_approvals.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gloveport {
namespace {

ApprovalDecision ClientHasGone() {
  ApprovalDecision decision;
  decision.by = "nobody";
  decision.reason = "the client went away before it decided";
  return decision;
}

Result<std::string> OptionalText(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::string();
  if (!found->is_string())
    return Fail(ErrorCode::kInvalidArgument, fmt::format("approve: \"{}\" must be text", key));
  return found->get<std::string>();
}

}  // namespace

bool PendingApprovals::Add(std::uint64_t id, Approver::Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      waiting_.emplace(id, std::move(answer));
      return true;
    }
  }
  answer(ClientHasGone());
  return false;
}

void PendingApprovals::Remove(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(id);
}

Status PendingApprovals::Decide(std::uint64_t id, ApprovalDecision decision) {
  Approver::Answer answer;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end())
      return Fail(ErrorCode::kNotFound, fmt::format("no decision is waited for under the number {}", id),
                  "it may have been too late; answer with the number of the approval event");
    answer = std::move(found->second);
    waiting_.erase(found);
  }
  answer(std::move(decision));
  return {};
}

void PendingApprovals::Close() {
  std::map<std::uint64_t, Approver::Answer> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(waiting_);
  }
  for (const auto& [id, answer] : left) answer(ClientHasGone());
}

Json ApprovalEvent(const ApprovalRequest& request, std::string_view session) {
  const bool is_cell = request.subject == ApprovalSubject::kCell;
  Json subject = {{"kind", is_cell ? "cell" : "tool_call"}, {"session", session}, {"cell", request.cell}};
  if (is_cell) {
    subject["code"] = request.code;
  } else {
    subject["tool"] = request.tool;
    subject["args"] = ToJson(request.arguments);
  }
  subject["sha256"] = request.sha256;
  subject["reason"] = request.reason;
  subject["grant"] = request.grant;
  subject["deadline_s"] = std::chrono::duration<double>(request.deadline.left()).count();
  return {{"approval", request.id}, {"subject", std::move(subject)}};
}

Result<ApprovalDecision> ReadDecision(const Json& json) {
  ApprovalDecision decision;
  const auto word = json.find("decision");
  const std::string text = word != json.end() && word->is_string() ? word->get<std::string>() : "";
  if (text != "allow" && text != "always" && text != "deny")
    return Fail(ErrorCode::kInvalidArgument,
                "approve: \"decision\" must be \"allow\", \"always\" or \"deny\"");
  decision.always = text == "always";
  decision.allowed = text != "deny";
  ASSIGN_OR_RETURN(decision.reason, OptionalText(json, "reason"));
  ASSIGN_OR_RETURN(decision.sha256, OptionalText(json, "sha256"));
  ASSIGN_OR_RETURN(decision.by, OptionalText(json, "by"));
  if (decision.by.empty()) decision.by = "client";
  ASSIGN_OR_RETURN(std::string code, OptionalText(json, "code"));
  if (!code.empty()) decision.code = std::move(code);
  if (const auto args = json.find("args"); args != json.end() && !args->is_null()) {
    ASSIGN_OR_RETURN(Value value, FromJson(*args));
    if (!value.is_map()) return Fail(ErrorCode::kInvalidArgument, "approve: \"args\" must be an object");
    decision.arguments = std::move(value.as_map());
  }
  return decision;
}

}  // namespace gloveport
