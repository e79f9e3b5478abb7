#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "gloveport/core/net/http_client.h"
#include "gloveport/tests/core/net/tls_server.h"
#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";

std::string Url(const TlsServer& server, const char* host = "127.0.0.1") {
  return fmt::format("https://{}:{}/path", host, server.port());
}

Result<HttpResponse> Get(const std::string& url, HttpClientOptions options) {
  return HttpClient(std::move(options))
      .Send({.url = url, .deadline = Deadline::After(std::chrono::seconds(20))});
}

TEST(Tls, TrustedCertificateForTheHostIsTaken) {
  TlsServer server("IP:127.0.0.1", kAnswer);
  const auto response = Get(Url(server), {.ca_file = server.certificate_file()});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "secret");
  EXPECT_THAT(server.request(), HasSubstr("GET /path HTTP/1.1\r\nHost: 127.0.0.1:"));
}

TEST(Tls, CertificateForANameIsTakenForThatName) {
  TlsServer server("DNS:localhost", kAnswer);
  const auto response = Get(Url(server, "localhost"), {.ca_file = server.certificate_file()});
  ASSERT_TRUE(response.has_value()) << response.error().message;
}

TEST(Tls, CertificateForAnotherHostIsRefused) {
  for (const char* names : {"DNS:example.org", "IP:127.0.0.2", "DNS:127.0.0.1"}) {
    TlsServer server(names, kAnswer);
    const auto response = Get(Url(server), {.ca_file = server.certificate_file()});
    ASSERT_FALSE(response.has_value()) << names;
    EXPECT_EQ(response.error().code, ErrorCode::kProtocol);
    EXPECT_THAT(response.error().message, HasSubstr("certificate is refused"));
    EXPECT_EQ(server.request(), "");
  }
}

TEST(Tls, CertificateOfAnUnknownAuthorityIsRefused) {
  TlsServer server("IP:127.0.0.1", kAnswer);
  const auto response = Get(Url(server), {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(response.error().message, HasSubstr("certificate is refused"));
  EXPECT_THAT(response.error().hint, HasSubstr("SSL_CERT_FILE"));
}

TEST(Tls, SystemsAuthoritiesCanBeNamedByTheUsualVariable) {
  TlsServer server("IP:127.0.0.1", kAnswer);
  ::setenv("SSL_CERT_FILE", server.certificate_file().c_str(), 1);
  const auto response = Get(Url(server), {});
  ::unsetenv("SSL_CERT_FILE");
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "secret");
}

TEST(Tls, BodyUpToTheEndNeedsTheOrderlyEnd) {
  constexpr const char* kEndless = "HTTP/1.1 200 OK\r\n\r\nall of it";
  TlsServer orderly("IP:127.0.0.1", kEndless, TlsEnding::kOrderly);
  const auto whole = Get(Url(orderly), {.ca_file = orderly.certificate_file()});
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_EQ(whole->body, "all of it");
  TlsServer cut("IP:127.0.0.1", kEndless, TlsEnding::kCut);
  const auto half = Get(Url(cut), {.ca_file = cut.certificate_file()});
  ASSERT_FALSE(half.has_value());
  EXPECT_EQ(half.error().code, ErrorCode::kIo);
  EXPECT_THAT(half.error().message, HasSubstr("cut"));
}

TEST(Tls, ServerWithoutTlsIsToldApart) {
  FaultServer server({AnswerBytes("HTTP/1.1 400 Bad Request\r\n\r\n")});
  const auto response = Get(fmt::format("https://127.0.0.1:{}/", server.port()), {});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(response.error().message, HasSubstr("TLS handshake failed"));
}

TEST(Tls, HandshakeThatNeverEndsObeysTheDeadline) {
  FaultServer server({[](FaultPeer& peer, const std::string&) { peer.AwaitClose(); }});
  const auto response = HttpClient().Send({.url = fmt::format("https://127.0.0.1:{}/", server.port()),
                                           .deadline = Deadline::After(std::chrono::milliseconds(500))});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(Tls, UnreadableAuthoritiesAreAnErrorOfTheCaller) {
  const auto response = Get("https://127.0.0.1:1/", {.ca_file = "/nonexistent/ca.pem"});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(response.error().message, HasSubstr("/nonexistent/ca.pem"));
}

TEST(Tls, TunnelCarriesTheRequestAndKeepsTheProxysCredentialsOut) {
  TlsServer server("DNS:model.example.invalid", kAnswer);
  FaultServer proxy({[&](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 Connection established\r\n\r\n");
    peer.Relay(server.port());
  }});
  const auto response = Get(fmt::format("https://model.example.invalid:{}/path", server.port()),
                            {.proxies = {.https = fmt::format("http://me:pass@127.0.0.1:{}", proxy.port())},
                             .ca_file = server.certificate_file()});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "secret");
  EXPECT_EQ(proxy.requests().at(0),
            fmt::format("CONNECT model.example.invalid:{0} HTTP/1.1\r\nHost: model.example.invalid:{0}\r\n"
                        "Proxy-Authorization: Basic bWU6cGFzcw==\r\n\r\n",
                        server.port()));
  EXPECT_THAT(server.request(), HasSubstr("GET /path HTTP/1.1"));
  EXPECT_THAT(server.request(), Not(HasSubstr("Proxy-Authorization")));
}

TEST(Tls, ProxyThatRefusesTheTunnelIsNamedWithItsStatus) {
  FaultServer proxy({Answer(407, "who are you")});
  const auto response = Get("https://model.example.invalid/",
                            {.proxies = {.https = fmt::format("http://127.0.0.1:{}", proxy.port())}});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_THAT(response.error().message, HasSubstr("refuses the tunnel with status 407"));
}

}  // namespace
}  // namespace gloveport
