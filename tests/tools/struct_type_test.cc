#include "gloveport/tools/struct_type.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/value_json.h"

#include "call.h"

namespace shop {

struct Point {
  double x = 0;
  double y = 0;
};
constexpr auto ToolFields(const Point*) {
  return std::make_tuple(gloveport::Field("x", &Point::x, "metres"), gloveport::Field("y", &Point::y));
}

struct Order {
  std::string name;
  int pieces = 1;
  std::optional<std::string> note;
  std::vector<Point> stops;
};
constexpr auto ToolFields(const Order*) {
  using gloveport::Field;
  return std::make_tuple(Field("name", &Order::name, "as in the catalogue"), Field("pieces", &Order::pieces),
                         Field("note", &Order::note, "for the driver"), Field("stops", &Order::stops));
}

}  // namespace shop

namespace gloveport {
namespace {

Value PointValue(Value x, Value y) { return Value::Object({{"x", std::move(x)}, {"y", std::move(y)}}); }

TEST(StructTypeTest, StructsAreDicts) {
  EXPECT_EQ(ToolType<shop::Point>::Annotation(), "dict[str, float]");
  EXPECT_EQ(ToolType<shop::Order>::Annotation(), "dict[str, object]");
  EXPECT_EQ(Echo<shop::Point>(PointValue(1, 2.5)), "{'x': 1.0, 'y': 2.5}");
}

TEST(StructTypeTest, DescriptionTellsTheKeys) {
  EXPECT_EQ(ToolType<shop::Point>::Description(), "a dict {'x': float (metres), 'y': float}");
  EXPECT_EQ(ToolType<shop::Order>::Description(),
            "a dict {'name': str (as in the catalogue), 'pieces': int, 'note': str | None, may be left out "
            "(for the "
            "driver), 'stops': list[dict[str, float]]}");
}

TEST(StructTypeTest, SchemaTellsTheKeys) {
  EXPECT_EQ(
      DumpJson(ToolType<shop::Point>::Schema()),
      R"({"type":"object","properties":{"x":{"type":"number","description":"metres"},"y":{"type":"number"}},)"
      R"("required":["x","y"],"additionalProperties":false})");
  const Value schema = ToolType<shop::Order>::Schema();
  EXPECT_EQ(DumpJson(*schema.Find("required")), R"(["name","pieces","stops"])");
}

TEST(StructTypeTest, OptionalFieldsMayBeLeftOut) {
  const Value stops(Value::List{PointValue(1, 2)});
  EXPECT_EQ(Echo<shop::Order>(Value::Object({{"name", "a"}, {"pieces", 2}, {"stops", stops}})),
            "{'name': 'a', 'pieces': 2, 'note': None, 'stops': [{'x': 1.0, 'y': 2.0}]}");
  EXPECT_EQ(
      Echo<shop::Order>(Value::Object({{"name", "a"}, {"pieces", 2}, {"stops", stops}, {"note", "now"}})),
      "{'name': 'a', 'pieces': 2, 'note': 'now', 'stops': [{'x': 1.0, 'y': 2.0}]}");
}

TEST(StructTypeTest, WrongDictsAreNamed) {
  const std::string wanted = "expected a dict {'x': float (metres), 'y': float}";
  EXPECT_EQ(Echo<shop::Point>(Value::Object({{"x", 1}})),
            "error: f() argument 'a': key 'y' is missing; " + wanted);
  EXPECT_EQ(Echo<shop::Point>(Value::Object({{"x", 1}, {"y", 1}, {"z", 1}})),
            "error: f() argument 'a': unknown key 'z'; " + wanted);
  EXPECT_EQ(Echo<shop::Point>(PointValue(1, "2")),
            "error: f() argument 'a'['y']: expected float, got str '2'");
  EXPECT_EQ(Echo<shop::Point>(Value(Value::List{1, 2})),
            "error: f() argument 'a': expected dict[str, float], got list [1, 2]");
  EXPECT_EQ(Echo<shop::Point>(Value(Value::Map{{1, 2}})),
            "error: f() argument 'a': expected dict[str, float], got a dict with the key 1");
  EXPECT_EQ(Echo<std::vector<shop::Point>>(Value(Value::List{PointValue(1, 2), PointValue(Value(), 2)})),
            "error: f() argument 'a'[1]['x']: expected float, got None");
}

TEST(StructTypeTest, DescriptionsOfStructsFollowThoseOfParameters) {
  const auto tool = BindFunction("nearest", "", [](shop::Point at, std::vector<shop::Point>) { return at; },
                                 {Arg("at", "where to look"), Arg("among")});
  ASSERT_TRUE(tool) << tool.error().message;
  const ToolSpec& spec = (*tool)->spec();
  EXPECT_EQ(spec.Signature(),
            "nearest(at: dict[str, float], among: list[dict[str, float]]) -> dict[str, float]");
  EXPECT_EQ(spec.parameters[0].description, "where to look; a dict {'x': float (metres), 'y': float}");
  EXPECT_EQ(spec.parameters[1].description, "each a dict {'x': float (metres), 'y': float}");
  EXPECT_EQ(spec.returns_description, "a dict {'x': float (metres), 'y': float}");
}

}  // namespace
}  // namespace gloveport
