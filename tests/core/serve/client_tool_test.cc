#include "gloveport/core/serve/client_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace gloveport {
namespace {

using testing::HasSubstr;

Result<ToolSpec> Declared(std::string_view text) { return ParseToolDeclaration(*ParseJson(text)); }

TEST(ParseToolDeclaration, TypesBecomeAnnotationsAndSchemas) {
  const std::array<std::array<std::string_view, 3>, 11> kCases = {{
      {R"("any")", "object", "{}"},
      {R"("boolean")", "bool", R"({"type":"boolean"})"},
      {R"("integer")", "int", R"({"type":"integer"})"},
      {R"("number")", "float", R"({"type":"number"})"},
      {R"("string")", "str", R"({"type":"string"})"},
      {R"("array")", "list", R"({"type":"array"})"},
      {R"("object")", "dict", R"({"type":"object"})"},
      {R"("bytes")", "bytes", "{}"},
      {R"({"type":"string","enum":["a","b"]})", "str", R"({"type":"string","enum":["a","b"]})"},
      {R"({"enum":[1,2]})", "object", R"({"enum":[1,2]})"},
      {R"({})", "object", "{}"},
  }};
  for (const auto& [type, annotation, schema] : kCases) {
    const auto spec =
        Declared(R"({"name":"t","parameters":[{"name":"p","type":)" + std::string(type) + "}]}");
    ASSERT_TRUE(spec.has_value()) << type;
    EXPECT_EQ(spec->parameters.at(0).annotation, annotation) << type;
    EXPECT_EQ(DumpJson(spec->parameters.at(0).schema), schema) << type;
  }
}

TEST(ParseToolDeclaration, DefaultsAreReadInTheProtocolsForms) {
  const auto spec = Declared(R"({"name":"t","parameters":[
      {"name":"a"},{"name":"b","default":null},{"name":"c","default":{"$bytes":"aGk="}}]})");
  ASSERT_TRUE(spec.has_value());
  EXPECT_FALSE(spec->parameters[0].default_value.has_value());
  EXPECT_EQ(spec->parameters[1].default_value, Value());
  ASSERT_TRUE(spec->parameters[2].default_value.has_value());
  EXPECT_TRUE(spec->parameters[2].default_value->is_bytes());
}

TEST(ParseToolDeclaration, ReturnsMayBeATypeASchemaOrWords) {
  EXPECT_EQ(Declared(R"({"name":"t","returns":"integer"})")->returns, "int");
  EXPECT_EQ(Declared(R"({"name":"t","returns":{"type":"array"}})")->returns, "list");
  const auto words = Declared(R"({"name":"t","returns":"the price in EUR"})");
  EXPECT_EQ(words->returns, "object");
  EXPECT_EQ(words->returns_description, "the price in EUR");
}

TEST(ParseToolDeclaration, HowItIsCalledMayBeSaid) {
  const auto plain = Declared(R"({"name":"t"})");
  EXPECT_FALSE(plain->is_async);
  EXPECT_FALSE(plain->timeout.has_value());
  const auto spec = Declared(R"({"name":"t","async":true,"timeout_s":2.5})");
  ASSERT_TRUE(spec.has_value());
  EXPECT_TRUE(spec->is_async);
  EXPECT_EQ(spec->timeout, std::chrono::milliseconds(2500));
}

TEST(ParseToolDeclaration, VariadicParametersTakeAllTheRest) {
  const auto spec = Declared(R"({"name":"t","parameters":[
      {"name":"a"},{"name":"args","kind":"variadic","type":"integer"},{"name":"sep","default":" "},
      {"name":"options","kind":"keyword_variadic"}]})");
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->Signature(), "t(a: object, *args: int, sep: object = ' ', **options: object) -> object");
  EXPECT_EQ(DumpJson(spec->parameters[1].schema), R"({"type":"array","items":{"type":"integer"}})");
  EXPECT_EQ(DumpJson(spec->parameters[3].schema), R"({"type":"object","additionalProperties":{}})");
}

TEST(ParseToolDeclaration, ErrorsNameToolAndParameter) {
  const std::array<std::pair<std::string_view, std::string_view>, 12> kCases = {{
      {R"({"name":"t","parameters":[{"name":"p","kind":"star"}]})", "tool t, parameter p: \"kind\" must be"},
      {R"({"name":"t","async":1})", "tool t: \"async\" must be true or false"},
      {R"({"name":"t","timeout_s":0})", "tool t: \"timeout_s\" must be a number"},
      {R"({"name":"t","timeout_s":"1"})", "tool t: \"timeout_s\" must be a number"},
      {"7", "must be an object"},
      {"{}", "no \"name\""},
      {R"({"name":7})", "\"name\" must be a string"},
      {R"({"name":"t","parameters":{}})", "tool t: \"parameters\" must be a list"},
      {R"({"name":"t","parameters":[7]})", "tool t: each parameter"},
      {R"({"name":"t","parameters":[{"type":"any"}]})", "has no \"name\""},
      {R"({"name":"t","parameters":[{"name":"p","type":"float"}]})",
       "tool t, parameter p: unknown type \"float\""},
      {R"({"name":"t","parameters":[{"name":"p","default":{"$int":"x"}}]})",
       "tool t, parameter p: \"default\""},
  }};
  for (const auto& [text, message] : kCases) {
    const auto spec = Declared(text);
    ASSERT_FALSE(spec.has_value()) << text;
    EXPECT_THAT(spec.error().message, HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace gloveport
