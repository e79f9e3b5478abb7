// JsonlEvents: all that happens in an agent run as JSON lines on stdout, as it happens, for programs. The
// lines are described in EVENTS.md.
//
// Thread-safe: lines are never mixed. Text that is no UTF-8 has U+FFFD in the place of what is none.
#ifndef GLOVEPORT_CORE_CLI_JSONL_EVENTS_H_
#define GLOVEPORT_CORE_CLI_JSONL_EVENTS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/agent/agent_observer.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/host/event_sink.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

class JsonlEvents : public EventSink, public AgentObserver {
 public:
  // `console` must outlive it. `deltas`: also what the model writes, in pieces.
  // `of`: a member that each line has besides; empty: none.
  JsonlEvents(Console& console, bool deltas, Json of = Json::object())
      : console_(console), deltas_(deltas), of_(std::move(of)) {}

  // ---- AgentObserver ----
  void OnState(AgentState state) override;
  void OnStep(std::size_t number, std::size_t max_steps) override;
  bool wants_deltas() const override { return deltas_; }
  void OnDelta(const ChatDelta& delta) override;
  void OnModelReply(const ChatReply& reply) override;
  void OnPlan(const AgentPlan& plan) override;
  void OnAction(const Action& action) override;
  void OnCheck(const Result<std::vector<Finding>>& found) override;
  void OnResult(const CellResult& result) override;
  void OnValidation(const std::vector<SchemaError>& errors) override;
  void OnObservation(std::string_view observation) override;
  void OnRecovery(const RecoveryRecord& record) override;
  void OnStop(const AgentResult& result) override;

  // ---- EventSink ----
  void OnVerdict(std::string_view session, std::uint32_t cell, const Verdict& verdict) override;
  void OnOutput(std::string_view session, std::uint32_t cell, Stream stream, std::string_view text) override;
  void OnApprovalAsked(std::string_view session, std::uint32_t cell, const ApprovalRequest& request) override;
  void OnApprovalDecided(std::string_view session, std::uint32_t cell, const ApprovalRequest& request,
                         const ApprovalDecision& decision) override;
  void OnToolStart(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                   const Value& arguments) override;
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& call) override;
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override;

 private:
  void Write(std::string_view event, const Json& members);
  void WriteOfCell(std::string_view event, std::uint32_t cell, const Json& members);

  Console& console_;
  const bool deltas_;
  const Json of_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_JSONL_EVENTS_H_
