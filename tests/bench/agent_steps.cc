// The agent loop without its model: what a step costs, and how the prompt grows.
#include <fmt/format.h>

#include <memory>
#include <mutex>
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

// Answers at once, each time with another cell, and keeps how long its prompts were and when it was asked.
class InstantModel : public Model {
 public:
  const std::string& name() const override { return name_; }
  Result<ChatReply> Complete(const ChatRequest& request) override {
    std::size_t bytes = 0;
    for (const ChatMessage& message : request.messages) bytes += message.content.size();
    prompt_bytes.push_back(static_cast<double>(bytes));
    asked.push_back(watch_.Microseconds() / 1000);
    return ChatReply{
        .content = "Thought: on to the next number.\n```python\n" + CellOf(asked.size()) + "\n```",
        .finish_reason = "stop"};
  }

  std::vector<double> prompt_bytes;
  std::vector<double> asked;  // milliseconds

 private:
  const std::string name_ = "instant";
  const Stopwatch watch_;
};

struct Steps {
  Samples times;  // of a step, from one question to the next
  std::vector<double> prompt_bytes;
};

Result<Steps> RunAgent(Runtime& runtime) {
  InstantModel model;
  AgentOptions options{.goal = "Count."};
  options.max_steps = kSteps;
  Agent agent(runtime, model, {.policy = PolicyWith(Preloaded::kStandardLibrary)}, options);
  ASSIGN_OR_RETURN(const AgentResult result, agent.Run());
  if (result.stop_reason != StopReason::kMaxSteps)
    return Fail(ErrorCode::kInternal, "the run ended: " + result.stop_message);
  Steps steps{.prompt_bytes = model.prompt_bytes};
  for (std::size_t i = 5; i + 1 < model.asked.size(); ++i)
    steps.times.Add(model.asked[i + 1] - model.asked[i]);
  return steps;
}

// The same cells by a session alone, with a copy that stands by.
Result<Samples> RunCells(Runtime& runtime) {
  ASSIGN_OR_RETURN(auto session,
                   OpenSession(runtime, Preloaded::kStandardLibrary, nullptr, Checkpoints::kEachCell));
  Samples times;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const Stopwatch watch;
    RETURN_IF_ERROR(RunCell(*session, CellOf(i)));
    if (i >= 5) times.Add(watch.Microseconds() / 1000);
  }
  return times;
}

}  // namespace

Result<Measurements> MeasureAgentStep() {
  ASSIGN_OR_RETURN(const Placement placement, Placement::Enter(Mode::kUnpinned));
  ASSIGN_OR_RETURN(auto runtime, MakeRuntime(placement, 1));
  Samples steps;
  Samples cells;
  std::vector<double> bytes;
  for (int round = -1; round < 4; ++round) {
    ASSIGN_OR_RETURN(const Steps run, RunAgent(*runtime));
    ASSIGN_OR_RETURN(const Samples alone, RunCells(*runtime));
    bytes = run.prompt_bytes;
    if (round < 0) continue;  // warming up
    steps.Add(run.times);
    cells.Add(alone);
  }
  auto step = Measurement::Of("agent_step", Mode::kUnpinned, "ms", steps,
                              "the same cell by Session::Run, with a copy standing by", cells);
  step.Aim("< 3 ms", *step.value < 3)
      .Note("prompt, parsing, running and observing, without the model; no inspection");
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
