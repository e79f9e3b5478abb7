#include "gloveport/core/host/output_buffer.h"

#include <gtest/gtest.h>

#include <string>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

TEST(OutputBuffer, KeepsAllBelowItsLimit) {
  OutputBuffer buffer(10);
  buffer.Append("hello");
  buffer.Append("world");
  EXPECT_EQ(buffer.Text(), "helloworld");
  EXPECT_EQ(buffer.cut_bytes(), 0u);
}

TEST(OutputBuffer, KeepsHeadAndTailAndCountsWhatItCut) {
  OutputBuffer buffer(10);
  for (char c = 'a'; c <= 'z'; ++c) buffer.Append(std::string(1, c));
  EXPECT_EQ(buffer.total_bytes(), 26u);
  EXPECT_EQ(buffer.cut_bytes(), 16u);
  EXPECT_TRUE(buffer.Text().starts_with("abcde\n[")) << buffer.Text();
  EXPECT_TRUE(buffer.Text().ends_with("]\nvwxyz")) << buffer.Text();
}

TEST(OutputBuffer, StaysSmallUnderAFlood) {
  OutputBuffer buffer(1024);
  const std::string chunk(100'000, 'x');
  for (int i = 0; i < 10'000; ++i) buffer.Append(chunk);  // 1 GB
  EXPECT_EQ(buffer.total_bytes(), 1'000'000'000u);
  EXPECT_LT(buffer.Text().size(), 1200u);
}

TEST(OutputBuffer, IsValidUtf8WhereverTheCutWent) {
  for (std::size_t limit = 1; limit < 12; ++limit) {
    OutputBuffer buffer(limit);
    for (int i = 0; i < 9; ++i) buffer.Append("\xE6\x97\xA5");
    EXPECT_TRUE(IsValidUtf8(buffer.Text())) << limit;
  }
}

}  // namespace
}  // namespace gloveport
