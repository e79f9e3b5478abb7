#include "gloveport/tools/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tools/tool_names.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

class FixedTool final : public Tool {
 public:
  explicit FixedTool(ToolSpec spec) : spec_(std::move(spec)) {}
  const ToolSpec& spec() const override { return spec_; }
  Result<Value> Call(const Arguments&, CallContext&) override { return Value(1); }

 private:
  ToolSpec spec_;
};

std::shared_ptr<Tool> Named(std::string name, std::vector<Parameter> parameters = {}) {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.parameters = std::move(parameters);
  return std::make_shared<FixedTool>(std::move(spec));
}

TEST(ToolRegistryTest, KeepsToolsInOrderAndFindsThemByName) {
  ToolRegistry registry;
  ASSERT_TRUE(registry.Add(Named("b")));
  ASSERT_TRUE(registry.Add("a", "doubles", [](int x) { return 2 * x; }, {Arg("x")}));
  ASSERT_EQ(registry.tools().size(), 2u);
  EXPECT_EQ(registry.tools()[0]->spec().name, "b");
  EXPECT_EQ(registry.tools()[1]->spec().name, "a");
  EXPECT_EQ(registry.Find("a"), registry.tools()[1]);
  EXPECT_EQ(registry.Find("c"), nullptr);
}

TEST(ToolRegistryTest, TakesTheToolsOfAnother) {
  ToolRegistry others;
  ASSERT_TRUE(others.Add(Named("b")));
  ASSERT_TRUE(others.Add("count", "", [] { return ToolStream<int>(nullptr); }));
  ToolRegistry registry;
  ASSERT_TRUE(registry.Add(Named("a")));
  ASSERT_TRUE(registry.AddAll(others));
  ASSERT_EQ(registry.tools().size(), 3u);
  EXPECT_EQ(registry.tools()[1], others.tools()[0]);
  EXPECT_NE(registry.Find("count.next"), nullptr);
  const Status again = registry.AddAll(registry);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("there is already a tool 'a'"));
  EXPECT_EQ(registry.tools().size(), 3u);
}

TEST(ToolRegistryTest, RefusesNamesThatACellCouldNotUse) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "tool name '' is no name in Python"},
      {"a-b", "is no name in Python"},
      {"a b", "is no name in Python"},
      {"1a", "is no name in Python"},
      {"a\n", "is no name in Python"},
      {"caf\xC3\xA9", "is no name in Python"},
      {std::string(129, 'a'), "is no name in Python"},
      {std::string("a\0b", 3), "is no name in Python"},
      {"class", "is a keyword of Python"},
      {"None", "is a keyword of Python"},
      {"await", "is a keyword of Python"},
      {"__builtins__", "begins with two underscores"},
      {"final_answer", "every session has that function"},
      {"taken", "there is already a tool 'taken'"},
  };
  for (const auto& [name, message] : cases) {
    ToolRegistry registry;
    ASSERT_TRUE(registry.Add(Named("taken")));
    const Status added = registry.Add(Named(name));
    ASSERT_FALSE(added) << name;
    EXPECT_EQ(added.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(added.error().message, HasSubstr(message));
    EXPECT_EQ(registry.tools().size(), 1u);
  }
}

TEST(ToolRegistryTest, TakesNamesThatLookLikeThose) {
  ToolRegistry registry;
  for (const char* name : {"a_b", "A1", "_a", "Class", "none", "final_answer2", "match", "type", "Taken"}) {
    EXPECT_TRUE(registry.Add(Named(name))) << name;
  }
  EXPECT_TRUE(registry.Add(Named(std::string(128, 'a'))));
}

TEST(ToolRegistryTest, ChecksTheParametersOfEveryTool) {
  ToolRegistry registry;
  const auto refused = [&registry](std::vector<Parameter> parameters) {
    const Status added = registry.Add(Named("f", std::move(parameters)));
    return added ? std::string() : added.error().message;
  };
  EXPECT_THAT(refused({{.name = "a b"}}), HasSubstr("f(): parameter 'a b' is no name"));
  EXPECT_THAT(refused({{.name = "a"}, {.name = "a"}}), HasSubstr("'a' is there twice"));
  EXPECT_THAT(refused({{.name = "a", .default_value = Value(1)}, {.name = "b"}}),
              HasSubstr("'b' is required"));
  EXPECT_EQ(refused({{.name = "a"}, {.name = "b", .default_value = Value(1)}}), "");
}

TEST(ToolRegistryTest, ChecksVariadicParameters) {
  const Parameter rest{.name = "rest", .kind = ParameterKind::kVariadic};
  const Parameter options{.name = "options", .kind = ParameterKind::kKeywordVariadic};
  const Parameter sep{.name = "sep", .default_value = Value(" ")};
  const Parameter plain{.name = "plain"};
  const auto refused = [](std::vector<Parameter> parameters) {
    ToolRegistry registry;
    const Status added = registry.Add(Named("f", std::move(parameters)));
    return added ? std::string() : added.error().message;
  };
  EXPECT_EQ(refused({plain, rest, sep, options}), "");
  EXPECT_EQ(refused({sep, rest, plain}), "");  // by keyword, so that the order is free
  EXPECT_THAT(refused({options, plain}), HasSubstr("must be the last"));
  EXPECT_THAT(refused({rest, {.name = "more", .kind = ParameterKind::kVariadic}}),
              HasSubstr("'more' is the second"));
  EXPECT_THAT(refused({{.name = "r", .default_value = Value(1), .kind = ParameterKind::kVariadic}}),
              HasSubstr("cannot have a default"));
}

TEST(ToolRegistryTest, RefusesNothing) {
  ToolRegistry registry;
  EXPECT_FALSE(registry.Add(std::shared_ptr<Tool>()));
}

TEST(ArgumentsTest, FindsByName) {
  const Arguments arguments(Value::Map{{1, "x"}, {"a", 5}});
  ASSERT_NE(arguments.Find("a"), nullptr);
  EXPECT_EQ(*arguments.Find("a"), Value(5));
  EXPECT_EQ(arguments.Find("b"), nullptr);
  EXPECT_EQ(arguments.all().size(), 2u);
}

}  // namespace
}  // namespace gloveport
