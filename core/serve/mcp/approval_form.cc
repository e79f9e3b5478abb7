#include "gloveport/core/serve/mcp/approval_form.h"

#include <fmt/format.h>

#include <chrono>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxReason = 500;
constexpr std::size_t kMaxSubject = 4000;  // of code or arguments that a person reads
constexpr std::string_view kField = "decision";
constexpr std::string_view kAllow = "allow";
constexpr std::string_view kAlways = "always";
constexpr std::string_view kDeny = "deny";

// A person must see what is decided on: an argument that does not fit is said to be cut.
std::string SubjectText(const ApprovalRequest& request) {
  if (request.subject == ApprovalSubject::kCell)
    return "Python code wants to run:\n" + CleanText(request.code, kMaxSubject);
  std::string text = fmt::format("Python code wants to call {}(", CleanLine(request.tool, 200));
  bool first = true;
  if (request.arguments.is_map()) {
    for (const auto& [name, value] : request.arguments.as_map()) {
      text +=
          fmt::format("{}{}={}", first ? "" : ", ", name.is_text() ? name.as_text() : "?", DumpJson(value));
      first = false;
    }
  }
  return CleanText(text + ")", kMaxSubject);
}

}  // namespace

Json ApprovalForm(const ApprovalRequest& request) {
  std::string message = SubjectText(request);
  if (!request.reason.empty()) message += "\n\nWhy you are asked: " + CleanText(request.reason, kMaxReason);
  if (!request.deadline.never()) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(request.deadline.left());
    message += fmt::format("\nWithout an answer within {} s it is refused.", left.count());
  }
  std::string description = "allow: this once. deny: the code is told that it was refused.";
  Json choices = {kAllow, kDeny};
  if (!request.grant.empty()) {
    choices = {kAllow, kAlways, kDeny};
    description += " always: until the session ends, also later: " + CleanLine(request.grant, kMaxReason);
  }
  return {{"mode", "form"},
          {"message", message},
          {"requestedSchema",
           {{"type", "object"},
            {"properties",
             {{kField,
               {{"type", "string"},
                {"title", "Decision"},
                {"description", description},
                {"enum", std::move(choices)}}}}},
            {"required", {kField}}}}};
}

ApprovalDecision ReadApproval(const Json& answer, const ApprovalRequest& request, std::string_view client) {
  ApprovalDecision decision;
  decision.sha256 = request.sha256;
  decision.by = fmt::format("elicitation of the MCP client {}", client.empty() ? "(unnamed)" : client);
  const std::string action = TextOf(answer, "action");
  if (action == "decline") {
    decision.reason = "the user declined";
  } else if (action == "cancel") {
    decision.reason = "the user did not decide";
  } else if (action != "accept") {
    decision.reason = "the MCP client gave no valid answer";
  } else {
    const std::string choice = TextOf(MemberOf(answer, "content"), kField);
    decision.always = choice == kAlways && !request.grant.empty();
    decision.allowed = choice == kAllow || decision.always;
    if (choice == kDeny) decision.reason = "the user denied it";
    if (!decision.allowed && choice != kDeny) decision.reason = "the answer has no valid decision";
  }
  return decision;
}

ApprovalDecision NobodyToAsk(std::string_view why) {
  ApprovalDecision decision;
  decision.reason = fmt::format("this needs the user's approval, and nobody could be asked: {}", why);
  decision.by = "gloveport";
  return decision;
}

}  // namespace gloveport
