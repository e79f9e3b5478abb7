// Narrator: tells a run as it happens, on stderr, so that somebody who sees Gloveport for the first time
// understands each step: what the model said, what the policy check decided, what the code wrote, which tools
// it called. What happens within a cell is drawn as a tree, agents that are called as tools with their steps.
//
// As an EventSink it is thread-safe; as an AgentObserver it belongs to the thread in Agent::Run.
#ifndef GLOVEPORT_CORE_CLI_NARRATOR_H_
#define GLOVEPORT_CORE_CLI_NARRATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/agent/agent_tool.h"
#include "gloveport/core/cli/call_tree.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/core/cli/nested_narrator.h"
#include "gloveport/core/cli/spinner.h"
#include "gloveport/core/cli/stream_view.h"
#include "gloveport/core/host/event_sink.h"

namespace gloveport {

class Narrator : public EventSink, public AgentObserver {
 public:
  // `console` must outlive the narrator. `scripted`: no model is asked, a transcript speaks for it.
  enum class Voice { kModel, kScript };
  // `stream`: on a terminal, what a model writes is shown while it writes.
  Narrator(Console& console, Voice voice, bool stream = false)
      : console_(console),
        voice_(voice),
        streams_(stream && voice == Voice::kModel && console.notes_on_terminal()),
        cell_(console, TreeMarks::For(console), "    ") {}

  // A tool of that name is an agent: its calls are told when they begin. Before the run.
  void ExpectAgent(std::string name) { agents_.insert(std::move(name)); }
  // Who tells of an agent `name` that is called as a tool, below the line of that call (AgentToolOptions).
  AgentToolOptions::Listeners ListenTo(std::string_view name, const CallContext& call);

  // ---- AgentObserver ----
  void OnStep(std::size_t number, std::size_t max_steps) override;
  bool wants_deltas() const override { return streams_; }
  void OnDelta(const ChatDelta& delta) override;
  void OnModelReply(const ChatReply& reply) override;
  void OnPlan(const AgentPlan& plan) override;
  void OnState(AgentState state) override;
  void OnAction(const Action& action) override;
  void OnCheck(const Result<std::vector<Finding>>& found) override;
  void OnResult(const CellResult& result) override;
  void OnValidation(const std::vector<SchemaError>& errors) override;
  void OnObservation(std::string_view observation) override;
  void OnRecovery(const RecoveryRecord& record) override;

  // ---- EventSink ----
  void OnVerdict(std::string_view session, std::uint32_t cell, const Verdict& verdict) override;
  void OnOutput(std::string_view session, std::uint32_t cell, Stream stream, std::string_view text) override;
  void OnToolStart(std::string_view session, std::uint32_t cell, std::uint64_t call, std::string_view tool,
                   const Value& arguments) override;
  void OnToolCall(std::string_view session, std::uint32_t cell, const ToolCallRecord& call) override;
  void OnRefusal(std::string_view session, std::uint32_t cell, const Refusal& refusal) override;

 private:
  // A call of an agent that is under way.
  struct Nested {
    std::uint64_t call;
    std::shared_ptr<NestedNarrator> narrator;
  };

  void InCell(std::string_view text, Style style);  // a branch of it, where it has any
  void Heading(std::string_view text);
  void ShowLines(bool with_rest);  // of the output that has arrived
  std::string CodeBlock(std::string_view code) const;

  Console& console_;
  const Voice voice_;
  const bool streams_;
  std::optional<StreamView> view_;  // of the reply that is being written
  std::optional<Spinner> spinner_;
  std::set<std::string, std::less<>> agents_;
  const TreeBranch cell_;
  std::atomic<bool> has_branches_{false};  // the running cell

  std::mutex mutex_;
  std::map<std::uint64_t, std::string> started_;  // calls of agents of the running cell, in words
  std::vector<Nested> nested_;
  std::string output_;           // not yet shown: the beginning of a line
  std::size_t lines_shown_ = 0;  // of the running cell
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_NARRATOR_H_
