// Host functions as Python functions: binding, checking, documentation, failures, threads.
#include <gmock/gmock.h>

#include <string>

#include "gloveport/tests/interp/child/session_fixture.h"

namespace gloveport::testing {
namespace {

using ::testing::HasSubstr;

Value Schema(const std::string& json) {
  auto parsed = ParseJson(json);
  return parsed ? FromPlainJson(*parsed) : Value();
}

Value Param(const std::string& name, const std::string& schema, const std::string& annotation = "object",
            std::optional<Value> fallback = std::nullopt, const std::string& description = "") {
  return Value::Object({{"name", name},
                        {"annotation", annotation},
                        {"description", description},
                        {"schema", Schema(schema)},
                        {"has_default", fallback.has_value()},
                        {"default", fallback.value_or(Value())}});
}

class ToolCalls : public SessionFixture {
 protected:
  ToolCalls() {
    tools_ = [](const wire::ToolCall& call) { return wire::ToolReply{.ok = true, .value = call.args}; };
    Define({Tool("cost",
                 {Param("contacts", R"({"type":"integer"})", "int", std::nullopt, "number of contacts"),
                  Param("channel", R"({"type":"string","enum":["cellular","telephone"]})", "str",
                        Value("cellular"))},
                 "float"),
            Tool("any", {Param("x", "{}"), Param("y", "{}", "object", Value(Value::List{}))}),
            Tool("number", {Param("x", R"({"type":"number"})", "float")}), Tool("nothing", {}),
            Tool("rows",
                 {Param("rows",
                        R"({"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"},)"
                        R"("tags":{"type":"array","items":{"type":"string"}}},"required":["n"],)"
                        R"("additionalProperties":false}})",
                        "list[dict]")}),
            Tool("maybe",
                 {Param("x", R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "int | None", Value())}),
            Tool("table", {Param("x", R"({"type":"object","additionalProperties":{"type":"number"}})",
                                 "dict[str, float]")}),
            Tool("data", {Param("x", R"({"type":"bytes"})", "bytes")}),
            Tool("flag", {Param("x", R"({"type":"boolean"})", "bool")}),
            Tool("odd", {Param("_", "{}"), Param("self", "{}"), Param("odd", "{}")})});
  }

  static Value Tool(const std::string& name, Value::List parameters, const std::string& returns = "object") {
    return Value::Object({{"name", name},
                          {"description", "Does " + name + "."},
                          {"returns", returns},
                          {"returns_description", "what " + name + " gives"},
                          {"parameters", Value(std::move(parameters))}});
  }
  wire::Reply Define(Value::List tools) {
    return session().Ask("define_tools", Value::Object({{"tools", Value(std::move(tools))}}));
  }
};

// ---- arguments ----

struct Bound {
  const char* code;
  const char* args;
};

class Accepted : public ToolCalls, public ::testing::WithParamInterface<Bound> {};

TEST_P(Accepted, ReachesTheHostWithEveryParameterBound) {
  const CellRun run = Run(GetParam().code);
  ASSERT_EQ(Status(run), "ok") << Traceback(run);
  ASSERT_EQ(run.tool_calls.size(), 1u);
  EXPECT_EQ(DumpJson(Decoded(run.tool_calls[0].args)), GetParam().args);
}

INSTANTIATE_TEST_SUITE_P(
    Calls, Accepted,
    ::testing::Values(
        Bound{"cost(3)", R"({"contacts":3,"channel":"cellular"})"},
        Bound{"cost(3, 'telephone')", R"({"contacts":3,"channel":"telephone"})"},
        Bound{"cost(channel='telephone', contacts=1)", R"({"contacts":1,"channel":"telephone"})"},
        Bound{"cost(*[1], **{'channel': 'cellular'})", R"({"contacts":1,"channel":"cellular"})"},
        Bound{"any(None)", R"({"x":null,"y":[]})"}, Bound{"number(1)", R"({"x":1})"},
        Bound{"number(1.5)", R"({"x":1.5})"}, Bound{"nothing()", "{}"},
        Bound{"rows([{'n': 1, 'tags': ['a']}, {'n': 2}])", R"({"rows":[{"n":1,"tags":["a"]},{"n":2}]})"},
        Bound{"maybe()", R"({"x":null})"}, Bound{"maybe(2)", R"({"x":2})"},
        Bound{"table({'a': 1, 'b': 2.5})", R"({"x":{"a":1,"b":2.5}})"},
        Bound{"data(b'a')", R"({"x":{"$bytes":"YQ=="}})"}, Bound{"flag(True)", R"({"x":true})"},
        Bound{"odd(1, 2, odd=3)", R"({"_":1,"self":2,"odd":3})"},
        Bound{"list(map(nothing, *[[]])) or nothing()", "{}"},
        Bound{"class C:\n    f = staticmethod(nothing)\nC.f()", "{}"},
        Bound{"import numpy as np\ncost(np.int64(3))", R"({"contacts":3,"channel":"cellular"})"},
        Bound{"import numpy as np\nnumber(np.float32(0.5))", R"({"x":0.5})"},
        Bound{"import numpy as np\nflag(np.bool_(True))", R"({"x":true})"},
        Bound{"class S(str): pass\ncost(1, S('telephone'))", R"({"contacts":1,"channel":"telephone"})"}));

struct Wrong {
  const char* code;
  const char* message;
};

class Rejected : public ToolCalls, public ::testing::WithParamInterface<Wrong> {};

TEST_P(Rejected, IsATypeErrorBeforeTheHostIsAsked) {
  const CellRun run = Run(GetParam().code);
  EXPECT_EQ(ErrorType(run), "TypeError");
  EXPECT_THAT(Message(run), HasSubstr(GetParam().message));
  EXPECT_TRUE(run.tool_calls.empty());
  EXPECT_EQ(Traceback(run).find("gloveport"), std::string::npos) << Traceback(run);
}

INSTANTIATE_TEST_SUITE_P(
    Calls, Rejected,
    ::testing::Values(
        Wrong{"cost()", "cost() missing 1 required positional argument: 'contacts'"},
        Wrong{"cost(1, 'cellular', 3)", "cost() takes from 1 to 2 positional arguments but 3 were given"},
        Wrong{"cost(1, contacts=2)", "cost() got multiple values for argument 'contacts'"},
        Wrong{"cost(1, chanel='x')", "cost() got an unexpected keyword argument 'chanel'"},
        Wrong{"cost('3')", "cost() argument 'contacts' must be int, not str: '3'"},
        Wrong{"cost(True)", "cost() argument 'contacts' must be int, not bool: True"},
        Wrong{"cost(3.0)", "cost() argument 'contacts' must be int, not float: 3.0"},
        Wrong{"cost(None)", "cost() argument 'contacts' must be int, not None"},
        Wrong{"cost(1, 'mail')",
              "cost() argument 'channel' must be one of 'cellular' or 'telephone', not str: 'mail'"},
        Wrong{"number('x')", "must be float, not str: 'x'"},
        Wrong{"number(True)", "must be float, not bool: True"}, Wrong{"rows(1)", "must be list, not int: 1"},
        Wrong{"rows([{'n': 1}, 2])", "rows() argument 'rows'[1] must be dict, not int: 2"},
        Wrong{"rows([{}])", "rows() argument 'rows'[0] lacks the key 'n'"},
        Wrong{"rows([{'n': 1, 'tags': ['a', 3]}])",
              "rows() argument 'rows'[0]['tags'][1] must be str, not int: 3"},
        Wrong{"rows([{'n': 1, 'm': 1}])", "rows() argument 'rows'[0] must not have the key 'm'"},
        Wrong{"maybe('x')", "maybe() argument 'x' must be int or None, not str: 'x'"},
        Wrong{"table({'a': 'b'})", "table() argument 'x'['a'] must be float, not str: 'b'"},
        Wrong{"data('text')", "must be bytes, not str"}, Wrong{"flag(1)", "must be bool, not int: 1"},
        Wrong{"flag('x' * 500)", "must be bool, not str"},
        Wrong{"nothing(1)", "nothing() takes 0 positional arguments but 1 was given"}));

// ---- how a tool looks ----

TEST_F(ToolCalls, ToolLooksLikeAFunction) {
  EXPECT_EQ(
      Eval(
          "import inspect\n[cost.__name__, cost.__module__, str(inspect.signature(cost)), "
          "cost.__annotations__['contacts'] is int, callable(cost), type(cost).__name__, cost.__defaults__]"),
      R"j(["cost","__main__","(contacts: int, channel: str = 'cellular') -> float",true,true,"function",)j"
      R"j({"$tuple":["cellular"]}])j");
  EXPECT_EQ(
      Eval("cost.__doc__"),
      R"j("Does cost.\n\nArgs:\n    contacts: number of contacts\n\nReturns:\n    float: what cost gives")j");
  EXPECT_EQ(Eval("[str(inspect.signature(f)) for f in (maybe, rows, any)]"),
            R"j(["(x: int | None = None)","(rows: list[dict])","(x, y=[])"])j");
  EXPECT_EQ(
      Eval("import pickle, copy\n[pickle.loads(pickle.dumps(cost)) is cost, copy.deepcopy(cost) is cost]"),
      "[true,true]");
}

TEST_F(ToolCalls, AnnotationsAreNeverEvaluatedAsCode) {
  ASSERT_TRUE(
      Define({Tool("f", {Param("x", "{}", "__import__('os').getcwd()"), Param("y", "{}", "Unknown[int]")})})
          .ok);
  EXPECT_EQ(Eval("f.__annotations__"), R"j({"x":"__import__('os').getcwd()","y":"Unknown[int]"})j");
}

TEST_F(ToolCalls, NamesThatAreNoIdentifiersAreRefused) {
  EXPECT_FALSE(Define({Tool("f(): pass\nimport os\ndef g", {})}).ok);
  EXPECT_FALSE(Define({Tool("f", {Param("x=1, y", "{}")})}).ok);
  EXPECT_FALSE(Define({Tool("class", {})}).ok);
}

TEST_F(ToolCalls, DefiningAgainReplacesWhatWasDefined) {
  ASSERT_TRUE(Define({Tool("other", {})}).ok);
  EXPECT_EQ(ErrorType(Run("cost(1)")), "NameError");
  EXPECT_EQ(Eval("other()"), "{}");
}

// ---- failures ----

TEST_F(ToolCalls, FailureIsTheExceptionThatTheHostNames) {
  struct {
    const char* type;
    const char* raised;
  } const table[] = {{"ToolError", "ToolError"},         {"ValueError", "ValueError"},
                     {"KeyError", "KeyError"},           {"PermissionError", "PermissionError"},
                     {"NoSuchType", "ToolError"},        {"int", "ToolError"},
                     {"SystemExit", "ToolError"},        {"BaseException", "ToolError"},
                     {"UnicodeDecodeError", "ToolError"}};
  for (const auto& [type, raised] : table) {
    tools_ = [type = type](const wire::ToolCall&) {
      return wire::ToolReply{.error_type = type, .error_message = "it broke"};
    };
    const CellRun run = Run("nothing()");
    EXPECT_EQ(ErrorType(run), raised);
    EXPECT_THAT(Message(run), HasSubstr("it broke"));
    EXPECT_EQ(ErrorOf(run).IntOr("line", 0), 1);
    EXPECT_EQ(Traceback(run).find("gloveport"), std::string::npos);
  }
  EXPECT_EQ(Eval("issubclass(ToolError, Exception), ToolError.__module__"),
            R"({"$tuple":[true,"builtins"]})");
}

TEST_F(ToolCalls, ManyThreadsGetTheirOwnAnswers) {
  EXPECT_EQ(Eval("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as ex:\n"
                 "    out = list(ex.map(lambda n: [any((n, i))['x'] for i in range(50)], range(8)))\n"
                 "out == [[(n, i) for i in range(50)] for n in range(8)]"),
            "true");
}

// ---- tools.search ----

TEST_F(ToolCalls, CodeFindsToolsByWords) {
  EXPECT_EQ(Eval("tools.search('number of contacts')[0]"),
            "\"cost(contacts: int, channel: str = 'cellular') -> float: Does cost.\"");
  EXPECT_EQ(Eval("tools.search('contact', limit=1) == tools.search('number of contacts', limit=1)"), "true");
  EXPECT_EQ(Eval("tools.search('zebra')"), "[]");
  EXPECT_EQ(Eval("len(tools.search('', limit=3)), len(tools), 'cost' in tools, 'x' in tools"),
            R"({"$tuple":[3,10,true,false]})");
  EXPECT_EQ(Eval("tools.names() == sorted(tools) and tools.cost is cost and tools['cost'] is cost"), "true");
  EXPECT_THAT(Message(Run("tools.nothing_like_it()")), HasSubstr("tools.search"));
  EXPECT_EQ(ErrorType(Run("tools.search(3)")), "TypeError");
}

TEST_F(ToolCalls, SearchHidesNothingOfTheCells) {
  EXPECT_EQ(Eval("'tools' in dir()"), "false");
  EXPECT_EQ(Eval("tools = 3\ntools"), "3");
  EXPECT_EQ(Eval("del tools\nlen(tools)"), "10");
  Define({Tool("tools", {})});
  EXPECT_EQ(Eval("tools()"), "{}");
  Define({});
  EXPECT_EQ(ErrorType(Run("tools")), "NameError");
}

TEST_F(ToolCalls, ThreadThatCallsBetweenCellsWaitsForTheNext) {
  const CellRun first =
      Run("import threading, time\ngo, got = threading.Event(), []\n"
          "def w():\n    go.wait(20)\n    time.sleep(0.3)\n    got.append(any('late')['x'])\n"
          "t = threading.Thread(target=w); t.start()\n"
          "import signal\nclass Late:\n    def __init__(self): pass\n0");
  ASSERT_EQ(Json(first), "0");
  // The thread is let go as the last thing of a cell and takes a moment: a call that the cell still sees
  // would fail with its end.
  ASSERT_EQ(Eval("go.set()"), "null");
  const CellRun last = Run("t.join(20); got");
  EXPECT_EQ(Json(last), "[\"late\"]");
}

TEST_F(ToolCalls, CallOutsideOfACellIsAnErrorAndNoHang) {
  ASSERT_EQ(Eval("class D:\n    def __del__(self):\n        try:\n            nothing()\n        except "
                 "RuntimeError as e:\n"
                 "            global text\n            text = str(e)\nx = D()"),
            "null");
  EXPECT_TRUE(session().Ask("set_variable", Value::Object({{"name", "x"}, {"value", 1}})).ok);
  EXPECT_THAT(Eval("text"), HasSubstr("only be called while a cell runs"));
}

}  // namespace
}  // namespace gloveport::testing
