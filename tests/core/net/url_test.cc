#include "gloveport/core/net/url.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

TEST(Url, IsTakenApart) {
  struct Case {
    const char* text;
    const char* scheme;
    const char* host;
    int port;
    const char* target;
    const char* authority;
  };
  static constexpr Case kCases[] = {
      {"https://example.org/v1/chat?x=1#top", "https", "example.org", 443, "/v1/chat?x=1", "example.org"},
      {"HTTP://Example.ORG", "http", "example.org", 80, "/", "example.org"},
      {"http://example.org:8080/a", "http", "example.org", 8080, "/a", "example.org:8080"},
      {"http://example.org:80", "http", "example.org", 80, "/", "example.org"},
      {"http://example.org:", "http", "example.org", 80, "/", "example.org"},
      {"https://example.org?q", "https", "example.org", 443, "/?q", "example.org"},
      {"http://[::1]:9/x", "http", "::1", 9, "/x", "[::1]:9"},
      {"http://[FE80::1]", "http", "fe80::1", 80, "/", "[fe80::1]"},
      {"http://127.0.0.1:11434/v1", "http", "127.0.0.1", 11434, "/v1", "127.0.0.1:11434"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const auto url = ParseUrl(c.text);
    ASSERT_TRUE(url.has_value()) << url.error().message;
    EXPECT_EQ(url->scheme, c.scheme);
    EXPECT_EQ(url->host, c.host);
    EXPECT_EQ(url->port, c.port);
    EXPECT_EQ(url->target, c.target);
    EXPECT_EQ(url->authority(), c.authority);
    EXPECT_EQ(url->origin(), url->scheme + "://" + c.authority);
  }
}

TEST(Url, KeepsUserinfoApartFromTheHost) {
  const auto url = ParseUrl("http://me:p%40ss@proxy.example.org:3128");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->userinfo, "me:p%40ss");
  EXPECT_EQ(DecodePercent(url->userinfo), "me:p@ss");
  EXPECT_EQ(url->host, "proxy.example.org");
  EXPECT_EQ(url->origin().find("p%40ss"), std::string::npos);
}

TEST(Url, IsRefusedWhenMalformed) {
  static constexpr const char* kCases[] = {
      "",
      "example.org",
      "ftp://example.org",
      "file:///etc/passwd",
      "https://",
      "https:///path",
      "https://:443",
      "http://example.org:0",
      "http://example.org:65536",
      "http://example.org:8a",
      "http://example.org:-1",
      "http://exa mple.org",
      "http://example.org/a\r\nX: y",
      "http://example.org/\x01",
      "http://ex\xc3\xa4mple.org",
      "http://example.org%2f.evil.org",
      "http://[::1",
      "http://[::1]x",
      "http://[nonsense]",
      "http://a:b:c",
  };
  for (const char* text : kCases) {
    SCOPED_TRACE(text);
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.has_value());
    EXPECT_EQ(url.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Url, MessagesDoNotRepeatWhatMayBeSecret) {
  const auto url = ParseUrl("gopher://me:hunter2@example.org?key=sk-1");
  ASSERT_FALSE(url.has_value());
  EXPECT_EQ(url.error().message.find("hunter2"), std::string::npos);
  EXPECT_EQ(url.error().message.find("sk-1"), std::string::npos);
}

TEST(Url, BackslashDoesNotMoveTheHost) {
  const auto url = ParseUrl("http://example.org\\@other.example.net/");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->host, "example.org");
}

TEST(Url, KnowsLoopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1"})
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  for (const char* host :
       {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "localhost.example.org", "example.org", ""}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(Url, PercentEscapesAreDecodedOrLeft) {
  EXPECT_EQ(DecodePercent("a%20b%2Fc"), "a b/c");
  EXPECT_EQ(DecodePercent("%zz%4"), "%zz%4");
  EXPECT_EQ(DecodePercent("%"), "%");
}

}  // namespace
}  // namespace gloveport
