#include "gloveport/core/serve/mcp/message_reader.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

TEST(ReadMcpMessage, TakesOneMessage) {
  const auto message = ReadMcpMessage(R"({"jsonrpc":"2.0","id":"a","method":"ping"})", {});
  ASSERT_TRUE(message);
  EXPECT_EQ(message->method, "ping");
}

TEST(ReadMcpMessage, SaysWhatIsNone) {
  McpLimits small;
  small.max_message_bytes = 200;
  small.max_items = 20;
  struct Case {
    std::string text;
    RpcCode code;
    const char* id;  // as JSON
  };
  const Case cases[] = {
      {"", RpcCode::kParseError, "null"},
      {"{", RpcCode::kParseError, "null"},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", RpcCode::kParseError, "null"},
      {R"( [{"jsonrpc":"2.0","id":1,"method":"ping"}])", RpcCode::kInvalidRequest, "null"},
      {"[]", RpcCode::kInvalidRequest, "null"},
      {"5", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"1.0","id":7,"method":"ping"})", RpcCode::kInvalidRequest, "7"},
      {R"({"jsonrpc":"2.0","id":"x","method":"ping","params":[1]})", RpcCode::kInvalidRequest, "\"x\""},
      {R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":")" + std::string(300, 'x') + "\"}}",
       RpcCode::kInvalidRequest, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7]}})",
       RpcCode::kInvalidRequest, "null"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto message = ReadMcpMessage(c.text, small);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, c.code);
    const Json reply = ParseJson(message.error().text).value();
    EXPECT_EQ(reply["id"], *ParseJson(c.id));
    EXPECT_EQ(reply["error"]["code"], static_cast<std::int64_t>(c.code));
  }
}

TEST(ReadMcpMessage, AnswersThatAreNoneAreNotAnswered) {
  for (const char* text : {R"({"jsonrpc":"2.0","id":"q","result":"x"})",
                           R"({"jsonrpc":"2.0","id":"q","error":5})", R"({"id":"q","result":{}})"}) {
    const auto message = ReadMcpMessage(text, {});
    ASSERT_TRUE(message) << text;
    EXPECT_EQ(message->kind, RpcMessage::Kind::kError);
    EXPECT_EQ(message->id, "q");
  }
}

}  // namespace
}  // namespace gloveport
