// What a policy wants a person to approve, as an elicitation of MCP: a form with one choice. Pure.
#ifndef GLOVEPORT_CORE_SERVE_MCP_APPROVAL_FORM_H_
#define GLOVEPORT_CORE_SERVE_MCP_APPROVAL_FORM_H_

#include <string>
#include <string_view>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// Why nobody is asked about it: it is more than a person could be shown whole. Empty: it can be asked.
std::string WhyNotToApprove(const ApprovalRequest& request);

// The params of `elicitation/create`: {"mode", "message", "requestedSchema"}. The form has no default: that
// it was sent without a choice allows nothing.
Json ApprovalForm(const ApprovalRequest& request);

// The decision in an answer {"action", "content"?}. Whatever is not clearly a consent is a denial with its
// reason. `client`: who says so, for the record.
ApprovalDecision ReadApproval(const Json& answer, const ApprovalRequest& request, std::string_view client);

// A denial for a client that cannot ask anybody, or that does not read any more.
ApprovalDecision NobodyToAsk(std::string_view why);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_APPROVAL_FORM_H_
