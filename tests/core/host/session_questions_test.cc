// What an editor asks of a session, and what objects of cells can do about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SessionQuestionsTest : public SessionFixture {
 protected:
  // Questions that hang are stopped sooner than by default.
  void SetUp() override {
    RuntimeOptions options;
    options.min_ready = 0;
    options.patience.question = std::chrono::milliseconds(300);
    options.patience.answer = std::chrono::seconds(4);
    auto runtime = Runtime::Create(options);
    ASSERT_TRUE(runtime) << runtime.error().message;
    runtime_ = std::move(*runtime);
    auto tools = std::make_shared<ToolRegistry>();
    ASSERT_TRUE(tools->Add("lookup", "Finds a word.", [](std::string, std::int64_t) { return 1; },
                           {Arg("word", "what to look for"), Arg("limit", "how many", 3)}));
    SessionOptions session_options;
    session_options.policy = Open()->policy();
    session_options.tools = tools;
    auto session = runtime_->Open(std::move(session_options));
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }

  std::vector<std::string> MatchesOf(std::string_view code) {
    auto found = session_->Complete(code);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->matches : std::vector<std::string>{"(no answer)"};
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionQuestionsTest, AttributesOfLiveObjectsAreCompleted) {
  Run(*session_,
      "class Box:\n    def __init__(self):\n        self.width = 1\n        self.weight = 2\nbox = Box()");
  EXPECT_THAT(MatchesOf("box.w"), ElementsAre("weight", "width"));
  EXPECT_THAT(MatchesOf("loo"), ElementsAre("lookup"));
  EXPECT_THAT(MatchesOf("box.nothing"), IsEmpty());
  const auto found = session_->Complete("é = box.wei + 1", 11);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->matches, ElementsAre("weight"));
  EXPECT_EQ(found->start, 8u);
  EXPECT_EQ(found->end, 11u);
}

TEST_F(SessionQuestionsTest, ToolsAreExplained) {
  const auto info = session_->Inspect("lookup('a')", 3);
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_TRUE(info->found);
  EXPECT_EQ(info->name, "lookup");
  ASSERT_TRUE(info->signature);
  EXPECT_THAT(*info->signature, AllOf(HasSubstr("lookup(word"), HasSubstr("limit"), HasSubstr("3")));
  EXPECT_THAT(info->doc, AllOf(HasSubstr("Finds a word."), HasSubstr("what to look for")));
  EXPECT_FALSE(info->repr);
}

TEST_F(SessionQuestionsTest, VariablesAreShownAndMissingNamesAreNotFound) {
  Run(*session_, "x = [1, 2]\nnothing = None");
  const auto info = session_->Inspect("x");
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->type, "list");
  EXPECT_EQ(info->repr, "[1, 2]");
  EXPECT_EQ(session_->Inspect("nothing")->type, "NoneType");
  EXPECT_FALSE(session_->Inspect("y")->found);
  EXPECT_FALSE(session_->Inspect("")->found);
}

TEST_F(SessionQuestionsTest, CodeIsCompleteIncompleteOrInvalid) {
  const auto state = [&](std::string_view code) { return session_->IsComplete(code).value(); };
  EXPECT_EQ(state("x = 1").completeness, Completeness::kComplete);
  EXPECT_EQ(state("for i in x:").completeness, Completeness::kIncomplete);
  EXPECT_EQ(state("for i in x:").indent, "    ");
  EXPECT_EQ(state("f(1,").indent, "");
  EXPECT_EQ(state("x = = 1").completeness, Completeness::kInvalid);
}

TEST_F(SessionQuestionsTest, WrongQuestionsAreRefused) {
  EXPECT_EQ(session_->Complete("é", 2).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(session_->Complete("é", 1));
  EXPECT_EQ(session_->Inspect("\xff").error().code, ErrorCode::kInvalidArgument);
  session_->Close();
  EXPECT_EQ(session_->Complete("x").error().code, ErrorCode::kClosed);
}

TEST_F(SessionQuestionsTest, ObjectsThatRaiseCostNoAnswer) {
  Run(*session_, R"(
class Bad:
    here = 1
    def __dir__(self): raise RuntimeError('no')
    def __getattr__(self, name): raise ValueError('no')
    def __repr__(self): raise KeyError('no')
    @property
    def boom(self): raise AssertionError('a property was run')
bad = Bad())");
  EXPECT_THAT(MatchesOf("bad.h"), ElementsAre("here"));
  EXPECT_THAT(MatchesOf("bad.missing.x"), IsEmpty());
  EXPECT_THAT(MatchesOf("bad.boom.x"), IsEmpty());
  EXPECT_FALSE(session_->Inspect("bad.missing")->found);
  EXPECT_EQ(session_->Inspect("bad")->type, "Bad");
  Run(*session_, "class Leaves:\n    def __dir__(self): raise SystemExit\nleaves = Leaves()");
  const auto left = session_->Complete("leaves.x");
  EXPECT_EQ(Run(*session_, "bad.here").value, Value(1)) << "the session is as it was";
  EXPECT_FALSE(left);
}

TEST_F(SessionQuestionsTest, AnObjectThatHangsIsStoppedAndTheVariablesAreKept) {
  Run(*session_, R"(
import time
class Slow:
    def __init__(self, how): self.how = how
    def __dir__(self): self.how()
    def __getattr__(self, name): self.how()
    def __repr__(self): self.how()
def spin():
    while True:
        try:
            while True: pass
        except BaseException: pass
spins, sleeps, calls = Slow(spin), Slow(lambda: time.sleep(60)), Slow(lambda: lookup('x')))");
  for (const char* code : {"spins.", "sleeps.", "spins.x.", "sleeps.x."}) {
    const auto found = session_->Complete(code);
    ASSERT_FALSE(found) << code;
    EXPECT_EQ(found.error().code, ErrorCode::kDeadlineExceeded) << found.error().message;
    EXPECT_THAT(found.error().message, Not(HasSubstr("lost")));
  }
  EXPECT_EQ(session_->Inspect("spins").error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(session_->Complete("calls.")) << "a tool cannot be called for a question";
  EXPECT_EQ(Run(*session_, "spins.__class__.__name__").value, Value("Slow"));
  EXPECT_EQ(session_->GetVariable("spins").error().code, ErrorCode::kDeadlineExceeded)
      << "with the longer patience of any question";
}

TEST_F(SessionQuestionsTest, WhatCannotBeStoppedCostsTheVariablesAndSaysSo) {
  Run(*session_, R"(
import os, itertools, collections
class Deaf:
    def __dir__(self): collections.deque(itertools.repeat(0), maxlen=0)
class Ends:
    def __dir__(self): os._exit(0)
deaf, ends, x = Deaf(), Ends(), 1)");
  const auto start = std::chrono::steady_clock::now();
  const auto deaf = session_->Complete("deaf.");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  ASSERT_FALSE(deaf);
  EXPECT_EQ(deaf.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(deaf.error().message, HasSubstr("variables are lost"));
  EXPECT_EQ(Run(*session_, "x").error->type, "NameError");

  Run(*session_, "import os\nclass Ends:\n    def __dir__(self): os._exit(0)\nends = Ends()");
  const auto ended = session_->Complete("ends.");
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kClosed);
  EXPECT_THAT(ended.error().message, HasSubstr("variables are lost"));
  EXPECT_THAT(MatchesOf("Tr"), Contains("True"));
}

}  // namespace
}  // namespace gloveport
