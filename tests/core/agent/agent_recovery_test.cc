// Budgets, plans, recoveries, rules for answers, agents as tools: with real sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gloveport/core/agent/agent.h"
#include "gloveport/core/agent/agent_tool.h"
#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/core/agent/agent_fixture.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class AgentRecoveryTest : public AgentTest {
 protected:
  void GiveFile(const std::string& path, const std::string& text) {
    const auto bytes = AsBytes(text);
    options_.files.push_back({path, {bytes.begin(), bytes.end()}});
  }
};

// ---- budgets ----

TEST_F(AgentRecoveryTest, CostIsCountedAndLimited) {
  options_.cost_of = [](std::string_view, const TokenUsage& tokens) -> std::optional<double> {
    return static_cast<double>(tokens.output_tokens) * 0.01;
  };
  options_.max_cost = 0.15;  // ten tokens of output a reply: two replies
  PlayedModel model({Cell("1"), Cell("2"), Cell("3")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kMaxCost);
  EXPECT_THAT(result.steps, SizeIs(2));
  EXPECT_NEAR(result.cost.value(), 0.2, 1e-9);
}

TEST_F(AgentRecoveryTest, ALimitOnACostThatNobodyKnowsStopsTheRun) {
  options_.max_cost = 1000;
  PlayedModel model({Cell("1"), Cell("2")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kMaxCost);
  EXPECT_THAT(result.stop_message, HasSubstr("price table"));
  EXPECT_THAT(result.steps, SizeIs(1));
  EXPECT_FALSE(result.cost.has_value());
}

// ---- plans ----

TEST_F(AgentRecoveryTest, PlansBeforeEverySoManyStepsWithWhatIsLeft) {
  options_.planning_interval = 2;
  options_.max_tokens = 5000;
  PlayedModel model({"1. look 2. answer", Cell("1"), Cell("2"), "now answer", Cell("final_answer(3)")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kFinalAnswer);
  ASSERT_THAT(result.plans, SizeIs(2));
  EXPECT_EQ(result.plans[0].before_step, 1u);
  EXPECT_EQ(result.plans[0].text, "1. look 2. answer");
  EXPECT_EQ(result.plans[1].before_step, 3u);
  EXPECT_THAT(result.steps, SizeIs(3));
  EXPECT_THAT(model.requests()[0].messages.back().content,
              AllOf(HasSubstr("write a plan"), HasSubstr("10 replies of yours; in all 5000 tokens.")));
  // What the model planned stays, what it was asked for the plan does not.
  EXPECT_EQ(model.requests()[1].messages[2].content, "1. look 2. answer");
  EXPECT_THAT(model.requests()[1].messages[1].content, Not(HasSubstr("write a plan")));
  EXPECT_EQ(result.tokens.output_tokens, 50);
}

// ---- recoveries ----

struct RecoveryCase {
  const char* name;
  RecoveryAction action;
  std::vector<std::string> replies;
  const char* told;  // to the model afterwards
};

TEST_F(AgentRecoveryTest, EachRungGetsOverAnEndingOnce) {
  const std::string same = Cell("state = 1");
  const std::vector<RecoveryCase> table = {
      {"fresh session",
       RecoveryAction::kFreshSession,
       {same, same, same, Cell("final_answer('state' in globals())")},
       "in a new session"},
      {"fallback",
       RecoveryAction::kFallbackRuntime,
       {same, same, same, Cell("final_answer('state' in globals())")},
       "Other rules hold in it"},
      {"person",
       RecoveryAction::kEscalate,
       {same, same, same, Cell("final_answer('state' not in globals())")},
       "A person says:\n| use another way\n"},
  };
  options_.fallback_session = session_;
  options_.fallback_session->policy.imports.allow = {"math"};
  options_.on_escalation = [](const RecoveryRecord& record, const AgentResult&) {
    EXPECT_EQ(record.reason, StopReason::kRepeatedAction);
    return std::optional<std::string>("use another way");
  };
  for (const RecoveryCase& row : table) {
    options_.recovery = {{row.action, {}}};
    PlayedModel model(row.replies);
    const AgentResult result = Run(model);
    EXPECT_EQ(result.stop_reason, StopReason::kFinalAnswer) << row.name << ": " << result.stop_message;
    EXPECT_EQ(result.answer, Value(false)) << row.name;
    ASSERT_THAT(result.recoveries, SizeIs(1)) << row.name;
    EXPECT_EQ(result.recoveries[0].after_step, 3u) << row.name;
    EXPECT_EQ(result.recoveries[0].reason, StopReason::kRepeatedAction) << row.name;
    EXPECT_THAT(model.LastMessage(), AllOf(HasSubstr("You could not go on: "), HasSubstr(row.told)))
        << row.name;
    EXPECT_THAT(EvidenceText(result), HasSubstr("instead of ending as repeated_action")) << row.name;
  }
}

TEST_F(AgentRecoveryTest, ASecondEndingOfTheKindIsFinal) {
  options_.recovery = {{RecoveryAction::kFreshSession, {}}};
  PlayedModel model({Cell("1")});
  model.RepeatLast();
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kRepeatedAction);
  EXPECT_THAT(result.recoveries, SizeIs(1));
  EXPECT_THAT(result.steps, SizeIs(6));
}

TEST_F(AgentRecoveryTest, ASecondModelTakesOverWhereTheFirstFails) {
  PlayedModel first({Cell("x = 20")});
  first.Add(
      [](const ChatRequest&) -> Result<ChatReply> { return Fail(ErrorCode::kIo, "connection refused"); });
  PlayedModel second({Cell("final_answer(x + 1)")});
  second.SetName("second");
  options_.second_model = &second;
  options_.recovery = {{RecoveryAction::kEscalate, {}},  // nobody is there: the next rung is taken
                       {RecoveryAction::kSecondModel, {StopReason::kModelError}}};
  const AgentResult result = Run(first);
  EXPECT_EQ(result.answer, Value(21)) << result.stop_message;
  EXPECT_EQ(result.model, "played, then second");
  ASSERT_THAT(result.recoveries, SizeIs(1));
  EXPECT_EQ(result.recoveries[0].action, RecoveryAction::kSecondModel);
}

TEST_F(AgentRecoveryTest, ARungForAnotherReasonIsNotTaken) {
  options_.recovery = {{RecoveryAction::kFreshSession, {StopReason::kDenied}}};
  PlayedModel model({Cell("1")});
  model.RepeatLast();
  EXPECT_EQ(Run(model).stop_reason, StopReason::kRepeatedAction);
}

TEST_F(AgentRecoveryTest, GivenFilesAreThereAgainInAFreshSession) {
  session_.policy = PresetPolicy("default").value();
  GiveFile("a.txt", "here");
  options_.recovery = {{RecoveryAction::kFreshSession, {}}};
  PlayedModel model({Cell("1"), Cell("1"), Cell("1"), Cell("final_answer(open('a.txt').read())")});
  EXPECT_EQ(Run(model).answer, Value("here"));
}

// ---- approvals ----

class Refuser : public Approver {
 public:
  void Ask(const ApprovalRequest&, Answer answer) override { answer({.reason = "not today", .by = "test"}); }
};

TEST_F(AgentRecoveryTest, APersonThatRefusesAgainAndAgainEndsTheRun) {
  const auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("pay", "Pays.", [](int amount) { return amount; }, {Arg("amount")}));
  session_.tools = tools;
  session_.policy.tools.rules = {{.tool = "pay", .effect = Effect::kAsk}};
  session_.approver = std::make_shared<Refuser>();
  options_.max_rejections = 2;
  options_.recovery = {{RecoveryAction::kFreshSession, {}}};  // is not for that
  PlayedModel model({Cell("pay(1)"), Cell("pay(2)"), Cell("pay(3)")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kApprovalRejected) << result.stop_message;
  EXPECT_THAT(result.steps, SizeIs(2));
  EXPECT_THAT(model.LastMessage(), HasSubstr("not today"));
}

// ---- what an answer must be ----

TEST_F(AgentRecoveryTest, InvariantsAreAskedWithTheRecordAndFailuresGoBack) {
  options_.invariants = {
      {"sum", [](const Value& answer, const AgentResult& record) -> std::optional<SchemaError> {
         EXPECT_FALSE(record.steps.empty());
         const Value* total = answer.Find("total");
         if (total && *total == Value(10)) return std::nullopt;
         return SchemaError{"/total", "the parts add up to 10"};
       }}};
  PlayedModel model({Cell("final_answer({'total': 9})"), Cell("final_answer({'total': 10})")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kFinalAnswer);
  EXPECT_THAT(result.steps[0].validation_errors, SizeIs(1));
  EXPECT_THAT(model.LastMessage(), HasSubstr("- at /total: sum: the parts add up to 10"));
}

TEST_F(AgentRecoveryTest, AnInvariantThatThrowsHoldsTheAnswerBack) {
  options_.invariants = {{"broken", [](const Value&, const AgentResult&) -> std::optional<SchemaError> {
                            throw std::runtime_error("no database");
                          }}};
  PlayedModel model({Cell("final_answer(1)"), Cell("final_answer(2)"), Cell("final_answer(3)")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kValidationFailed);
  EXPECT_FALSE(result.answer.has_value());
  EXPECT_THAT(result.steps[0].validation_errors[0].message, HasSubstr("no database"));
}

TEST_F(AgentRecoveryTest, SecretsForbiddenTextAndCopiesDoNotLeaveInAnAnswer) {
  session_.policy = PresetPolicy("default").value();
  std::string rows = "name,amount\n";
  for (int i = 0; i < 50; ++i) rows += "person " + std::to_string(i) + "," + std::to_string(i * 17) + "\n";
  rows += "a note of one line that is longer than any passage that may be handed on as it stands in the file";
  GiveFile("clients.csv", rows);
  options_.output.patterns = {{"iban", "DE[0-9]{20}"}};
  options_.output.max_verbatim_bytes = 64;
  options_.max_invalid_answers = 10;
  const struct {
    const char* name;
    const char* code;
    const char* path;     // in the observation
    const char* message;  // there too
  } kTable[] = {
      {"secret", "final_answer({'a': [1, 'Bearer ' + 'a1B2' * 10]})", "- at /a/1: ", "a secret"},
      {"pattern", "final_answer({'x/y': 'DE' + '1' * 20})", "- at /x~1y: ", "the output rule iban forbids"},
      {"copy", "final_answer(open('clients.csv').read()[100:200])", "- at ",
       "64 bytes of the file clients.csv"},
      {"explanation", "final_answer(1, open('clients.csv').read()[33:133])",
       "- at (explanation): ", "clients.csv"},
      {"file", "open('o.txt', 'w').write(open('clients.csv').read())\nfinal_answer(1)",
       "- at (file o.txt): ", "clients.csv"},
      {"display",
       "display(open('clients.csv').read()[-90:])\nimport pathlib; pathlib.Path('o.txt').unlink()\n1",
       "Nobody is shown what is at (display 1) (text/plain): ", "clients.csv"},
  };
  std::vector<std::string> replies;
  for (const auto& row : kTable) replies.push_back(Cell(row.code));
  replies.push_back(Cell("'the end'"));
  options_.max_steps = replies.size();
  PlayedModel model(replies);
  const AgentResult result = Run(model);
  EXPECT_EQ(result.stop_reason, StopReason::kMaxSteps) << result.stop_message;
  ASSERT_THAT(model.requests(), SizeIs(replies.size()));
  for (std::size_t i = 0; i < std::size(kTable); ++i) {
    EXPECT_THAT(model.requests()[i + 1].messages.back().content,
                AllOf(HasSubstr(kTable[i].path), HasSubstr(kTable[i].message)))
        << kTable[i].name;
  }
}

TEST_F(AgentRecoveryTest, ShortPassagesAndSumsMayLeave) {
  session_.policy = PresetPolicy("default").value();
  GiveFile("clients.csv", std::string(30, 'a') + "," + std::string(30, 'b') + "\n" + std::string(400, 'c'));
  options_.output.max_verbatim_bytes = 64;
  PlayedModel model({Cell("final_answer(open('clients.csv').read()[:60])")});
  EXPECT_EQ(Run(model).stop_reason, StopReason::kFinalAnswer);
}

// ---- agents as tools ----

TEST_F(AgentRecoveryTest, AnAgentIsAToolOfAnother) {
  PlayedModel worker_model({});
  worker_model.Add([](const ChatRequest& request) -> Result<ChatReply> {
    const std::string& task = request.messages.at(1).content;
    EXPECT_THAT(task, AllOf(HasSubstr("double it"), HasSubstr("{\"n\":")));
    const auto at = task.find("{\"n\":") + 5;
    return ChatReply{.content = Cell("final_answer(2 * " + task.substr(at, task.find('}', at) - at) + ")"),
                     .usage = {.input_tokens = 10, .output_tokens = 1, .reported = true}};
  });
  worker_model.RepeatLast();
  const auto budget = std::make_shared<Budget>();
  AgentToolOptions worker{.name = "worker", .description = "Doubles.", .session = session_, .is_async = true};
  worker.agent.budget = budget;
  std::atomic<int> runs = 0;
  worker.on_result = [&runs](const AgentResult& result) {
    EXPECT_EQ(result.stop_reason, StopReason::kFinalAnswer);
    ++runs;
  };
  const auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add(std::make_shared<AgentTool>(*runtime_, worker_model, worker)));
  session_.tools = tools;
  options_.budget = budget;
  PlayedModel manager(
      {Cell("import asyncio\nr = await asyncio.gather(*[worker('double it', {'n': n}) for n in (1, 2, 3)])"),
       Cell("final_answer(r)")});
  session_.policy.imports.allow.push_back("asyncio");
  const AgentResult result = Run(manager);
  EXPECT_EQ(result.answer, Value(Value::List{2, 4, 6})) << EvidenceText(result);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(budget->tokens(), 2 * 110 + 3 * 11);
  EXPECT_THAT(manager.requests()[0].messages[0].content,
              HasSubstr("async def worker(task: str, context: object = None)"));
}

TEST_F(AgentRecoveryTest, AManagedAgentWithoutAnAnswerIsAToolErrorWithItsReason) {
  PlayedModel worker_model({"no code"});
  worker_model.RepeatLast();
  const auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add(std::make_shared<AgentTool>(
      *runtime_, worker_model,
      AgentToolOptions{.name = "worker", .description = "Fails.", .session = session_})));
  session_.tools = tools;
  PlayedModel manager({Cell("worker('do it')"), Cell("final_answer('without')")});
  EXPECT_EQ(Run(manager).answer, Value("without"));
  EXPECT_THAT(manager.LastMessage(),
              AllOf(HasSubstr("the agent worker gave no answer"), HasSubstr("repeated_action")));
}

TEST_F(AgentRecoveryTest, ABudgetHoldsOverTheWholeTree) {
  PlayedModel worker_model({Cell("1"), Cell("2"), Cell("3"), Cell("4")});
  const auto budget = std::make_shared<Budget>(BudgetLimits{.max_steps = 3});
  AgentToolOptions worker{.name = "worker", .description = "Works.", .session = session_};
  worker.agent.budget = budget;
  const auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add(std::make_shared<AgentTool>(*runtime_, worker_model, worker)));
  session_.tools = tools;
  options_.budget = budget;
  PlayedModel manager({Cell("worker('do it')"), Cell("final_answer(1)")});
  const AgentResult result = Run(manager);
  EXPECT_EQ(result.stop_reason, StopReason::kMaxSteps);
  EXPECT_THAT(result.steps, SizeIs(1));
  EXPECT_THAT(worker_model.requests(), SizeIs(2));
}

// ---- forms in which a model acts, and what it is heard to say ----

PlayedModel::Answer Call(const std::string& code) {
  return [code](const ChatRequest& request) -> Result<ChatReply> {
    if (request.on_delta) request.on_delta({ChatDelta::Kind::kCode, code});
    return ChatReply{.finish_reason = "tool_calls",
                     .form = ActionForm::kTool,
                     .action = CodeAction{.call_id = "c1", .thought = "Because.", .code = code},
                     .opaque = "signed"};
  };
}

class DeltaRecorder : public AgentObserver {
 public:
  bool wants_deltas() const override { return true; }
  void OnDelta(const ChatDelta& delta) override { text += delta.text; }
  std::string text;
};

TEST_F(AgentRecoveryTest, AModelMayActByToolCalls) {
  PlayedModel model({});
  model.SetForm(ActionForm::kTool);
  model.Add(Call("x = 6"));
  model.Add([](const ChatRequest&) -> Result<ChatReply> {
    return ChatReply{.form = ActionForm::kTool,
                     .action = CodeAction{.call_id = "c2", .problem = "there is no tool \"lookup\""}};
  });
  model.Add(Call("final_answer(x * 7)"));
  const auto recorder = std::make_shared<DeltaRecorder>();
  options_.observer = recorder;
  const AgentResult result = Run(model);
  EXPECT_EQ(result.answer, Value(42)) << result.stop_message;
  EXPECT_EQ(result.steps[0].action.thought, "Because.");
  EXPECT_EQ(recorder->text, "x = 6final_answer(x * 7)");
  const auto& asked = model.requests();
  EXPECT_EQ(asked[0].form, ActionForm::kTool);
  EXPECT_THAT(asked[0].messages[0].content,
              AllOf(HasSubstr("calling the tool execute_code"), HasSubstr("\"thought\"")));
  EXPECT_EQ(asked[1].messages[2].action->code, "x = 6");
  EXPECT_EQ(asked[1].messages[2].opaque, "signed");
  EXPECT_THAT(asked[2].messages.back().content,
              AllOf(HasSubstr("there is no tool \"lookup\""), HasSubstr("Call the tool execute_code")));
  // Without counts from the server, tokens are estimated, for the budgets.
  EXPECT_GT(result.tokens.input_tokens, 100);
  EXPECT_FALSE(result.tokens.reported);
}

TEST_F(AgentRecoveryTest, ASecondModelOfAnotherFormIsToldHowToReply) {
  PlayedModel first({});
  first.SetForm(ActionForm::kTool);
  first.Add(Call("x = 20"));
  first.Add(
      [](const ChatRequest&) -> Result<ChatReply> { return Fail(ErrorCode::kIo, "connection refused"); });
  PlayedModel second({Cell("final_answer(x)")});
  options_.second_model = &second;
  options_.recovery = {{RecoveryAction::kSecondModel, {}}};
  EXPECT_EQ(Run(first).answer, Value(20));
  EXPECT_THAT(second.LastMessage(), AllOf(HasSubstr("From here on, reply so."), HasSubstr("```python\n")));
}

// ---- conversations ----

TEST_F(AgentRecoveryTest, AConversationGoesOnInItsSession) {
  PlayedModel model({Cell("x = 6\nfinal_answer(x)"), Cell("final_answer(x * 7)")});
  Agent agent(*runtime_, model, session_, options_);
  const auto first = agent.Run();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->answer, Value(6));
  const auto second = agent.Continue("Seven times that.");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->answer, Value(42));
  EXPECT_EQ(second->goal, "Seven times that.");
  EXPECT_THAT(second->steps, SizeIs(1));
  EXPECT_THAT(model.LastMessage(),
              AllOf(HasSubstr("The answer was accepted."), HasSubstr("# Task\nSeven times that.")));
}

TEST_F(AgentRecoveryTest, AConversationGoesOnAfterAnInterrupt) {
  PlayedModel model({});
  Agent agent(*runtime_, model, session_, options_);
  model.Add([&](const ChatRequest&) -> Result<ChatReply> {
    agent.Interrupt();
    return ChatReply{.content = Cell("y = 1")};
  });
  model.Add(
      [](const ChatRequest&) -> Result<ChatReply> { return ChatReply{.content = Cell("final_answer(5)")}; });
  const auto first = agent.Run();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->stop_reason, StopReason::kInterrupted);
  const auto second = agent.Continue("Go on.");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->answer, Value(5)) << second->stop_message;
}

TEST_F(AgentRecoveryTest, AConversationIsSavedAndGoesOnElsewhere) {
  PlayedModel model({Cell("final_answer('blue')")});
  Agent agent(*runtime_, model, session_, options_);
  EXPECT_TRUE(agent.SaveMemory().is_null());
  ASSERT_TRUE(agent.Run().has_value());
  PlayedModel later_model({Cell("final_answer('still blue')")});
  Agent later(*runtime_, later_model, session_, options_);
  ASSERT_TRUE(later.LoadMemory(agent.SaveMemory()).has_value());
  const auto result = later.Continue("And now?");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->answer, Value("still blue"));
  const auto& messages = later_model.requests()[0].messages;
  ASSERT_THAT(messages, SizeIs(4));
  EXPECT_THAT(messages[2].content, HasSubstr("final_answer('blue')"));
  EXPECT_THAT(messages[3].content, AllOf(HasSubstr("in a new session"), HasSubstr("# Task\nAnd now?")));
  EXPECT_FALSE(Agent(*runtime_, model, session_, options_).LoadMemory(Json(3)).has_value());
}

}  // namespace
}  // namespace gloveport
