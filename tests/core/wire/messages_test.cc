#include "gloveport/core/wire/messages.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/core/wire/template_messages.h"

namespace gloveport::wire {
namespace {

const std::vector<SessionMessage>& Samples() {
  static const std::vector<SessionMessage> samples = {
      Ready{EncodeValue(Value::Object({{"own_root", true}}))},
      SetupFailed{"landlock", "why"},
      ToolCall{7, 3, "lookup", EncodeValue(Value::Object({{"key", "a"}}))},
      FinalAnswer{3, EncodeValue(Value(42)), "42", "because"},
      Display{3, EncodeValue(Value::Object({{"text/plain", "x"}}))},
      Event{"open", EncodeValue(Value::Object({{"path", "/x"}}))},
      CellDone{3, "ok", EncodeValue(Value(1)), "1", "int", EncodeValue(Value())},
      Reply{9, true, EncodeValue(Value()), "", ""},
  };
  return samples;
}

TEST(Messages, EachGoesThereAndBack) {
  for (const SessionMessage& message : Samples()) {
    const std::string encoded = Encode(message);
    const auto decoded = DecodeSessionMessage(encoded);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(Encode(*decoded), encoded);
  }
  for (const HostMessage& message :
       {HostMessage(RunCell{1, "x = 1"}), HostMessage(ToolReply{7, false, "", "ToolError", "no"}),
        HostMessage(Request{1, "check", EncodeValue(Value())})}) {
    EXPECT_EQ(Encode(*DecodeHostMessage(Encode(message))), Encode(message));
  }
}

TEST(Messages, AHostMessageIsNoSessionMessage) {
  EXPECT_FALSE(DecodeSessionMessage(Encode(HostMessage(RunCell{1, "x"}))));
  EXPECT_FALSE(DecodeHostMessage(Encode(SessionMessage(Ready{}))));
}

TEST(Messages, AMissingOrExtraFieldIsAnError) {
  CborWriter writer;
  writer.ArrayHead(2);
  writer.Unsigned(37);
  writer.Text("open");
  EXPECT_FALSE(DecodeSessionMessage(writer.str()));
  EXPECT_FALSE(DecodeSessionMessage(Encode(Samples()[0]) + "\x01"));
  EXPECT_FALSE(DecodeSessionMessage("\x80"));
  EXPECT_FALSE(DecodeSessionMessage(""));
}

TEST(Messages, DecodingIsTotalOnChangedBytes) {
  std::mt19937 random(11);
  int understood = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = Encode(Samples()[random() % Samples().size()]);
    bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
    if (DecodeSessionMessage(bytes)) ++understood;
  }
  EXPECT_GT(understood, 0);
}

TEST(TemplateMessages, GoThereAndBack) {
  TemplateStart start;
  start.own_root = false;
  start.policy = "{}";
  start.workdir = "/w";
  start.notify_filter = std::string("\0\1\2", 3);
  start.spare_uid = 0x6C000001;
  const auto decoded = DecodeTemplateStart(Encode(start));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(Encode(*decoded), Encode(start));

  const auto fork = DecodeTemplateRequest(Encode(ForkRequest{1, 2, ~std::uint64_t{0}}));
  ASSERT_TRUE(fork && fork->fork);
  EXPECT_EQ(fork->fork->seed, ~std::uint64_t{0});
  EXPECT_EQ(DecodeTemplateRequest(Encode(ReapRequest{12}))->reap->pid, 12);
  EXPECT_FALSE(DecodeTemplateRequest(EncodeValue(Value::Object({{"op", "dance"}}))));
  EXPECT_FALSE(DecodeTemplateRequest("junk"));
}

}  // namespace
}  // namespace gloveport::wire
