// Values on their way from a cell to the host and back: equal, of the same type, or a clear error.
#include <gmock/gmock.h>

#include <string>

#include "gloveport/tests/interp/child/session_fixture.h"

namespace gloveport::testing {
namespace {

using ::testing::HasSubstr;

class ValueCodec : public SessionFixture {
 protected:
  ValueCodec() {
    tools_ = [this](const wire::ToolCall& call) {
      last_ = Decoded(call.args).as_map().front().second;
      return wire::ToolReply{.ok = true, .value = EncodeValue(last_)};
    };
    const Value tool = Value::Object(
        {{"name", "echo"},
         {"parameters", Value(Value::List{Value::Object({{"name", "x"}, {"has_default", false}})})}});
    session().Ask("define_tools", Value::Object({{"tools", Value(Value::List{tool})}}));
    Run("import collections, dataclasses, datetime, decimal, enum, fractions, math, pathlib, typing, uuid, "
        "zoneinfo\n"
        "from datetime import timedelta, timezone\n"
        "class Color(enum.Enum):\n    RED = 'r'\nclass Level(enum.IntEnum):\n    HIGH = 3\n"
        "@dataclasses.dataclass\nclass P:\n    x: int\n    y: object = None\n"
        "@dataclasses.dataclass(frozen=True)\nclass F:\n    x: int\n"
        "class Outer:\n    class Inner(enum.Enum):\n        A = (1, 2)\n"
        "N = collections.namedtuple('N', 'a b')\nclass S(str): pass\nclass D(dict): pass\n");
  }

  Value last_;  // what the host got
};

struct RoundTrip {
  const char* expression;
  const char* json;  // how it looks to the host
};

class Kept : public ValueCodec, public ::testing::WithParamInterface<RoundTrip> {};

TEST_P(Kept, ValueAndTypeComeBack) {
  const std::string code =
      std::string("v = ") + GetParam().expression +
      "\nw = echo(v)\n[type(w) is type(v), w == v or (w != w and v != v), repr(w) == repr(v)]";
  EXPECT_EQ(Eval(code), "[true,true,true]");
  EXPECT_EQ(DumpJson(last_), GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    Values, Kept,
    ::testing::Values(
        RoundTrip{"None", "null"}, RoundTrip{"True", "true"}, RoundTrip{"0", "0"}, RoundTrip{"-1", "-1"},
        RoundTrip{"2**63 - 1", R"({"$int":"9223372036854775807"})"},
        RoundTrip{"-2**63", R"({"$int":"-9223372036854775808"})"},
        RoundTrip{"2**64 - 1", R"({"$int":"18446744073709551615"})"},
        RoundTrip{"2**63", R"({"$int":"9223372036854775808"})"},
        RoundTrip{"-2**63 - 1", R"({"$int":"-9223372036854775809"})"},
        RoundTrip{"-2**64", R"({"$int":"-18446744073709551616"})"}, RoundTrip{"1.5", "1.5"},
        RoundTrip{"-0.0", "-0.0"}, RoundTrip{"math.nan", R"({"$float":"nan"})"},
        RoundTrip{"-math.inf", R"({"$float":"-inf"})"}, RoundTrip{"1e308", "1e+308"},
        RoundTrip{"5e-324", "5e-324"}, RoundTrip{"1 - 2j", R"({"$complex":[1.0,-2.0]})"},
        RoundTrip{"'naïve \\0 😀'", R"("naïve \u0000 😀")"},
        RoundTrip{"'a\\\\b' + chr(0xd83d)", R"({"$str":"a\\\\b\\ud83d"})"},
        RoundTrip{"'\\\\ud83d'", R"("\\ud83d")"},
        RoundTrip{"'\\\\ud83d' + chr(0xdc00)", R"({"$str":"\\\\ud83d\\udc00"})"},
        RoundTrip{"b'\\0\\xff'", R"({"$bytes":"AP8="})"},
        RoundTrip{"bytearray(b'ab')", R"({"$bytearray":"YWI="})"}, RoundTrip{"[]", "[]"},
        RoundTrip{"[1, [2, []]]", "[1,[2,[]]]"}, RoundTrip{"()", R"({"$tuple":[]})"},
        RoundTrip{"(1, (2,))", R"({"$tuple":[1,{"$tuple":[2]}]})"}, RoundTrip{"{}", "{}"},
        RoundTrip{"{'b': 1, 'a': 2}", R"({"b":1,"a":2})"},
        RoundTrip{"{1: 'i', '1': 's', (2, None): True, 1.5: b''}",
                  R"({"$map":[[1,"i"],["1","s"],[{"$tuple":[2,null]},true],[1.5,{"$bytes":""}]]})"},
        RoundTrip{"{'$x': 1}", R"({"$map":[["$x",1]]})"}, RoundTrip{"{1}", R"({"$set":[1]})"},
        RoundTrip{"frozenset([frozenset()])", R"({"$frozenset":[{"$frozenset":[]}]})"},
        RoundTrip{"range(1, 10, 3)", R"({"$range":[1,10,3]})"},
        RoundTrip{"decimal.Decimal('0.10')", R"({"$decimal":"0.10"})"},
        RoundTrip{"decimal.Decimal('NaN')", R"({"$decimal":"NaN"})"},
        RoundTrip{"fractions.Fraction(1, 3)", R"({"$fraction":"1/3"})"},
        RoundTrip{"datetime.datetime(2024, 2, 29, 12, 30, 1, 5)",
                  R"({"$datetime":"2024-02-29T12:30:01.000005"})"},
        RoundTrip{"datetime.datetime(2024, 2, 29, tzinfo=timezone.utc)",
                  R"({"$datetime":"2024-02-29T00:00:00+00:00"})"},
        RoundTrip{"datetime.date(1, 1, 1)", R"({"$date":"0001-01-01"})"},
        RoundTrip{"datetime.time(23, 59, 59, 999999)", R"({"$time":"23:59:59.999999"})"},
        RoundTrip{"timedelta(days=-1, microseconds=1)", R"({"$timedelta":-86399.999999})"},
        RoundTrip{"timedelta(1)", R"({"$timedelta":86400})"},
        RoundTrip{"timedelta.max", R"({"$timedelta":[999999999,86399,999999]})"},
        RoundTrip{"timezone(timedelta(hours=2))", R"({"$timezone":"+02:00"})"},
        RoundTrip{"zoneinfo.ZoneInfo('Europe/Rome')", R"({"$timezone":"Europe/Rome"})"},
        RoundTrip{"uuid.UUID(int=1)", R"({"$uuid":"00000000-0000-0000-0000-000000000001"})"},
        RoundTrip{"pathlib.Path('a/../b')", R"({"$path":"a/../b"})"},
        RoundTrip{"Color.RED", R"({"$enum":{"type":"Color","name":"RED","value":"r"}})"},
        RoundTrip{"Level.HIGH", R"({"$enum":{"type":"Level","name":"HIGH","value":3}})"},
        RoundTrip{"Outer.Inner.A", R"({"$enum":{"type":"Outer.Inner","name":"A","value":{"$tuple":[1,2]}}})"},
        RoundTrip{
            "P(1, [P(2)])",
            R"({"$dataclass":{"type":"P","fields":{"x":1,"y":[{"$dataclass":{"type":"P","fields":{"x":2,"y":null}}}]}}})"},
        RoundTrip{"F(1)", R"({"$dataclass":{"type":"F","fields":{"x":1}}})"},
        RoundTrip{"N(1, 'b')", R"({"$namedtuple":{"type":"N","fields":{"a":1,"b":"b"}}})"}));

// What crosses as something simpler that is equal to it.
struct Simplified {
  const char* expression;
  const char* json;
  const char* back;  // repr of what comes back
};

class Plain : public ValueCodec, public ::testing::WithParamInterface<Simplified> {};

TEST_P(Plain, ValueComesBackAsWhatItStandsFor) {
  EXPECT_EQ(Run(std::string("echo(") + GetParam().expression + ")").done->repr, GetParam().back);
  EXPECT_EQ(DumpJson(last_), GetParam().json);
}

INSTANTIATE_TEST_SUITE_P(
    Values, Plain,
    ::testing::Values(Simplified{"S('a')", R"("a")", "'a'"}, Simplified{"D(a=1)", R"({"a":1})", "{'a': 1}"},
                      Simplified{"collections.defaultdict(list, a=[1])", R"({"a":[1]})", "{'a': [1]}"},
                      Simplified{"collections.Counter('aab')", R"({"a":2,"b":1})", "{'a': 2, 'b': 1}"},
                      Simplified{"(lambda o: (o.move_to_end('a'), o)[1])(collections.OrderedDict(a=1, b=2))",
                                 R"({"b":2,"a":1})", "{'b': 2, 'a': 1}"},
                      Simplified{"memoryview(b'ab')", R"({"$bytes":"YWI="})", "b'ab'"}));

class Numpy : public ValueCodec, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!SessionProcess::Has("numpy")) GTEST_SKIP() << "numpy is not installed";
    Run("import numpy as np");
  }
};

TEST_P(Numpy, ArrayComesBack) {
  const std::string code = std::string("v = ") + GetParam() +
                           "\nw = echo(v)\n[type(w) is type(v), w.dtype == v.dtype, w.shape == v.shape, "
                           "w.tolist() == v.tolist() or str(w) == str(v), w.flags.writeable]";
  EXPECT_EQ(Eval(code), "[true,true,true,true,true]");
}

INSTANTIATE_TEST_SUITE_P(Arrays, Numpy,
                         ::testing::Values("np.arange(6).reshape(2, 3)", "np.array([1.5, np.nan])",
                                           "np.array(3)", "np.array([])", "np.zeros((0, 3), 'i2')",
                                           "np.arange(10)[::2]", "np.arange(6).reshape(2, 3).T",
                                           "np.array([True])", "np.array(['a', 'bc'])", "np.array([b'x'])",
                                           "np.array([1 + 2j])", "np.array([1], '>i4')",
                                           "np.array(['2024-01-01', 'NaT'], 'M8[D]')",
                                           "np.array([1, 2], 'm8[us]')", "np.array([1, 'a', None], object)",
                                           "np.asfortranarray(np.eye(3, dtype='f4'))",
                                           "np.arange(6, dtype='u1').reshape(1, 2, 3)"));

TEST_F(Numpy, ScalarsArePlainValues) {
  EXPECT_EQ(
      Eval("[echo(v) for v in (np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.float64(2.5), "
           "np.bool_(True), "
           "np.str_('s'), np.complex64(1j), np.bytes_(b'x'))]"),
      R"([-3,{"$int":"18446744073709551615"},0.5,2.5,true,"s",{"$complex":[0.0,1.0]},{"$bytes":"eA=="}])");
  EXPECT_EQ(Eval("echo(np.datetime64('2024-01-02'))"), R"({"$date":"2024-01-02"})");
}

class Pandas : public ValueCodec, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!SessionProcess::Has("pandas")) GTEST_SKIP() << "pandas is not installed";
    Run("import numpy as np, pandas as pd");
  }
};

TEST_P(Pandas, FrameOrSeriesComesBack) {
  const std::string code =
      std::string("v = ") + GetParam() +
      "\nw = echo(v)\ncheck = pd.testing.assert_frame_equal if isinstance(v, pd.DataFrame) else "
      "pd.testing.assert_series_equal\ncheck(v, w)\ntype(w) is type(v)";
  EXPECT_EQ(Eval(code), "true");
}

INSTANTIATE_TEST_SUITE_P(
    Frames, Pandas,
    ::testing::Values(
        "pd.DataFrame({'a': [1, 2], 'b': ['x', None], 'c': [1.5, np.nan]})", "pd.DataFrame()",
        "pd.DataFrame({'a': [1]}, index=['r'])", "pd.DataFrame([[1, 2]], columns=['a', 'a'])",
        "pd.DataFrame({'d': pd.to_datetime(['2024-01-02', None])})",
        "pd.DataFrame({'d': pd.to_datetime(['2024-01-02']).tz_localize('Europe/Rome')})",
        "pd.DataFrame({'n': pd.array([1, None], 'Int64'), 's': pd.array(['a', None], 'string')})",
        "pd.DataFrame({'k': list('aab'), 'v': [1, 2, 3]}).groupby('k').sum()",
        "pd.DataFrame({'a': [1, 2]}, index=pd.MultiIndex.from_tuples([('x', 1), ('y', 2)], names=['p', "
        "'q']))",
        "pd.Series([1, 2], name='s')",
        "pd.Series(['a', 'b'], index=pd.to_datetime(['2024-01-01', '2024-01-02']))",
        "pd.Series([True, False])", "pd.Series([pd.Timedelta(1, 's')])"));

// ---- what cannot cross ----

struct Refused {
  const char* expression;
  const char* type;
  const char* message;
};

class Impossible : public ValueCodec, public ::testing::WithParamInterface<Refused> {};

TEST_P(Impossible, ArgumentIsRefusedBeforeTheHostIsAsked) {
  const CellRun run = Run(std::string("echo(") + GetParam().expression + ")");
  EXPECT_EQ(ErrorType(run), GetParam().type);
  EXPECT_THAT(Message(run), HasSubstr(GetParam().message));
  EXPECT_THAT(Message(run), HasSubstr("echo() argument 'x'"));
  EXPECT_TRUE(run.tool_calls.empty());
  EXPECT_EQ(Eval("'next'"), "\"next\"");
}

INSTANTIATE_TEST_SUITE_P(
    Values, Impossible,
    ::testing::Values(
        Refused{"object()", "TypeError", "type object"}, Refused{"lambda: 1", "TypeError", "function"},
        Refused{"[1, {'a': len}]", "TypeError", "builtin_function_or_method"},
        Refused{"(lambda a: (a.append(a), a)[1])([])", "ValueError", "contains itself"},
        Refused{"(lambda d: (d.update(d=d), d)[1])({})", "ValueError", "contains itself"},
        Refused{"(lambda d: [d := [d] for _ in range(500)][-1])(0) if 0 else eval('[' * 190 + ']' * 190)",
                "ValueError", "levels deep"},
        Refused{"bytes(193 << 20)", "OverflowError", "too large"},
        Refused{"[0] * 5_000_000", "OverflowError", "items"},
        Refused{"1 << (8 * 200_000)", "OverflowError", "integer"},
        Refused{"type('B', (), {'__module__': '__main__'})()", "TypeError", "type B"}));

TEST_F(ValueCodec, CellValueThatCannotCrossIsShown) {
  EXPECT_EQ(
      Eval("[object, {'f': len}]"),
      R"([{"$object":{"type":"type","repr":"<class 'object'>"}},{"f":{"$object":{"type":"builtin_function_or_method",)"
      R"("repr":"<built-in function len>"}}}])");
  EXPECT_EQ(Eval("a = [1]\na.append(a)\na"), R"({"$object":{"type":"list","repr":"[1, [...]]"}})");
}

TEST_F(ValueCodec, ContainerThatChangesWhileItIsSentIsAnError) {
  const CellRun run =
      Run("class Grow:\n    pass\nl = []\n@dataclasses.dataclass\nclass Evil:\n    x: int = 0\n"
          "    def __getattribute__(self, name):\n        l.clear()\n"
          "        return object.__getattribute__(self, name)\nl.extend([Evil(), 1, 2])\necho(l)");
  EXPECT_EQ(ErrorType(run), "RuntimeError");
  EXPECT_THAT(Message(run), HasSubstr("changed while it was sent"));
}

TEST_F(ValueCodec, ExceptionOfAnObjectsOwnCodeReachesTheCell) {
  EXPECT_EQ(
      ErrorType(Run("@dataclasses.dataclass\nclass Bad:\n    x: int = 0\n    def __getattribute__(self, n):\n"
                    "        raise LookupError(n)\necho(Bad())")),
      "LookupError");
}

TEST_F(ValueCodec, UnknownClassesBecomePlainValues) {
  ASSERT_EQ(Eval("v = echo(P(1))\ndel P\n0"), "0");
  tools_ = [](const wire::ToolCall&) {
    const auto fields = Value::Object({{"x", 1}});
    const Value list(
        Value::List{Value(Form::kDataclass, Value::Object({{"type", "Gone"}, {"fields", fields}})),
                    Value(Form::kNamedtuple, Value::Object({{"type", "os.Gone"}, {"fields", fields}})),
                    Value(Form::kEnum, Value::Object({{"type", "G"}, {"name", "A"}, {"value", 7}})),
                    Value(Form::kObject, Value::Object({{"type", "T"}, {"repr", "<T>"}}))});
    return wire::ToolReply{.ok = true, .value = EncodeValue(list)};
  };
  EXPECT_EQ(Run("echo(1)").done->repr, "[{'x': 1}, (1,), 7, '<T>']");
}

TEST_F(ValueCodec, MalformedFormFromTheHostIsAnErrorOfTheCall) {
  for (const Form form :
       {Form::kDatetime, Form::kNdarray, Form::kRange, Form::kComplex, Form::kUuid, Form::kEnum,
        Form::kDataclass, Form::kDataframe, Form::kFraction, Form::kSet, Form::kTimedelta}) {
    tools_ = [form](const wire::ToolCall&) {
      return wire::ToolReply{
          .ok = true,
          .value = EncodeValue(Value(form, Value(Value::List{Value("?"), Value(Value::List{})})))};
    };
    EXPECT_NE(Status(Run("echo(1)")), "ok") << FormName(form);
  }
  EXPECT_EQ(Eval("'next'"), "\"next\"");
}

TEST_F(ValueCodec, VariablesAreSetAndRead) {
  EXPECT_TRUE(
      session()
          .Ask("set_variable",
               Value::Object({{"name", "v"}, {"value", Value(Form::kTuple, Value(Value::List{Value(1)}))}}))
          .ok);
  EXPECT_EQ(Eval("v"), R"({"$tuple":[1]})");
  EXPECT_EQ(DumpJson(Decoded(session().Ask("get_variable", Value::Object({{"name", "v"}})).value)),
            R"({"$tuple":[1]})");
  const wire::Reply missing = session().Ask("get_variable", Value::Object({{"name", "nothing"}}));
  EXPECT_FALSE(missing.ok);
  EXPECT_EQ(missing.error_type, "NameError");
  EXPECT_FALSE(session().Ask("set_variable", Value::Object({{"name", "no name"}, {"value", 1}})).ok);
}

}  // namespace
}  // namespace gloveport::testing
