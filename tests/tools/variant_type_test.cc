#include "gloveport/tools/variant_type.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/value_json.h"

#include "call.h"

namespace gloveport {

struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
constexpr auto ToolFields(const Range*) {
  return std::make_tuple(Field("from", &Range::from), Field("to", &Range::to));
}

namespace {

template <typename... T>
std::size_t Index(Value value) {
  const auto held = ToolType<std::variant<T...>>::FromValue(value, ValuePlace("a"));
  return held ? held->index() : std::variant_npos;
}

TEST(VariantType, IsAUnionInPython) {
  EXPECT_EQ((ToolType<std::variant<int, std::string, long>>::Annotation()), "int | str");
  EXPECT_EQ((ToolType<std::variant<std::monostate, bool>>::Annotation()), "None | bool");
  EXPECT_EQ((ToolType<std::variant<int, Value>>::Annotation()), "object");
  EXPECT_EQ((ToolType<std::optional<std::variant<int, double>>>::Annotation()), "int | float | None");
  EXPECT_EQ(DumpJson(ToolType<std::variant<bool, double>>::Schema()),
            R"({"anyOf":[{"type":"boolean"},{"type":"number"}]})");
  EXPECT_EQ(DumpJson(ToolType<std::variant<bool, Value>>::Schema()), "{}");
}

TEST(VariantType, HoldsWhatFitsExactlyWhateverTheOrder) {
  EXPECT_EQ((Index<double, std::int64_t>(3)), 1u);
  EXPECT_EQ((Index<double, std::int64_t>(3.0)), 0u);
  EXPECT_EQ((Index<std::int64_t, double>(3.0)), 1u);
  EXPECT_EQ((Index<double, std::string>(3)), 0u);
  EXPECT_EQ((Index<std::string, Value::Bytes>(Value::Bytes(2))), 1u);
  EXPECT_EQ((Index<std::vector<double>, std::map<std::string, double>>(Value::Object({{"a", 1.0}}))), 1u);
  EXPECT_EQ((Index<std::string, std::monostate>(Value())), 1u);
  EXPECT_EQ((Index<std::string, bool>(1)), std::variant_npos);
}

TEST(VariantType, SaysWhatWasExpected) {
  using Either = std::variant<std::int64_t, Range>;
  EXPECT_EQ(Echo<Either>(5), "5");
  EXPECT_EQ(Echo<Either>(Value::Object({{"from", 1}, {"to", 2}})), "{'from': 1, 'to': 2}");
  EXPECT_EQ(Echo<Either>("x"), "error: f() argument 'a': expected int | dict[str, int], got str 'x'");
  const auto tool = BindFunction("f", "", [](const Either&) {}, {Arg("a", "which")});
  EXPECT_EQ((*tool)->spec().parameters[0].description, "which; a dict {'from': int, 'to': int}");
}

}  // namespace
}  // namespace gloveport
