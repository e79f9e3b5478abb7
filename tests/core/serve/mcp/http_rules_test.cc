#include "gloveport/core/serve/mcp/http_rules.h"

#include <gtest/gtest.h>

#include "gloveport/core/mcp/request_headers.h"

namespace gloveport {
namespace {

TEST(Accepts, MediaTypesAndWildcards) {
  const std::pair<const char*, bool> cases[] = {
      {"text/event-stream", true},
      {"application/json, text/event-stream; q=0.1", true},
      {"*/*", true},
      {"text/*", true},
      {"TEXT/Event-Stream", true},
      {"application/json", false},
      {"", false},
      {"text/event-streams", false},
      {",,text/event-stream", true},
  };
  for (const auto& [field, accepted] : cases)
    EXPECT_EQ(Accepts({{"accept", field}}, "text/event-stream"), accepted) << field;
  EXPECT_TRUE(Accepts({}, "text/event-stream"));
  EXPECT_TRUE(Accepts({{"Accept", "text/html"}, {"Accept", "*/*"}}, "text/event-stream"));
}

TEST(BearerToken, TakesOneFieldOfTheScheme) {
  EXPECT_EQ(BearerToken({{"Authorization", "Bearer abc"}}), "abc");
  EXPECT_EQ(BearerToken({{"authorization", "bEARER  abc "}}), "abc");
  for (const char* field : {"", "abc", "Basic abc", "Bearer", "Bearer ", "Bearerabc"})
    EXPECT_FALSE(BearerToken({{"Authorization", field}})) << field;
  EXPECT_FALSE(BearerToken({}));
  EXPECT_FALSE(BearerToken({{"Authorization", "Bearer a"}, {"Authorization", "Bearer b"}}));
}

TEST(HeaderText, GoesThereAndBack) {
  for (const std::string text : {"plain", "", " padded ", "Gr\xC3\xBC\xC3\x9F", "a\nb", "=?base64?literal?="})
    EXPECT_EQ(FromHeaderText(HeaderText(text)), text);
  for (const char* text : {"=?base64?%%?=", "=?base64?gA==?="}) EXPECT_FALSE(FromHeaderText(text)) << text;
  EXPECT_EQ(FromHeaderText("=?base64?="), "=?base64?=");  // too short to be one
}

RpcMessage Call() {
  RpcMessage message;
  message.kind = RpcMessage::Kind::kRequest;
  message.method = "tools/call";
  message.params = {{"name", "x"}, {"_meta", {{kMetaRevision, kStatelessRevision}}}};
  return message;
}

TEST(HeaderMismatch, FieldsSayWhatTheBodySays) {
  const HttpHeaders good = {
      {"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "x"}};
  EXPECT_FALSE(HeaderMismatch(good, Call()));
  for (std::size_t i = 0; i < good.size(); ++i) {
    HttpHeaders headers = good;
    headers.erase(headers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(HeaderMismatch(headers, Call())) << "without " << good[i].name;
    headers = good;
    headers.push_back(good[i]);
    EXPECT_TRUE(HeaderMismatch(headers, Call())) << "twice " << good[i].name;
    headers = good;
    headers[i].value += "x";
    EXPECT_TRUE(HeaderMismatch(headers, Call())) << "another " << good[i].name;
  }
}

TEST(StatelessResponse, ErrorsHaveStatuses) {
  const std::pair<RpcCode, int> cases[] = {{RpcCode::kMethodNotFound, 404},
                                           {RpcCode::kInvalidParams, 400},
                                           {RpcCode::kHeaderMismatch, 400},
                                           {RpcCode::kInternalError, 200},
                                           {RpcCode::kUnsupportedProtocolVersion, 400}};
  for (const auto& [code, status] : cases)
    EXPECT_EQ(StatelessResponse(ErrorReply(1, code, "no")).status, status);
  EXPECT_EQ(StatelessResponse({"{}", std::nullopt}).status, 200);
}

}  // namespace
}  // namespace gloveport
