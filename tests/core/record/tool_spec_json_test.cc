#include "gloveport/core/record/tool_spec_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tools/registry.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

Json ThroughText(const ToolSpec& spec) { return *ParseJson(DumpJson(ToJson(spec))); }

TEST(ToolSpecJsonTest, AFunctionsSpecComesBackAsItWas) {
  ToolRegistry tools;
  ASSERT_TRUE(tools.Add("rates", "Rates of a day.",
                        [](const std::string&, std::vector<double>, std::optional<std::int64_t>) {
                          return std::vector<double>{};
                        },
                        {Arg("day", "which"), Arg("weights", "how much"), Arg("limit", "at most", nullptr)}));
  const ToolSpec& spec = tools.Find("rates")->spec();
  const auto read = ReadToolSpec(ThroughText(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->Signature(), spec.Signature());
  EXPECT_EQ(DumpJson(ToJson(*read)), DumpJson(ToJson(spec)));
  EXPECT_EQ(read->parameters[1].schema, spec.parameters[1].schema);
  EXPECT_FALSE(read->parameters[1].default_value);
  ASSERT_TRUE(read->parameters[2].default_value);
  EXPECT_EQ(*read->parameters[2].default_value, Value());
}

// A schema may look like one of the forms that values have in JSON.
TEST(ToolSpecJsonTest, SchemasAndDefaultsOfAnyKindComeBack) {
  ToolSpec spec;
  spec.name = "any";
  spec.is_async = true;
  spec.returns_schema = FromPlainJson({{"$ref", "#/$defs/x"}});
  Parameter parameter;
  parameter.name = "rest";
  parameter.kind = ParameterKind::kKeywordVariadic;
  parameter.schema = FromPlainJson({{"$map", {{{"$tuple", 1}}}}});
  parameter.default_value = Value(Value::Bytes{std::byte{0}, std::byte{255}});
  spec.parameters = {parameter};
  const auto read = ReadToolSpec(ThroughText(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->is_async);
  EXPECT_EQ(read->returns_schema, spec.returns_schema);
  ASSERT_EQ(read->parameters.size(), 1u);
  EXPECT_EQ(read->parameters[0].kind, ParameterKind::kKeywordVariadic);
  EXPECT_EQ(read->parameters[0].schema, parameter.schema);
  EXPECT_EQ(read->parameters[0].default_value, parameter.default_value);
}

TEST(ToolSpecJsonTest, EachMillisecondOfATimeLimitComesBack) {
  ToolSpec spec;
  spec.name = "slow";
  for (int count = 1; count < 2000; ++count) {
    spec.timeout = milliseconds(count);
    EXPECT_EQ(ReadToolSpec(ThroughText(spec))->timeout, milliseconds(count));
  }
}

TEST(ToolSpecJsonTest, WhatIsNoSpecIsRefused) {
  for (const char* text : {"1", "[]", "{}", R"({"name":""})", R"({"name":"a","parameters":[1]})",
                           R"({"name":"a","parameters":[{"name":"b","default":{"$nonsense":1}}]})"}) {
    const auto read = ReadToolSpec(*ParseJson(text));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace gloveport
