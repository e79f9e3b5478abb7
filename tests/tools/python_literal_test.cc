#include "gloveport/tools/python_literal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/tool.h"

namespace gloveport {
namespace {

std::vector<Value> Samples() {
  const Value::List items{1, "a"};
  std::vector<Value> samples = {Value(),
                                true,
                                false,
                                0,
                                -5,
                                std::numeric_limits<std::int64_t>::min(),
                                *BigInt::FromDecimal("123456789012345678901234567890"),
                                0.0,
                                -0.0,
                                1.0,
                                0.1,
                                -2.5,
                                1e16,
                                1e15,
                                123456789.125,
                                9999999999999998.0,
                                1e22,
                                1e-4,
                                1e-5,
                                5e-324,
                                1.7976931348623157e308,
                                1.0 / 3,
                                100.0,
                                1e100,
                                "",
                                "plain",
                                "it's",
                                "\"quoted\"",
                                "both ' and \"",
                                "back\\slash",
                                "tab\tnew\nline\r",
                                "caf\xC3\xA9 \xF0\x9F\x98\x80",
                                std::string("nul\0\x01\x1b[31m\x7f", 11),
                                "\xC2\x85\xE2\x80\xAE",
                                "\\x1b",
                                Value::Bytes{std::byte{0}, std::byte{'\''}, std::byte{'"'}, std::byte{'\\'},
                                             std::byte{0xFF}, std::byte{'\n'}},
                                Value::Bytes{},
                                Value::List{},
                                items,
                                Value::Map{},
                                Value::Map{{"a", 1}, {2, Value::List{}}},
                                Value(Form::kTuple, Value::List{}),
                                Value(Form::kTuple, Value::List{1}),
                                Value(Form::kTuple, items),
                                Value(Form::kSet, Value::List{}),
                                Value(Form::kSet, Value::List{1}),
                                Value(Form::kFrozenset, Value::List{1}),
                                Value(Form::kRange, Value::List{0, 9, 2}),
                                Value(Form::kDecimal, "1.50"),
                                Value(Form::kFraction, "1/3"),
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  return samples;
}

// What Python itself says, one line for each of `lines`: the answer of the last expression of `program`,
// where `lines` is the list of texts.
std::string AskPython(const std::string& program, const std::vector<std::string>& lines) {
  std::string source =
      "from decimal import Decimal\nfrom fractions import Fraction\nfrom math import inf\nlines = [\n";
  for (const std::string& line : lines) {
    source += "bytes.fromhex('";
    for (const char c : line) {
      char hex[3];
      std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(c));
      source += hex;
    }
    source += "').decode(),\n";
  }
  source += "]\n" + program;
  std::string path = testing::TempDir() + "gloveport-literal-XXXXXX";
  const int fd = mkstemp(path.data());
  EXPECT_GE(fd, 0);
  EXPECT_EQ(write(fd, source.data(), source.size()), static_cast<ssize_t>(source.size()));
  close(fd);
  const std::string command = std::string(GLOVEPORT_PYTHON) + " -I -S -X utf8 " + path + " 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << output;
  std::remove(path.c_str());
  return output;
}

TEST(PythonLiteralTest, IsReadBackByPythonAsTheSameValue) {
  std::vector<std::string> literals;
  for (const Value& value : Samples()) {
    literals.push_back(PythonLiteral(value));
    EXPECT_EQ(literals.back().find('\n'), std::string::npos);
    EXPECT_TRUE(IsValidUtf8(literals.back()));
  }
  // Writing down what was read gives the same again; numbers and None are written exactly as repr() does.
  const std::string output = AskPython(R"(
for line in lines:
    value = eval(line)
    assert eval(repr(value)) == value, line
    if type(value) in (int, float, bool, type(None)) and 'inf' not in line:
        assert repr(value) == line, (repr(value), line)
print(len(lines))
)",
                                       literals);
  EXPECT_EQ(output, std::to_string(literals.size()) + "\n");
}

TEST(PythonLiteralTest, TextMeansTheSameInPython) {
  std::vector<std::string> pairs;
  for (const Value& value : Samples()) {
    if (!value.is_text()) continue;
    pairs.push_back(value.as_text());
    pairs.push_back(PythonLiteral(value));
  }
  ASSERT_GT(pairs.size(), 20u);
  EXPECT_EQ(AskPython(R"(
for text, literal in zip(lines[::2], lines[1::2]):
    assert eval(literal) == text, (literal, text)
print('same')
)",
                      pairs),
            "same\n");
}

TEST(PythonLiteralTest, ShowsNoControlCharacter) {
  EXPECT_EQ(PythonLiteral("\x1b[31m"), "'\\x1b[31m'");
  EXPECT_EQ(PythonLiteral("a\nb"), "'a\\nb'");
  EXPECT_EQ(PythonLiteral(Value(Form::kNdarray, Value())), "...");
}

TEST(ShortLiteralTest, CutsLongValues) {
  EXPECT_EQ(ShortLiteral("short"), "'short'");
  EXPECT_EQ(ShortLiteral(Value(std::string(100, 'x')), 10), "'xxxxxxxxx...");
  EXPECT_EQ(ShortLiteral(Value(Value::List(1000, Value(1))), 10), "[1, 1, 1, ...");
  std::string accents;
  for (int i = 0; i < 50; ++i) accents += "\xC3\xA9";
  for (std::size_t size = 1; size < 20; ++size)
    EXPECT_TRUE(IsValidUtf8(ShortLiteral(Value(accents), size))) << size;
  Value huge(1);
  for (int i = 0; i < 100; ++i) huge = Value(Value::List{huge, huge.is_list() ? Value(2) : huge});
  EXPECT_LE(ShortLiteral(huge).size(), 63u);
}

ToolSpec SpecOf(std::vector<Parameter> parameters, std::string returns) {
  ToolSpec spec;
  spec.name = "f";
  spec.parameters = std::move(parameters);
  spec.returns = std::move(returns);
  return spec;
}

TEST(SignatureTest, IsPython) {
  std::vector<Parameter> parameters{{.name = "a", .annotation = "int"}, {.name = "b", .annotation = ""}};
  for (const Value& value : Samples()) {
    const std::string name = "p" + std::to_string(parameters.size());
    parameters.push_back({.name = name, .annotation = "str | None", .default_value = value});
    parameters.push_back({.name = name + "_", .default_value = value});
  }
  const std::string signature = SpecOf(parameters, "list[float]").Signature();
  EXPECT_TRUE(signature.starts_with("f(a: int, b, p2: str | None = None, p2_=None, "))
      << signature.substr(0, 60);
  EXPECT_TRUE(signature.ends_with(") -> list[float]"));
  EXPECT_EQ(
      AskPython(
          "import inspect\nexec(f'def {lines[0]}: pass')\nprint(len(inspect.signature(f).parameters))\n",
          {signature}),
      std::to_string(parameters.size()) + "\n");
}

TEST(SignatureTest, OfNoParameters) { EXPECT_EQ(SpecOf({}, "None").Signature(), "f() -> None"); }

TEST(PythonLiteralTest, ArgumentsAreWholeUnlessALimitIsGiven) {
  const Value arguments = Value::Object({{"contacts", 3}, {"channel", std::string(200, 'c')}});
  EXPECT_EQ(PythonArguments(arguments), "contacts=3, channel='" + std::string(200, 'c') + "'");
  EXPECT_EQ(PythonArguments(arguments, 4), "contacts=3, channel='ccc...");
  EXPECT_EQ(PythonArguments(Value(1)), "");
}

}  // namespace
}  // namespace gloveport
