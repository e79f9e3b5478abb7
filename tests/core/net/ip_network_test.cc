#include "gloveport/core/net/ip_network.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "gloveport/core/net/http_client.h"
#include "gloveport/core/net/resolver.h"
#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

TEST(IpAddress, IsPublicOnlyWhereItIsRoutedOnTheInternet) {
  for (const char* text : {"127.0.0.1",
                           "127.255.255.254",
                           "10.0.0.1",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "0.0.0.0",
                           "0.1.2.3",
                           "224.0.0.1",
                           "255.255.255.255",
                           "198.18.0.1",
                           "192.0.2.1",
                           "::",
                           "::1",
                           "fe80::1",
                           "fec0::1",
                           "fc00::1",
                           "fdff::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "::10.0.0.1",
                           "64:ff9b::10.0.0.1",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::",
                           "2002:a00:1::",
                           "2001::1",
                           "2001:db8::1"}) {
    const auto address = IpAddress::Parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_FALSE(address->is_public()) << text;
  }
  for (const char* text : {"1.1.1.1", "9.255.255.255", "172.15.0.1", "172.32.0.1", "192.167.1.1",
                           "169.253.1.1", "100.63.0.1", "100.128.0.1", "223.255.255.255", "2606:4700::1111",
                           "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"}) {
    const auto address = IpAddress::Parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_TRUE(address->is_public()) << text;
  }
  for (const char* text : {"", "localhost", "1.2.3", "1.2.3.4.5", "[::1]", "fe80::1%lo"}) {
    EXPECT_FALSE(IpAddress::Parse(text)) << text;
  }
}

TEST(IpNetwork, ContainsWhatItsPrefixSays) {
  struct Case {
    const char* network;
    const char* address;
    bool contains;
  };
  static constexpr Case kCases[] = {
      {"10.0.0.0/8", "10.255.0.1", true},      {"10.0.0.0/8", "11.0.0.1", false},
      {"10.1.2.3", "10.1.2.3", true},          {"10.1.2.3", "10.1.2.4", false},
      {"0.0.0.0/0", "8.8.8.8", true},          {"0.0.0.0/0", "::1", false},
      {"fd00::/8", "fd12::1", true},           {"fd00::/8", "fe00::1", false},
      {"127.0.0.0/9", "127.127.0.1", true},    {"127.0.0.0/9", "127.128.0.1", false},
      {"10.0.0.0/8", "::ffff:10.1.1.1", true},
  };
  for (const Case& c : kCases) {
    const auto network = IpNetwork::Parse(c.network);
    ASSERT_TRUE(network) << c.network;
    EXPECT_EQ(network->Contains(*IpAddress::Parse(c.address)), c.contains) << c.network << " " << c.address;
  }
  for (const char* text :
       {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "example.org", "::/129"}) {
    EXPECT_FALSE(IpNetwork::Parse(text)) << text;
  }
}

TEST(HttpClient, AsksAboutEachAddressBeforeItConnects) {
  FaultServer server({Answer(200, "hello")});
  HttpRequest request;
  request.url = server.url();
  request.admit = [](const SocketAddress&) { return Fail(ErrorCode::kDenied, "not that one"); };
  const auto refused = HttpClient().Send(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kDenied);
  EXPECT_NE(refused.error().message.find("not that one"), std::string::npos);
  EXPECT_EQ(server.connections(), 0u);

  std::optional<IpAddress> seen;
  request.admit = [&](const SocketAddress& address) -> Status {
    seen = IpAddress::Of(address);
    return {};
  };
  const auto answered = HttpClient().Send(request);
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(answered->body, "hello");
  EXPECT_EQ(seen, IpAddress::Parse("127.0.0.1"));
}

}  // namespace
}  // namespace gloveport
