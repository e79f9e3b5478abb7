#include "gloveport/tools/python_stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <chrono>
#include <string>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/temporary_folder.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

struct Place {
  std::string name;
  std::optional<double> height;
};
constexpr auto ToolFields(const Place*) {
  return std::make_tuple(Field("name", &Place::name), Field("height", &Place::height));
}

struct Leg {
  Place from;
  std::vector<Place> stops;
};
constexpr auto ToolFields(const Leg*) {
  return std::make_tuple(Field("from", &Leg::from), Field("stops", &Leg::stops));
}

namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<ToolSpec> Specs(const ToolRegistry& tools) {
  std::vector<ToolSpec> specs;
  for (const auto& tool : tools.tools()) specs.push_back(tool->spec());
  return specs;
}

// Whether Python takes the text as a module.
bool IsPython(const std::string& text) {
  const TemporaryFolder folder;
  EXPECT_TRUE(WriteFile(folder / "stub.py", text));
  const std::string command = std::string(GLOVEPORT_PYTHON) +
                              " -B -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' " +
                              (folder / "stub.py").string() + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  char line[500];
  std::string said;
  while (::fgets(line, sizeof line, pipe) != nullptr) said += line;
  EXPECT_EQ(said, "") << text;
  return ::pclose(pipe) == 0;
}

TEST(PythonStub, HasAFunctionForEachToolAndTypesForStructs) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.Add("find", "Finds \"places\".\nAll of them.",
                        [](const std::string&, std::optional<int>) { return std::vector<Place>(); },
                        {Arg("name", "of it"), Arg("most", "how many")}));
  ASSERT_TRUE(tools.Add("travel", "", [](const Leg&, std::chrono::seconds) { return Value(); },
                        {Arg("leg"), Arg("pause")}));
  ToolOptions async;
  async.is_async = true;
  ASSERT_TRUE(tools.Add(
      "wait", "", [] {}, {}, async));
  ASSERT_TRUE(tools.Add(
      "all", "", [] { return ToolStream<Place>([](CallContext&) { return std::optional<Place>(); }); }));
  const std::string stub = PythonStub(Specs(tools));
  EXPECT_THAT(
      stub,
      HasSubstr("class FindResultItem(TypedDict):\n    name: str\n    height: NotRequired[float | None]\n"));
  EXPECT_THAT(stub, HasSubstr("def find(name: str, most: int | None = None) -> list[FindResultItem]:\n"
                              "    \"\"\"Finds 'places'.\n    All of them.\n\n    name: of it\n"));
  // A key that no attribute can be called.
  EXPECT_THAT(
      stub,
      HasSubstr(
          "TravelLeg = TypedDict('TravelLeg', {'from': TravelLegFrom, 'stops': list[TravelLegStopsItem]})"));
  EXPECT_THAT(stub, HasSubstr("def travel(leg: TravelLeg, pause: datetime.timedelta) -> Any:"));
  EXPECT_THAT(stub, HasSubstr("import datetime\n"));
  EXPECT_THAT(stub, HasSubstr("async def wait() -> None:"));
  EXPECT_THAT(stub, HasSubstr("def all() -> Iterator[AllResultItem]:"));
  EXPECT_THAT(stub, HasSubstr("def final_answer(value: object, explanation: str = '') -> NoReturn:"));
  EXPECT_TRUE(IsPython(stub));
}

TEST(PythonStub, IsPythonWhateverATextHolds) {
  ToolSpec spec;
  spec.name = "evil";
  spec.description = "\"\"\"\nimport os\\";
  spec.returns = "__import__('os')";
  spec.parameters.push_back({"a", "\"\"\" \x01", "int = 1) -> int: ...\nimport os\ndef g(b",
                             Value(Value::Map()), Value(Value::List())});
  spec.parameters.push_back({"b", "", "Literal['x\\'] | dict[str, int]", Value(Value::Map()), Value("'\"")});
  spec.parameters.push_back({"c", "", "list[int", Value(Value::Map()), Value(1)});
  spec.parameters.push_back({"d", "", "Literal['a]', 'b\"']", Value(Value::Map()), Value(1)});
  const std::string stub = PythonStub({spec});
  EXPECT_THAT(stub, HasSubstr("def evil(a: object = ..., b: object = "));
  EXPECT_THAT(stub, HasSubstr("c: object = 1, d: Literal['a]', 'b\"'] = 1) -> Any:"));
  EXPECT_TRUE(IsPython(stub));
  spec.parameters.clear();
  spec.returns_schema = Value::Object(
      {{"type", "object"}, {"properties", Value::Object({{"a b", Value(true)}, {"", Value(Value::Map())}})}});
  EXPECT_THAT(
      PythonStub({spec}),
      HasSubstr("EvilResult = TypedDict('EvilResult', {'a b': NotRequired[Any], '': NotRequired[Any]})"));
  EXPECT_TRUE(IsPython(PythonStub({spec})));
}

TEST(PythonStub, LeavesNoGenericBare) {
  ToolSpec spec;
  spec.name = "f";
  spec.returns = "list | dict[str, object] | tuple | None";
  spec.parameters.push_back({"a", "", "dict | Literal['list']", Value(Value::Map()), std::nullopt});
  EXPECT_THAT(PythonStub({spec}), HasSubstr("def f(a: dict[Any, Any] | Literal['list']) -> "
                                            "list[Any] | dict[str, Any] | tuple[Any, ...] | None:"));
}

TEST(PythonStub, NamesNoTypeTwiceNorAsATool) {
  ToolSpec first;
  first.name = "get";
  first.returns_schema =
      Value::Object({{"type", "object"}, {"properties", Value::Object({{"a", Value(Value::Map())}})}});
  ToolSpec second = first;
  second.name = "GetResult";
  const std::string stub = PythonStub({first, second});
  EXPECT_THAT(stub, HasSubstr("class GetResult2(TypedDict)"));
  EXPECT_THAT(stub, HasSubstr("def get() -> GetResult2:"));
  EXPECT_THAT(stub, HasSubstr("def GetResult() -> GetResultResult:"));
  EXPECT_TRUE(IsPython(stub));
}

}  // namespace
}  // namespace gloveport
