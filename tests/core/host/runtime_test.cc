#include "gloveport/core/host/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "gloveport/policy/presets.h"

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

class RuntimeTest : public SessionFixture {};

TEST_F(RuntimeTest, AMissingInterpreterIsNamed) {
  const auto runtime = Runtime::Create({.interp_path = "/no/such/interp"});
  ASSERT_FALSE(runtime);
  EXPECT_EQ(runtime.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(runtime.error().message, HasSubstr("/no/such/interp"));
}

TEST_F(RuntimeTest, SheddingLoadIsAClearError) {
  auto small = Runtime::Create({.max_sessions = 1});
  ASSERT_TRUE(small);
  SessionOptions options;
  options.policy = *PresetPolicy("open");
  auto first = (*small)->Open(options);
  ASSERT_TRUE(first);
  const auto second = (*small)->Open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kResourceExhausted);
  first->reset();
  EXPECT_TRUE((*small)->Open(options));
}

TEST_F(RuntimeTest, JudgesCodeWithoutRunningIt) {
  const Policy policy = *PresetPolicy("default");
  EXPECT_EQ(runtime().Check(policy, "import math")->decision, Decision::kAllow);
  EXPECT_EQ(runtime().Check(policy, "import socket")->decision, Decision::kDeny);
  EXPECT_EQ(runtime().Check(policy, "import pickle")->decision, Decision::kEscalate);
  Policy evaluating = policy;
  evaluating.builtins.allow = {"eval"};
  EXPECT_EQ(runtime().Check(policy, "eval('1')")->decision, Decision::kDeny);
  EXPECT_EQ(runtime().Check(evaluating, "eval('1')")->decision, Decision::kAllow);
  EXPECT_EQ(runtime().Check(evaluating, "exec('1')")->decision, Decision::kDeny);
  EXPECT_NE(runtime().Check(policy, "(" + std::string(100'000, '('))->decision, Decision::kEscalate);
}

TEST_F(RuntimeTest, TellsWhatIsPython) {
  EXPECT_TRUE(runtime().Syntax("x = 1")->complete);
  EXPECT_TRUE(runtime().Syntax("await f()")->complete);
  EXPECT_TRUE(runtime().Syntax("def f():")->incomplete);
  const auto broken = runtime().Syntax("a = 1\nx = = 2");
  EXPECT_FALSE(broken->complete);
  EXPECT_EQ(broken->line, 2);
}

TEST_F(RuntimeTest, ValidatesAgainstASchema) {
  const Value schema =
      Value::Object({{"type", "object"},
                     {"required", Value::List{"rate"}},
                     {"properties", Value::Object({{"rate", Value::Object({{"type", "number"}})}})}});
  EXPECT_TRUE(runtime().Validate(Value::Object({{"rate", 1.5}}), schema)->empty());
  const auto errors = runtime().Validate(Value::Object({{"rate", "high"}}), schema);
  ASSERT_TRUE(errors) << errors.error().message;
  ASSERT_EQ(errors->size(), 1u);
  EXPECT_EQ(errors->at(0).path, "/rate");
  EXPECT_FALSE(runtime().Validate(Value(1), Value::Object({{"$ref", "https://example.org/schema"}})));
}

// What is imported in a cell must be what a template would have imported: seeds, and texts of cells.
TEST_F(RuntimeTest, ModulesComeWhenTheyAreNeeded) {
  constexpr std::string_view kLoaded =
      "import sys; sorted({'asyncio', 'inspect', 'random'} & set(sys.modules))";
  constexpr std::string_view kUse = R"(
import asyncio, inspect, random
def f(): return 1
await asyncio.sleep(0)
(random.random(), inspect.getsource(f)))";
  SessionOptions options;
  options.policy = *PresetPolicy("open");
  options.seed = 7;
  std::vector<Value> seen;
  for (const Imports imports : {Imports::kAhead, Imports::kWhenNeeded}) {
    auto runtime = Runtime::Create({.min_ready = 0, .imports = imports});
    ASSERT_TRUE(runtime);
    auto session = (*runtime)->Open(options);
    ASSERT_TRUE(session) << session.error().message;
    const std::size_t loaded = Run(**session, kLoaded).value.as_list().size();
    EXPECT_EQ(loaded, imports == Imports::kAhead ? 3u : 0u);
    const CellResult used = Run(**session, kUse);
    EXPECT_EQ(used.outcome, Outcome::kOk) << used.error.value_or(PythonError{}).message;
    seen.push_back(used.value);
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(RuntimeTest, TheLayersOfThisMachineAreProvenByTrying) {
  const auto layers = runtime().ProbeLayers();
  ASSERT_TRUE(layers);
  EXPECT_THAT(*layers, testing::Contains(testing::AllOf(testing::Field(&LayerStatus::name, "seccomp"),
                                                        testing::Field(&LayerStatus::active, true))));
}

TEST_F(RuntimeTest, TheSameSeedGivesTheSameNumbers) {
  SessionOptions options;
  options.policy = *PresetPolicy("open");
  options.seed = 5;
  auto one = runtime().Open(options);
  auto two = runtime().Open(options);
  auto other = Open();
  const char* code = "import random; random.random()";
  EXPECT_EQ(Run(**one, code).value, Run(**two, code).value);
  EXPECT_FALSE(Run(**one, code).value == Run(*other, code).value);
}

}  // namespace
}  // namespace gloveport
