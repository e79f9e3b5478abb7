// agreement.txt is read twice: here against the codec, by schema_test.py against the JSON Schema.
#include <gtest/gtest.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/policy/codec.h"

namespace gloveport {
namespace {

TEST(AgreementTest, CodecTakesAndRefusesWhatTheTableSays) {
  const auto table = ReadFile(std::string(GLOVEPORT_SOURCE_DIR) + "/tests/policy/agreement.txt");
  ASSERT_TRUE(table);
  int checked = 0;
  for (const std::string_view line : SplitLines(*table)) {
    if (line.starts_with('#')) continue;
    ASSERT_GT(line.size(), 2u);
    EXPECT_EQ(ParsePolicy(line.substr(2), "line").has_value(), line.front() == '+') << line;
    ++checked;
  }
  EXPECT_GT(checked, 50);
}

}  // namespace
}  // namespace gloveport
