#include "gloveport/tools/enum_type.h"

#include <gtest/gtest.h>

#include "gloveport/core/wire/value_json.h"

#include "call.h"

namespace gloveport {

enum class Channel { kPhone, kMail, kUnnamed };
constexpr auto ToolEnum(const Channel*) {
  return std::array{EnumName("phone", Channel::kPhone), EnumName("mail", Channel::kMail)};
}

namespace {

Value Member(const char* name, Value value) {
  return Value(Form::kEnum,
               Value::Object({{"type", "Channel"}, {"name", name}, {"value", std::move(value)}}));
}

TEST(EnumType, IsALiteralInPython) {
  EXPECT_EQ(ToolType<Channel>::Annotation(), "Literal['phone', 'mail']");
  EXPECT_EQ(DumpJson(ToolType<Channel>::Schema()), R"({"enum":["phone","mail"]})");
  const auto tool =
      BindFunction("f", "", [](std::optional<Channel> c) { return c; }, {Arg("c", "", Channel::kMail)});
  ASSERT_TRUE(tool) << tool.error().message;
  EXPECT_EQ((*tool)->spec().Signature(),
            "f(c: Literal['phone', 'mail'] | None = 'mail') -> Literal['phone', 'mail'] | None");
}

TEST(EnumType, IsTakenByItsName) {
  EXPECT_EQ(Echo<Channel>("mail"), "'mail'");
  EXPECT_EQ(Echo<Channel>(Member("MAIL", "mail")), "'mail'");
  EXPECT_EQ(Echo<Channel>(Member("phone", 7)), "'phone'");
  EXPECT_EQ(Echo<Channel>("fax"),
            "error: f() argument 'a': expected Literal['phone', 'mail'], got str 'fax'");
  EXPECT_EQ(Echo<Channel>(1), "error: f() argument 'a': expected Literal['phone', 'mail'], got int 1");
  EXPECT_EQ(Echo<std::vector<Channel>>(Value::List{Value("mail"), Value("x")}),
            "error: f() argument 'a'[1]: expected Literal['phone', 'mail'], got str 'x'");
  EXPECT_EQ(ToolType<Channel>::ToValue(Channel::kUnnamed), Value());
}

}  // namespace
}  // namespace gloveport
