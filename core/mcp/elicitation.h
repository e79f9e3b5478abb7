// Elicitor: what a server wants to know of the person ("elicitation", forms only) becomes a question to the
// host's Approver: a call of "NAME.elicitation" whose arguments are the form's fields with their defaults.
// Who allows it sends the fields, as they are or as edited; who denies it declines. Thread-safe.
#ifndef GLOVEPORT_CORE_MCP_ELICITATION_H_
#define GLOVEPORT_CORE_MCP_ELICITATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

// One question of a server: flat, primitive fields, as the protocol has them.
struct ElicitationForm {
  std::string message;  // cleaned and cut, with what is said of each field
  Value fields;         // Map: name to default, None where there is none
  Json schema;          // {"type": "object", "properties": ..., "required": ...}
};

// kInvalidArgument for what is no form: the mode "url", nested fields, too many of them.
Result<ElicitationForm> ParseElicitation(const Json& params);

// Why `content` may not be sent: a field that is required and missing, of another type or not among the
// choices. Fields that are optional and None are taken out.
Status CheckElicited(const ElicitationForm& form, Value::Map& content);

// What a person is told, and what the server is answered for a decision on it: {"action", "content"?}. What
// was allowed and yet does not fit the form is a "cancel".
std::string ElicitationQuestion(const ElicitationForm& form, std::string_view server);
Json ElicitationAnswer(const ElicitationForm& form, const ApprovalDecision& decision);

class Elicitor : public std::enable_shared_from_this<Elicitor> {
 public:
  using Answer = std::function<void(Json result)>;  // {"action": "accept"|"decline"|"cancel", "content"?}

  Elicitor(std::shared_ptr<Approver> approver, std::string server)
      : approver_(std::move(approver)), server_(std::move(server)) {}

  bool available() const { return approver_ != nullptr; }

  // `answer` is called exactly once, now or later, on any thread.
  void Ask(const ElicitationForm& form, Deadline deadline, Answer answer);

  // The same, waiting; "cancel" at the deadline and upon `stop`.
  Json AskAndWait(const ElicitationForm& form, Deadline deadline, const std::stop_token& stop);

  // Nobody waits for what is still being asked: answered with "cancel".
  void WithdrawAll();

 private:
  void Take(std::uint64_t id, const ElicitationForm& form, const ApprovalDecision& decision);
  void Finish(std::uint64_t id, Json result);
  ApprovalRequest MakeRequest(const ElicitationForm& form, Deadline deadline) const;

  const std::shared_ptr<Approver> approver_;
  const std::string server_;
  std::mutex mutex_;
  std::map<std::uint64_t, Answer> open_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_ELICITATION_H_
