#include "gloveport/core/agent/agent_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "gloveport/core/agent/cell_interrupter.h"
#include "gloveport/core/agent/observation.h"
#include "gloveport/core/agent/prompts.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostThought = 300;  // of a reply that the memory has no room for

using Clock = std::chrono::steady_clock;

void AddNew(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  }
}

// Whether two steps did the same to the same effect.
bool SameAction(const AgentStep& a, const AgentStep& b) {
  if (!a.action.code || !b.action.code) return !a.action.code && !b.action.code && a.reply == b.reply;
  if (*a.action.code != *b.action.code || !a.result || !b.result) return false;
  const CellResult& x = *a.result;
  const CellResult& y = *b.result;
  return x.outcome == y.outcome && x.out == y.out && x.repr == y.repr &&
         (x.error ? x.error->message : "") == (y.error ? y.error->message : "");
}

// Before it is cut to what a model is shown: a secret that a cut parts in two is not recognised.
CellResult Redacted(const Redactor& redactor, CellResult result) {
  if (redactor.empty()) return result;
  for (std::string* text : {&result.out, &result.err, &result.repr}) *text = redactor.Apply(*text);
  if (!result.error) return result;
  result.error->message = redactor.Apply(result.error->message);
  result.error->traceback = redactor.Apply(result.error->traceback);
  return result;
}

bool WasCutOff(const AgentStep& step) {
  return step.finish_reason == "length" || step.finish_reason == "max_tokens";
}

}  // namespace

AgentRun::AgentRun(Runtime& runtime, Model& model, Session& session, const AgentOptions& options,
                   Redactor redactor, Memory memory, std::stop_token interrupt,
                   std::atomic<AgentState>& state)
    : runtime_(runtime),
      model_(model),
      session_(session),
      options_(options),
      observer_(options.observer ? *options.observer : no_observer_),
      redactor_(std::move(redactor)),
      memory_(std::move(memory)),
      interrupt_(std::move(interrupt)),
      state_(state) {
  result_.model = model_.name();
  result_.scripted = model_.scripted();
  result_.policy = session_.policy().name;
  result_.session = session_.id();
  result_.layers = session_.layers();
}

AgentResult AgentRun::Run() {
  const auto start = Clock::now();
  AgentState state = AgentState::kGenerate;
  while (state != AgentState::kStopped) {
    state_ = state;
    observer_.OnState(state);
    state = Advance(state);
  }
  state_ = state;
  observer_.OnState(state);
  result_.wall = Clock::now() - start;
  observer_.OnStop(result_);
  return std::move(result_);
}

AgentState AgentRun::Advance(AgentState state) {
  switch (state) {
    case AgentState::kGenerate:
      return Generate();
    case AgentState::kParse:
      return Parse();
    case AgentState::kRun:
      return RunCell();
    case AgentState::kValidate:
      return Validate();
    case AgentState::kObserve:
      return Observe();
    case AgentState::kStopped:
      break;
  }
  return AgentState::kStopped;
}

AgentState AgentRun::Generate() {
  if (StopBeforeStep()) return AgentState::kStopped;
  result_.steps.push_back({.number = result_.steps.size() + 1});
  observer_.OnStep(step().number, options_.max_steps);
  const auto start = Clock::now();
  auto reply = model_.Complete({.messages = memory_.Messages(),
                                .stop = options_.stop_sequences,
                                .temperature = options_.temperature,
                                .max_tokens = options_.max_reply_tokens,
                                .deadline = options_.deadline,
                                .cancel = interrupt_});
  step().model_time = Clock::now() - start;
  result_.model_time += step().model_time;
  if (!reply) {
    result_.steps.pop_back();  // nothing was replied: there is no step
    return StopFor(reply.error(), StopReason::kModelError,
                   fmt::format("the model {} gave no reply: {}", model_.name(), reply.error().message));
  }
  observer_.OnModelReply(*reply);
  step().tokens = reply->usage;
  result_.tokens.input_tokens += reply->usage.input_tokens;
  result_.tokens.output_tokens += reply->usage.output_tokens;
  step().reply = std::move(reply->content);
  step().reasoning = std::move(reply->reasoning);
  step().finish_reason = std::move(reply->finish_reason);
  return AgentState::kParse;
}

AgentState AgentRun::Parse() {
  step().action = ParseAction(step().reply, [this](std::string_view code) { return runtime_.Syntax(code); });
  const Action& action = step().action;
  observer_.OnAction(action);
  if (!action.code && action.checker_error) {
    return StopFor(*action.checker_error, StopReason::kRuntimeError,
                   "the reply could not be checked for Python: " + action.checker_error->message);
  }
  without_code_ = action.code ? 0 : without_code_ + 1;
  return action.code ? AgentState::kRun : AgentState::kObserve;
}

AgentState AgentRun::RunCell() {
  RunOptions run{.timeout = options_.cell_timeout, .inspect = options_.inspect};
  if (!options_.deadline.never()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(options_.deadline.left());
    run.timeout = std::min(run.timeout.value_or(left), std::max(left, std::chrono::milliseconds(1)));
  }
  auto result = [&] {
    const CellInterrupter interrupter(session_, interrupt_);
    return session_.Run(*step().action.code, run);
  }();
  if (!result) {
    return StopFor(result.error(), StopReason::kRuntimeError,
                   "the cell could not be run: " + result.error().message);
  }
  step().result = std::move(*result);
  AddUsage(step().result->usage);
  observer_.OnResult(*step().result);
  denials_ = step().result->outcome == Outcome::kDenied ? denials_ + 1 : 0;
  return step().result->final_answer ? AgentState::kValidate : AgentState::kObserve;
}

AgentState AgentRun::Validate() {
  const FinalAnswerValue& given = *step().result->final_answer;
  if (options_.schema) {
    auto errors = runtime_.Validate(given.value, *options_.schema);
    if (!errors) {
      return StopFor(errors.error(), StopReason::kRuntimeError,
                     "the answer could not be validated: " + errors.error().message);
    }
    step().validation_errors = std::move(*errors);
  }
  observer_.OnValidation(step().validation_errors);
  if (!step().validation_errors.empty()) {
    ++invalid_answers_;
    return AgentState::kObserve;
  }
  result_.answer = given.value;
  result_.answer_repr = given.repr;
  result_.explanation = given.explanation;
  return Stop(StopReason::kFinalAnswer,
              options_.schema ? "an answer was given that fits the schema" : "an answer was given");
}

AgentState AgentRun::Observe() {
  CountRepetition();
  if (StopAfterStep()) return AgentState::kStopped;
  AgentStep& now = step();
  now.observation = ObservationOfStep();
  observer_.OnObservation(now.observation);
  const std::string brief = now.result ? redactor_.Apply(ObserveCellBriefly(Redacted(redactor_, *now.result)))
                                       : "Observation: there was no code in that reply.\n";
  memory_.Add({.reply = CanonicalReply(now.action, now.reply),
               .observation = now.observation,
               .brief_reply = HeadAndTail(now.action.thought, kMostThought) +
                              "\n(the rest of this reply is left out here)",
               .brief_observation = brief});
  return AgentState::kGenerate;
}

std::string AgentRun::ObservationOfStep() {
  const AgentStep& now = step();
  std::string text;
  if (!now.result) {
    text = ObserveNoAction(now.action.error);
  } else {
    text = ObserveCell(Redacted(redactor_, *now.result), *now.action.code, options_.observation);
    if (!now.validation_errors.empty()) text = ObserveValidation(now.validation_errors, options_.observation);
  }
  if (now.action.cut_invented)
    text +=
        "What you wrote behind your code was not run and not believed: only this message says what "
        "happened.\n";
  if (WasCutOff(now)) text += "Your reply was cut off at the limit of its length: write less at once.\n";
  if (repetitions_ > 1)
    text += "This was the same as before, with the same outcome: do something else now.\n";
  const std::size_t left = options_.max_steps - std::min(options_.max_steps, now.number);
  if (left <= 2 && left > 0)
    text += fmt::format("You have {} repl{} left: give the answer you can give.\n", left,
                        left == 1 ? "y" : "ies");
  return redactor_.Apply(text);
}

void AgentRun::CountRepetition() {
  const auto& steps = result_.steps;
  const bool same = steps.size() > 1 && SameAction(steps[steps.size() - 2], steps.back());
  repetitions_ = same ? repetitions_ + 1 : 1;
}

bool AgentRun::StopBeforeStep() {
  const std::int64_t tokens = result_.tokens.input_tokens + result_.tokens.output_tokens;
  if (interrupt_.stop_requested()) {
    Stop(StopReason::kInterrupted, "the run was interrupted");
  } else if (options_.deadline.passed()) {
    Stop(StopReason::kDeadline, "the time for the run is over");
  } else if (result_.steps.size() >= options_.max_steps) {
    Stop(StopReason::kMaxSteps, fmt::format("there was no answer after {} steps", options_.max_steps));
  } else if (options_.max_tokens && tokens >= *options_.max_tokens) {
    Stop(StopReason::kMaxTokens,
         fmt::format("{} tokens are used, {} were allowed", tokens, *options_.max_tokens));
  } else {
    return false;
  }
  return true;
}

bool AgentRun::StopAfterStep() {
  if (interrupt_.stop_requested()) {
    Stop(StopReason::kInterrupted, "the run was interrupted");
  } else if (invalid_answers_ >= options_.max_invalid_answers) {
    Stop(StopReason::kValidationFailed,
         fmt::format("{} answers were given and none fits the schema", invalid_answers_));
  } else if (denials_ >= options_.max_denials) {
    Stop(StopReason::kDenied,
         fmt::format("the policy {} refused {} cells in a row", result_.policy, denials_));
  } else if (repetitions_ >= options_.max_repetitions) {
    Stop(StopReason::kRepeatedAction, fmt::format("the model did the same {} times in a row", repetitions_));
  } else if (without_code_ >= options_.max_replies_without_code) {
    Stop(StopReason::kModelError, fmt::format("{} replies in a row had no code", without_code_));
  } else {
    return false;
  }
  return true;
}

AgentState AgentRun::Stop(StopReason reason, std::string message, std::optional<Error> error) {
  result_.stop_reason = reason;
  result_.stop_message = std::move(message);
  result_.error = std::move(error);
  return AgentState::kStopped;
}

// An error that came of the run's own end is no fault of the model or the session.
AgentState AgentRun::StopFor(const Error& error, StopReason otherwise, std::string message) {
  if (interrupt_.stop_requested()) return Stop(StopReason::kInterrupted, "the run was interrupted");
  if (options_.deadline.passed()) return Stop(StopReason::kDeadline, "the time for the run is over");
  return Stop(otherwise, std::move(message), error);
}

void AgentRun::AddUsage(const Usage& usage) {
  Usage& all = result_.totals;
  all.wall += usage.wall;
  all.cpu_user += usage.cpu_user;
  all.cpu_system += usage.cpu_system;
  all.max_rss_bytes = std::max(all.max_rss_bytes, usage.max_rss_bytes);
  all.output_bytes += usage.output_bytes;
  all.tool_calls += usage.tool_calls;
  AddNew(all.files_read, usage.files_read);
  AddNew(all.files_written, usage.files_written);
  all.denied.insert(all.denied.end(), usage.denied.begin(), usage.denied.end());
}

}  // namespace gloveport
