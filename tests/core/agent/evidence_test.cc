#include "gloveport/core/agent/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

AgentStep RefusedStep() {
  AgentStep step{.number = 1};
  step.action.code = "import requests";
  CellResult cell;
  cell.outcome = Outcome::kDenied;
  cell.verdict = Verdict{Decision::kDeny,
                         {{.rule = "import", .line = 1, .column = 8, .message = "no module 'requests'"}}};
  cell.usage.denied = {{"inspector", "import", "no module 'requests'", ""}};
  step.result = cell;
  return step;
}

AgentStep AnsweringStep() {
  AgentStep step{.number = 2};
  step.action.code = "final_answer(1)";
  step.action.thought = "One.";
  CellResult cell;
  cell.cell = 1;
  cell.out = "a\n";
  cell.usage.wall = std::chrono::milliseconds(410);
  cell.usage.max_rss_bytes = 61u << 20;
  cell.usage.files_read = {"bank.csv"};
  cell.usage.denied = {{"kernel", "syscall", "socket", "errno 1"}};
  cell.tool_calls = {{.name = "cost",
                      .args = Value::Object({{"n", 4}, {"channel", "cellular"}}),
                      .ok = true,
                      .result = Value(1.5),
                      .duration = std::chrono::microseconds(30)}};
  cell.final_answer = FinalAnswerValue{Value(1), "1", "Counted."};
  step.result = cell;
  return step;
}

AgentResult Finished() {
  AgentResult result;
  result.stop_reason = StopReason::kFinalAnswer;
  result.stop_message = "an answer was given";
  result.answer = Value(1);
  result.answer_repr = "1";
  result.explanation = "Counted.";
  result.model = "scripted:x.jsonl";
  result.scripted = true;
  result.policy = "default";
  result.steps = {RefusedStep(), AnsweringStep()};
  result.totals = result.steps[1].result->usage;
  result.layers = {{.name = "seccomp", .active = true, .detail = "probed"},
                   {.name = "landlock", .active = false}};
  return result;
}

TEST(EvidenceTextTest, TellsWhatTheAnswerRestsOn) {
  const std::string text = EvidenceText(Finished());
  EXPECT_THAT(text,
              AllOf(HasSubstr("final_answer: an answer was given"), HasSubstr("its words come from a script"),
                    HasSubstr(" 1  denied"), HasSubstr(" 2  ok"), HasSubstr("0.41 s"), HasSubstr("61 MiB"),
                    HasSubstr("bank.csv")));
  EXPECT_THAT(text, AllOf(HasSubstr("before the run, line 1, import: no module 'requests'"),
                          HasSubstr("by the kernel, syscall socket: errno 1"),
                          HasSubstr("cost(n=4, channel='cellular') -> 1.5, 0.030 ms"),
                          HasSubstr("seccomp        in force: probed"),
                          HasSubstr("landlock       NOT in force"), Not(HasSubstr("by the inspector"))));
}

TEST(EvidenceTextTest, SaysNoneWhereThereIsNothing) {
  AgentResult result;
  result.stop_reason = StopReason::kModelError;
  const std::string text = EvidenceText(result);
  EXPECT_THAT(text,
              AllOf(HasSubstr("model_error"), HasSubstr("files read  none"), HasSubstr("refused     none"),
                    HasSubstr("tool calls  none"), HasSubstr("steps       none"), Not(HasSubstr("script"))));
}

TEST(EvidenceTextTest, ListsOnlySoManyCalls) {
  AgentResult result = Finished();
  auto& calls = result.steps[1].result->tool_calls;
  calls.resize(50, calls[0]);
  EXPECT_THAT(EvidenceText(result), HasSubstr("and 30 more"));
}

TEST(EvidenceTextTest, ShowsNothingThatATerminalWouldObey) {
  const std::string evil = "EVIL\x1b[2J\r\nEVIL\u202e\xff" + std::string(1, '\0');
  AgentResult result = Finished();
  result.model = result.policy = result.stop_message = evil;
  result.steps[0].result->verdict->findings[0] = {.rule = evil, .line = 1, .message = evil};
  CellResult& cell = *result.steps[1].result;
  cell.tool_calls[0] = {.name = evil, .args = Value::Object({{evil, evil}}), .ok = false, .error = evil};
  cell.usage.denied = {{evil, evil, evil, evil}};
  cell.error = PythonError{.type = evil, .message = evil};
  cell.limit = LimitHit{evil, evil};
  result.totals.files_read = {evil};
  result.layers = {{.name = evil, .detail = evil}};
  const std::string text = EvidenceText(result);
  EXPECT_EQ(text, EscapeForTerminal(text));
  for (const std::string_view line : SplitLines(text))
    EXPECT_THAT(std::string(line), Not(::testing::StartsWith("EVIL")));
}

TEST(EvidenceJsonTest, HoldsTheWholeResult) {
  const Json json = ToJson(Finished());
  EXPECT_EQ(json["stop_reason"], "final_answer");
  EXPECT_EQ(json["answer"], 1);
  EXPECT_EQ(json["model"]["scripted"], true);
  EXPECT_EQ(json["steps"][0]["result"]["outcome"], "denied");
  EXPECT_EQ(json["steps"][0]["result"]["verdict"]["findings"][0]["rule"], "import");
  EXPECT_EQ(json["steps"][1]["result"]["tool_calls"][0]["args"]["n"], 4);
  EXPECT_EQ(json["steps"][1]["result"]["final_answer"]["explanation"], "Counted.");
  EXPECT_EQ(json["steps"][1]["parse_error"], Json());
  EXPECT_EQ(json["evidence"]["layers"]["seccomp"]["active"], true);
  EXPECT_EQ(json["evidence"]["usage"]["files_read"][0], "bank.csv");
}

TEST(EvidenceJsonTest, IsStandardJsonWhateverTheTextIs) {
  AgentResult result = Finished();
  result.answer = Value(std::numeric_limits<double>::quiet_NaN());
  result.stop_message = result.steps[0].reply = result.steps[1].result->out = "\xff\n";
  const std::string text = DumpJson(ToJson(result));
  ASSERT_TRUE(ParseJson(text).has_value()) << text;
  EXPECT_EQ(ParseJson(text)->at("answer").at("$float"), "nan");
}

TEST(EvidenceJsonTest, SaysWhyAStepHadNoCode) {
  AgentResult result;
  result.steps = {AgentStep{.number = 1, .reply = "hm", .action = {.error = ActionError::kNoCode}}};
  const Json json = ToJson(result);
  EXPECT_EQ(json["steps"][0]["parse_error"], "no_code");
  EXPECT_EQ(json["steps"][0]["code"], Json());
  EXPECT_EQ(json["steps"][0]["result"], Json());
  EXPECT_EQ(json["answer"], Json());
}

}  // namespace
}  // namespace gloveport
