#include "gloveport/core/net/proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace gloveport {
namespace {

EnvLookup Environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

// The proxy's authority, "direct", or "error".
std::string Way(const ProxyRules& rules, const char* text) {
  const auto proxy = rules.ProxyFor(ParseUrl(text).value());
  if (!proxy) return "error";
  return *proxy ? (*proxy)->authority() : "direct";
}

TEST(Proxy, ComesFromTheUsualVariables) {
  const auto rules = ProxyRules::FromEnvironment(Environment(
      {{"HTTP_PROXY", "http://p1:1"}, {"HTTPS_PROXY", "http://p2:2"}, {"NO_PROXY", "example.net"}}));
  EXPECT_EQ(Way(rules, "http://example.org"), "p1:1");
  EXPECT_EQ(Way(rules, "https://example.org"), "p2:2");
  EXPECT_EQ(Way(rules, "https://example.net"), "direct");
}

TEST(Proxy, LowerCaseVariablesComeFirst) {
  const auto rules = ProxyRules::FromEnvironment(Environment({{"https_proxy", "http://low:1"},
                                                              {"HTTPS_PROXY", "http://high:1"},
                                                              {"no_proxy", ""},
                                                              {"NO_PROXY", "*"}}));
  EXPECT_EQ(Way(rules, "https://example.org"), "low:1");
}

TEST(Proxy, AllProxyFillsTheGaps) {
  const auto rules =
      ProxyRules::FromEnvironment(Environment({{"ALL_PROXY", "all:8"}, {"HTTPS_PROXY", "http://p2:2"}}));
  EXPECT_EQ(Way(rules, "http://example.org"), "all:8");
  EXPECT_EQ(Way(rules, "https://example.org"), "p2:2");
}

TEST(Proxy, AClientOfACgiProgramCannotChooseIt) {
  const auto cgi = Environment({{"HTTP_PROXY", "http://evil:1"}, {"REQUEST_METHOD", "GET"}});
  EXPECT_EQ(Way(ProxyRules::FromEnvironment(cgi), "http://example.org"), "direct");
  const auto plain = Environment({{"HTTP_PROXY", "http://good:1"}});
  EXPECT_EQ(Way(ProxyRules::FromEnvironment(plain), "http://example.org"), "good:1");
}

TEST(Proxy, NoProxyIsMatchedByHostDomainAndPort) {
  struct Case {
    const char* no_proxy;
    const char* url;
    const char* way;
  };
  static constexpr Case kCases[] = {
      {"", "http://example.org", "p:1"},
      {"*", "http://example.org", "direct"},
      {"example.org", "http://example.org", "direct"},
      {"example.org", "http://api.example.org", "direct"},
      {"example.org", "http://badexample.org", "p:1"},
      {".example.org", "http://api.example.org", "direct"},
      {".example.org", "http://example.org", "direct"},
      {"EXAMPLE.org", "http://example.ORG", "direct"},
      {"api.example.org", "http://example.org", "p:1"},
      {"a, example.org ,b", "http://example.org", "direct"},
      {"example.org:8080", "http://example.org:8080", "direct"},
      {"example.org:8080", "http://example.org", "p:1"},
      {"10.1.2.3", "http://10.1.2.3", "direct"},
      {"10.1.2.3", "http://10.1.2.4", "p:1"},
      {"fe80::1", "http://[fe80::1]", "direct"},
      {"[fe80::1]:81", "http://[fe80::1]:81", "direct"},
      {"[fe80::1]:81", "http://[fe80::1]", "p:1"},
      {",,", "http://example.org", "p:1"},
      {"", "http://localhost:11434", "direct"},
      {"", "http://127.0.0.1:11434", "direct"},
  };
  for (const Case& c : kCases) {
    const ProxyRules rules{"http://p:1", "", c.no_proxy};
    EXPECT_EQ(Way(rules, c.url), c.way) << c.no_proxy << " " << c.url;
  }
}

TEST(Proxy, OfAnUnknownKindIsRefusedWithAHint) {
  for (const char* proxy : {"socks5://p:1", "https://p:1", "http://p:port"}) {
    const ProxyRules rules{"", proxy, ""};
    const auto way = rules.ProxyFor(ParseUrl("https://example.org").value());
    ASSERT_FALSE(way.has_value()) << proxy;
    EXPECT_EQ(way.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(way.error().hint.find("HTTPS_PROXY"), std::string::npos);
  }
}

}  // namespace
}  // namespace gloveport
