// What goes wrong in the middle of a reply goes wrong in the same way for all protocols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>

#include "gloveport/tests/core/model/fake_clock.h"
#include "gloveport/tests/core/model/stream_protocols.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StreamFaults : public testing::TestWithParam<StreamProtocol> {
 protected:
  Result<ChatReply> Ask(const FaultServer& server, ChatRequest request = {}) {
    EndpointOptions endpoint;
    endpoint.base_url = server.url();
    endpoint.clock = clock_.clock();
    endpoint.attempt_timeout = attempt_timeout_;
    endpoint.max_response_bytes = 50'000;
    endpoint.max_stream_bytes = 200'000;
    endpoint.stream = {.max_line_bytes = 20'000, .max_event_bytes = 30'000};
    request.messages = {{Role::kUser, "hi"}};
    request.on_delta = [this](const ChatDelta& delta) {
      if (delta.kind == ChatDelta::Kind::kContent) content_ += delta.text;
      if (on_delta_) on_delta_();
    };
    auto reply = GetParam().make(endpoint, {})->Complete(request);
    if (!reply) {
      EXPECT_THAT(reply.error().message + reply.error().hint, Not(HasSubstr("sk-test")));
    }
    return reply;
  }

  std::string Text(std::string_view piece) const { return GetParam().text(piece); }
  std::string Half() const { return GetParam().begin + Text("hel"); }
  std::string Hello() const { return Half() + Text("lo") + GetParam().end; }

  void ExpectHello(const Result<ChatReply>& reply) {
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->content, "hello");
    EXPECT_EQ(content_, "hello");
    EXPECT_EQ(reply->finish_reason, "stop");
  }
  static void ExpectError(const Result<ChatReply>& reply, ErrorCode code, const std::string& message) {
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(ErrorCodeName(reply.error().code), ErrorCodeName(code)) << reply.error().message;
    EXPECT_THAT(reply.error().message, HasSubstr(message));
  }

  FakeClock clock_;
  milliseconds attempt_timeout_{60'000};
  std::string content_;
  std::function<void()> on_delta_;
};

TEST_P(StreamFaults, NoFaultGivesDeltasReplyAndUsage) {
  FaultServer server({StreamOf(Hello())});
  const auto reply = Ask(server);
  ExpectHello(reply);
  EXPECT_EQ(reply->model, "m-1");
  EXPECT_EQ(reply->usage.input_tokens, 12);
  EXPECT_EQ(reply->usage.output_tokens, 3);
  EXPECT_TRUE(reply->usage.reported);
  EXPECT_THAT(server.requests().at(0), HasSubstr("\"stream\":true"));
}

TEST_P(StreamFaults, NothingIsStreamedWhereNobodyListens) {
  FaultServer server({Answer(200, GetParam().body)});
  EndpointOptions endpoint;
  endpoint.base_url = server.url();
  const auto reply = GetParam().make(endpoint, {})->Complete({.messages = {{Role::kUser, "hi"}}});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "hello");
  EXPECT_EQ(reply->usage.output_tokens, 3);
  EXPECT_THAT(server.requests().at(0), Not(HasSubstr("stream")));
}

TEST_P(StreamFaults, ServerThatDoesNotStreamIsUnderstood) {
  for (const char* type : {"application/json", "text/event-stream"}) {
    content_.clear();
    FaultServer server({StreamOf("\n " + GetParam().body, type)});
    ExpectHello(Ask(server));
  }
}

TEST_P(StreamFaults, ServerThatRefusesToStreamIsAskedWithout) {
  FaultServer server({Answer(400, R"({"error":{"message":"'stream' is not supported","param":"stream"}})"),
                      Answer(200, GetParam().body)});
  ExpectHello(Ask(server));
  EXPECT_THAT(server.requests().at(1), Not(HasSubstr("\"stream\"")));
}

TEST_P(StreamFaults, EventsAreKnownWhateverTheirTypeSays) {
  for (const char* type :
       {"text/plain", "application/octet-stream", "TEXT/EVENT-STREAM; charset=utf-8", "application/json"}) {
    content_.clear();
    FaultServer server({StreamOf(Hello(), type)});
    ExpectHello(Ask(server));
  }
}

TEST_P(StreamFaults, BytesMayComeOneByOne) {
  FaultServer server({[this](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char byte : "\xEF\xBB\xBF: comment\r\n\r\nretry: 3\n" + Hello())
      peer.Send(fmt::format("1\r\n{}\r\n", byte));
    peer.Send("0\r\n\r\n");
  }});
  ExpectHello(Ask(server));
}

TEST_P(StreamFaults, ReplyIsWholeBeforeTheServerClosesTheConnection) {
  FaultServer server({StreamThen(Hello(), [](FaultPeer& peer) { peer.AwaitClose(); })});
  ExpectHello(Ask(server));
}

TEST_P(StreamFaults, RateLimitWithRetryAfterIsWaitedOut) {
  FaultServer server({Answer(429, "{}", {"retry-after-ms: 1500"}), StreamOf(Hello())});
  ExpectHello(Ask(server));
  EXPECT_THAT(clock_.pauses, ElementsAre(milliseconds(1500)));
}

TEST_P(StreamFaults, ServerErrorsAreTriedAgain) {
  FaultServer server({Answer(500, "oops"), Answer(529, "overloaded"), StreamOf(Hello())});
  ExpectHello(Ask(server));
  EXPECT_EQ(clock_.pauses.size(), 2u);
}

TEST_P(StreamFaults, CutBeforeTheFirstTextIsTriedAgain) {
  FaultServer server({StreamOf(""), StreamOf(GetParam().begin), StreamOf(Hello())});
  ExpectHello(Ask(server));
}

TEST_P(StreamFaults, CutThatLastsIsReported) {
  const auto cut = StreamOf(GetParam().begin);
  FaultServer server({cut, cut, cut, StreamOf(Hello())});
  ExpectError(
      Ask(server), ErrorCode::kIo,
      fmt::format("{}: the stream was cut before the reply began: the connection was closed (after 3 tries)",
                  server.url()));
}

TEST_P(StreamFaults, CutInTheReplySaysSoAndIsNotTriedAgain) {
  const std::string half = Half();
  const std::pair<FaultServer::Scene, const char*> cases[] = {
      {StreamOf(half), "the connection was closed"},
      {StreamOf(half + "data: {\"cho"), ""},
      {AnswerBytes(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{}", half)),
       "the connection was cut after"},
      {AnswerBytes(fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}\r\nff\r\n",
                               half.size(), half)),
       "the connection was cut after 0 of 255 bytes"},
  };
  for (const auto& [scene, how] : cases) {
    content_.clear();
    FaultServer server({scene, StreamOf(Hello())});
    const auto reply = Ask(server);
    if (*how == '\0') {
      ASSERT_FALSE(reply.has_value());  // half an event: no JSON, or not there at all
    } else {
      ExpectError(reply, ErrorCode::kIo, "the stream was cut after 3 bytes of the reply: ");
      EXPECT_THAT(reply.error().message, HasSubstr(how));
      EXPECT_THAT(reply.error().hint, HasSubstr("not the whole reply"));
    }
    EXPECT_EQ(content_, "hel");
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_P(StreamFaults, ResetInTheReplySaysSo) {
  std::latch handed(1);
  on_delta_ = [&] { handed.count_down(); };
  FaultServer server({StreamThen(Half(),
                                 [&](FaultPeer& peer) {
                                   handed.wait();
                                   peer.Reset();
                                 }),
                      StreamOf(Hello())});
  ExpectError(Ask(server), ErrorCode::kIo, "the stream was cut after 3 bytes of the reply");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(StreamFaults, SlowTokensEndAtTheDeadline) {
  FaultServer server({StreamThen(Half(), [](FaultPeer& peer) { peer.Drip(":\n"); })});
  ChatRequest request;
  request.deadline = Deadline::After(milliseconds(300));
  ExpectError(Ask(server, request), ErrorCode::kDeadlineExceeded,
              "the stream ended after 3 bytes of the reply: the time that was given ran out");
}

TEST_P(StreamFaults, SlowTokensMayTakeLongerThanOneTryWithoutStream) {
  attempt_timeout_ = milliseconds(200);
  FaultServer server({[this](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    peer.SendSlowly(Hello(), 4);  // some 300 ms
  }});
  ExpectHello(Ask(server));
}

TEST_P(StreamFaults, SilenceInTheReplyEndsIt) {
  attempt_timeout_ = milliseconds(100);
  FaultServer server({StreamThen(Half(), [](FaultPeer& peer) { peer.AwaitClose(); }), StreamOf(Hello())});
  ExpectError(Ask(server), ErrorCode::kDeadlineExceeded, "the server sent nothing for 100ms");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(StreamFaults, SilenceBeforeTheReplyIsTriedAgain) {
  attempt_timeout_ = milliseconds(100);
  FaultServer server({StreamThen("", [](FaultPeer& peer) { peer.AwaitClose(); }), StreamOf(Hello())});
  ExpectHello(Ask(server));
}

TEST_P(StreamFaults, CancelInTheMiddleOfTheReplyEndsIt) {
  std::stop_source stop;
  on_delta_ = [&] { stop.request_stop(); };
  FaultServer server({StreamThen(Half(), [](FaultPeer& peer) { peer.AwaitClose(); }), StreamOf(Hello())});
  ChatRequest request;
  request.cancel = stop.get_token();
  ExpectError(Ask(server, request), ErrorCode::kClosed, "cancelled");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(StreamFaults, WhatIsNoStreamIsAProtocolError) {
  const std::pair<FaultServer::Scene, const char*> cases[] = {
      {StreamOf("<html>Welcome</html>", "text/html"), "neither an event stream nor JSON (text/html)"},
      {StreamOf("\xff\xfe\x80garbage", "application/json"),
       "neither an event stream nor JSON (application/json)"},
      {StreamOf("{\"cho", "application/json"), "it is no JSON"},
      {StreamOf(Data("{\"cho")), "an event of the stream is no JSON"},
      {StreamOf(Data("\xff\xfe")), "an event of the stream is no JSON"},
      {StreamOf(Data(std::string(200, '['))), "an event of the stream is no JSON"},
      {StreamOf(Data("[]")), "has the wrong form: it is no object"},
      {StreamOf(Data("7")), "has the wrong form: it is no object"},
      {AnswerBytes("220 mail.example.org ESMTP\r\n"), "no valid HTTP"},
  };
  for (const auto& [scene, message] : cases) {
    FaultServer server({scene, StreamOf(Hello())});
    ExpectError(Ask(server), ErrorCode::kProtocol, message);
    EXPECT_EQ(server.connections(), 1u) << message;
  }
}

TEST_P(StreamFaults, GarbageAfterSomeTextIsReported) {
  FaultServer server({StreamOf(Half() + Data("\x01\x02{{{")), StreamOf(Hello())});
  ExpectError(Ask(server), ErrorCode::kProtocol, "an event of the stream is no JSON");
  EXPECT_EQ(content_, "hel");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(StreamFaults, HugeLinesEventsAndStreamsAreRefused) {
  std::string event;
  for (int i = 0; i < 4; ++i) event += "data: " + std::string(15'000, 'x') + "\n";
  std::string stream = GetParam().begin;
  while (stream.size() < 250'000) stream += Text("word word word ");
  const std::pair<std::string, const char*> cases[] = {
      {"data: " + std::string(100'000, 'x'), "a line of the stream is longer than the 20000 bytes"},
      {event, "an event of the stream is longer than the 30000 bytes"},
      {stream, "larger than the 200000 bytes"},
      {GetParam().begin + Text(std::string(15'000, 'x')) + Text(std::string(15'000, 'x')) +
           Text(std::string(15'000, 'x')) + Text(std::string(15'000, 'x')),
       "the text of the stream is larger than the 50000 bytes"},
      {"{" + std::string(100'000, ' ') + "}", "the answer is larger than the 50000 bytes"},
  };
  for (const auto& [events, message] : cases) {
    FaultServer server({StreamOf(events), StreamOf(Hello())});
    ExpectError(Ask(server), ErrorCode::kResourceExhausted, message);
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_P(StreamFaults, ErrorInTheStreamHasItsCodeAndIsTriedAgainWhereThatMayHelp) {
  struct Case {
    const char* error;
    ErrorCode code;
    std::size_t tries;
  };
  static constexpr Case kCases[] = {
      {R"({"type":"error","error":{"type":"overloaded_error","message":"the words"}})", ErrorCode::kIo, 3},
      {R"({"error":{"message":"the words","code":502}})", ErrorCode::kIo, 3},
      {R"({"error":{"message":"the words","code":429}})", ErrorCode::kResourceExhausted, 3},
      {R"({"error":{"message":"the words","type":"insufficient_quota","code":"insufficient_quota"}})",
       ErrorCode::kResourceExhausted, 1},
      {R"({"error":{"message":"the words","type":"invalid_request_error"}})", ErrorCode::kInvalidArgument, 1},
      {R"({"error":{"message":"the words","type":"authentication_error"}})", ErrorCode::kDenied, 1},
      {R"({"error":"the words"})", ErrorCode::kProtocol, 1},
  };
  for (const Case& c : kCases) {
    const auto scene = StreamOf(GetParam().begin + Event("error", c.error));
    FaultServer server({scene, scene, scene});
    ExpectError(Ask(server), c.code, "the stream reports an error: the words");
    EXPECT_EQ(server.connections(), c.tries) << c.error;
  }
}

TEST_P(StreamFaults, ErrorAfterSomeTextIsNotTriedAgain) {
  FaultServer server(
      {StreamOf(Half() + Data(R"({"error":{"message":"too busy","code":503}})")), StreamOf(Hello())});
  ExpectError(Ask(server), ErrorCode::kIo, "the stream reports an error: too busy");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(StreamFaults, KeyThatTheServerRepeatsIsNotShown) {
  const std::string cases[] = {
      Data(fmt::format(R"({{"error":{{"message":"bad key {}"}}}})", kTestKey)),
      Event("error", fmt::format(R"({{"type":"error","error":{{"type":"x","message":"{}"}}}})", kTestKey)),
      Data(kTestKey),
  };
  for (const std::string& events : cases) {
    FaultServer server({StreamOf(events)});
    EXPECT_FALSE(Ask(server).has_value());  // Ask looks for the key
  }
  FaultServer server({StreamOf("<html>", kTestKey)});
  EXPECT_FALSE(Ask(server).has_value());
}

TEST_P(StreamFaults, StopSequenceOverSeveralDeltasEndsTheReply) {
  FaultServer server({StreamThen(GetParam().begin + Text("one E") + Text("N") + Text("D two"),
                                 [](FaultPeer& peer) { peer.AwaitClose(); })});
  ChatRequest request;
  request.stop = {"END"};
  const auto reply = Ask(server, request);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "one ");
  EXPECT_EQ(content_, "one ");
  EXPECT_EQ(reply->finish_reason, "stop");
}

TEST_P(StreamFaults, WhatLooksLikeAStopSequenceIsNotLost) {
  FaultServer server({StreamOf(GetParam().begin + Text("EEN") + Text("N E") + GetParam().end)});
  ChatRequest request;
  request.stop = {"END"};
  EXPECT_EQ(Ask(server, request)->content, "EENN E");
  EXPECT_EQ(content_, "EENN E");
}

TEST_P(StreamFaults, StreamWithoutAnyReplyIsReported) {
  const auto empty = StreamOf(Data("[DONE]"));
  FaultServer server({empty, empty, empty});
  ExpectError(Ask(server), ErrorCode::kIo,
              "the stream was cut before the reply began: the stream says that it is done");
}

INSTANTIATE_TEST_SUITE_P(Protocols, StreamFaults,
                         testing::Values(ChatProtocol(), ResponsesProtocol(), AnthropicProtocol()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace gloveport
