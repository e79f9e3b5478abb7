#include "gloveport/tools/input_schema.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/binding.h"

namespace gloveport {
namespace {

TEST(InputSchemaTest, HoldsTypesDescriptionsAndDefaults) {
  const auto tool = BindFunction("f", "", [](int, std::optional<std::string>, Value) {},
                                 {Arg("n", "how many"), Arg("note"), Arg("rest", "", 1.5)});
  ASSERT_TRUE(tool) << tool.error().message;
  EXPECT_EQ(
      DumpJson(InputSchema((*tool)->spec())),
      R"({"type":"object","properties":{"n":{"type":"integer","minimum":-2147483648,"maximum":2147483647,)"
      R"("description":"how many"},"note":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},)"
      R"("rest":{"default":1.5}},"required":["n"],"additionalProperties":false})");
}

TEST(InputSchemaTest, KeepsWhatAParametersOwnSchemaSays) {
  ToolSpec spec;
  spec.parameters = {{.name = "a",
                      .description = "outer",
                      .schema = Value::Object({{"description", "inner"}, {"default", 1}}),
                      .default_value = Value(2)}};
  EXPECT_EQ(DumpJson(InputSchema(spec)),
            R"({"type":"object","properties":{"a":{"description":"inner","default":1}},)"
            R"("additionalProperties":false})");
}

TEST(InputSchemaTest, OfAToolWithoutParameters) {
  EXPECT_EQ(DumpJson(InputSchema(ToolSpec())),
            R"({"type":"object","properties":{},"additionalProperties":false})");
}

}  // namespace
}  // namespace gloveport
