#include "gloveport/core/net/http_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <latch>
#include <thread>

#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HttpRequest Post(const std::string& url, std::string body) {
  HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.body = std::move(body);
  return request;
}

TEST(HttpClient, SendsTheRequestAndReturnsTheAnswer) {
  FaultServer server({Answer(201, "made", {"X-Thing: 7"})});
  HttpRequest request = Post(server.url("/v1/things?a=b"), "hello");
  request.headers = {{"Content-Type", "text/plain"}};
  const auto response = HttpClient().Send(request);
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "made");
  EXPECT_EQ(*FindHeader(response->headers, "x-thing"), "7");
  EXPECT_EQ(server.requests().at(0),
            fmt::format("POST /v1/things?a=b HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n"
                        "User-Agent: gloveport\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"
                        "Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
                        server.port()));
}

TEST(HttpClient, EveryStatusIsAnAnswerAndRedirectsAreNotFollowed) {
  for (const int status : {200, 302, 404, 503}) {
    FaultServer server({Answer(status, "text", {"Location: http://127.0.0.1:1/elsewhere"})});
    const auto response = HttpClient().Send({.url = server.url()});
    ASSERT_TRUE(response.has_value()) << response.error().message;
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->body, "text");
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST(HttpClient, HeadIsKnownBeforeTheBody) {
  FaultServer server({Answer(200, "body", {"X-Thing: 7"})});
  std::string seen;
  HttpRequest request{.url = server.url()};
  request.on_head = [&](const HttpResponse& head) {
    seen += fmt::format("{} {} ", head.status, *FindHeader(head.headers, "x-thing"));
  };
  request.on_body = [&](std::string_view piece) {
    seen += piece;
    return true;
  };
  ASSERT_TRUE(HttpClient().Send(request).has_value());
  EXPECT_EQ(seen, "200 7 body");
}

TEST(HttpClient, SilenceHasALimitOfItsOwn) {
  for (const char* begin : {"", "HTTP/1.1 200 OK\r\n\r\nhalf of the ans"}) {
    FaultServer server({[&](FaultPeer& peer, const std::string&) {
      peer.Send(begin);
      peer.AwaitClose();
    }});
    HttpRequest request{.url = server.url(), .deadline = Deadline::After(std::chrono::seconds(60))};
    request.max_silence = std::chrono::milliseconds(50);
    const auto response = HttpClient().Send(request);
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(response.error().message, HasSubstr("the server sent nothing for 50ms while"));
  }
}

TEST(HttpClient, SlowAnswerThatIsNeverSilentIsTaken) {
  FaultServer server({[](FaultPeer& peer, const std::string&) {
    peer.SendSlowly("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", 1);
  }});
  HttpRequest request{.url = server.url()};
  request.max_silence = std::chrono::seconds(5);
  EXPECT_EQ(HttpClient().Send(request)->body, "body");
}

TEST(HttpClient, RefusedConnectionSaysSo) {
  const RefusingPort port;
  const auto response =
      HttpClient().Send({.url = fmt::format("http://127.0.0.1:{}/secret-path?key=abc", port.port())});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_EQ(response.error().message,
            fmt::format("GET http://127.0.0.1:{}: cannot connect: Connection refused", port.port()));
}

TEST(HttpClient, NameWithoutAddressSaysSo) {
  const auto response = HttpClient().Send(
      {.url = "http://no-such-host.invalid/", .deadline = Deadline::After(std::chrono::seconds(30))});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
  EXPECT_THAT(
      response.error().message,
      StartsWith("GET http://no-such-host.invalid: the name no-such-host.invalid cannot be resolved: "));
}

TEST(HttpClient, LocalhostIsResolved) {
  FaultServer server({Answer(200, "hi")});
  const auto response = HttpClient().Send({.url = fmt::format("http://localhost:{}/", server.port())});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "hi");
}

TEST(HttpClient, FaultsOfTheServerHaveTheirCode) {
  struct Case {
    const char* name;
    FaultServer::Scene scene;
    ErrorCode code;
    const char* message;
  };
  const Case cases[] = {
      {"no answer", AnswerBytes(""), ErrorCode::kIo, "closed the connection without an answer"},
      {"cut body", AnswerBytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"), ErrorCode::kIo,
       "cut after 9 of 100"},
      {"reset body",
       [](FaultPeer& peer, const std::string&) {
         peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
         peer.Reset();
       },
       ErrorCode::kIo, "127.0.0.1"},
      {"garbage", AnswerBytes("\x16\x03\x01 this is no HTTP"), ErrorCode::kProtocol, "no valid HTTP"},
      {"long status line", AnswerBytes("HTTP/1.1 200 " + std::string(1'000'000, 'A') + "\r\n\r\n"),
       ErrorCode::kResourceExhausted, "head of the answer"},
      {"announced too large", AnswerBytes("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"),
       ErrorCode::kResourceExhausted, "5000 bytes"},
      {"endless body",
       [](FaultPeer& peer, const std::string&) {
         peer.Send("HTTP/1.1 200 OK\r\n\r\n");
         peer.Send(std::string(10'000'000, 'x'));
       },
       ErrorCode::kResourceExhausted, "1000 bytes"},
      {"packed", Answer(200, "\x1f\x8b", {"Content-Encoding: gzip"}), ErrorCode::kProtocol, "packed (gzip)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FaultServer server({c.scene});
    HttpRequest request{.url = server.url("/path")};
    request.max_response_bytes = 1000;
    const auto response = HttpClient().Send(request);
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(ErrorCodeName(response.error().code), ErrorCodeName(c.code)) << response.error().message;
    EXPECT_THAT(response.error().message, HasSubstr(c.message));
    EXPECT_THAT(response.error().message, StartsWith("GET " + server.url() + ": "));
  }
}

TEST(HttpClient, DeadlineHoldsOverTheWholeExchange) {
  const std::pair<const char*, FaultServer::Scene> cases[] = {
      {"silent", [](FaultPeer& peer, const std::string&) { peer.AwaitClose(); }},
      {"head in drips", [](FaultPeer& peer, const std::string&) { peer.Drip("HTTP/1.1 200 "); }},
      {"body in drips",
       [](FaultPeer& peer, const std::string&) {
         peer.Send("HTTP/1.1 200 OK\r\n\r\n");
         peer.Drip("x");
       }},
  };
  for (const auto& [name, scene] : cases) {
    SCOPED_TRACE(name);
    FaultServer server({scene});
    const auto start = std::chrono::steady_clock::now();
    const auto response =
        HttpClient().Send({.url = server.url(), .deadline = Deadline::After(std::chrono::milliseconds(500))});
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(response.error().message, HasSubstr("the time that was given ran out while "));
  }
}

TEST(HttpClient, PassedDeadlineSendsNothing) {
  FaultServer server({Answer(200, "hi")});
  const auto response =
      HttpClient().Send({.url = server.url(), .deadline = Deadline::After(std::chrono::seconds(0))});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpClient, UnreachableAddressIsGivenUpAtTheDeadline) {
  // 192.0.2.0/24 is kept for documentation: nobody answers, or the network says at once that there is no way.
  const auto response = HttpClient().Send(
      {.url = "http://192.0.2.1/", .deadline = Deadline::After(std::chrono::milliseconds(100))});
  ASSERT_FALSE(response.has_value());
  EXPECT_THAT(response.error().code, testing::AnyOf(ErrorCode::kDeadlineExceeded, ErrorCode::kIo));
}

TEST(HttpClient, CancelEndsAnExchangeInTheMiddle) {
  std::latch reached(1);
  FaultServer server({[&](FaultPeer& peer, const std::string&) {
    reached.count_down();
    peer.AwaitClose();
  }});
  std::stop_source stop;
  std::jthread canceller([&] {
    reached.wait();
    stop.request_stop();
  });
  const auto response = HttpClient().Send({.url = server.url(), .cancel = stop.get_token()});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kClosed);
  EXPECT_THAT(response.error().message, HasSubstr("cancelled while waiting for the answer"));
}

TEST(HttpClient, CancelledBeforehandSendsNothing) {
  FaultServer server({Answer(200, "hi")});
  std::stop_source stop;
  stop.request_stop();
  const auto response = HttpClient().Send({.url = server.url(), .cancel = stop.get_token()});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kClosed);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpClient, BodyCanBeTakenAsItArrives) {
  std::latch first_seen(1);
  FaultServer server({[&](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n");
    first_seen.wait();  // the rest is sent only after the first piece was delivered
    peer.Send("3\r\ntwo\r\n0\r\n\r\n");
  }});
  std::string seen;
  const auto response = HttpClient().Send({.url = server.url(), .on_body = [&](std::string_view piece) {
                                             if (seen.empty()) first_seen.count_down();
                                             seen += piece;
                                             return true;
                                           }});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(seen, "one two");
  EXPECT_EQ(response->body, "");
}

TEST(HttpClient, ReceiverOfTheBodyCanEndTheExchange) {
  FaultServer server({[](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    peer.Drip("x");
  }});
  const auto response =
      HttpClient().Send({.url = server.url(), .on_body = [](std::string_view) { return false; }});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kClosed);
}

TEST(HttpClient, BodyOfAnErrorIsNotStreamed) {
  FaultServer server({Answer(500, "why")});
  int calls = 0;
  const auto response =
      HttpClient().Send({.url = server.url(), .on_body = [&](std::string_view) { return ++calls > 0; }});
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->body, "why");
  EXPECT_EQ(calls, 0);
}

TEST(HttpClient, MalformedRequestsAreRefusedBeforeAnythingIsSent) {
  FaultServer server({Answer(200, "hi")});
  const auto with_header = [&](std::string name, std::string value) {
    HttpRequest request{.url = server.url()};
    request.headers = {{std::move(name), std::move(value)}};
    return request;
  };
  const HttpRequest cases[] = {
      with_header("Authorization", "Bearer sk-secret\r\nX-Evil: 1"),
      with_header("Authorization", "Bearer sk-secret\n"),
      with_header("Authorization", std::string("Bearer sk-secret\0", 17)),
      with_header("X Y", "sk-secret"),
      with_header("X\r\nY", "sk-secret"),
      with_header("", "sk-secret"),
      with_header("Host", "sk-secret"),
      with_header("content-length", "1"),
      with_header("Transfer-Encoding", "chunked"),
      {.method = "GET /evil HTTP/1.1\r\nX:", .url = server.url()},
      {.method = "CONNECT", .url = server.url()},
      {.url = fmt::format("http://me:sk-secret@127.0.0.1:{}/", server.port())},
      {.url = "not a url"},
  };
  for (const HttpRequest& request : cases) {
    const auto response = HttpClient().Send(request);
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code, ErrorCode::kInvalidArgument) << response.error().message;
    EXPECT_THAT(response.error().message, Not(HasSubstr("sk-secret")));
  }
  EXPECT_EQ(server.connections(), 0u);
  EXPECT_TRUE(HttpClient().Send(with_header("Authorization", "Bearer sk-secret")).has_value());
}

TEST(HttpClient, ServerThatStopsReadingTheBodyRaisesNoSignal) {
  struct sigaction default_action {
  }, before{};
  default_action.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &default_action, &before);
  // An end and then, since much was left unread, a reset: the order in which a further write would raise
  // SIGPIPE.
  FaultServer server({[](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n");
    peer.EndSending();
  }});
  const auto response = HttpClient().Send(Post(server.url(), std::string(50'000'000, 'x')));
  ::sigaction(SIGPIPE, &before, nullptr);
  // Whether the answer is still there after the reset is for the kernel to say.
  if (response) {
    EXPECT_EQ(response->status, 413);
  } else {
    EXPECT_EQ(response.error().code, ErrorCode::kIo);
  }
}

TEST(HttpClient, ProxyGetsTheAbsoluteUrlAndItsOwnCredentials) {
  FaultServer proxy({Answer(200, "via proxy")});
  HttpClient client({.proxies = {.http = fmt::format("http://me:p%40ss@127.0.0.1:{}", proxy.port())}});
  const auto response = client.Send({.url = "http://example.invalid/path?q=1"});
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "via proxy");
  EXPECT_THAT(proxy.requests().at(0),
              StartsWith("GET http://example.invalid/path?q=1 HTTP/1.1\r\nHost: example.invalid\r\n"));
  EXPECT_THAT(proxy.requests().at(0), HasSubstr("Proxy-Authorization: Basic bWU6cEBzcw==\r\n"));
}

TEST(HttpClient, ProxyThatIsDownIsNamed) {
  const RefusingPort port;
  HttpClient client({.proxies = {.http = fmt::format("127.0.0.1:{}", port.port())}});
  const auto response = client.Send({.url = "http://example.invalid/"});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(
      response.error().message,
      fmt::format(
          "GET http://example.invalid: through the proxy 127.0.0.1:{}: cannot connect: Connection refused",
          port.port()));
}

TEST(HttpClient, ServesSeveralThreads) {
  constexpr int kThreads = 4;
  FaultServer server(std::vector<FaultServer::Scene>(kThreads, Answer(200, "hi")));
  const HttpClient client;
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const auto response = client.Send({.url = server.url()});
        if (response && response->body == "hi") ++good;
      });
    }
  }
  EXPECT_EQ(good, kThreads);
}

}  // namespace
}  // namespace gloveport
