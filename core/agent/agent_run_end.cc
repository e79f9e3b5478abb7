// The parts of AgentRun that judge an answer, end a run, or get over what would have ended it.
#include <fmt/format.h>

#include <exception>
#include <set>
#include <utility>

#include "gloveport/core/agent/agent_run.h"
#include "gloveport/core/agent/observation.h"
#include "gloveport/core/agent/prompts.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

// Of the files that an answer comes with: what is beyond is not looked into, and so refused.
constexpr std::size_t kMostFileBytes = 64u << 20;

std::string WhatIsWrong(const std::vector<SchemaError>& errors) {
  return fmt::format("at {}: {}", errors[0].path.empty() ? "the top" : errors[0].path, errors[0].message);
}

std::optional<SchemaError> Ask(const Invariant& invariant, const Value& answer, const AgentResult& record) {
  try {
    return invariant.check(answer, record);
  } catch (const std::exception& error) {
    return SchemaError{"", "it could not be checked: " + std::string(error.what())};
  } catch (...) {
    return SchemaError{"", "it could not be checked"};
  }
}

}  // namespace

// ---- the answer ----

std::vector<SchemaError> AgentRun::CheckInvariants(const Value& answer) {
  std::vector<SchemaError> found;
  for (const Invariant& invariant : options_.invariants) {
    if (auto error = Ask(invariant, answer, result_)) {
      found.push_back({std::move(error->path), invariant.name + ": " + error->message});
    }
  }
  return found;
}

std::vector<SchemaError> AgentRun::CheckOutputs(const FinalAnswerValue& answer) {
  std::vector<SchemaError> found = parts_.output.CheckAnswer(answer.value, answer.explanation);
  CheckFiles(found);
  return found;
}

// A display that was shown cannot be taken back by a later cell, so it is not held against the answer but not
// shown at all.
void AgentRun::WithholdDisplays() {
  CellResult& result = *step().result;
  for (std::size_t i = 0; i < result.displays.size(); ++i) {
    const auto found = parts_.output.CheckDisplay(fmt::format("(display {})", i + 1), result.displays[i]);
    if (found.empty()) continue;
    result.displays[i] =
        Value::Object({{"text/plain", "[withheld by an output rule: " + found[0].message + "]"}});
    step().withheld.insert(step().withheld.end(), found.begin(), found.end());
  }
}

// Those that the cells wrote; what the host put there itself is known to it.
void AgentRun::CheckFiles(std::vector<SchemaError>& found) {
  std::set<std::string> given;
  for (const InputFile& file : options_.files) given.insert(file.path);
  const auto files = parts_.session->ListFiles();
  if (!files) {
    found.push_back({"", "the files of the work folder could not be looked at: " + files.error().message});
    return;
  }
  std::size_t bytes = 0;
  for (const FileInfo& file : *files) {
    if (given.contains(file.path)) continue;
    const std::string place = "(file " + ToValidUtf8(file.path) + ")";
    bytes += file.size_bytes;
    const auto data = bytes <= kMostFileBytes
                          ? parts_.session->GetFile(file.path)
                          : Fail(ErrorCode::kResourceExhausted, "the files are too large to be looked at");
    if (!data) {
      found.push_back({place, data.error().message + "; write less, or remove it"});
      continue;
    }
    const std::string_view text(reinterpret_cast<const char*>(data->data()), data->size());
    for (SchemaError& error : parts_.output.CheckText(place, text)) found.push_back(std::move(error));
  }
}

// ---- endings ----

std::optional<AgentRun::Ending> AgentRun::EndBeforeStep() const {
  if (parts_.interrupt.stop_requested()) return Ending{StopReason::kInterrupted, "the run was interrupted"};
  if (deadline_.passed()) return Ending{StopReason::kDeadline, "the time for the run is over"};
  if (auto overrun = budget_->Exceeded()) return Ending{overrun->reason, std::move(overrun->message)};
  if (result_.steps.size() < options_.max_steps) return std::nullopt;
  return Ending{StopReason::kMaxSteps, fmt::format("there was no answer after {} steps", options_.max_steps)};
}

std::optional<AgentRun::Ending> AgentRun::EndAfterStep() const {
  const std::size_t rejections = parts_.rejections.count() - rejections_before_;
  if (parts_.interrupt.stop_requested()) return Ending{StopReason::kInterrupted, "the run was interrupted"};
  if (rejections >= options_.max_rejections) {
    return Ending{StopReason::kApprovalRejected,
                  fmt::format("approval was not given {}", Counted(rejections, "time", "times"))};
  }
  if (invalid_answers_ >= options_.max_invalid_answers) {
    return Ending{StopReason::kValidationFailed,
                  fmt::format("{} answers were given and none was accepted; the last: {}", invalid_answers_,
                              WhatIsWrong(last_errors_))};
  }
  if (denials_ >= options_.max_denials) {
    return Ending{StopReason::kDenied,
                  fmt::format("the policy {} refused {} cells in a row", result_.policy, denials_)};
  }
  if (repetitions_ >= options_.max_repetitions) {
    return Ending{StopReason::kRepeatedAction,
                  fmt::format("the model did the same {} times in a row", repetitions_)};
  }
  if (without_code_ >= options_.max_replies_without_code)
    return Ending{StopReason::kModelError, fmt::format("{} replies in a row had no code", without_code_)};
  return std::nullopt;
}

AgentState AgentRun::Stop(Ending ending) {
  result_.stop_reason = ending.reason;
  result_.stop_message = std::move(ending.message);
  result_.error = std::move(ending.error);
  return AgentState::kStopped;
}

AgentState AgentRun::GiveUp(Ending ending) {
  const auto action = recovery_.Take(ending.reason);
  if (!action) return Stop(std::move(ending));
  result_.recoveries.push_back({result_.steps.size(), *action, ending.reason, ending.message});
  given_up_ = std::move(ending);
  return AgentState::kRecover;
}

// An error that came of the run's own end is no fault of the model or the session.
AgentState AgentRun::GiveUpFor(const Error& error, StopReason otherwise, std::string message) {
  if (parts_.interrupt.stop_requested()) return Stop({StopReason::kInterrupted, "the run was interrupted"});
  if (deadline_.passed()) return Stop({StopReason::kDeadline, "the time for the run is over"});
  return GiveUp({otherwise, std::move(message), error});
}

// ---- recovery ----

AgentState AgentRun::Recover() {
  const RecoveryRecord record = result_.recoveries.back();
  const auto told = Apply(record);
  if (!told) {
    result_.recoveries.pop_back();  // it did not take place; the next rung, or the end
    return GiveUp(std::move(*std::exchange(given_up_, std::nullopt)));
  }
  given_up_.reset();
  without_code_ = denials_ = failed_checks_ = invalid_answers_ = 0;
  repetitions_ = 1;
  begun_at_ = result_.steps.size();
  if (!told->empty()) parts_.memory.AddNote(parts_.redactor.Apply(*told));
  observer_.OnRecovery(record);
  return NextReply();
}

std::optional<std::string> AgentRun::Apply(const RecoveryRecord& record) {
  const std::string why = "You could not go on: " + record.message + ".\n";
  switch (record.action) {
    case RecoveryAction::kFreshSession: {
      const auto opened = OpenAnew(parts_.session_options);
      return opened ? std::optional(why + *opened) : std::nullopt;
    }
    case RecoveryAction::kFallbackRuntime: {
      if (!options_.fallback_session) return std::nullopt;
      const auto opened = OpenAnew(*options_.fallback_session);
      if (!opened) return std::nullopt;
      return why + *opened + "Other rules hold in it, in the place of those above:\n" +
             SessionRules(*options_.fallback_session, parts_.session->policy(), options_.cell_timeout);
    }
    case RecoveryAction::kSecondModel:
      return ChangeModel(record);
    case RecoveryAction::kEscalate: {
      if (!options_.on_escalation) return std::nullopt;
      const auto advice = options_.on_escalation(record, result_);
      if (!advice) return std::nullopt;
      return why + "A person says:\n" + Quote(*advice);
    }
  }
  return std::nullopt;
}

std::optional<std::string> AgentRun::ChangeModel(const RecoveryRecord& record) {
  if (!options_.second_model || model_ == options_.second_model) return std::nullopt;
  std::string told;
  if (record.reason != StopReason::kModelError || record.after_step > 0)
    told = "It did not go on: " + record.message + ".\nTry another way.\n";
  if (options_.second_model->action_form() != model_->action_form())
    told += ReplyRules(options_.second_model->action_form());
  model_ = options_.second_model;
  result_.model += ", then " + model_->name();
  result_.scripted = result_.scripted || model_->scripted();
  return told;
}

std::optional<std::string> AgentRun::OpenAnew(const SessionOptions& options) {
  SessionOptions with_counter = options;
  with_counter.sink = parts_.session_options.sink;  // which counts rejections, too
  auto opened = parts_.runtime.Open(with_counter);
  if (!opened) return std::nullopt;
  for (const InputFile& file : options_.files) {
    if (!(*opened)->PutFile(file.path, file.data)) return std::nullopt;
  }
  parts_.session = std::move(*opened);
  parts_.history = {.tools = VisibleTools(options, parts_.session->policy()), .cells = {}};
  AdoptSession();
  return "You go on in a new session: variables, imports and files that cells have made are gone; files that "
         "were given are there again.\n";
}

}  // namespace gloveport
