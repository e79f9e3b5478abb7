#include "gloveport/core/serve/mcp/approval_form.h"

#include <fmt/format.h>

#include <chrono>

#include "gloveport/core/agent/observation.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxReason = 2000;
constexpr std::size_t kMaxGrant = 500;
constexpr std::size_t kMaxSubject = 16u << 10;  // more than that nobody reads who is asked in between
constexpr std::string_view kField = "decision";
constexpr std::string_view kAllow = "allow";
constexpr std::string_view kAlways = "always";
constexpr std::string_view kDeny = "deny";

// What is decided on, whole: every line of it is quoted, so that nothing in it looks like the form's own
// words.
std::string SubjectText(const ApprovalRequest& request) {
  if (request.subject == ApprovalSubject::kCell) return "Python code wants to run:\n" + Quote(request.code);
  std::string text = fmt::format("Python code wants to call {} with:\n", CleanLine(request.tool, 200));
  if (!request.arguments.is_map() || request.arguments.as_map().empty()) return text + "(no arguments)\n";
  for (const auto& [name, value] : request.arguments.as_map())
    text += Quote(fmt::format("{} = {}", name.is_text() ? name.as_text() : "?", DumpJson(value)));
  return text;
}

}  // namespace

std::string WhyNotToApprove(const ApprovalRequest& request) {
  const std::size_t size = SubjectText(request).size();
  if (size <= kMaxSubject) return "";
  return fmt::format("what is to be approved has {} characters, and a person can be shown {}", size,
                     kMaxSubject);
}

Json ApprovalForm(const ApprovalRequest& request) {
  std::string message;
  if (!request.reason.empty()) message = "Why you are asked: " + CleanText(request.reason, kMaxReason) + "\n";
  if (!request.deadline.never()) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(request.deadline.left());
    message += fmt::format("Without an answer within {} s it is refused.\n", left.count());
  }
  message += "\n" + SubjectText(request);
  std::string description = "allow: this once. deny: the code is told that it was refused.";
  Json choices = {kAllow, kDeny};
  if (!request.grant.empty()) {
    choices = {kAllow, kAlways, kDeny};
    description += " always: until the session ends, also later: " + CleanLine(request.grant, kMaxGrant);
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
