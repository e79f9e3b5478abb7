#include "gloveport/tools/builtin/http_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/support/fault_server/fault_server.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Here(const FaultServer& server) { return "127.0.0.1:" + std::to_string(server.port()); }

HttpToolOptions To(std::vector<std::string> hosts) {
  HttpToolOptions options;
  options.access.hosts = std::move(hosts);
  options.methods = {"GET", "HEAD", "POST", "PUT"};
  return options;
}

Tools Made(HttpToolOptions options) {
  auto tools = MakeHttpTools(std::move(options));
  EXPECT_TRUE(tools) << tools.error().message;
  return tools ? *tools : Tools();
}

// An answer that sends the client elsewhere.
FaultServer::Scene Redirect(int status, const std::string& location) {
  return Answer(status, "", {"Location: " + location});
}

TEST(HttpGet, GivesStatusHeadersAndText) {
  FaultServer server({Answer(404,
                             "gr\xC3\xBC\xC3\x9F"
                             "e",
                             {"X-One: a", "x-one: b"})});
  const auto answer = CallTool(*FindTool(Made(To({Here(server)})), "http_get"),
                               {{"url", server.url("/a?x=1")},
                                {"params", Value::Object({{"q", "a b&c"}})},
                                {"headers", Value::Object({{"X-Mine", "yes"}})}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->IntOr("status", 0), 404);
  EXPECT_EQ(answer->TextOr("text", ""),
            "gr\xC3\xBC\xC3\x9F"
            "e");
  EXPECT_EQ(answer->TextOr("url", ""), server.url("/a?x=1&q=a%20b%26c"));
  EXPECT_EQ(answer->Find("headers")->TextOr("x-one", ""), "a, b");
  EXPECT_TRUE(answer->Find("content")->is_null());
  EXPECT_THAT(server.requests()[0], StartsWith("GET /a?x=1&q=a%20b%26c HTTP/1.1\r\n"));
  EXPECT_THAT(server.requests()[0], HasSubstr("X-Mine: yes\r\n"));
}

TEST(HttpGet, GivesBytesWhereTheBodyIsNoText) {
  FaultServer server(
      {Answer(200, "\xFF\xFE"), Answer(200, "\xE4", {"Content-Type: text/plain; charset=ISO-8859-1"})});
  const auto tools = Made(To({Here(server)}));
  const auto bytes = CallTool(*FindTool(tools, "http_get"), {{"url", server.url()}});
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(bytes->Find("text")->is_null());
  EXPECT_EQ(bytes->Find("content")->as_bytes().size(), 2u);
  const auto latin = CallTool(*FindTool(tools, "http_get"), {{"url", server.url()}});
  EXPECT_EQ(latin->TextOr("text", ""), "\xC3\xA4");
}

TEST(HttpGet, ReachesOnlyTheHostsAndPortsThatAreListed) {
  FaultServer server({Answer(200, "yes")});
  FaultServer other({});
  const auto tools = Made(To({Here(server), "api.example.org"}));
  EXPECT_THAT(Said(tools, "http_get", {{"url", other.url()}}), HasSubstr("not among the hosts"));
  for (const char* url : {"http://evil.example/", "http://api.example.org.evil.example/",
                          "http://api.example.org:8080/", "http://xapi.example.org/"}) {
    EXPECT_THAT(Said(tools, "http_get", {{"url", url}}), HasSubstr("not among the hosts")) << url;
  }
  EXPECT_THAT(Said(tools, "http_get", {{"url", "http://user@" + Here(server) + "/"}}),
              HasSubstr("user name"));
  EXPECT_THAT(Said(tools, "http_get", {{"url", "file:///etc/passwd"}}), HasSubstr("http"));
  EXPECT_EQ(other.connections(), 0u);
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url()}}), HasSubstr("'yes'"));
}

TEST(HttpGet, ConnectsToNoPrivateAddressThatIsNotListed) {
  FaultServer server({Answer(200, "inside")});
  const std::string port = ":" + std::to_string(server.port());
  // A name that is listed and resolves to this machine: the address decides, however it is written.
  for (const std::string host :
       {"localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "0.0.0.0"}) {
    EXPECT_THAT(Said(Made(To({"*"})), "http_get", {{"url", "http://" + host + port + "/"}}),
                HasSubstr("not public"))
        << host;
  }
  EXPECT_THAT(Said(Made(To({"localhost" + port})), "http_get", {{"url", "http://localhost" + port + "/"}}),
              HasSubstr("not public"));
  EXPECT_EQ(server.connections(), 0u);
  HttpToolOptions allowing = To({"localhost" + port});
  allowing.access.private_networks = {"127.0.0.0/8"};
  EXPECT_THAT(Said(Made(std::move(allowing)), "http_get", {{"url", "http://localhost" + port + "/"}}),
              HasSubstr("'inside'"));
}

TEST(HttpGet, FollowsRedirectsAndJudgesEachAnew) {
  FaultServer target({Answer(200, "there")});
  FaultServer closed({});
  FaultServer server({Redirect(302, target.url("/x")), Redirect(301, closed.url("/secret")),
                      Redirect(307, "http://169.254.169.254/latest/meta-data"),
                      Redirect(302, "file:///etc/passwd"), Redirect(302, "/again"), Answer(200, "moved")});
  const auto tools = Made(To({Here(server), Here(target)}));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a")}}), HasSubstr("'there'"));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a")}}), HasSubstr("redirects elsewhere"));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a")}}), HasSubstr("redirects elsewhere"));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a")}}), HasSubstr("no http or https URL"));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a/b")}}), HasSubstr("'moved'"));
  EXPECT_EQ(closed.connections(), 0u);
  EXPECT_THAT(server.requests()[5], StartsWith("GET /again "));
}

TEST(HttpGet, GivesUpAfterTooManyRedirects) {
  FaultServer server({Redirect(302, "/1"), Redirect(302, "/2"), Redirect(302, "/3")});
  HttpToolOptions options = To({Here(server)});
  options.access.max_redirects = 2;
  EXPECT_THAT(Said(Made(std::move(options)), "http_get", {{"url", server.url()}}),
              HasSubstr("more than 2 redirects"));
  EXPECT_EQ(server.connections(), 3u);
}

TEST(HttpGet, TakesCredentialsOfTheCodeToNoOtherOrigin) {
  FaultServer target({Answer(200, "")});
  FaultServer server({Redirect(302, target.url()), Redirect(302, "/here"), Answer(200, "")});
  const auto tools = Made(To({Here(server), Here(target)}));
  const Value headers = Value::Object({{"Authorization", "code's own"}, {"Cookie", "c=1"}, {"X-Keep", "k"}});
  Said(tools, "http_get", {{"url", server.url()}, {"headers", headers}});
  EXPECT_THAT(target.requests()[0], Not(HasSubstr("code's own")));
  EXPECT_THAT(target.requests()[0], Not(HasSubstr("c=1")));
  EXPECT_THAT(target.requests()[0], HasSubstr("X-Keep: k"));
  Said(tools, "http_get", {{"url", server.url()}, {"headers", headers}});
  EXPECT_THAT(server.requests()[2], HasSubstr("code's own"));
}

TEST(HttpGet, RefusesHeadersThatSmuggle) {
  FaultServer server({});
  const auto tools = Made(To({Here(server)}));
  for (const auto& [name, value] :
       {std::pair("X-A", "a\r\nX-Evil: 1"), std::pair("X-A", "a\nb"), std::pair("X-A\r\nX-Evil", "1"),
        std::pair("Host", "evil.example"), std::pair("Content-Length", "1"),
        std::pair("Proxy-Authorization", "x")}) {
    EXPECT_THAT(Said(tools, "http_get", {{"url", server.url()}, {"headers", Value::Object({{name, value}})}}),
                StartsWith("error: "))
        << name;
  }
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a b")}}), StartsWith("error: "));
  EXPECT_THAT(Said(tools, "http_get", {{"url", server.url("/a\r\nX: 1")}}), StartsWith("error: "));
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpGet, HoldsLimitsOfSizeAndTime) {
  FaultServer server({Answer(200, std::string(2000, 'x')), [](FaultPeer& peer, const std::string&) {
                        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
                        peer.AwaitClose();
                      }});
  HttpToolOptions options = To({Here(server)});
  options.access.max_response_bytes = 1000;
  const auto tools = Made(std::move(options));
  const auto large = CallTool(*FindTool(tools, "http_get"), {{"url", server.url()}});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kResourceExhausted);
  const auto slow = CallTool(*FindTool(tools, "http_get"), {{"url", server.url()}, {"timeout_s", 0.1}});
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::kDeadlineExceeded);
}

HttpToolOptions WithSecret(const FaultServer& server, std::vector<std::string> hosts) {
  HttpToolOptions options = To(std::move(hosts));
  options.access.secrets = {{Here(server), "Authorization", "Bearer ", "s3cr3t-value"}};
  return options;
}

TEST(HttpSecrets, GoToTheirHostAndNowhereElse) {
  FaultServer other({Answer(200, "")});
  FaultServer server({Answer(200, ""), Redirect(302, other.url())});
  const auto tools = Made(WithSecret(server, {Here(server), Here(other)}));
  Said(tools, "http_get", {{"url", server.url()}});
  EXPECT_THAT(server.requests()[0], HasSubstr("Authorization: Bearer s3cr3t-value\r\n"));
  Said(tools, "http_get", {{"url", server.url()}});
  ASSERT_EQ(other.connections(), 1u);
  EXPECT_THAT(other.requests()[0], Not(HasSubstr("s3cr3t")));
}

TEST(HttpSecrets, AreNeverSeenByTheCode) {
  FaultServer server({[](FaultPeer& peer, const std::string& request) {
    const std::string body = "you sent: " + request;
    peer.Send("HTTP/1.1 200 OK\r\nX-Echo: s3cr3t-value\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  }});
  const auto tools = Made(WithSecret(server, {Here(server)}));
  EXPECT_THAT(Said(tools, "http_get",
                   {{"url", server.url()}, {"headers", Value::Object({{"authorization", "mine"}})}}),
              HasSubstr("set by the host"));
  const std::string answer = Said(tools, "http_get", {{"url", server.url()}});
  EXPECT_THAT(answer, HasSubstr("Bearer [secret]"));
  EXPECT_THAT(answer, HasSubstr("'x-echo': '[secret]'"));
  EXPECT_THAT(answer, Not(HasSubstr("s3cr3t")));
  for (const auto& tool : tools) EXPECT_THAT(tool->spec().description, Not(HasSubstr("s3cr3t")));
}

TEST(HttpSecrets, DoNotTravelInTheClear) {
  HttpToolOptions options = To({"http://api.example.org"});
  options.access.secrets = {{"api.example.org", "X-Key", "", "s3cr3t-value"}};
  EXPECT_THAT(Said(Made(std::move(options)), "http_get", {{"url", "http://api.example.org/"}}),
              HasSubstr("by https only"));
}

TEST(HttpRequestTool, SendsBodiesWithTheMethodsThatAreAllowed) {
  FaultServer server({Answer(201, "made"), Answer(200, "")});
  const auto tools = Made(To({Here(server)}));
  EXPECT_THAT(Said(tools, "http_request",
                   {{"method", "POST"}, {"url", server.url()}, {"json", Value::Object({{"a", 1}})}}),
              HasSubstr("'made'"));
  EXPECT_THAT(server.requests()[0], HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(server.requests()[0], EndsWith("\r\n\r\n{\"a\":1}"));
  Said(tools, "http_request", {{"method", "PUT"}, {"url", server.url()}, {"body", "text"}});
  EXPECT_THAT(server.requests()[1], EndsWith("\r\n\r\ntext"));
  EXPECT_THAT(Said(tools, "http_request", {{"method", "DELETE"}, {"url", server.url()}}),
              HasSubstr("DELETE is not allowed here; those that are: GET, HEAD, POST, PUT"));
  EXPECT_THAT(Said(tools, "http_request", {{"method", "GET"}, {"url", server.url()}, {"body", "x"}}),
              HasSubstr("GET has no body"));
  EXPECT_THAT(
      Said(tools, "http_request", {{"method", "POST"}, {"url", server.url()}, {"body", "x"}, {"json", 1}}),
      HasSubstr("not both"));
  EXPECT_EQ(server.connections(), 2u);
}

TEST(HttpRequestTool, BecomesAGetWhereABrowserWouldMakeItOne) {
  FaultServer server({Redirect(303, "/done"), Answer(200, ""), Redirect(307, "/same"), Answer(200, "")});
  const auto tools = Made(To({Here(server)}));
  Said(tools, "http_request", {{"method", "POST"}, {"url", server.url()}, {"body", "data"}});
  EXPECT_THAT(server.requests()[1], StartsWith("GET /done "));
  EXPECT_THAT(server.requests()[1], Not(HasSubstr("data")));
  Said(tools, "http_request", {{"method", "POST"}, {"url", server.url()}, {"body", "data"}});
  EXPECT_THAT(server.requests()[3], StartsWith("POST /same "));
  EXPECT_THAT(server.requests()[3], EndsWith("data"));
}

TEST(HttpTools, AreMadeOnlyFromWhatMakesSense) {
  EXPECT_EQ(Made(To({"a.example"})).size(), 2u);
  HttpToolOptions reading = To({"a.example"});
  reading.methods = {"GET", "HEAD"};
  EXPECT_EQ(Made(std::move(reading)).size(), 1u);
  for (const char* host : {"", "http://", "a/b", "user@a", "*.1.2.3.4", "a b", "*.", "https://a/", "a?b"}) {
    EXPECT_FALSE(MakeHttpTools(To({host}))) << host;
  }
  EXPECT_FALSE(MakeHttpTools(To({})));
  HttpToolOptions method = To({"a.example"});
  method.methods = {"CONNECT"};
  EXPECT_FALSE(MakeHttpTools(std::move(method)));
  HttpToolOptions secret = To({"a.example"});
  secret.access.secrets = {{"a.example", "X", "", "s3cr3t\r\nY: 1"}};
  const auto refused = MakeHttpTools(std::move(secret));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cr3t")));
}

TEST(HostPattern, MatchesWhatItSays) {
  struct Case {
    const char* pattern;
    const char* url;
    bool matches;
  };
  static constexpr Case kCases[] = {
      {"a.example", "https://a.example/x", true},       {"a.example", "http://A.EXAMPLE", true},
      {"a.example", "https://a.example:8443", false},   {"a.example", "http://a.example:443", false},
      {"a.example", "https://b.a.example", false},      {"https://a.example", "https://a.example", true},
      {"https://a.example", "http://a.example", false}, {"*.a.example", "https://b.a.example", true},
      {"*.a.example", "https://c.b.a.example", true},   {"*.a.example", "https://a.example", false},
      {"*.a.example", "https://ba.example", false},     {"a.example:8080", "http://a.example:8080", true},
      {"a.example:8080", "http://a.example", false},    {"[::1]:80", "http://[::1]", true},
      {"*", "http://anything.example:99", true},        {"https://*", "http://a.example", false},
      {"a.example:443", "https://a.example", true},     {"a.example:80", "https://a.example:80", true},
  };
  for (const Case& c : kCases) {
    const auto pattern = HostPattern::Parse(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern << pattern.error().message;
    EXPECT_EQ(pattern->Matches(*ParseUrl(c.url)), c.matches) << c.pattern << " " << c.url;
  }
}

}  // namespace
}  // namespace gloveport
