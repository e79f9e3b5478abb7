#include "gloveport/core/host/decision_hook.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <optional>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxReasonBytes = 2000;

// Shows in messages and logs, so: valid text of a bounded length.
std::string Bounded(std::string_view reason) { return ToValidUtf8(reason.substr(0, kMaxReasonBytes)); }

int StrictnessOf(Effect effect) { return effect == Effect::kAllow ? 0 : effect == Effect::kAsk ? 1 : 2; }

Json FindingJson(const Finding& finding) {
  return {{"rule", finding.rule},
          {"line", finding.line},
          {"column", finding.column},
          {"message", finding.message}};
}

}  // namespace

// What the thread that runs the callback and the one that waits for it share.
struct CallbackHook::Call {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<Result<HookAnswer>> answer;

  void Answer(Result<HookAnswer> given) {
    {
      const std::lock_guard lock(mutex);
      answer = std::move(given);
    }
    done.notify_all();
  }
};

CallbackHook::~CallbackHook() {
  for (auto& [call, thread] : late_) thread.request_stop();
}

void CallbackHook::ForgetEnded() {
  late_.remove_if([](const auto& late) {
    const std::lock_guard lock(late.first->mutex);
    return late.first->answer.has_value();
  });
}

Result<HookAnswer> CallbackHook::Decide(const HookQuestion& question, Deadline deadline) {
  auto call = std::make_shared<Call>();
  std::jthread thread([call, question, callback = callback_](const std::stop_token& stop) {
    try {
      call->Answer(callback(question, stop));
    } catch (const std::exception& thrown) {
      call->Answer(Fail(ErrorCode::kInternal, fmt::format("it threw: {}", thrown.what())));
    } catch (...) {
      call->Answer(Fail(ErrorCode::kInternal, "it threw something"));
    }
  });
  {
    std::unique_lock lock(call->mutex);
    const auto answered = [&call] { return call->answer.has_value(); };
    if (deadline.never()) call->done.wait(lock, answered);
    if (deadline.never() || call->done.wait_until(lock, deadline.when(), answered)) return *call->answer;
  }
  thread.request_stop();
  const std::lock_guard lock(mutex_);
  ForgetEnded();
  late_.emplace_back(std::move(call), std::move(thread));
  return Fail(ErrorCode::kDeadlineExceeded, "it gave no answer in time");
}

HookAnswer AskHook(DecisionHook& hook, const HookQuestion& question, std::chrono::milliseconds time) {
  if (question.verdict == Effect::kDeny) return {Effect::kDeny, ""};
  auto answer = hook.Decide(question, Deadline::After(time));
  if (!answer) {
    return {Effect::kDeny, fmt::format("the decision hook ({}) did not decide: {}", hook.name(),
                                       Bounded(answer.error().message))};
  }
  return {Strictest(question.verdict, answer->decision), Bounded(answer->reason)};
}

Effect Strictest(Effect a, Effect b) { return StrictnessOf(a) >= StrictnessOf(b) ? a : b; }

Decision Strictest(Decision a, Decision b) { return ToDecision(Strictest(ToEffect(a), ToEffect(b))); }

Effect ToEffect(Decision decision) {
  switch (decision) {
    case Decision::kAllow:
      return Effect::kAllow;
    case Decision::kEscalate:
      return Effect::kAsk;
    case Decision::kDeny:
      return Effect::kDeny;
  }
  return Effect::kDeny;
}

Decision ToDecision(Effect effect) {
  switch (effect) {
    case Effect::kAllow:
      return Decision::kAllow;
    case Effect::kAsk:
      return Decision::kEscalate;
    case Effect::kDeny:
      return Decision::kDeny;
  }
  return Decision::kDeny;
}

Verdict WithHookAnswer(Verdict verdict, const HookAnswer& answer, std::string_view hook_name) {
  const Decision strictest = Strictest(verdict.decision, ToDecision(answer.decision));
  if (strictest == verdict.decision) return verdict;
  verdict.decision = strictest;
  Finding finding;
  finding.rule = "hook";
  finding.line = 1;
  finding.column = 1;
  finding.message = fmt::format("the decision hook ({}) {} this cell{}{}", hook_name,
                                strictest == Decision::kDeny ? "refuses" : "asks for a person's decision on",
                                answer.reason.empty() ? "" : ": ", answer.reason);
  finding.hint = "Do it in another way that the reason leaves open, or do without it.";
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

std::string HookQuestionJson(const HookQuestion& question) {
  const bool cell = question.subject == HookQuestion::Subject::kCell;
  Json json = {{"subject", cell ? "cell" : "tool_call"}, {"session", question.session}};
  Json verdict = {{"decision", EffectName(question.verdict)}};
  if (cell) {
    json["code"] = question.code;
    verdict["findings"] = Json::array();
    for (const Finding& finding : question.findings) verdict["findings"].push_back(FindingJson(finding));
  } else {
    json["tool"] = question.tool;
    json["args"] = ToJson(question.args);
    verdict["reason"] = question.reason;
  }
  json["verdict"] = std::move(verdict);
  return DumpJson(json);
}

Result<HookAnswer> ParseHookAnswer(std::string_view text) {
  const auto fault = [](std::string_view what) {
    return Fail(ErrorCode::kProtocol, fmt::format("its answer is none: {}", what),
                "answer {\"decision\": \"allow\", \"ask\" or \"deny\", \"reason\": \"...\"}");
  };
  const auto json = ParseJson(text, {.max_bytes = kMaxHookAnswerBytes, .max_depth = 20});
  if (!json) return fault(json.error().message);
  if (!json->is_object()) return fault("no JSON object");
  const auto decision = json->find("decision");
  if (decision == json->end() || !decision->is_string()) return fault("\"decision\" is missing");
  HookAnswer answer;
  bool known = false;
  for (const Effect effect : {Effect::kAllow, Effect::kAsk, Effect::kDeny}) {
    if (decision->get<std::string>() != EffectName(effect)) continue;
    answer.decision = effect;
    known = true;
  }
  if (!known) return fault("\"decision\" must be \"allow\", \"ask\" or \"deny\"");
  const auto reason = json->find("reason");
  if (reason != json->end() && !reason->is_null()) {
    if (!reason->is_string()) return fault("\"reason\" must be a string");
    answer.reason = reason->get<std::string>();
  }
  return answer;
}

}  // namespace gloveport
