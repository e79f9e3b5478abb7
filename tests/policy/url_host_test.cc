#include "gloveport/policy/url_host.h"

#include <gtest/gtest.h>

namespace gloveport {
namespace {

TEST(UrlHostTest, FindsTheHostThatAClientWouldAsk) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"https://example.org", "example.org"},
      {"https://example.org/", "example.org"},
      {"HTTPS://EXAMPLE.Org:8443/Path?q=1#f", "example.org"},
      {"https://example.org.", "example.org"},
      {"https://example.org./x", "example.org"},
      {"https://example.org:", "example.org"},
      {"https://user@example.org/", "example.org"},
      {"https://user:pass@example.org:1/", "example.org"},
      {"https://good.org@evil.com/", "evil.com"},
      {"https://good.org:443@evil.com", "evil.com"},
      {"https://good.org%2f@evil.com", "evil.com"},
      {"https://evil.com/@good.org", "evil.com"},
      {"https://evil.com?@good.org", "evil.com"},
      {"https://evil.com#@good.org", "evil.com"},
      {"https://evil.com?https://good.org", "evil.com"},
      {"https://127.0.0.1:80/", "127.0.0.1"},
      {"https://[::1]:80/", "::1"},
      {"https://[0:0:0:0:0:0:0:1]", "::1"},
      {"https://[2001:DB8::00A]/", "2001:db8::a"},
      {"https://xn--bcher-kva.example/", "xn--bcher-kva.example"},
      {"https://a_b.example.org/", "a_b.example.org"},
      {"ftp://example.org/x", "example.org"},
      {"https://localhost", "localhost"},
      {"https://1.example.org", "1.example.org"},
  };
  for (const auto& [url, host] : cases) EXPECT_EQ(UrlHost(url), host) << url;
}

TEST(UrlHostTest, RefusesWhatParsersDisagreeAbout) {
  for (const std::string_view url : {
           "",
           "example.org",
           "//example.org",
           "https:example.org",
           "https:/example.org",
           "https:///example.org",
           "https://",
           "https://@",
           "https://:80",
           "://example.org",
           "1http://example.org",
           "ht tp://example.org",
           " https://example.org",
           "https://example.org ",
           "https://exa mple.org",
           "https://example.org\n",
           "https://example.org\t/",
           "https://good.org\\@evil.com",
           "https://good.org\\.evil.com",
           "https://a@b@c",
           "https://ex%61mple.org",
           "https://example.org:99999",
           "https://example.org:8x",
           "https://example.org:80:80",
           "https://ex\xC3\xA4mple.org",
           "https://evil.com\xEF\xBC\x8Fgood.org",
           "https://[::1",
           "https://[::1]x",
           "https://[fe80::1%25eth0]",
           "https://[::ffff:127.0.0.1]",
           "https://[127.0.0.1]",
           "https://127.1",
           "https://2130706433",
           "https://0x7f.0.0.1",
           "https://0177.0.0.1",
           "https://127.0.0.0x1",
           "https://127.0.0.1.5",
           "https://127.0.0.01",
           "https://example..org",
           "https://.org",
           "https://.",
           "file:///etc/passwd",
           "javascript:alert(1)",
           "data:text/plain,x",
       }) {
    EXPECT_EQ(UrlHost(url), std::nullopt) << url;
  }
}

TEST(HostMatchesTest, ComparesHostsAndDomains) {
  struct Case {
    std::string_view host, pattern;
    bool matches;
  };
  const Case cases[] = {
      {"example.org", "example.org", true},
      {"a.example.org", "example.org", false},
      {"example.org", "*.example.org", false},
      {"a.example.org", "*.example.org", true},
      {"a.b.example.org", "*.example.org", true},
      {"evilexample.org", "*.example.org", false},
      {"example.org.evil.com", "*.example.org", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(HostMatches(c.host, c.pattern), c.matches) << c.host << " " << c.pattern;
}

TEST(NormalHostPatternTest, TakesHostsAndDomainsOnly) {
  EXPECT_EQ(NormalHostPattern("Example.ORG."), "example.org");
  EXPECT_EQ(NormalHostPattern("*.Example.org"), "*.example.org");
  EXPECT_EQ(NormalHostPattern("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(NormalHostPattern("[::1]"), "::1");
  EXPECT_EQ(NormalHostPattern("0::1"), "::1");
  for (const std::string_view pattern : {"", "*", "*.", "**.org", "a.*.org", "https://x.org", "x.org/",
                                         "x.org:80", "a b", "*.0.0.1", "127.1"}) {
    EXPECT_EQ(NormalHostPattern(pattern), std::nullopt) << pattern;
  }
}

}  // namespace
}  // namespace gloveport
