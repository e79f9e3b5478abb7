// Byte strings beside the frame: what comes out is what was put in, places come back, and nothing that the
// other side writes leads out of the shared memory or takes more than was agreed.
#include "gloveport/core/wire/shared_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>
#include <string>

#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

constexpr std::size_t kSize = 4u << 20;

class SharedSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    memory_ = {static_cast<std::byte*>(memory), kSize};
    space_ = SharedSpace(memory_);
    view_ = SharedView(memory_);
  }
  void TearDown() override { ::munmap(memory_.data(), kSize); }

  static Value Large(std::size_t size, int fill) {
    return Value(Value::Bytes(size, static_cast<std::byte>(fill)));
  }
  std::string Encode(const Value& value) {
    CborWriter writer(&space_);
    WriteValue(writer, value);
    return writer.Take();
  }
  Result<Value> Decode(const std::string& encoded, WireLimits limits = {}) {
    CborReader reader(encoded, limits, &view_);
    return ReadValue(reader);
  }
  static std::string Named(std::uint64_t place, std::uint64_t size) {
    CborWriter writer;
    writer.Tag(kTagShared);
    writer.ArrayHead(2);
    writer.Unsigned(place);
    writer.Unsigned(size);
    return writer.Take();
  }

  std::span<std::byte> memory_;
  SharedSpace space_;
  SharedView view_;
};

TEST_F(SharedSpaceTest, LargeBytesGoBesideTheFrameAndComeBack) {
  const Value value = Value(Value::List{Large(kLeastSharedBytes, 1), Value("text"), Large(1u << 20, 2)});
  const std::string encoded = Encode(value);
  EXPECT_LT(encoded.size(), 100u);
  const auto decoded = Decode(encoded);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, value);
  EXPECT_GT(Encode(Large(kLeastSharedBytes - 1, 1)).size(), kLeastSharedBytes - 1) << "small ones stay";
}

TEST_F(SharedSpaceTest, PlacesAreUsedAgainOnlyAfterTheyWereGivenBack) {
  std::minstd_rand random(3);
  std::vector<std::pair<std::string, Value>> under_way;
  std::size_t beside = 0;
  for (int i = 0; i < 400; ++i) {
    if (under_way.size() < 8 && random() % 2 == 0) {
      const Value value = Large(kLeastSharedBytes + random() % (1u << 20), static_cast<int>(i % 251));
      under_way.emplace_back(Encode(value), value);
      beside += under_way.back().first.size() < 100;
    } else if (!under_way.empty()) {
      const std::size_t at = random() % under_way.size();
      const auto decoded = Decode(under_way[at].first);
      ASSERT_TRUE(decoded);
      ASSERT_EQ(*decoded, under_way[at].second);
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  EXPECT_GT(beside, 50u);
}

TEST_F(SharedSpaceTest, WhatHasNoRoomGoesIntoTheFrame) {
  const std::string first = Encode(Large(3u << 20, 1));
  const std::string second = Encode(Large(2u << 20, 2));
  EXPECT_LT(first.size(), 100u);
  EXPECT_GT(second.size(), 2u << 20);
  EXPECT_TRUE(Decode(first));
  EXPECT_TRUE(Decode(second));
  EXPECT_LT(Encode(Large(3u << 20, 3)).size(), 100u) << "the place has been given back";
}

TEST_F(SharedSpaceTest, WhatIsNotSentIsWithdrawn) {
  for (int i = 0; i < 10; ++i) {
    CborWriter writer(&space_);
    WriteValue(writer, Large(3u << 20, 1));
    ASSERT_LT(writer.size(), 100u) << i;
    if (i % 2 == 0) writer.Truncate(0);
  }
  const std::string encoded = Encode(Large(3u << 20, 1));
  EXPECT_EQ(SharedBytesOf(encoded, view_, SharedBytes::kCount), 3u << 20);
  EXPECT_GT(Encode(Large(3u << 20, 1)).size(), 3u << 20) << "counting gives nothing back";
  EXPECT_EQ(SharedBytesOf(encoded, view_, SharedBytes::kGiveBack), 3u << 20);
  EXPECT_LT(Encode(Large(3u << 20, 1)).size(), 100u);
}

TEST_F(SharedSpaceTest, NothingLeadsOutOfTheMemory) {
  for (const auto& [place, size] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 10},
           {63, 1},
           {65, 1},
           {kSize, 1},
           {kSize - 64, 65},
           {~std::uint64_t{0}, 1},
           {64, ~std::uint64_t{0}},
           {~std::uint64_t{63}, 64},
           {std::uint64_t{1} << 63, std::uint64_t{1} << 63}}) {
    const auto decoded = Decode(Named(place, size));
    ASSERT_FALSE(decoded) << place << " " << size;
    EXPECT_EQ(decoded.error().code, ErrorCode::kProtocol);
  }
  EXPECT_TRUE(Decode(Named(64, kSize - 64)));
  EXPECT_FALSE(Decode("\xd9\x9c\xa3\x81\x40"));
  EXPECT_FALSE(Decode("\xd9\x9c\xa3\x82\x18\x40\x61x"));
  EXPECT_FALSE(DecodeValue(Named(64, 10))) << "where no memory is shared";
}

TEST_F(SharedSpaceTest, OnePlaceNamedManyTimesIsNotMoreThanWasAgreed) {
  CborWriter writer;
  writer.ArrayHead(100);
  for (int i = 0; i < 100; ++i) writer.Raw(Named(64, 1u << 20));
  const std::string encoded = writer.Take();
  WireLimits limits;
  limits.max_bytes = 10u << 20;
  CborReader reader(encoded, limits, &view_);
  const auto decoded = ReadValue(reader);
  ASSERT_FALSE(decoded);
  EXPECT_TRUE(reader.too_many_bytes());
  EXPECT_LE(reader.shared_bytes(), 10u << 20);
}

TEST_F(SharedSpaceTest, MemoryGoesBackOnceAllPlacesHave) {
  const std::string encoded = Encode(Large(1u << 20, 7));
  EXPECT_FALSE(space_.Trim());
  EXPECT_TRUE(Decode(encoded));
  EXPECT_TRUE(space_.Trim());
  EXPECT_FALSE(space_.Trim());
}

}  // namespace
}  // namespace gloveport
