// Approval: a person, or whatever stands for one, decides about one cell or one tool call before it runs.
//
// An Approver is what the host program implements: a dialogue, a chat message, a queue. Where a policy says
// `ask` and a session has an approver, the cell simply waits in the call; its clock stands still, other calls
// go on.
#ifndef GLOVEPORT_TOOLS_APPROVAL_H_
#define GLOVEPORT_TOOLS_APPROVAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

enum class ApprovalSubject { kCell, kToolCall };

struct ApprovalRequest {
  std::uint64_t id = 0;  // unique in the process
  std::string session;
  std::uint32_t cell = 0;
  ApprovalSubject subject = ApprovalSubject::kToolCall;
  std::string code;    // kCell: the exact text
  std::string tool;    // kToolCall: its name
  Value arguments;     // kToolCall: Map of all bound parameters
  std::string sha256;  // hex: of the code, or of the JSON text {"tool":...,"args":...} as DumpJson writes it
  std::string reason;  // why a person is asked: the rule, or what was found
  std::string grant;   // what "always" would cover, in words
  Deadline deadline = Deadline::Never();  // no answer by then is a denial
};

struct ApprovalDecision {
  bool allowed = false;
  bool always = false;  // also later ones that the request's `grant` covers, until it is revoked
  std::string reason;   // where denied, the model reads it
  std::string by;       // who decided, for the record
  std::string
      sha256;  // what was decided on; another one than the request's is a denial, empty is not compared
  // Instead of what was asked: judged by the policy anew, and `deny` stays `deny`.
  std::optional<std::string> code;
  std::optional<Value::Map> arguments;
};

// What is said of a denial in the place of a reason that nobody gave.
inline std::string_view GivenReason(std::string_view reason) {
  return reason.empty() ? std::string_view("no reason was given") : reason;
}

class Approver {
 public:
  using Answer = std::function<void(ApprovalDecision)>;

  virtual ~Approver() = default;

  // Called on the thread that runs the cell; must not block it. `answer` may be called at once or later, from
  // any thread, also after the session is gone; only the first call counts.
  virtual void Ask(const ApprovalRequest& request, Answer answer) = 0;

  // The request needs no answer any more: decided otherwise, too late, or its cell has ended. Any thread.
  virtual void Withdraw(std::uint64_t /*id*/) {}
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_APPROVAL_H_
