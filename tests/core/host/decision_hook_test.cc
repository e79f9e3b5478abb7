#include "gloveport/core/host/decision_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <stdexcept>

#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

CallbackHook Answering(Effect decision, std::string reason = "") {
  return CallbackHook([decision, reason](const HookQuestion&, const std::stop_token&) {
    return Result<HookAnswer>(HookAnswer{decision, reason});
  });
}

constexpr std::array kEffects = {Effect::kAllow, Effect::kAsk, Effect::kDeny};  // from loose to strict

TEST(DecisionHookTest, MakesVerdictsStricterAndNeverLooser) {
  for (std::size_t before = 0; before < kEffects.size(); ++before) {
    for (std::size_t said = 0; said < kEffects.size(); ++said) {
      auto hook = Answering(kEffects[said]);
      HookQuestion question;
      question.verdict = kEffects[before];
      EXPECT_EQ(AskHook(hook, question).decision, kEffects[std::max(before, said)]) << before << " " << said;
    }
  }
}

TEST(DecisionHookTest, StrictestOfTwo) {
  EXPECT_EQ(Strictest(Effect::kAllow, Effect::kAsk), Effect::kAsk);
  EXPECT_EQ(Strictest(Effect::kDeny, Effect::kAsk), Effect::kDeny);
  EXPECT_EQ(Strictest(Decision::kAllow, Decision::kAllow), Decision::kAllow);
  EXPECT_EQ(Strictest(Decision::kEscalate, Decision::kAllow), Decision::kEscalate);
  EXPECT_EQ(Strictest(Decision::kEscalate, Decision::kDeny), Decision::kDeny);
}

TEST(DecisionHookTest, WhatIsDeniedIsNotAsked) {
  std::atomic<int> asked{0};
  CallbackHook hook([&asked](const HookQuestion&, const std::stop_token&) {
    ++asked;
    return Result<HookAnswer>(HookAnswer{Effect::kAllow, ""});
  });
  HookQuestion question;
  question.verdict = Effect::kDeny;
  EXPECT_EQ(AskHook(hook, question).decision, Effect::kDeny);
  EXPECT_EQ(asked, 0);
  question.verdict = Effect::kAllow;
  EXPECT_EQ(AskHook(hook, question).decision, Effect::kAllow);
  EXPECT_EQ(asked, 1);
}

TEST(DecisionHookTest, AnErrorOrAnExceptionIsADenialWithTheReason) {
  CallbackHook failing([](const HookQuestion&, const std::stop_token&) -> Result<HookAnswer> {
    return Fail(ErrorCode::kIo, "the database is away");
  });
  const HookAnswer failed = AskHook(failing, {});
  EXPECT_EQ(failed.decision, Effect::kDeny);
  EXPECT_EQ(failed.reason, "the decision hook (callback) did not decide: the database is away");
  CallbackHook throwing([](const HookQuestion&, const std::stop_token&) -> Result<HookAnswer> {
    throw std::runtime_error("oh");
  });
  EXPECT_EQ(AskHook(throwing, {}).decision, Effect::kDeny);
  EXPECT_THAT(AskHook(throwing, {}).reason, HasSubstr("it threw: oh"));
}

TEST(DecisionHookTest, NoAnswerInTimeIsADenialAndTheCallbackIsToldToStop) {
  std::atomic<bool> stopped{false};
  {
    CallbackHook hook([&stopped](const HookQuestion&, const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      never.wait(lock, stop, [] { return false; });
      stopped = stop.stop_requested();
      return Result<HookAnswer>(HookAnswer{Effect::kAllow, "too late"});
    });
    const HookAnswer answer = AskHook(hook, {}, milliseconds(20));
    EXPECT_EQ(answer.decision, Effect::kDeny);
    EXPECT_THAT(answer.reason, HasSubstr("no answer in time"));
  }
  EXPECT_TRUE(stopped);
}

TEST(DecisionHookTest, ReasonsAreBoundedText) {
  auto hook = Answering(Effect::kDeny, "\xff" + std::string(5000, 'x'));
  const std::string reason = AskHook(hook, {}).reason;
  EXPECT_LE(reason.size(), 2100u);
  EXPECT_TRUE(reason.starts_with("\xEF\xBF\xBDx"));
}

TEST(DecisionHookTest, AStricterVerdictSaysWhoMadeItSo) {
  Verdict verdict;
  EXPECT_TRUE(WithHookAnswer(verdict, {Effect::kAllow, "fine"}, "callback").findings.empty());
  const Verdict denied = WithHookAnswer(verdict, {Effect::kDeny, "after hours"}, "callback");
  EXPECT_EQ(denied.decision, Decision::kDeny);
  ASSERT_EQ(denied.findings.size(), 1u);
  EXPECT_EQ(denied.findings[0].rule, "hook");
  EXPECT_EQ(denied.findings[0].message, "the decision hook (callback) refuses this cell: after hours");
  EXPECT_FALSE(denied.findings[0].hint.empty());
  EXPECT_EQ(WithHookAnswer(denied, {Effect::kAsk, ""}, "callback").decision, Decision::kDeny);
}

TEST(DecisionHookTest, QuestionsAsJson) {
  HookQuestion cell;
  cell.session = "s1";
  cell.code = "import pickle\n";
  cell.verdict = Effect::kAsk;
  cell.findings = {{"pickle", 1, 8, "message", "hint"}};
  EXPECT_EQ(
      HookQuestionJson(cell),
      R"({"subject":"cell","session":"s1","code":"import pickle\n","verdict":{"decision":"ask","findings":)"
      R"([{"rule":"pickle","line":1,"column":8,"message":"message"}]}})");
  HookQuestion call;
  call.subject = HookQuestion::Subject::kToolCall;
  call.tool = "pay";
  call.args = Value::Object({{"amount", Value(5)}});
  call.reason = "no rule";
  EXPECT_EQ(HookQuestionJson(call), R"({"subject":"tool_call","session":"","tool":"pay","args":{"amount":5},)"
                                    R"("verdict":{"decision":"allow","reason":"no rule"}})");
}

TEST(DecisionHookTest, AnswersThatAreNone) {
  for (const std::string_view text :
       {"", "yes", "[]", "{}", R"({"decision": "Allow"})", R"({"decision": "escalate"})",
        R"({"decision": 1})", R"({"decision": "allow", "reason": 5})", R"({"decision": "allow"} x)",
        R"({"decision": "deny", "decision": "allow"})"}) {
    EXPECT_FALSE(ParseHookAnswer(text)) << text;
  }
  EXPECT_FALSE(ParseHookAnswer(std::string(kMaxHookAnswerBytes + 1, ' ')));
  EXPECT_EQ(ParseHookAnswer(R"({"decision": "allow"})")->decision, Effect::kAllow);
  EXPECT_EQ(ParseHookAnswer(R"({"decision": "ask", "reason": null, "more": 1})")->decision, Effect::kAsk);
  EXPECT_EQ(ParseHookAnswer(R"({"decision": "deny", "reason": "no"})")->reason, "no");
}

}  // namespace
}  // namespace gloveport
