// Cells that a checker of the host looks at before they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "gloveport/core/agent/evidence.h"

#include "agent_fixture.h"

namespace gloveport {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Recorder : public AgentObserver {
 public:
  void OnState(AgentState state) override { states.emplace_back(AgentStateName(state)); }
  void OnCheck(const Result<std::vector<Finding>>& found) override {
    checks.push_back(found ? std::to_string(found->size()) : found.error().message);
  }
  std::vector<std::string> states;
  std::vector<std::string> checks;
};

class AgentCheckTest : public AgentTest {
 protected:
  void SetUp() override {
    AgentTest::SetUp();
    options_.observer = recorder_;
    // Finds fault with the line that has "wrong" in it.
    options_.check = [this](const CellToCheck& cell) -> Result<std::vector<Finding>> {
      histories_.push_back(cell.history.cells);
      tools_.clear();
      for (const ToolSpec& tool : cell.history.tools) tools_.push_back(tool.name);
      const std::string code(cell.code);
      const auto at = code.find("wrong");
      if (at == std::string::npos) return std::vector<Finding>();
      const int line =
          1 + static_cast<int>(std::count(code.begin(), code.begin() + static_cast<long>(at), '\n'));
      return std::vector<Finding>{{"types", line, 1, "this is \x1b[31mwrong", ""}};
    };
  }

  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
  std::vector<std::vector<std::string>> histories_;
  std::vector<std::string> tools_;
};

TEST_F(AgentCheckTest, HoldsACellBackAndCitesTheLine) {
  PlayedModel model({Cell("x = 1\nwrong = x"), Cell("final_answer('x' in globals())")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.answer, Value(false)) << "the cell ran";
  EXPECT_FALSE(result.steps[0].result);
  ASSERT_THAT(result.steps[0].findings, SizeIs(1));
  EXPECT_THAT(result.steps[0].observation,
              AllOf(HasSubstr("the cell was not run"),
                    HasSubstr("line 2, column 1 [types]: this is \\x1b[31mwrong"), HasSubstr("wrong = x")));
  EXPECT_EQ(model.LastMessage(), result.steps[0].observation);
  EXPECT_THAT(recorder_->states, ElementsAre("generate", "parse", "check", "observe", "generate", "parse",
                                             "check", "run", "validate", "stopped"));
  EXPECT_THAT(recorder_->checks, ElementsAre("1", "0"));
  EXPECT_THAT(EvidenceText(result), HasSubstr("held back"));
  EXPECT_EQ(ToJson(result)["steps"][0]["findings"][0]["line"], 2);
}

TEST_F(AgentCheckTest, RunsWhatIsSentAgainUnchanged) {
  PlayedModel model({Cell("wrong = 1"), Cell("wrong = 1"), Cell("final_answer(globals()['wr' + 'ong'])")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.answer, Value(1));
  EXPECT_FALSE(result.steps[0].result);
  EXPECT_TRUE(result.steps[1].result);
}

TEST_F(AgentCheckTest, RunsWhatStillFailsAfterSoManyChecks) {
  options_.max_failed_checks = 3;
  PlayedModel model({Cell("wrong = 1"), Cell("wrong = 2"), Cell("wrong = 3"), Cell("wrong = 4"),
                     Cell("wrong = 5"), Cell("final_answer(1)")});
  const AgentResult result = Run(model);
  std::string ran;
  for (const AgentStep& step : result.steps) ran += step.result ? "r" : "-";
  EXPECT_EQ(ran, "---r-r");
  options_.max_failed_checks = 0;
  PlayedModel another({Cell("final_answer('wrong')")});
  EXPECT_EQ(Run(another).answer, Value("wrong"));
}

TEST_F(AgentCheckTest, KnowsWhatTheSessionHas) {
  const auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("double", "", [](int x) { return 2 * x; }, {Arg("x")}));
  ASSERT_TRUE(tools->Add("forbidden", "", [] {}));
  session_.tools = tools;
  session_.policy.tools.rules.push_back({.tool = "forbidden", .effect = Effect::kDeny, .where = {}});
  PlayedModel model({Cell("a = 1"), Cell("b = 1\nraise ValueError"), Cell("if :"), Cell("import os"),
                     Cell("wrong"), Cell("import ctypes; ctypes.string_at(0)"), Cell("final_answer(a + b)")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.answer, Value(2)) << EvidenceText(result);
  EXPECT_THAT(histories_.front(), IsEmpty());
  EXPECT_THAT(histories_.back(),
              AllOf(::testing::Contains("a = 1"), ::testing::Contains("b = 1\nraise ValueError"),
                    Not(::testing::Contains("wrong"))));
  EXPECT_THAT(tools_, ElementsAre("double"));
}

TEST_F(AgentCheckTest, KnowsNoCellOfASessionThatIsGone) {
  options_.max_denials = 1;
  options_.recovery = {{RecoveryAction::kFreshSession, {}}};
  PlayedModel model({Cell("a = 1"), Cell("import subprocess"), Cell("final_answer(2)")});
  Run(model);
  ASSERT_THAT(histories_, SizeIs(3));
  EXPECT_THAT(histories_[1], ElementsAre("a = 1"));
  EXPECT_THAT(histories_[2], IsEmpty());
}

TEST_F(AgentCheckTest, RunsWhatCannotBeChecked) {
  int calls = 0;
  options_.check = [&calls](const CellToCheck&) -> Result<std::vector<Finding>> {
    if (++calls == 1) return Fail(ErrorCode::kDeadlineExceeded, "too slow");
    throw std::runtime_error("broken");
  };
  PlayedModel model({Cell("a = 1"), Cell("final_answer(a)")});
  const AgentResult result = Run(model);
  EXPECT_EQ(result.answer, Value(1));
  EXPECT_THAT(recorder_->checks, ElementsAre("too slow", "broken"));
  ASSERT_TRUE(result.steps[0].check_error);
  EXPECT_EQ(ToJson(result)["steps"][1]["check_error"]["message"], "broken");
}

TEST_F(AgentCheckTest, GoesOnWithTheCellsOfAnEarlierRun) {
  PlayedModel model({Cell("a = 1\nfinal_answer(a)"), Cell("final_answer(a)")});
  Agent agent(*runtime_, model, session_, options_);
  ASSERT_TRUE(agent.Run());
  ASSERT_TRUE(agent.Continue("Again."));
  EXPECT_THAT(histories_.back(), ElementsAre("a = 1\nfinal_answer(a)"));
}

}  // namespace
}  // namespace gloveport
