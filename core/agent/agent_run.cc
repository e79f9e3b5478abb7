#include "gloveport/core/agent/agent_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "gloveport/core/agent/cell_interrupter.h"
#include "gloveport/core/agent/observation.h"
#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostThought = 300;  // of a reply that the memory has no room for

constexpr std::string_view kPlanRequest =
    R"(Before you go on, write a plan, in words only: no code, nothing of it is run.
1. What is known so far, and from where.
2. What still has to be found out.
3. The steps to the answer, numbered, each small enough for one cell.
Keep it short. Left for all of it: )";
constexpr std::size_t kMostOfPlan = 8000;
constexpr std::string_view kPlanDone = "Now go on with the first open step of the plan, as one cell.\n";

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

// Of a model that acted by a tool call or structured output.
Action ActionOf(const CodeAction& given, std::string_view content) {
  Action action;
  action.thought =
      given.thought.empty() && given.form == ActionForm::kTool ? std::string(Trim(content)) : given.thought;
  if (given.problem.empty()) {
    action.code = given.code;
  } else {
    action.error = ActionError::kBadCall;
    action.problem = given.problem;
  }
  return action;
}

Result<std::vector<Finding>> Check(const CellChecker& checker, const CellToCheck& cell) {
  try {
    return checker(cell);
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, error.what());
  } catch (...) {
    return Fail(ErrorCode::kInternal, "the checker threw something that is no std::exception");
  }
}

bool WasCutOff(const AgentStep& step) {
  return step.finish_reason == "length" || step.finish_reason == "max_tokens";
}

void AddUsage(Usage& all, const Usage& usage) {
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

}  // namespace

AgentRun::AgentRun(AgentRunParts parts)
    : parts_(std::move(parts)),
      options_(parts_.options),
      model_(&parts_.model),
      budget_(options_.budget ? options_.budget
                              : std::make_shared<Budget>(BudgetLimits{.max_tokens = options_.max_tokens,
                                                                      .max_cost = options_.max_cost,
                                                                      .deadline = options_.deadline})),
      deadline_(Earlier(budget_->deadline(),
                        options_.timeout ? Earlier(options_.deadline, Deadline::After(*options_.timeout))
                                         : options_.deadline)),
      recovery_(options_.recovery),
      observer_(options_.observer ? *options_.observer : no_observer_),
      rejections_before_(parts_.rejections.count()) {
  result_.goal = options_.goal;
  result_.prompt = parts_.memory.Messages();
  result_.model = model_->name();
  result_.scripted = model_->scripted();
  result_.cost = 0;
  result_.currency = options_.currency;
  AdoptSession();
}

void AgentRun::AdoptSession() {
  result_.policy = parts_.session->policy().name;
  result_.session = parts_.session->id();
  result_.layers = parts_.session->layers();
}

AgentResult AgentRun::Run() {
  const auto start = Clock::now();
  AgentState state = NextReply();
  while (state != AgentState::kStopped) {
    parts_.state = state;
    observer_.OnState(state);
    state = Advance(state);
  }
  parts_.state = state;
  observer_.OnState(state);
  result_.wall = Clock::now() - start;
  observer_.OnStop(result_);
  return std::move(result_);
}

AgentState AgentRun::Advance(AgentState state) {
  switch (state) {
    case AgentState::kPlan:
      return Plan();
    case AgentState::kGenerate:
      return Generate();
    case AgentState::kParse:
      return Parse();
    case AgentState::kCheck:
      return CheckCell();
    case AgentState::kRun:
      return RunCell();
    case AgentState::kValidate:
      return Validate();
    case AgentState::kObserve:
      return Observe();
    case AgentState::kRecover:
      return Recover();
    case AgentState::kStopped:
      break;
  }
  return AgentState::kStopped;
}

AgentState AgentRun::NextReply() const {
  const std::size_t next = result_.steps.size() + 1;
  const bool due = options_.planning_interval > 0 && (next - 1) % options_.planning_interval == 0;
  return due && planned_before_ != next ? AgentState::kPlan : AgentState::kGenerate;
}

Result<ChatReply> AgentRun::AskModel(std::vector<ChatMessage> messages, ActionForm form) {
  ChatRequest request{.messages = std::move(messages),
                      .stop = options_.stop_sequences,
                      .temperature = options_.temperature,
                      .max_tokens = options_.max_reply_tokens,
                      .deadline = deadline_,
                      .cancel = parts_.interrupt,
                      .form = form};
  if (observer_.wants_deltas())
    request.on_delta = [this](const ChatDelta& delta) { observer_.OnDelta(delta); };
  const auto start = Clock::now();
  auto reply = model_->Complete(request);
  reply_time_ = Clock::now() - start;
  result_.model_time += reply_time_;
  if (!reply) return reply;
  // A budget must hold with servers that count nothing, too.
  if (!reply->usage.reported) reply->usage = EstimateUsage(request, *reply);
  observer_.OnModelReply(*reply);
  CountReply(*reply);
  return reply;
}

void AgentRun::CountReply(const ChatReply& reply) {
  std::optional<double> cost;
  if (options_.cost_of)
    cost = options_.cost_of(reply.model.empty() ? model_->name() : reply.model, reply.usage);
  budget_->Spend(reply.usage, cost);
  result_.tokens += reply.usage;
  if (!cost) result_.cost.reset();
  if (result_.cost) *result_.cost += *cost;
}

AgentState AgentRun::Plan() {
  if (auto ending = EndBeforeStep()) return Stop(std::move(*ending));
  planned_before_ = result_.steps.size() + 1;
  std::string budget = budget_->LeftText();
  if (options_.timeout) {
    budget += fmt::format("{}{} s", budget.empty() ? "" : ", ",
                          std::chrono::duration_cast<std::chrono::seconds>(deadline_.left()).count());
  }
  auto messages = parts_.memory.Messages();
  messages.back().content +=
      fmt::format("\n\n{}{} of yours{}.", kPlanRequest, Counted(StepsLeft(), "reply", "replies"),
                  budget.empty() ? "" : "; in all " + budget);
  const auto reply = AskModel(std::move(messages), ActionForm::kText);
  if (!reply) {
    return GiveUpFor(reply.error(), StopReason::kModelError,
                     fmt::format("the model {} made no plan: {}", model_->name(), reply.error().message));
  }
  result_.plans.push_back({planned_before_, std::string(Trim(reply->content)), reply->usage, reply_time_});
  observer_.OnPlan(result_.plans.back());
  parts_.memory.Add({.reply = HeadAndTail(result_.plans.back().text, kMostOfPlan),
                     .observation = std::string(kPlanDone),
                     .brief_reply = "(an earlier plan is left out here)",
                     .brief_observation = ""});
  return AgentState::kGenerate;
}

AgentState AgentRun::Generate() {
  if (auto ending = EndBeforeStep()) return Stop(std::move(*ending));
  result_.steps.push_back({.number = result_.steps.size() + 1});
  observer_.OnStep(step().number, options_.max_steps);
  auto reply = AskModel(parts_.memory.Messages(), model_->action_form());
  if (!reply) {
    result_.steps.pop_back();  // nothing was replied: there is no step
    return GiveUpFor(reply.error(), StopReason::kModelError,
                     fmt::format("the model {} gave no reply: {}", model_->name(), reply.error().message));
  }
  step().model_time = reply_time_;
  step().tokens = reply->usage;
  step().code_action = std::move(reply->action);
  step().opaque = std::move(reply->opaque);
  step().reply = std::move(reply->content);
  step().reasoning = std::move(reply->reasoning);
  step().finish_reason = std::move(reply->finish_reason);
  return AgentState::kParse;
}

AgentState AgentRun::Parse() {
  const SyntaxChecker checker = [this](std::string_view code) { return parts_.runtime.Syntax(code); };
  step().action =
      step().code_action ? ActionOf(*step().code_action, step().reply) : ParseAction(step().reply, checker);
  const Action& action = step().action;
  observer_.OnAction(action);
  if (!action.code && action.checker_error) {
    return GiveUpFor(*action.checker_error, StopReason::kRuntimeError,
                     "the reply could not be checked for Python: " + action.checker_error->message);
  }
  without_code_ = action.code ? 0 : without_code_ + 1;
  if (!action.code) return AgentState::kObserve;
  return options_.check ? AgentState::kCheck : AgentState::kRun;
}

AgentState AgentRun::CheckCell() {
  const auto found =
      Check(options_.check, {*step().action.code, parts_.history, deadline_, parts_.interrupt});
  if (found) {
    step().findings = *found;
  } else {
    step().check_error = found.error();
  }
  observer_.OnCheck(found);
  return HoldsBack() ? AgentState::kObserve : AgentState::kRun;
}

bool AgentRun::HoldsBack() {
  const auto& steps = result_.steps;
  const bool insists = failed_checks_ > 0 && steps[steps.size() - 2].action.code == step().action.code;
  const bool holds = !step().findings.empty() && !insists && failed_checks_ < options_.max_failed_checks;
  failed_checks_ = holds ? failed_checks_ + 1 : 0;
  return holds;
}

AgentState AgentRun::RunCell() {
  RunOptions run{.timeout = options_.cell_timeout, .inspect = options_.inspect};
  if (!deadline_.never()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_.left());
    run.timeout = std::min(run.timeout.value_or(left), std::max(left, std::chrono::milliseconds(1)));
  }
  auto result = [&] {
    const CellInterrupter interrupter(*parts_.session, parts_.interrupt);
    return parts_.session->Run(*step().action.code, run);
  }();
  if (!result) {
    return GiveUpFor(result.error(), StopReason::kRuntimeError,
                     "the cell could not be run: " + result.error().message);
  }
  step().result = std::move(*result);
  parts_.history.Add(*step().action.code, *step().result);
  AddUsage(result_.totals, step().result->usage);
  WithholdDisplays();
  observer_.OnResult(*step().result);
  denials_ = step().result->outcome == Outcome::kDenied ? denials_ + 1 : 0;
  return step().result->final_answer ? AgentState::kValidate : AgentState::kObserve;
}

// The schema first: what asks about the meaning may rely on the form.
AgentState AgentRun::Validate() {
  const FinalAnswerValue& given = *step().result->final_answer;
  std::vector<SchemaError>& errors = step().validation_errors;
  if (options_.schema) {
    auto found = parts_.runtime.Validate(given.value, *options_.schema);
    if (!found) {
      return GiveUpFor(found.error(), StopReason::kRuntimeError,
                       "the answer could not be validated: " + found.error().message);
    }
    errors = std::move(*found);
  }
  if (errors.empty()) errors = CheckInvariants(given.value);
  if (errors.empty()) errors = CheckOutputs(given);
  observer_.OnValidation(errors);
  if (!errors.empty()) {
    ++invalid_answers_;
    last_errors_ = errors;
    return AgentState::kObserve;
  }
  result_.answer = given.value;
  result_.answer_repr = given.repr;
  result_.explanation = given.explanation;
  if (options_.schema) result_.checked_by.emplace_back("schema");
  for (const Invariant& invariant : options_.invariants) result_.checked_by.push_back(invariant.name);
  result_.checked_by.emplace_back("output rules");
  Remember();
  return Stop({StopReason::kFinalAnswer,
               options_.schema ? "an answer was given that fits the schema" : "an answer was given"});
}

AgentState AgentRun::Observe() {
  CountRepetition();
  auto ending = EndAfterStep();
  const AgentState next = ending ? GiveUp(std::move(*ending)) : NextReply();
  std::string observation = Remember();
  if (next == AgentState::kStopped) return next;
  step().observation = std::move(observation);
  observer_.OnObservation(step().observation);
  return next;
}

std::string AgentRun::Remember() {
  const AgentStep& now = step();
  std::string observation = ObservationOfStep();
  const std::string brief =
      now.result        ? parts_.redactor.Apply(ObserveCellBriefly(Redacted(parts_.redactor, *now.result)))
      : now.action.code ? "Observation: the cell was not run: its check had found mistakes.\n"
                        : "Observation: there was no code in that reply.\n";
  parts_.memory.Add({.reply = now.code_action ? now.reply : CanonicalReply(now.action, now.reply),
                     .observation = observation,
                     .brief_reply = HeadAndTail(now.action.thought, kMostThought) +
                                    "\n(the rest of this reply is left out here)",
                     .brief_observation = brief,
                     .action = now.code_action,
                     .opaque = now.opaque});
  return observation;
}

std::string AgentRun::ObservationOfStep() {
  const AgentStep& now = step();
  std::string text;
  if (result_.answer) return "The answer was accepted.\n";
  if (!now.result && now.action.code) {
    text = ObserveFindings(now.findings, *now.action.code, options_.observation);
  } else if (!now.result) {
    text = ObserveNoAction(now.action, model_->action_form());
  } else {
    text = ObserveCell(Redacted(parts_.redactor, *now.result), *now.action.code, options_.observation);
    if (!now.validation_errors.empty()) text = ObserveValidation(now.validation_errors, options_.observation);
  }
  for (const SchemaError& error : now.withheld)
    text += fmt::format("Nobody is shown what is at {}: {}.\n", error.path, error.message);
  if (now.action.cut_invented)
    text +=
        "What you wrote behind your code was not run and not believed: only this message says what "
        "happened.\n";
  if (WasCutOff(now)) text += "Your reply was cut off at the limit of its length: write less at once.\n";
  if (repetitions_ > 1)
    text += "This was the same as before, with the same outcome: do something else now.\n";
  if (const std::size_t left = StepsLeft(); left <= 2 && left > 0)
    text +=
        fmt::format("You have {} left: give the answer you can give.\n", Counted(left, "reply", "replies"));
  return parts_.redactor.Apply(text);
}

std::size_t AgentRun::StepsLeft() const {
  return options_.max_steps - std::min(options_.max_steps, result_.steps.size());
}

void AgentRun::CountRepetition() {
  const auto& steps = result_.steps;
  const bool same = steps.size() > begun_at_ + 1 && SameAction(steps[steps.size() - 2], steps.back());
  repetitions_ = same ? repetitions_ + 1 : 1;
}

}  // namespace gloveport
