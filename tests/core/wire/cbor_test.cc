#include "gloveport/core/wire/cbor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

Value Bytes(std::string_view text) {
  const auto view = AsBytes(text);
  return Value(Value::Bytes(view.begin(), view.end()));
}

TEST(Cbor, EveryKindOfValueGoesThereAndBack) {
  const std::vector<Value> values = {
      Value(),
      Value(true),
      Value(0),
      Value(23),
      Value(24),
      Value(255),
      Value(256),
      Value(65536),
      Value(-1),
      Value(-25),
      Value(std::numeric_limits<std::int64_t>::max()),
      Value(std::numeric_limits<std::int64_t>::min()),
      Value(*BigInt::FromDecimal("18446744073709551616")),
      Value(*BigInt::FromDecimal("-18446744073709551616")),
      Value(*BigInt::FromDecimal("-9223372036854775809")),
      Value(0.1),
      Value(-0.0),
      Value(HUGE_VAL),
      Value("na\xC3\xAFve"),
      Bytes(std::string_view("\0\xFF", 2)),
      Value(Value::List{1, "two", Value::List{}}),
      Value(Value::Map{{Value(1), Value("one")}, {Value(Form::kTuple, Value(Value::List{1})), Value()}}),
      Value(Form::kDecimal, "1.50"),
      Value(Form::kNdarray, Value::Object({{"dtype", "<f8"}, {"data", Bytes("12345678")}}))};
  for (const Value& value : values) {
    const auto decoded = DecodeValue(EncodeValue(value));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, value) << value.TypeName();
  }
  EXPECT_TRUE(std::isnan(DecodeValue(EncodeValue(Value(std::nan(""))))->as_double()));
}

TEST(Cbor, NegativeNumbersBeyond64BitsStayExact) {
  CborWriter writer;
  const std::string all_ones = std::string("\x3b") + std::string(8, '\xFF');  // -1 - (2^64 - 1)
  EXPECT_EQ(DecodeValue(all_ones)->as_big_int().ToDecimal(), "-18446744073709551616");
}

struct Malformed {
  const char* what;
  std::string bytes;
};

TEST(Cbor, MalformedInputIsAnErrorThatNamesItsPlace) {
  const std::vector<Malformed> cases = {
      {"nothing", ""},
      {"cut head", "\x19\x01"},
      {"cut text",
       "\x65"
       "abc"},
      {"array longer than the input", "\x9a\xff\xff\xff\xff"},
      {"map longer than the input", "\xba\x7f\xff\xff\xff"},
      {"indefinite array", "\x9f\xff"},
      {"text that is no UTF-8", "\x61\xff"},
      {"unknown tag", "\xd9\x00\x01\x00"},
      {"half float", "\xf9\x3c\x00"},
      {"unknown simple", "\xe0"},
      {"bytes after the end", std::string("\x00\x00", 2)},
      {"bignum without bytes", "\xc2\x01"},
      {"huge length", std::string("\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9)},
  };
  for (const Malformed& c : cases) {
    const auto decoded = DecodeValue(c.bytes);
    ASSERT_FALSE(decoded) << c.what;
    EXPECT_EQ(decoded.error().code, ErrorCode::kProtocol) << c.what;
  }
}

TEST(Cbor, LimitsOnDepthItemsAndBytesHold) {
  const WireLimits limits{1000, 50, 10};
  EXPECT_TRUE(DecodeValue(std::string(9, '\x81') + "\x01", limits));
  EXPECT_FALSE(DecodeValue(std::string(12, '\x81') + "\x01", limits));
  EXPECT_FALSE(DecodeValue(std::string("\x98\x3c") + std::string(60, '\x01'), limits));
  EXPECT_FALSE(DecodeValue(std::string(1001, '\x01'), limits));
  // Nesting by tags counts like any other.
  std::string tags;
  CborWriter writer;
  for (int i = 0; i < 5000; ++i) writer.Tag(TagOf(Form::kTuple));
  writer.Null();
  EXPECT_FALSE(DecodeValue(writer.str()));
}

TEST(Cbor, DecodingIsTotalOnRandomBytes) {
  std::mt19937 random(7);
  const std::string seed = EncodeValue(
      Value(Value::List{1, "text", Value::Object({{"k", 1.5}}), Value(Form::kSet, Value(Value::List{1}))}));
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = seed;
    for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (const auto decoded = DecodeValue(bytes)) {
      EXPECT_TRUE(DecodeValue(EncodeValue(*decoded)));
    }
  }
}

// ---- what can cross ----

Value Nested(std::size_t levels) {
  Value value;
  for (std::size_t i = 0; i < levels; ++i) value = Value(Value::List{std::move(value)});
  return value;
}

TEST(CheckCrossable, SaysWhichLimitAValueBreaks) {
  const WireLimits limits{100, 10, 5};
  EXPECT_TRUE(CheckCrossable(Nested(5), limits));
  EXPECT_EQ(CheckCrossable(Nested(6), limits).error().message, "it is nested more than 5 levels deep");
  EXPECT_TRUE(CheckCrossable(Value(Value::List(9)), limits));
  EXPECT_EQ(CheckCrossable(Value(Value::List(10)), limits).error().message, "it has more than 10 items");
  EXPECT_TRUE(CheckCrossable(Value(std::string(91, 'x')), limits));
  EXPECT_EQ(CheckCrossable(Value(std::string(92, 'x')), limits).error().message,
            "it has more than 100 bytes");
  EXPECT_EQ(CheckCrossable(Value(std::string("\xff")), limits).error().code, ErrorCode::kInvalidArgument);
}

TEST(CheckCrossable, WhatPassesIsDecoded) {
  const WireLimits limits{400, 20, 5};
  const Value complex(Form::kComplex, Value(Value::List{1.0, 2.0}));
  for (std::size_t count = 0; count < 30; ++count) {
    for (const Value& item : {complex, Value(BigInt{true, Value::Bytes(9, std::byte{1})}), Value("text"),
                              Value::Object({{"k", 1}}), Value(Value::Bytes(20))}) {
      const Value list(Value::List(count, item));
      if (!CheckCrossable(list, limits)) continue;
      EXPECT_EQ(DecodeValue(EncodeValue(list), limits).value(), list);
    }
  }
}

}  // namespace
}  // namespace gloveport
