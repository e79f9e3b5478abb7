#include "gloveport/core/wire/large_copy.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace gloveport {
namespace {

Value::Bytes Pattern(std::size_t size) {
  Value::Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  return bytes;
}

TEST(LargeCopyTest, ACopyIsTheSameAtEverySize) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kLeastHugeBytes - 1, kLeastHugeBytes, kLeastHugeBytes * 3 + 12345}) {
    const Value::Bytes bytes = Pattern(size);
    EXPECT_EQ(CopyBytes(bytes), bytes) << size;
  }
}

TEST(LargeCopyTest, WhatIsInTheMemoryStays) {
  Value::Bytes bytes = Pattern(kLeastHugeBytes * 2);
  PreferHugePages(bytes.data() + 1, bytes.size() - 2);
  EXPECT_EQ(bytes, Pattern(kLeastHugeBytes * 2));
}

}  // namespace
}  // namespace gloveport
