#include "gloveport/core/net/http_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/net/http_client.h"
#include "gloveport/core/net/http_head.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<HttpServer> Serve(HttpServer::Handler handler, HttpServerOptions options = {}) {
  auto server = HttpServer::Start(std::move(options), std::move(handler));
  EXPECT_TRUE(server.has_value()) << server.error().message;
  return std::move(*server);
}

HttpResponse Echo(const HttpServerRequest& request) {
  return {200,
          {{"Content-Type", "text/plain"}, {"X-Method", request.method}},
          fmt::format("{} {} [{}]", request.path, request.target, request.body)};
}

// Connected, and these bytes sent.
UniqueFd Begin(const HttpServer& server, std::string_view bytes) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(server.port());
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  (void)WriteFull(socket.get(), AsBytes(bytes), Deadline::After(std::chrono::seconds(10)));
  return socket;
}

// Sends exactly these bytes and returns all that comes back.
std::string Raw(const HttpServer& server, std::string_view bytes) {
  const UniqueFd socket = Begin(server, bytes);
  std::string answer;
  while (true) {
    if (!WaitFor(socket.get(), POLLIN, Deadline::After(std::chrono::seconds(10))))
      return answer + "<timeout>";
    char buffer[4096];
    const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(n));
  }
}

TEST(HttpServer, EveryMethodReachesTheHandler) {
  const auto server = Serve(Echo);
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    HttpRequest request{.method = method, .url = server->origin() + "/a%20b?c=d"};
    const bool has_body = std::string_view(method) != "GET" && std::string_view(method) != "OPTIONS";
    if (has_body) request.body = "text";
    const auto response = HttpClient().Send(request);
    ASSERT_TRUE(response.has_value()) << method << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, fmt::format("/a b /a%20b?c=d [{}]", request.body));
    EXPECT_EQ(*FindHeader(response->headers, "X-Method"), method);
    EXPECT_EQ(*FindHeader(response->headers, "Content-Type"), "text/plain");
  }
}

TEST(HttpServer, ListensOnLoopbackOnly) {
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "example.org", ""}) {
    HttpServerOptions options;
    options.address = address;
    const auto server = HttpServer::Start(options, Echo);
    ASSERT_FALSE(server.has_value()) << address;
    EXPECT_EQ(server.error().code, ErrorCode::kDenied);
    EXPECT_THAT(server.error().hint, HasSubstr("127.0.0.1"));
  }
  for (const char* address : {"127.0.0.1", "localhost"}) {
    HttpServerOptions options;
    options.address = address;
    EXPECT_TRUE(HttpServer::Start(options, Echo).has_value()) << address;
  }
}

TEST(HttpServer, PortInUseIsAnError) {
  const auto first = Serve(Echo);
  HttpServerOptions options;
  options.port = first->port();
  const auto second = HttpServer::Start(options, Echo);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(first->port())));
}

TEST(HttpServer, AnswersOnlyToItsOwnHost) {
  HttpServerOptions options;
  options.allowed_hosts = {"app.example.org"};
  const auto server = Serve(Echo, options);
  struct Case {
    std::string line;
    int status;
  };
  const std::string port = std::to_string(server->port());
  const Case cases[] = {
      {"Host: 127.0.0.1:" + port, 200},
      {"Host: localhost:" + port, 200},
      {"Host: APP.example.org", 200},
      {"Host: evil.example.net:" + port, 403},
      {"Host: 127.0.0.1", 403},
      {"Host: 127.0.0.1:1", 403},
      {"Host: ", 403},
      {"X: y", 403},
      {"Host: 127.0.0.1:" + port + "\r\nHost: evil.example.net", 403},
  };
  for (const Case& c : cases) {
    for (const char* method : {"GET", "POST"}) {
      const auto answer =
          Raw(*server, fmt::format("{} / HTTP/1.1\r\n{}\r\nContent-Length: 0\r\n\r\n", method, c.line));
      EXPECT_THAT(answer, StartsWith(fmt::format("HTTP/1.1 {} ", c.status))) << method << " " << c.line;
    }
  }
}

TEST(HttpServer, AnswersOnlyToPagesOfItsOwn) {
  HttpServerOptions options;
  options.allowed_origins = {"https://app.example.org"};
  const auto server = Serve(Echo, options);
  const std::pair<std::string, int> cases[] = {
      {server->origin(), 200},
      {fmt::format("http://localhost:{}", server->port()), 200},
      {"https://app.example.org", 200},
      {"https://evil.example.net", 403},
      {"null", 403},
      {"http://localhost", 403},
  };
  for (const auto& [origin, status] : cases) {
    HttpRequest request{.method = "POST", .url = server->origin() + "/"};
    request.headers = {{"Origin", origin}};
    EXPECT_EQ(HttpClient().Send(request).value().status, status) << origin;
  }
}

TEST(HttpServer, BodyBeyondTheLimitIsRefused) {
  HttpServerOptions options;
  options.max_body_bytes = 10;
  const auto server = Serve(Echo, options);
  const auto status = [&](std::string body) {
    return HttpClient()
        .Send({.method = "POST", .url = server->origin(), .body = std::move(body)})
        .value()
        .status;
  };
  EXPECT_EQ(status("0123456789"), 200);
  EXPECT_EQ(status("0123456789x"), 413);
  const std::string head = fmt::format("POST / HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
                                       server->origin().substr(7));
  EXPECT_THAT(Raw(*server, head + "5\r\nhello\r\n0\r\n\r\n"), HasSubstr("[hello]"));
  EXPECT_THAT(Raw(*server, head + "6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, RefusedRequestLeavesNoSecondOneBehind) {
  int calls = 0;
  const auto server = Serve([&](const HttpServerRequest&) {
    ++calls;
    return HttpResponse{200, {}, "x"};
  });
  const std::string inner =
      fmt::format("GET /inner HTTP/1.1\r\nHost: {}\r\n\r\n", server->origin().substr(7));
  const auto answer =
      Raw(*server, fmt::format("POST / HTTP/1.1\r\nHost: evil.example.net\r\nContent-Length: {}\r\n\r\n{}",
                               inner.size(), inner));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(calls, 0);
}

TEST(HttpServer, HostileRequestsLeaveItStanding) {
  const auto server = Serve(Echo);
  const std::string head = fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n", server->origin().substr(7));
  const std::string cases[] = {
      "\x16\x03\x01\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET " + std::string(100'000, '/') + " HTTP/1.1\r\n\r\n",
      "GET /" + std::string(8'000, 'a') + " HTTP/1.1\r\nHost: " + server->origin().substr(7) + "\r\n\r\n",
      "POST /" + std::string(8'000, 'a') + " HTTP/1.1\r\nHost: " + server->origin().substr(7) +
          "\r\nContent-Length: 0\r\n\r\n",
      head + "X: " + std::string(1'000'000, 'a') + "\r\n\r\n",
      head + "Range: bytes=0-0" + std::string(8'000, ',') + "\r\n\r\n",
      head + "Range: bytes=0-18446744073709551615,5-1\r\n\r\n",
  };
  for (const std::string& bytes : cases) (void)Raw(*server, bytes);
  EXPECT_EQ(HttpClient().Send({.url = server->origin() + "/"}).value().status, 200);
}

TEST(HttpServer, HandlerThatThrowsGivesNoDetailsAway) {
  const auto server = Serve([](const HttpServerRequest& request) -> HttpResponse {
    if (request.path == "/int") throw 7;
    throw std::runtime_error("password is hunter2");
  });
  for (const char* path : {"/int", "/std"}) {
    for (const char* method : {"GET", "POST"}) {
      const auto response = HttpClient().Send({.method = method, .url = server->origin() + path}).value();
      EXPECT_EQ(response.status, 500);
      EXPECT_EQ(response.body, "the server failed to answer\n");
      for (const HttpHeader& header : response.headers)
        EXPECT_EQ(header.value.find("hunter2"), std::string::npos);
    }
  }
}

TEST(HttpServer, HandlerCannotSplitTheAnswer) {
  const auto server = Serve([](const HttpServerRequest& request) {
    return HttpResponse{200, {{"X-Name", request.path}}, "ok"};
  });
  EXPECT_EQ(HttpClient().Send({.url = server->origin() + "/good"}).value().status, 200);
  const auto response = HttpClient().Send({.url = server->origin() + "/a%0d%0aX-Evil:%201"}).value();
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(FindHeader(response.headers, "X-Evil"), nullptr);
}

// What came until `wanted` is in it, or the end.
std::string ReadUntil(const UniqueFd& socket, std::string_view wanted) {
  std::string text;
  while (text.find(wanted) == std::string::npos) {
    if (!WaitFor(socket.get(), POLLIN, Deadline::After(std::chrono::seconds(60)))) return text + "<timeout>";
    char buffer[4096];
    const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (n <= 0) return text + "<end>";
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

std::string GetOf(const HttpServer& server) {
  return fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\n\r\n",
                     server.origin().substr(7));
}

const HttpResponse kStreamHead{200, {{"Content-Type", "text/event-stream"}}, ""};

TEST(HttpServer, StreamsArriveAsTheyAreWritten) {
  std::promise<void> read;
  auto was_read = read.get_future();
  const auto server = Serve([&](const HttpServerRequest&) {
    return HttpReply(kStreamHead, [&](HttpBodyWriter& writer) {
      EXPECT_TRUE(writer.Write("first"));
      EXPECT_EQ(was_read.wait_for(std::chrono::seconds(60)), std::future_status::ready);
      EXPECT_TRUE(writer.Write("second"));
    });
  });
  const UniqueFd socket = Begin(*server, GetOf(*server));
  const std::string head = ReadUntil(socket, "first\r\n");
  EXPECT_THAT(head, HasSubstr("text/event-stream"));
  EXPECT_THAT(head, testing::Not(HasSubstr("second")));
  read.set_value();
  EXPECT_THAT(ReadUntil(socket, "0\r\n\r\n"), HasSubstr("second"));  // and its end
}

TEST(HttpServer, AStreamLearnsThatItsReaderHasGone) {
  std::promise<void> noticed;
  auto was_noticed = noticed.get_future();
  const auto server = Serve([&](const HttpServerRequest&) {
    return HttpReply(kStreamHead, [&](HttpBodyWriter& writer) {
      while (writer.Write("piece")) std::this_thread::yield();
      noticed.set_value();
    });
  });
  {
    const UniqueFd socket = Begin(*server, GetOf(*server));
    ReadUntil(socket, "piece");
  }
  EXPECT_EQ(was_noticed.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(HttpServer, StreamsEndWithTheServer) {
  std::atomic<int> ended = 0;
  auto server = Serve([&](const HttpServerRequest&) {
    return HttpReply(kStreamHead, [&](HttpBodyWriter& writer) {
      while (writer.Write("piece")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++ended;
    });
  });
  const UniqueFd one = Begin(*server, GetOf(*server));
  const UniqueFd two = Begin(*server, GetOf(*server));
  ReadUntil(one, "piece");
  ReadUntil(two, "piece");
  server->Stop();
  EXPECT_EQ(ended, 2);
}

TEST(HttpServer, AStreamThatThrowsHasNoEnd) {
  const auto server = Serve([](const HttpServerRequest&) {
    return HttpReply(kStreamHead, [](HttpBodyWriter& writer) {
      (void)writer.Write("begun");
      throw std::runtime_error("password is hunter2");
    });
  });
  const std::string answer = Raw(*server, GetOf(*server));
  EXPECT_THAT(answer, HasSubstr("begun"));
  EXPECT_THAT(answer, testing::Not(HasSubstr("0\r\n\r\n")));
  EXPECT_THAT(answer, testing::Not(HasSubstr("hunter2")));
}

TEST(HttpServer, StreamsLeaveThreadsForOthersUpToTheLimit) {
  HttpServerOptions options;
  options.threads = 4;
  const auto server = Serve(
      [&](const HttpServerRequest& request) -> HttpReply {
        if (request.path == "/short") return HttpResponse{200, {}, "short"};
        return {kStreamHead, [](HttpBodyWriter& writer) {
                  while (writer.Write("piece")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }};
      },
      options);
  std::vector<UniqueFd> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(Begin(*server, GetOf(*server)));
    ReadUntil(streams.back(), "piece");
  }
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(HttpClient().Send({.url = server->origin() + "/short"})->body, "short");
}

TEST(HttpServer, WhatIsScreenedIsAnsweredBeforeItsBodyIsRead) {
  int handled = 0;
  HttpServerOptions options;
  options.screen = [](const HttpServerRequest& head) -> std::optional<HttpResponse> {
    if (FindHeader(head.headers, "X-Pass") != nullptr) return std::nullopt;
    return HttpResponse{401, {}, "no"};
  };
  const auto server = Serve(
      [&](const HttpServerRequest&) {
        ++handled;
        return HttpResponse{200, {}, "yes"};
      },
      options);
  const std::string host = server->origin().substr(7);
  const UniqueFd socket =
      Begin(*server, fmt::format("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 100000\r\n\r\n", host));
  EXPECT_THAT(ReadUntil(socket, "no"), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(handled, 0);
  EXPECT_THAT(Raw(*server,
                  fmt::format("POST / HTTP/1.1\r\nHost: {}\r\nX-Pass: 1\r\nContent-Length: 0\r\n\r\n", host)),
              HasSubstr("yes"));
}

std::string HostOf(const HttpServer& server) { return fmt::format("Host: 127.0.0.1:{}\r\n", server.port()); }

TEST(HttpServer, AHeadWithoutEndCostsNoMemory) {
  const auto server = Serve(Echo);
  const std::string much(kMaxHttpHeadBytes + 1000, 'a');
  for (const std::string& head : {"GET /" + much, "GET / HTTP/1.1\r\nA: " + much})
    EXPECT_THAT(Raw(*server, head), StartsWith("HTTP/1.1 431 "));
}

TEST(HttpServer, AHeadMustComeInTime) {
  const auto server = Serve(Echo, {.io_timeout = std::chrono::seconds(1)});
  EXPECT_THAT(Raw(*server, "GET / HTTP/1.1\r\nA: "), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, ABodyMustComeInTime) {
  const auto server =
      Serve(Echo, {.io_timeout = std::chrono::seconds(5), .body_timeout = std::chrono::seconds(1)});
  const std::string head = "POST / HTTP/1.1\r\n" + HostOf(*server) + "Content-Length: 5\r\n\r\nab";
  EXPECT_THAT(Raw(*server, head), StartsWith("HTTP/1.1 400 "));
}

TEST(HttpServer, StopsUnderClientsThatSendWithoutEnd) {
  auto server = Serve(Echo, {.io_timeout = std::chrono::seconds(600)});
  const UniqueFd silent = Begin(*server, "");
  const UniqueFd slow = Begin(*server, "POST / HTTP/1.1\r\nA: ");
  std::jthread sender([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && ::send(slow.get(), "a", 1, MSG_NOSIGNAL) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  server->Stop();  // the test's own time limit says if it does not
}

TEST(HttpServer, ServesHeadersAsTheyWereSent) {
  std::string seen;
  const auto server = Serve([&](const HttpServerRequest& request) {
    seen = *FindHeader(request.headers, "X-Token");
    return Echo(request);
  });
  EXPECT_THAT(Raw(*server, "GET / HTTP/1.1\r\n" + HostOf(*server) + "X-Token: a%41%0d\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(seen, "a%41%0d");
  const std::string encoded = fmt::format("Host: 127.0.0.1%3A{}\r\n", server->port());
  EXPECT_THAT(Raw(*server, "GET / HTTP/1.1\r\n" + encoded + "\r\n"), StartsWith("HTTP/1.1 403 "));
}

TEST(HttpServer, RefusesFieldsThatContradictOrMultiply) {
  const auto server = Serve(Echo);
  const std::string own = fmt::format("Origin: {}\r\n", server->origin());
  const auto status_of = [&](std::string_view method, const std::string& fields) {
    return Raw(*server, fmt::format("{} / HTTP/1.1\r\n{}{}\r\n{}", method, HostOf(*server), fields,
                                    method == "GET" ? "" : "ab"))
        .substr(9, 3);
  };
  EXPECT_EQ(status_of("GET", own), "200");
  EXPECT_EQ(status_of("GET", own + "Origin: http://evil.example\r\n"), "403");
  EXPECT_EQ(status_of("GET", "Origin:\r\n"), "403");
  EXPECT_EQ(status_of("GET", "Range: bytes=x\r\n").front(), '4');
  EXPECT_EQ(status_of("POST", "Content-Length: 2\r\n"), "200");
  EXPECT_EQ(status_of("POST", "Content-Length: 2\r\nContent-Length: 2\r\n"), "400");
  EXPECT_EQ(status_of("POST", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"), "400");
  EXPECT_EQ(status_of("DELETE", "Content-Length: 2\r\nContent-Type: multipart/form-data; boundary=a\r\n"),
            "415");
}

TEST(HttpServer, AnswersAreWholeWhateverPartsAreAskedFor) {
  const auto server = Serve(Echo);
  const auto get = [&](const std::string& fields) {
    return Raw(*server, "GET /abc HTTP/1.1\r\n" + HostOf(*server) + fields + "\r\n");
  };
  EXPECT_EQ(get("Range: bytes=0-1\r\n"), get(""));
  EXPECT_EQ(get("Range: bytes=0-,0-,0-,0-\r\n"), get(""));
}

TEST(HttpServer, TellsClientsBeyondItsThreadsToComeBack) {
  std::promise<void> go_on;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  const auto server = Serve(
      [&](const HttpServerRequest& request) {
        may_go_on.wait();
        return Echo(request);
      },
      {.threads = 2});
  const std::string request = "GET / HTTP/1.1\r\n" + HostOf(*server) + "\r\n";
  std::atomic<int> refused = 0;
  std::atomic<int> served = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back([&] {
      const std::string status = Raw(*server, request).substr(9, 3);
      ++(status == "503" ? refused : served);
    });
  }
  // Two are handled and two wait; the others know soon.
  const Deadline deadline = Deadline::After(std::chrono::seconds(9));
  while (refused < 16 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  go_on.set_value();
  clients.clear();
  EXPECT_EQ(refused, 16);
  EXPECT_EQ(served, 4);
}

TEST(HttpServer, BodiesTogetherHaveALimit) {
  std::promise<void> go_on;
  std::promise<void> first_is_there;
  std::atomic<int> count = 0;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  const auto server = Serve(
      [&](const HttpServerRequest& request) {
        if (count++ == 0) first_is_there.set_value(), may_go_on.wait();
        return Echo(request);
      },
      {.max_body_bytes = 1000, .max_total_body_bytes = 1500});
  const std::string request =
      "POST / HTTP/1.1\r\n" + HostOf(*server) + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'a');
  auto first = std::async(std::launch::async, [&] { return Raw(*server, request).substr(9, 3); });
  first_is_there.get_future().wait();
  EXPECT_EQ(Raw(*server, request).substr(9, 3), "503");
  go_on.set_value();
  EXPECT_EQ(first.get(), "200");
  EXPECT_EQ(Raw(*server, request).substr(9, 3), "200");
}

TEST(HttpServer, LeavesTheHostsSignalDispositionAlone) {
  struct sigaction wanted {
  }, before{}, after{};
  wanted.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &wanted, &before);
  {
    const auto server = Serve(Echo);
    EXPECT_EQ(HttpClient().Send({.url = server->origin() + "/"}).value().status, 200);
  }
  ::sigaction(SIGPIPE, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(HttpServer, StopsAtOnceAndMoreThanOnce) {
  for (int i = 0; i < 20; ++i) {
    auto server = Serve(Echo);
    server->Stop();
    server->Stop();
  }
}

}  // namespace
}  // namespace gloveport
