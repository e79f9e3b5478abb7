#include "gloveport/core/mcp/json_rpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gloveport/core/mcp/plain_text.h"

namespace gloveport {
namespace {

using ::testing::HasSubstr;

const McpLimits kLimits;

TEST(ParseRpc, TellsTheFourKindsApart) {
  struct Case {
    const char* text;
    RpcMessage::Kind kind;
  };
  const Case kCases[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", RpcMessage::Kind::kRequest},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{}})", RpcMessage::Kind::kRequest},
      {R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})",
       RpcMessage::Kind::kNotification},
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", RpcMessage::Kind::kResult},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})", RpcMessage::Kind::kError},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})", RpcMessage::Kind::kError},
      {R"({"jsonrpc":"2.0","error":{"code":-32700}})", RpcMessage::Kind::kError},
  };
  for (const Case& c : kCases) {
    const auto messages = ParseRpc(c.text, kLimits);
    ASSERT_TRUE(messages) << c.text << ": " << messages.error().message;
    ASSERT_EQ(1u, messages->size());
    EXPECT_EQ(c.kind, messages->front().kind) << c.text;
  }
}

TEST(ParseRpc, RefusesWhatIsNoMessage) {
  for (const char* text :
       {"", "hello", "1", "\"x\"", "{}", "[]", R"({"jsonrpc":"1.0","id":1,"method":"a"})",
        R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":null,"method":"a"})",
        R"({"jsonrpc":"2.0","id":1.5,"result":{}})", R"({"jsonrpc":"2.0","id":[1],"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"result":3})", R"({"jsonrpc":"2.0","result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":"text"})", R"({"jsonrpc":"2.0","id":1,"method":""})",
        R"({"jsonrpc":"2.0","id":1,"method":"a","params":[1]})",
        R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"}) {
    EXPECT_FALSE(ParseRpc(text, kLimits)) << text;
  }
}

TEST(ParseRpc, TakesABatch) {
  const auto messages =
      ParseRpc(R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"notifications/message"}])",
               kLimits);
  ASSERT_TRUE(messages);
  EXPECT_EQ(2u, messages->size());
}

TEST(ParseRpc, HoldsEachLimit) {
  McpLimits limits;
  limits.max_message_bytes = 1000;
  limits.max_items = 50;
  limits.max_depth = 10;
  limits.max_batch = 2;
  const auto message = [](const std::string& inside) {
    return R"({"jsonrpc":"2.0","id":1,"result":{"x":)" + inside + "}}";
  };
  std::string many = "[1";
  for (int i = 0; i < 60; ++i) many += ",1";
  EXPECT_TRUE(ParseRpc(message("\"" + std::string(500, 'x') + "\""), limits));
  EXPECT_FALSE(ParseRpc(message("\"" + std::string(1000, 'x') + "\""), limits));
  EXPECT_TRUE(ParseRpc(message("[1,2,3]"), limits));
  EXPECT_FALSE(ParseRpc(message(many + "]"), limits));
  EXPECT_TRUE(ParseRpc(
      message("\"[[[[[[[[[[[[[[[[[[[[,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\""), limits));
  EXPECT_TRUE(ParseRpc(message("[[[[]]]]"), limits));
  EXPECT_FALSE(ParseRpc(message("[[[[[[[[[[]]]]]]]]]]"), limits));
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  EXPECT_TRUE(ParseRpc("[" + ping + "," + ping + "]", limits));
  EXPECT_FALSE(ParseRpc("[" + ping + "," + ping + "," + ping + "]", limits));
}

TEST(Rpc, WritesWhatItReads) {
  const auto request = ParseRpc(RpcRequest(7, "tools/call", {{"name", "a\nb"}}), kLimits);
  ASSERT_TRUE(request);
  EXPECT_EQ(7, request->front().id);
  EXPECT_EQ("a\nb", request->front().params["name"]);
  EXPECT_THAT(RpcRequest(7, "a", {{"name", "a\nb"}}), ::testing::Not(HasSubstr("\n")));
  const auto error = ParseRpc(RpcErrorReply("x", RpcCode::kMethodNotFound, "no"), kLimits);
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->front().error.Is(RpcCode::kMethodNotFound));
}

TEST(ValueOfPlainJson, ReadsNoFormsButKeepsLargeIntegers) {
  const auto json = ParseJson(R"({"a":{"$bytes":"aGk="},"b":123456789012345678901234567890})");
  ASSERT_TRUE(json);
  const Value value = ValueOfPlainJson(*json);
  EXPECT_TRUE(value.Find("a")->is_map());
  ASSERT_TRUE(value.Find("b")->is_big_int());
  EXPECT_EQ("123456789012345678901234567890", value.Find("b")->as_big_int().ToDecimal());
}

TEST(CleanText, MakesControlCharactersVisibleAndCutsBetweenCharacters) {
  EXPECT_EQ("a\\x1b[31mb\n\tc", CleanText("a\x1b[31mb\n\tc", 100));
  EXPECT_EQ("\\u202eabc", CleanText("\u202Eabc", 100));
  EXPECT_EQ("äää ...", CleanText("ääääääää", 11));
  EXPECT_EQ("a b c", CleanLine("  a \r\n b\t\tc \n", 100));
  EXPECT_LE(CleanText(std::string(5000, '\x01'), 100).size(), 100u);
}

}  // namespace
}  // namespace gloveport
