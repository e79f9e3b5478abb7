#include "gloveport/tools/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "call.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

double ContactCost(int contacts, const std::string& channel) {
  return contacts * (channel == "cellular" ? 1.5 : 2);
}
int Twice(int a) noexcept { return 2 * a; }

struct Counter {
  int operator()(int by) { return count += by; }
  int count = 0;
};

TEST(BindFunctionTest, DerivesEverythingFromThePlainFunction) {
  const auto tool = BindFunction("contact_cost", "Cost in EUR.", &ContactCost,
                                 {Arg("contacts", "number of contacts"), Arg("channel", "how", "cellular")});
  ASSERT_TRUE(tool) << tool.error().message;
  const ToolSpec& spec = (*tool)->spec();
  EXPECT_EQ(spec.name, "contact_cost");
  EXPECT_EQ(spec.description, "Cost in EUR.");
  EXPECT_EQ(spec.Signature(), "contact_cost(contacts: int, channel: str = 'cellular') -> float");
  EXPECT_EQ(spec.parameters[0].description, "number of contacts");
  EXPECT_EQ(spec.parameters[0].default_value, std::nullopt);
  EXPECT_EQ(spec.parameters[1].default_value, Value("cellular"));
  EXPECT_EQ(spec.returns_schema, Value::Object({{"type", "number"}}));
  EXPECT_EQ(Answer(**tool, {4, "cellular"}), "6.0");
  EXPECT_EQ(Answer(**tool, {4, "post"}), "8.0");
  EXPECT_EQ(Answer(**tool, {"4", "post"}),
            "error: contact_cost() argument 'contacts': expected int, got str '4'");
  EXPECT_EQ(Answer(**tool, {4, 5}), "error: contact_cost() argument 'channel': expected str, got int 5");
}

TEST(BindFunctionTest, TakesEveryKindOfCallable) {
  int captured = 10;
  const std::function<int(int)> function = [](int a) { return a + 1; };
  EXPECT_EQ(Answer(*Bound(&Twice, 1), {3}), "6");
  EXPECT_EQ(Answer(*Bound(Twice, 1), {3}), "6");
  EXPECT_EQ(Answer(*Bound(function, 1), {3}), "4");
  EXPECT_EQ(Answer(*Bound([captured](int a) { return a + captured; }, 1), {3}), "13");
  EXPECT_EQ(Answer(*Bound([&captured](int a) { captured += a; }, 1), {3}), "None");
  EXPECT_EQ(captured, 13);
  EXPECT_EQ(Answer(*Bound([](int a) noexcept -> int { return a; }, 1), {3}), "3");
  EXPECT_EQ(Answer(*Bound([n = 0](int a) mutable { return n += a; }, 1), {3}), "3");
  const auto counter = Bound(Counter(), 1);
  Answer(*counter, {3});
  EXPECT_EQ(Answer(*counter, {3}), "6");
  auto owned = std::make_unique<int>(7);
  EXPECT_EQ(Answer(*Bound([kept = std::move(owned)] { return *kept; }, 0), {}), "7");
}

TEST(BindFunctionTest, TakesParametersByValueAndReference) {
  EXPECT_EQ(Answer(*Bound([](std::string a, const std::string& b, std::string&& c) { return a + b + c; }, 3),
                   {"x", "y", "z"}),
            "'xyz'");
  EXPECT_EQ(Answer(*Bound([](std::string&& a) { return std::string(std::move(a)); }, 1), {"x"}), "'x'");
  const std::string kept = "kept";
  EXPECT_EQ(Answer(*Bound([&kept]() -> const std::string& { return kept; }, 0), {}), "'kept'");
  EXPECT_EQ(Answer(*Bound([&kept] { return std::string_view(kept); }, 0), {}), "'kept'");
}

TEST(BindFunctionTest, GivesTheCallContextFirstOrLast) {
  CallContext context;
  context.session = "s7";
  const auto first = Bound([](CallContext& c, int a) { return c.session + std::to_string(a); }, 1);
  const auto last = Bound([](int a, const CallContext& c) { return c.session + std::to_string(a); }, 1);
  const auto only = Bound([](CallContext& c) { return c.session; }, 0);
  EXPECT_EQ(*first->Call(Arguments(Value::Map{{"a", 1}}), context), Value("s71"));
  EXPECT_EQ(*last->Call(Arguments(Value::Map{{"a", 1}}), context), Value("s71"));
  EXPECT_EQ(*only->Call(Arguments(Value::Map{}), context), Value("s7"));
  EXPECT_EQ(last->spec().Signature(), "f(a: int) -> str");
}

TEST(BindFunctionTest, ResultsMayFail) {
  const auto half = Bound(
      [](int a) -> Result<int> {
        if (a % 2 != 0) return Fail(ErrorCode::kNotFound, "odd", "take an even one");
        return a / 2;
      },
      1);
  EXPECT_EQ(Answer(*half, {4}), "2");
  const auto failed = Called(*half, {3});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), (Error{ErrorCode::kNotFound, "odd", "take an even one"}));
  EXPECT_EQ(half->spec().returns, "int");

  const auto status =
      Bound([](bool a) -> Status { return a ? Status() : Fail(ErrorCode::kDenied, "no"); }, 1);
  EXPECT_EQ(Answer(*status, {true}), "None");
  EXPECT_EQ(Called(*status, {false}).error().code, ErrorCode::kDenied);
  EXPECT_EQ(status->spec().returns, "None");
}

TEST(BindFunctionTest, ExceptionsBecomeErrors) {
  const auto tool = Bound(
      [](int a) {
        if (a == 1) throw std::runtime_error("disk full");
        if (a == 2) throw 5;
        if (a == 3) throw std::runtime_error("bad \xFF byte");
        return a;
      },
      1);
  EXPECT_EQ(Answer(*tool, {0}), "0");
  const auto failed = Called(*tool, {1});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInternal);
  EXPECT_EQ(failed.error().message, "f failed: disk full");
  EXPECT_EQ(Answer(*tool, {2}), "error: f failed with an exception that is no std::exception");
  EXPECT_EQ(Answer(*tool, {3}), "error: f failed: bad \xEF\xBF\xBD byte");
}

TEST(BindFunctionTest, WrongArgumentsAreInvalidArguments) {
  const auto failed = Called(*Bound([](int a) { return a; }, 1), {"x"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidArgument);
}

TEST(BindFunctionTest, OptionalParametersAtTheEndDefaultToNone) {
  const auto tool =
      BindFunction("f", "", [](std::optional<int>, int, std::optional<int>, std::optional<std::string>) {},
                   {Arg("a"), Arg("b"), Arg("c"), Arg("d", "", "x")});
  ASSERT_TRUE(tool) << tool.error().message;
  EXPECT_EQ((*tool)->spec().Signature(),
            "f(a: int | None, b: int, c: int | None = None, d: str | None = 'x') -> None");
}

TEST(BindFunctionTest, DefaultsOfEveryKind) {
  const auto tool = BindFunction(
      "f", "",
      [](bool, std::uint64_t, double, std::string, std::vector<int>, std::map<std::string, bool>,
         std::optional<int>, std::pair<int, int>, Value) {},
      {Arg("a", "", true), Arg("b", "", 18446744073709551615ull), Arg("c", "", 1), Arg("d", "", "it's"),
       Arg("e", "", std::vector<int>{1, 2}), Arg("g", "", std::map<std::string, bool>{{"k", false}}),
       Arg("h", "", std::nullopt), Arg("i", "", std::pair(1, 2)), Arg("j", "", nullptr)});
  ASSERT_TRUE(tool) << tool.error().message;
  EXPECT_EQ((*tool)->spec().Signature(),
            "f(a: bool = True, b: int = 18446744073709551615, c: float = 1, d: str = \"it's\", e: list[int] "
            "= [1, 2], "
            "g: dict[str, bool] = {'k': False}, h: int | None = None, i: tuple[int, int] = (1, 2), j: object "
            "= None) -> "
            "None");
}

struct Refusal {
  Result<std::shared_ptr<Tool>> tool;
  std::string_view message;
};

TEST(BindFunctionTest, RefusesArgsThatDoNotFit) {
  const auto two = [](int, int) {};
  const Refusal cases[] = {
      {BindFunction("f", "", two), "f(): the C++ function has 2 parameters, but 0 were described"},
      {BindFunction("f", "", two, {Arg("a")}), "2 parameters, but 1 were described"},
      {BindFunction("f", "", two, {Arg("a"), Arg("b"), Arg("c")}), "2 parameters, but 3 were described"},
      {BindFunction("f", "", [](CallContext&, int) {}, {Arg("c"), Arg("a")}),
       "1 parameters, but 2 were described"},
      {BindFunction("f", "", two, {Arg("a"), Arg("a")}), "f(): parameter 'a' is there twice"},
      {BindFunction("f", "", two, {Arg("a", "", 1), Arg("b")}), "'b' is required but comes after 'a'"},
      {BindFunction("f", "", two, {Arg("a"), Arg("b-c")}), "parameter 'b-c' is no name in Python"},
      {BindFunction("f", "", two, {Arg("a"), Arg("class")}), "parameter 'class' is a keyword of Python"},
      {BindFunction("f", "", two, {Arg("a"), Arg("__b__")}), "parameter '__b__' begins with two underscores"},
      {BindFunction("f", "", two, {Arg("a"), Arg("b", "", "x")}),
       "f(): the default does not fit: argument 'b': expected int, got str 'x'"},
      {BindFunction("f", "", two, {Arg("a"), Arg("b", "", nullptr)}), "expected int, got None"},
      {BindFunction("f", "", [](std::uint8_t) {}, {Arg("a", "", 256)}),
       "expected int from 0 to 255, got 256"},
      {BindFunction("for", "", [] {}), "tool name 'for' is a keyword"},
  };
  for (const Refusal& c : cases) {
    ASSERT_FALSE(c.tool) << c.message;
    EXPECT_EQ(c.tool.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(c.tool.error().message, HasSubstr(c.message));
  }
}

TEST(BindFunctionTest, MayBeCalledFromSeveralThreadsAtOnce) {
  const auto tool = Bound([](const std::vector<int>& a) { return a.size(); }, 1);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&tool, &right, i] {
      const Value list(Value::List(static_cast<std::size_t>(i), Value(1)));
      for (int n = 0; n < 200; ++n) right += Called(*tool, {list}) == Value(i) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 1600);
}

}  // namespace
}  // namespace gloveport
