// Values from Python to the host and back to Python: round_trip.py makes them inside of a real session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/convert.h"

#include "session_fixture.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::IsSubsetOf;

// Gives back what it gets, and checks on the way that the host's own encodings keep it. Called from several
// threads.
class Echo {
 public:
  Value operator()(Value value) {
    const std::lock_guard lock(mutex_);
    Note(value);
    const std::string encoded = EncodeValue(value);
    const auto decoded = DecodeValue(encoded);
    if (!decoded || EncodeValue(*decoded) != encoded) problems_.push_back("CBOR: " + DumpJson(ToJson(value)));
    const auto from_json = FromJson(ToJson(value));
    if (!from_json || EncodeValue(*from_json) != encoded)
      problems_.push_back("JSON: " + DumpJson(ToJson(value)));
    return value;
  }

  const std::set<std::string>& seen() const { return seen_; }  // names of kinds and forms
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  void Note(const Value& value) {
    seen_.emplace(value.is_big_int() ? "big int" : value.TypeName());
    if (value.is_extended()) Note(value.payload());
    if (value.is_list()) {
      for (const Value& item : value.as_list()) Note(item);
    }
    if (value.is_map()) {
      for (const auto& [key, item] : value.as_map()) Note(key), Note(item);
    }
  }

  std::mutex mutex_;
  std::set<std::string> seen_;
  std::vector<std::string> problems_;
};

class SessionValuesTest : public SessionFixture {
 protected:
  std::unique_ptr<Session> OpenWithEcho(
      std::string_view members =
          R"("limits":{"wall_s":120,"cpu_s":120,"tool_calls":100000,"memory_mib":1024,"tool_call_kib":196608,"result_mib":1024})") {
    auto tools = std::make_shared<ToolRegistry>();
    EXPECT_TRUE(tools->Add("echo", "Gives it back.", [this](Value x) { return echo_(std::move(x)); },
                           {Arg("x", "anything")}));
    return Open(members, tools);
  }

  Echo echo_;
};

TEST_F(SessionValuesTest, GeneratedValuesOfEveryFormComeBackAsTheyWere) {
  auto session = OpenWithEcho();
  const auto source =
      ReadFile(std::filesystem::path(GLOVEPORT_SOURCE_DIR) / "tests" / "core" / "host" / "round_trip.py");
  ASSERT_TRUE(source);
  ASSERT_EQ(Run(*session, *source).outcome, Outcome::kOk);
  for (int seed = 1; seed <= 4; ++seed) {
    const CellResult result = Run(*session, "check(400, " + std::to_string(seed) + ")");
    ASSERT_EQ(result.outcome, Outcome::kOk) << (result.error ? result.error->traceback : "");
    EXPECT_EQ(result.repr, "[]") << "seed " << seed;
  }
  EXPECT_THAT(echo_.problems(), testing::IsEmpty());
  std::set<std::string> wanted = {"None", "bool", "int", "big int", "float", "str", "bytes", "list", "dict"};
  for (int form = 0; form < static_cast<int>(Form::kObject); ++form)
    wanted.emplace(FormName(static_cast<Form>(form)));
  if (Run(*session, "import numpy").error) wanted.erase("ndarray");
  if (Run(*session, "import pandas").error) wanted.erase("dataframe"), wanted.erase("series");
  if (Run(*session, "import PIL").error) wanted.erase("image");
  EXPECT_THAT(wanted, IsSubsetOf(echo_.seen()));
}

// Once as an argument and once made by the host: a clear error, and the session goes on.
struct Refused {
  const char* code;
  const char* type;
  const char* message;
};

TEST_F(SessionValuesTest, WhatCannotCrossIsAClearErrorAndTheSessionGoesOn) {
  auto session = OpenWithEcho();
  const Refused cases[] = {
      {"a = []\na.append(a)\necho(a)", "ValueError", "contains itself"},
      {"a = {}\na['a'] = [a]\necho(a)", "ValueError", "contains itself"},
      {"a = []\nfor _ in range(100_000): a = [a]\necho(a)", "ValueError", "more than 180 levels"},
      {"echo(b'x' * (193 << 20))", "OverflowError", "192 MiB"},
      {"echo(['x' * (100 << 20)] * 2)", "OverflowError", "192 MiB"},
      {"echo([1j] * 1_500_000)", "OverflowError", "4000000 items"},
      {"echo([2**64] * 2_500_000)", "OverflowError", "4000000 items"},
      {"echo(1 << (8 * 131072))", "OverflowError", "131073"},
      {"echo(object())", "TypeError", "type object"},
      {"echo([open])", "TypeError", "cannot cross"},
  };
  for (const Refused& refused : cases) {
    const CellResult result = Run(*session, refused.code);
    ASSERT_TRUE(result.error) << refused.code;
    EXPECT_EQ(result.error->type, refused.type) << refused.code;
    EXPECT_THAT(result.error->message, HasSubstr(refused.message)) << refused.code;
    EXPECT_EQ(result.state, SessionState::kKept) << refused.code;
    EXPECT_EQ(Run(*session, "1 + 1").value, Value(2));
  }
}

TEST_F(SessionValuesTest, ArgumentsAreLimitedTogether) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("two", "", [](Value, Value) { return 1; }, {Arg("a", ""), Arg("b", "")}));
  auto session = Open(R"("limits":{"memory_mib":1024,"tool_call_kib":196608,"result_mib":1024})", tools);
  for (const char* code :
       {"two(b'x' * (100 << 20), b'x' * (100 << 20))", "two([0] * 2_100_000, [0] * 2_100_000)"}) {
    const CellResult result = Run(*session, code);
    EXPECT_EQ(result.outcome, Outcome::kError) << code;
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->type, "OverflowError");
    EXPECT_THAT(result.error->message, HasSubstr("two() argument 'b'"));
  }
  EXPECT_EQ(Run(*session, "two(1, 2)").value, Value(1));
}

TEST_F(SessionValuesTest, AResultThatCannotCrossIsAnErrorOfTheCall) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("deep", "", [] {
    Value value;
    for (int i = 0; i < 1000; ++i) value = Value(Value::List{std::move(value)});
    return value;
  }));
  ASSERT_TRUE(tools->Add("large", "", [] { return Value(Value::Bytes(200u << 20)); }));
  ASSERT_TRUE(tools->Add("many", "", [] { return Value(Value::List(5'000'000)); }));
  ASSERT_TRUE(tools->Add("garbled", "", [] { return Value(std::string("\xff")); }));
  auto session = Open(R"("limits":{"tool_call_kib":196608,"result_mib":1024})", tools);
  const Refused cases[] = {{"deep()", "ToolError", "200 levels deep"},
                           {"large()", "ToolError", "201326592 bytes"},
                           {"many()", "ToolError", "4000000 items"},
                           {"garbled()", "ToolError", "not valid UTF-8"}};
  for (const Refused& refused : cases) {
    const CellResult result = Run(*session, refused.code);
    ASSERT_TRUE(result.error) << refused.code;
    EXPECT_EQ(result.error->type, refused.type);
    EXPECT_THAT(result.error->message, HasSubstr(refused.message));
    EXPECT_THAT(result.error->message, HasSubstr("returned a value that cannot cross"));
    ASSERT_EQ(result.tool_calls.size(), 1u);
    EXPECT_FALSE(result.tool_calls[0].ok);
  }
}

TEST_F(SessionValuesTest, VariablesThatCannotCrossAreRefused) {
  auto session = Open();
  Value deep;
  for (int i = 0; i < 1000; ++i) deep = Value(Value::List{std::move(deep)});
  const Status set = session->SetVariable("x", deep);
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().message, HasSubstr("200 levels deep"));
  EXPECT_TRUE(session->SetVariable("x", Value(1)));
  EXPECT_EQ(Run(*session, "x").value, Value(1));
}

TEST_F(SessionValuesTest, TooLittleMemoryToSendIsAMemoryError) {
  auto session = OpenWithEcho(R"("limits":{"memory_mib":256,"tool_call_kib":196608})");
  const CellResult result = Run(*session, "x = bytes(150 << 20)\necho(x)");
  EXPECT_EQ(result.outcome, Outcome::kMemory);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->type, "MemoryError");
  EXPECT_EQ(result.state, SessionState::kKept);
  EXPECT_EQ(Run(*session, "echo(len(x))").value, Value(150 << 20));
}

TEST_F(SessionValuesTest, TooLittleMemoryToReceiveIsTheOutcomeMemory) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("make", "", [] { return Value(Value::Bytes(150 << 20)); }));
  auto session = Open(R"("limits":{"memory_mib":64,"tool_call_kib":196608,"wall_s":240})", tools);
  const CellResult result = Run(*session, "make()");
  EXPECT_EQ(result.outcome, Outcome::kMemory) << (result.error ? result.error->message : "");
  EXPECT_EQ(Run(*session, "1").value, Value(1));
}

TEST_F(SessionValuesTest, LargeArraysCrossBothWays) {
  auto tools = std::make_shared<ToolRegistry>();
  ASSERT_TRUE(tools->Add("double_all", "Twice as much of each.",
                         [](std::span<const double> x) {
                           Value out = MakeNdarray(x);
                           return std::pair<std::uint64_t, Value>(x.size(), std::move(out));
                         },
                         {Arg("x", "numbers")}));
  auto session = Open(R"("limits":{"memory_mib":1024,"tool_call_kib":196608,"result_mib":1024})", tools);
  if (Run(*session, "import numpy").error) GTEST_SKIP() << "numpy is not installed";
  const CellResult result = Run(*session,
                                "a = numpy.arange(13_107_200, dtype='f8')  # 100 MiB\n"
                                "n, b = double_all(a)\n[n, bool((a == b).all()), b.flags.writeable]");
  ASSERT_FALSE(result.error) << result.error->traceback;
  EXPECT_EQ(result.repr, "[13107200, True, True]");
}

// They stand in memory that is used again and again, by several threads at once.
TEST_F(SessionValuesTest, LargeValuesOfThreadsDoNotMix) {
  auto session = OpenWithEcho();
  const CellResult result = Run(*session, R"(
from concurrent.futures import ThreadPoolExecutor
def many(n):
    for i in range(30):
        sent = bytes([(n * 30 + i) % 256]) * (70_000 + n * 100_000)
        if echo(sent) != sent: return f'{n}, {i}'
    return ''
with ThreadPoolExecutor(4) as pool:
    print(*pool.map(many, range(4)), sep='')
try:
    echo(b'x' * 100_000, 'one too many')
except TypeError: pass
try:
    echo([b'x' * 100_000, object()])
except TypeError: pass
echo(b'y' * 100_000) == b'y' * 100_000)");
  EXPECT_EQ(result.out, "\n");
  EXPECT_EQ(result.value, Value(true)) << (result.error ? result.error->traceback : "");
}

}  // namespace
}  // namespace gloveport
