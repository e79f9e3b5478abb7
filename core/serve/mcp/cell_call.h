// McpCellCall: one call of execute_python while it lasts: its progress, its questions to the user, its end.
// Thread-safe.
//
// In revisions with a handshake a question is a request of the server's on the way of the call. In the
// stateless one the call ends with "input_required" and is parked: the cell waits inside, and the client's
// next call, with the answers, takes it up again.
#ifndef GLOVEPORT_CORE_SERVE_MCP_CELL_CALL_H_
#define GLOVEPORT_CORE_SERVE_MCP_CELL_CALL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "gloveport/core/serve/mcp/exchange.h"
#include "gloveport/core/serve/mcp/request_terms.h"
#include "gloveport/tools/approval.h"

namespace gloveport {

class McpCellCall : public std::enable_shared_from_this<McpCellCall> {
 public:
  // How the user is asked.
  struct Ways {
    // Revisions with a handshake: sends `elicitation/create`; `answer` gets its result, null where none can
    // come. False where nobody reads.
    std::function<bool(McpExchange* own, std::uint64_t approval, Json params,
                       std::function<void(Json answer)> answer)>
        elicit;
    // Takes a question back that was asked so.
    std::function<void(McpExchange* own, std::uint64_t approval)> withdraw;
    // The stateless revision: the text under which the client finds the parked call; empty: no room. Called
    // with the call locked.
    std::function<std::string(std::shared_ptr<McpCellCall> self)> park;
  };

  McpCellCall(McpRequestTerms terms, std::shared_ptr<McpExchange> exchange, Ways ways,
              McpImplementation server, std::size_t max_progress);

  std::stop_token stop() const { return stop_.get_token(); }
  // Interrupts what runs and lets waits end; the client gets no reply.
  void Cancel();
  void OnCancel(std::function<void()> interrupt);  // what Cancel calls, from any thread; empty: nothing

  // The cell calls a tool of the host.
  void Progress(std::string_view tool);

  void Ask(const ApprovalRequest& request, Approver::Answer answer);
  void Withdraw(std::uint64_t approval);

  // The stateless revision's next call: its exchange takes the place of the first, and `responses` are the
  // user's answers.
  void Resume(McpRequestTerms terms, std::shared_ptr<McpExchange> exchange, const Json& responses);

  // The call is over: answered, or kept for Resume where it is parked.
  void Finish(Json result);

 private:
  struct Question {
    ApprovalRequest request;
    Approver::Answer answer;
  };
  void AskByElicitation(const ApprovalRequest& request);
  void Decide(std::uint64_t approval, const Json& answer);
  void ParkIfAsked();  // answers with all open questions
  void AnswerIfFinished();
  void DenyAll(std::string_view why);

  const Ways ways_;
  const McpImplementation server_;
  const std::size_t max_progress_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  McpRequestTerms terms_;
  std::shared_ptr<McpExchange> exchange_;  // null while parked, and at the end
  std::map<std::uint64_t, Question> questions_;
  std::optional<Json> result_;
  std::function<void()> interrupt_;
  std::size_t progress_ = 0;
  bool cancelled_ = false;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_CELL_CALL_H_
