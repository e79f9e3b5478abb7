// The agent loop without its model: what a step costs, and how the prompt grows.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/tests/bench/figures.h"
#include "gloveport/tests/bench/sessions.h"

namespace gloveport::bench {
namespace {

constexpr std::size_t kSteps = 50;

std::string CellOf(std::size_t step) {
  return fmt::format("x = {}\nprint('the value of this step is', x)\nx", step);
}

// Answers at once, each time with another cell, and keeps how long its prompts were. Before it answers it
// runs the cell by itself, in a session without an agent and with a copy that stands by: so each step of the
// loop stands beside its cell, a moment apart.
class InstantModel : public Model {
 public:
  explicit InstantModel(Session& alone) : alone_(alone) {}

  const std::string& name() const override { return name_; }
  Result<ChatReply> Complete(const ChatRequest& request) override {
    if (answered_) step_times.push_back(answered_->Microseconds() / 1000);
    std::size_t bytes = 0;
    for (const ChatMessage& message : request.messages) bytes += message.content.size();
    prompt_bytes.push_back(static_cast<double>(bytes));
    const std::string cell = CellOf(prompt_bytes.size());
    const Stopwatch watch;
    RETURN_IF_ERROR(RunCell(alone_, cell));
    cell_times.push_back(watch.Microseconds() / 1000);
    ChatReply reply{.content = "Thought: on to the next number.\n```python\n" + cell + "\n```",
                    .finish_reason = "stop"};
    answered_.emplace();
    return reply;
  }

  // In milliseconds; the step with a number from its reply to the next question, and its cell alone.
  std::vector<double> step_times;
  std::vector<double> cell_times;
  std::vector<double> prompt_bytes;

 private:
  Session& alone_;
  const std::string name_ = "instant";
  std::optional<Stopwatch> answered_;
};

struct Steps {
  Samples whole;
  Samples cells;     // alone
  Samples overhead;  // step by step the one without the other
  std::vector<double> prompt_bytes;
};

Result<Steps> RunAgent(Runtime& runtime) {
  ASSIGN_OR_RETURN(const auto alone,
                   OpenSession(runtime, Preloaded::kStandardLibrary, nullptr, Checkpoints::kEachCell));
  InstantModel model(*alone);
  AgentOptions options{.goal = "Count."};
  options.max_steps = kSteps;
  Agent agent(runtime, model, {.policy = PolicyWith(Preloaded::kStandardLibrary)}, options);
  ASSIGN_OR_RETURN(const AgentResult result, agent.Run());
  if (result.stop_reason != StopReason::kMaxSteps)
    return Fail(ErrorCode::kInternal, "the run ended: " + result.stop_message);
  Steps steps{.whole = {}, .cells = {}, .overhead = {}, .prompt_bytes = model.prompt_bytes};
  for (std::size_t i = 5; i < model.step_times.size(); ++i) {
    steps.whole.Add(model.step_times[i]);
    steps.cells.Add(model.cell_times[i]);
    steps.overhead.Add(model.step_times[i] - model.cell_times[i]);
  }
  return steps;
}

}  // namespace

Result<Measurements> MeasureAgentStep() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 1));
  Samples steps;
  Samples cells;
  Samples overhead;
  std::vector<double> bytes;
  for (int round = -1; round < 4; ++round) {
    ASSIGN_OR_RETURN(const Steps run, RunAgent(*runtime));
    bytes = run.prompt_bytes;
    if (round < 0) continue;  // warming up
    steps.Add(run.whole);
    cells.Add(run.cells);
    overhead.Add(run.overhead);
  }
  auto step = Measurement::Of("agent_step", Mode::kUnpinned, "ms", overhead,
                              "the same cell by Session::Run, with a copy standing by", cells);
  step.Aim("< 3 ms", *step.value < 3)
      .Note(
          fmt::format("prompt, parsing and observing, without model, cell and inspection; a whole step takes "
                      "{:.2f} ms",
                      steps.Median()));
  Samples whole;
  Samples half;
  whole.Add(bytes.back() - bytes.front());
  half.Add(bytes[kSteps / 2] - bytes.front());
  auto growth = Measurement::Of("agent_prompt_growth", Mode::kUnpinned, "bytes", whole,
                                "after half of the steps", half);
  growth.Aim("linear: <= 2.2 x", *growth.ratio <= 2.2)
      .Note(fmt::format("from {:.0f} bytes at step 1 to {:.0f} at step {}", bytes.front(), bytes.back(),
                        kSteps));
  return Measurements{step, growth};
}

}  // namespace gloveport::bench
