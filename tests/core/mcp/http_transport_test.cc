// HttpTransport against a server that plays a script, byte by byte.
#include "gloveport/core/mcp/http_transport.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Scene = FaultServer::Scene;

std::string Answer(std::string_view status, std::string_view headers, std::string_view body) {
  return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\n\r\n{}", status, headers, body.size(), body);
}

Scene Plays(std::string bytes) {
  return [bytes = std::move(bytes)](FaultPeer& peer, const std::string&) { peer.Send(bytes); };
}

Scene PlaysJson(std::string_view body, std::string_view headers = "") {
  return Plays(Answer("200 OK", fmt::format("Content-Type: application/json\r\n{}", headers), body));
}

// A stream that ends with the connection.
Scene PlaysStream(std::string_view events) {
  return Plays(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n{}", events));
}

class HttpTransportTest : public ::testing::Test {
 protected:
  void Start(std::vector<Scene> scenes, McpLimits limits = {}) {
    server_ = std::make_unique<FaultServer>(std::move(scenes));
    HttpTransportOptions options;
    options.url = server_->url("/mcp");
    options.headers = {{"Authorization", "Bearer t"}};
    options.limits = limits;
    options.retry = 1ms;
    transport_ = std::make_unique<HttpTransport>(options);
    ASSERT_TRUE(transport_->Open({[this](std::string_view text) { Take(std::string(text)); },
                                  [this](const Error& error) { Take("lost: " + error.message); }}));
  }

  // Sends a request whose answer is the text "answer".
  Status Ask(Deadline deadline = Deadline::After(10s), std::stop_token stop = {}) {
    return transport_->Send({"{}", {}, [this] { return Has("answer"); }, deadline, std::move(stop)});
  }

  void Take(const std::string& text) {
    const std::lock_guard lock(mutex_);
    received_.push_back(text);
    arrived_.notify_all();
  }
  bool Has(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return std::find(received_.begin(), received_.end(), text) != received_.end();
  }
  bool Await(const std::string& text) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(
        lock, 10s, [&] { return std::find(received_.begin(), received_.end(), text) != received_.end(); });
  }

  std::unique_ptr<FaultServer> server_;
  std::unique_ptr<HttpTransport> transport_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::string> received_;
};

TEST_F(HttpTransportTest, TakesAPlainAnswer) {
  Start({PlaysJson("answer")});
  ASSERT_TRUE(Ask());
  EXPECT_THAT(server_->requests()[0],
              AllOf(HasSubstr("POST /mcp HTTP/1.1"), HasSubstr("Authorization: Bearer t"),
                    HasSubstr("Accept: application/json, text/event-stream"),
                    HasSubstr("Content-Type: application/json"), Not(HasSubstr("Mcp-Session-Id"))));
}

TEST_F(HttpTransportTest, TakesAStreamAndStopsReadingAtTheAnswer) {
  Start({[](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\r\n\r\ndata: one\n\n");
    peer.Send("event: other\ndata: ignored\n\nid: 7\nevent: message\ndata: answer\n\n");
    peer.AwaitClose();  // keeps the stream open, as some servers do
  }});
  ASSERT_TRUE(Ask());
  EXPECT_THAT(received_, ElementsAre("one", "answer"));
}

TEST_F(HttpTransportTest, KeepsTheSessionAndGivesItBack) {
  Start({PlaysJson("answer", "Mcp-Session-Id: s-1\r\n"), Plays(Answer("405 Method Not Allowed", "", "")),
         Plays(Answer("202 Accepted", "", "")), Plays(Answer("200 OK", "", ""))});
  ASSERT_TRUE(Ask());
  transport_->Agreed("2025-11-25");
  while (server_->connections() < 2) std::this_thread::sleep_for(1ms);  // the GET of the listener
  ASSERT_TRUE(transport_->Send({"{}", {}, nullptr, Deadline::After(10s), {}}));
  transport_->Close();
  const auto requests = server_->requests();
  ASSERT_EQ(4u, requests.size());
  EXPECT_THAT(requests[1], AllOf(HasSubstr("GET /mcp"), HasSubstr("Mcp-Session-Id: s-1"),
                                 HasSubstr("MCP-Protocol-Version: 2025-11-25")));
  EXPECT_THAT(requests[2], AllOf(HasSubstr("POST"), HasSubstr("Mcp-Session-Id: s-1")));
  EXPECT_THAT(requests[3], AllOf(HasSubstr("DELETE /mcp"), HasSubstr("Mcp-Session-Id: s-1")));
}

TEST_F(HttpTransportTest, HasNoSessionInTheStatelessRevision) {
  Start({PlaysJson("answer", "Mcp-Session-Id: s-1\r\n"), Plays(Answer("202 Accepted", "", ""))});
  ASSERT_TRUE(Ask());
  transport_->Agreed("2026-07-28");
  ASSERT_TRUE(transport_->Send({"{}", {}, nullptr, Deadline::After(10s), {}}));
  transport_->Close();
  ASSERT_EQ(2u, server_->connections());
  EXPECT_THAT(server_->requests()[1], Not(HasSubstr("Mcp-Session-Id")));
}

TEST_F(HttpTransportTest, ListensToWhatTheServerSendsOnItsOwn) {
  Start({PlaysStream("retry: 1\nid: e1\ndata: first\n\ndata: cut"), PlaysStream("data: second\n\n"),
         Plays(Answer("405 Method Not Allowed", "", ""))});
  transport_->Agreed("2025-11-25");
  EXPECT_TRUE(Await("first"));
  EXPECT_TRUE(Await("second"));
  EXPECT_THAT(server_->requests()[1], HasSubstr("Last-Event-ID: e1"));
  EXPECT_FALSE(Has("cut"));
}

TEST_F(HttpTransportTest, TakesABrokenStreamUpAgain) {
  Start({PlaysStream("id: a1\ndata:\n\ndata: one\n\n"), PlaysStream("id: a2\ndata: two\n\n"),
         PlaysStream("data: answer\n\n")});
  ASSERT_TRUE(Ask());
  EXPECT_THAT(received_, ElementsAre("one", "two", "answer"));
  EXPECT_THAT(server_->requests()[1], AllOf(HasSubstr("GET"), HasSubstr("Last-Event-ID: a1")));
  EXPECT_THAT(server_->requests()[2], HasSubstr("Last-Event-ID: a2"));
}

TEST_F(HttpTransportTest, GivesAStreamUpThatBreaksAgainAndAgain) {
  std::vector<Scene> scenes(10, PlaysStream("id: a\ndata: more\n\n"));
  Start(scenes);
  const Status asked = Ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(ErrorCode::kClosed, asked.error().code);
  EXPECT_EQ(6u, server_->connections());
}

TEST_F(HttpTransportTest, StreamWithoutIdsThatBreaksIsAnError) {
  Start({PlaysStream("data: one\n\n")});
  const Status asked = Ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ("the stream ended before the answer came", asked.error().message);
}

TEST_F(HttpTransportTest, StatusThatSaysNoIsAnErrorWithItsText) {
  Start({Plays(Answer("401 Unauthorized", "", "who\x1b[2J are you?"))});
  const Status asked = Ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(ErrorCode::kProtocol, asked.error().code);
  EXPECT_EQ("it answered with HTTP status 401: who\\x1b[2J are you?", asked.error().message);
  EXPECT_THAT(asked.error().hint, HasSubstr("headers"));
}

TEST_F(HttpTransportTest, LongErrorPageIsAnErrorWithItsBeginning) {
  Start({Plays(Answer("404 Not Found", "", std::string(100'000, 'x')))});
  const Status asked = Ask();
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().message, HasSubstr("HTTP status 404: xxx"));
  EXPECT_LT(asked.error().message.size(), 10'000u);
}

TEST_F(HttpTransportTest, MessageInAnErrorsBodyIsTaken) {
  Start({Plays(Answer("400 Bad Request", "Content-Type: application/json\r\n", "{answer}"))});
  EXPECT_FALSE(Ask());
  EXPECT_TRUE(Has("{answer}"));
}

TEST_F(HttpTransportTest, NeverFollowsRedirects) {
  Start({Plays(Answer("302 Found", "Location: http://127.0.0.1:1/\r\n", ""))});
  EXPECT_FALSE(Ask());
  EXPECT_EQ(1u, server_->connections());
}

TEST_F(HttpTransportTest, UnknownSessionEndsTheConnection) {
  Start({PlaysJson("answer", "Mcp-Session-Id: s-1\r\n"), Plays(Answer("404 Not Found", "", ""))});
  ASSERT_TRUE(Ask());
  received_.clear();
  const Status asked = Ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(ErrorCode::kNotFound, asked.error().code);
  EXPECT_TRUE(Has("lost: the server knows the session no more"));
  EXPECT_EQ(ErrorCode::kClosed, Ask().error().code);
  EXPECT_EQ(2u, server_->connections());
}

TEST_F(HttpTransportTest, UnknownSessionMayBeSaidWithAnotherStatus) {
  Start({PlaysJson("answer", "Mcp-Session-Id: s-1\r\n"),
         Plays(Answer("400 Bad Request", "",
                      R"({"error":{"message":"Bad Request: No valid session ID provided"}})"))});
  ASSERT_TRUE(Ask());
  received_.clear();
  EXPECT_EQ(ErrorCode::kNotFound, Ask().error().code);
}

TEST_F(HttpTransportTest, HoldsTheLimitOfAMessage) {
  McpLimits limits;
  limits.max_message_bytes = 1000;
  const std::string large(2000, 'x');
  for (const Scene& scene :
       {PlaysJson(large), PlaysStream("data: " + large), PlaysStream("data: " + large + "\n\n"),
        Plays(Answer("500 Oops", "", std::string(2u << 20, 'x')))}) {
    Start({scene}, limits);
    const Status asked = Ask();
    ASSERT_FALSE(asked);
    EXPECT_EQ(ErrorCode::kResourceExhausted, asked.error().code) << asked.error().message;
  }
}

TEST_F(HttpTransportTest, DeadlineStopAndCloseEndAnExchange) {
  const Scene silent = [](FaultPeer& peer, const std::string&) { peer.AwaitClose(); };
  Start({silent, silent, silent});
  EXPECT_EQ(ErrorCode::kDeadlineExceeded, Ask(Deadline::After(30ms)).error().code);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server_->connections() < 2) std::this_thread::sleep_for(1ms);
    stop.request_stop();
  });
  EXPECT_EQ(ErrorCode::kClosed, Ask(Deadline::Never(), stop.get_token()).error().code);
  std::jthread closer([&] {
    while (server_->connections() < 3) std::this_thread::sleep_for(1ms);
    transport_->Close();
  });
  EXPECT_EQ(ErrorCode::kClosed, Ask(Deadline::Never()).error().code);
}

}  // namespace
}  // namespace gloveport
