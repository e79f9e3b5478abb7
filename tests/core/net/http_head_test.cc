#include "gloveport/core/net/http_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gloveport {
namespace {

using testing::HasSubstr;

TEST(HttpHead, EndsBehindItsEmptyLine) {
  EXPECT_EQ(EndOfHttpHead("GET / HTTP/1.1\r\nA: b\r\n\r\nbody"), 24u);
  for (const char* part : {"", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: b\r\n\r"})
    EXPECT_EQ(EndOfHttpHead(part), std::string_view::npos) << part;
}

TEST(HttpHead, GivesFieldsAsTheyWereSent) {
  const auto fields = ParseHttpHead("GET / HTTP/1.1\r\nA: b%41\r\na:\t c d \t\r\nEmpty:\r\n\r\n");
  ASSERT_TRUE(fields) << fields.error().message;
  EXPECT_EQ(*fields, (HttpHeaders{{"A", "b%41"}, {"a", "c d"}, {"Empty", ""}}));
}

TEST(HttpHead, RefusesWhatTwoServersCouldReadDifferently) {
  for (const char* fields :
       {"A: b\n", " folded: line\r\n", "no colon\r\n", "sp ace: x\r\n", ": no name\r\n", "A: b\x01\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 1x\r\n", "Content-Length: -1\r\n", "Content-Length:\r\n",
        "Content-Length: 99999999999999999999\r\n"}) {
    const auto parsed = ParseHttpHead("POST / HTTP/1.1\r\n" + std::string(fields) + "\r\n");
    ASSERT_FALSE(parsed) << fields;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(HttpHead, HasALimitedNumberOfFields) {
  std::string head = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < kMaxHttpFields; ++i) head += "A: b\r\n";
  EXPECT_TRUE(ParseHttpHead(head + "\r\n"));
  const auto more = ParseHttpHead(head + "A: b\r\n\r\n");
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("more than 200 fields"));
}

}  // namespace
}  // namespace gloveport
