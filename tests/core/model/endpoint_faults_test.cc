// What goes wrong between a client and its endpoint goes wrong in the same way for both protocols.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "gloveport/core/model/anthropic.h"
#include "gloveport/core/model/openai_chat.h"
#include "gloveport/core/model/openai_responses.h"
#include "gloveport/tests/core/model/fake_clock.h"
#include "gloveport/tests/support/fault_server/fault_server.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kKey = "sk-test-0123456789abcdef";

struct Protocol {
  const char* name;
  std::unique_ptr<Model> (*make)(EndpointOptions endpoint);
  std::string hello;  // an answer that says "hello"
  std::string empty;  // one without any choice
};

const Protocol kProtocols[] = {
    {"openai",
     [](EndpointOptions endpoint) -> std::unique_ptr<Model> {
       return std::make_unique<OpenAiChat>(OpenAiChatOptions{"m", kKey, std::move(endpoint)});
     },
     R"({"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]})",
     R"({"choices":[]})"},
    {"openai_responses",
     [](EndpointOptions endpoint) -> std::unique_ptr<Model> {
       return std::make_unique<OpenAiResponses>(OpenAiChatOptions{"m", kKey, std::move(endpoint)});
     },
     R"({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}]})",
     R"({"status":"completed"})"},
    {"anthropic",
     [](EndpointOptions endpoint) -> std::unique_ptr<Model> {
       return std::make_unique<Anthropic>(AnthropicOptions{"m", kKey, 100, std::move(endpoint)});
     },
     R"({"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"})",
     R"({"type":"message","stop_reason":"end_turn"})"},
};

class EndpointFaults : public testing::TestWithParam<Protocol> {
 protected:
  Result<ChatReply> Ask(const FaultServer& server, ChatRequest request = {}) {
    return AskAt(server.url(), request);
  }
  Result<ChatReply> AskAt(const std::string& url, ChatRequest request = {}) {
    EndpointOptions endpoint;
    endpoint.base_url = url;
    endpoint.clock = clock_.clock();
    endpoint.attempt_timeout = attempt_timeout_;
    endpoint.max_response_bytes = 100'000;
    request.messages = {{Role::kUser, "hi"}};
    auto reply = GetParam().make(endpoint)->Complete(request);
    if (!reply) {
      EXPECT_THAT(reply.error().message, Not(HasSubstr(kKey)));
      EXPECT_THAT(reply.error().hint, Not(HasSubstr(kKey)));
    }
    return reply;
  }
  FaultServer::Scene Hello() { return Answer(200, GetParam().hello); }

  void ExpectError(const Result<ChatReply>& reply, ErrorCode code, const std::string& message) {
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(ErrorCodeName(reply.error().code), ErrorCodeName(code)) << reply.error().message;
    EXPECT_THAT(reply.error().message, HasSubstr(message));
  }

  FakeClock clock_;
  std::chrono::seconds attempt_timeout_{60};
};

TEST_P(EndpointFaults, RateLimitWithRetryAfterIsWaitedOut) {
  FaultServer server({Answer(429, "{}", {"Retry-After: 3"}), Hello()});
  const auto reply = Ask(server);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->content, "hello");
  EXPECT_THAT(clock_.pauses, ElementsAre(milliseconds(3000)));
  EXPECT_EQ(server.requests()[0].substr(server.requests()[0].find("\r\n\r\n")),
            server.requests()[1].substr(server.requests()[1].find("\r\n\r\n")));
}

TEST_P(EndpointFaults, ServerErrorIsTriedTwiceMore) {
  FaultServer server({Answer(500, "oops"), Answer(503, "oops"), Hello()});
  const auto reply = Ask(server);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_THAT(clock_.pauses, ElementsAre(milliseconds(500), milliseconds(1000)));
}

TEST_P(EndpointFaults, LastingServerErrorIsReportedWithTheServersWords) {
  FaultServer server({Answer(500, "a"), Answer(500, "b"),
                      Answer(500, R"({"error":{"message":"the disk is full"}})"), Hello()});
  ExpectError(Ask(server), ErrorCode::kIo,
              fmt::format("{} answers with status 500 (after 3 tries): the disk is full", server.url()));
  EXPECT_EQ(server.connections(), 3u);
}

TEST_P(EndpointFaults, LastingRateLimitIsExhaustion) {
  FaultServer server(
      {Answer(429, "a"), Answer(429, "b"), Answer(429, R"({"error":{"message":"quota"}})"), Hello()});
  ExpectError(Ask(server), ErrorCode::kResourceExhausted, "429 (after 3 tries): quota");
}

TEST_P(EndpointFaults, ServerThatWantsNoRetryGetsNone) {
  FaultServer server({Answer(503, "no", {"x-should-retry: false"}), Hello()});
  ExpectError(Ask(server), ErrorCode::kIo, "status 503: no");
  EXPECT_THAT(clock_.pauses, IsEmpty());
}

TEST_P(EndpointFaults, CutConnectionIsTriedAgain) {
  FaultServer server(
      {AnswerBytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"cho"), AnswerBytes(""), Hello()});
  const auto reply = Ask(server);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(clock_.pauses.size(), 2u);
}

TEST_P(EndpointFaults, ConnectionThatIsAlwaysCutIsReported) {
  const auto cut = AnswerBytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"cho");
  FaultServer server({cut, cut, cut, Hello()});
  ExpectError(Ask(server), ErrorCode::kIo, "cut after 5 of 1000 bytes of the answer (after 3 tries)");
}

TEST_P(EndpointFaults, RefusedConnectionNamesHostAndPort) {
  const RefusingPort port;
  ExpectError(AskAt(fmt::format("http://127.0.0.1:{}/v1", port.port())), ErrorCode::kIo,
              fmt::format("POST http://127.0.0.1:{}: cannot connect: Connection refused (after 3 tries)",
                          port.port()));
}

TEST_P(EndpointFaults, SlowTryIsGivenUpAndTriedAgain) {
  attempt_timeout_ = std::chrono::seconds(0);
  FaultServer server({});
  ExpectError(Ask(server), ErrorCode::kDeadlineExceeded, "ran out");
  EXPECT_EQ(clock_.pauses.size(), 2u);
}

TEST_P(EndpointFaults, SlowDripEndsAtTheDeadline) {
  FaultServer server({[](FaultPeer& peer, const std::string&) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    peer.Drip(" ");
  }});
  ChatRequest request;
  request.deadline = Deadline::After(milliseconds(500));
  ExpectError(Ask(server, request), ErrorCode::kDeadlineExceeded, "ran out");
  EXPECT_THAT(clock_.pauses, IsEmpty());
}

TEST_P(EndpointFaults, PauseBeyondTheDeadlineIsNotBegun) {
  FaultServer server({Answer(429, R"({"error":{"message":"slow down"}})", {"Retry-After: 50"}), Hello()});
  ChatRequest request;
  request.deadline = Deadline::After(std::chrono::seconds(45));
  ExpectError(Ask(server, request), ErrorCode::kDeadlineExceeded, "slow down");
  EXPECT_THAT(clock_.pauses, IsEmpty());
}

TEST_P(EndpointFaults, CancelInTheMiddleOfARequestEndsIt) {
  std::latch reached(1);
  FaultServer server({[&](FaultPeer& peer, const std::string&) {
                        reached.count_down();
                        peer.AwaitClose();
                      },
                      Hello()});
  std::stop_source stop;
  std::jthread canceller([&] {
    reached.wait();
    stop.request_stop();
  });
  ChatRequest request;
  request.cancel = stop.get_token();
  ExpectError(Ask(server, request), ErrorCode::kClosed, "cancelled");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(EndpointFaults, CancelDuringAPauseEndsIt) {
  FaultServer server({Answer(500, ""), Hello()});
  std::stop_source stop;
  clock_.on_sleep = [&] { stop.request_stop(); };
  ChatRequest request;
  request.cancel = stop.get_token();
  ExpectError(Ask(server, request), ErrorCode::kClosed, "cancelled");
  EXPECT_EQ(server.connections(), 1u);
}

TEST_P(EndpointFaults, AnswersThatCannotBeUsedAreNotRetried) {
  std::string deep(1000, '[');
  const std::pair<std::string, const char*> cases[] = {
      {"<html>not json</html>", "no JSON"},
      {"", "no JSON"},
      {"{\"choices\": [{\"message\": {\"conte", "no JSON"},
      {deep + std::string(1000, ']'), "no JSON"},
      {"\xff\xfe", "no JSON"},
      {"[]", "it has no list"},
      {"null", "it has no list"},
      {"{}", "it has no list"},
      {GetParam().empty, "cannot be used"},
      {R"({"choices":7,"content":7})", "it has no list"},
      {R"({"choices":[7],"content":"x"})", "cannot be used"},
      {R"({"choices":[{"message":{"content":7}}],"content":7,"output":7})", "cannot be used"},
      {R"({"type":"error","error":{"message":"the model is asleep"}})", "the model is asleep"},
  };
  for (const auto& [body, message] : cases) {
    SCOPED_TRACE(body.substr(0, 60));
    FaultServer server({Answer(200, body), Hello()});
    ExpectError(Ask(server), ErrorCode::kProtocol, message);
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_P(EndpointFaults, ErrorWithinAGoodStatusCountsByItsKind) {
  const auto busy = Answer(200, R"({"error":{"message":"too busy","code":502}})");
  FaultServer recovering({busy, Hello()});
  EXPECT_EQ(Ask(recovering)->content, "hello");
  FaultServer server({busy, busy, busy, Hello()});
  ExpectError(Ask(server), ErrorCode::kIo, "answers with an error (after 3 tries): too busy");
  FaultServer refusing(
      {Answer(200, R"({"error":{"message":"no credit","type":"insufficient_quota"}})"), Hello()});
  ExpectError(Ask(refusing), ErrorCode::kResourceExhausted, "answers with an error: no credit");
  EXPECT_EQ(refusing.connections(), 1u);
}

TEST_P(EndpointFaults, KeyInTheQueryOfTheUrlIsNotShown) {
  FaultServer server({Answer(400, R"({"error":{"message":"bad key AIza-0123456789"}})")});
  const auto reply = AskAt(server.url("/v1?key=AIza-0123456789&alt=json"));
  ExpectError(reply, ErrorCode::kInvalidArgument, "bad key [secret]");
}

TEST_P(EndpointFaults, WhatIsNoHttpIsAProtocolError) {
  FaultServer server({AnswerBytes("220 mail.example.org ESMTP\r\n"), Hello()});
  ExpectError(Ask(server), ErrorCode::kProtocol, "no valid HTTP");
}

TEST_P(EndpointFaults, HugeAnswerIsRefused) {
  FaultServer server({[](FaultPeer& peer, const std::string&) {
                        peer.Send("HTTP/1.1 200 OK\r\n\r\n" + std::string(5'000'000, ' '));
                      },
                      Hello()});
  ExpectError(Ask(server), ErrorCode::kResourceExhausted, "100000 bytes");
}

TEST_P(EndpointFaults, RefusalsHaveTheirCodeAndAreNotRetried) {
  struct Case {
    int status;
    ErrorCode code;
    const char* hint;
  };
  static constexpr Case kCases[] = {
      {400, ErrorCode::kInvalidArgument, ""}, {401, ErrorCode::kDenied, "API key"},
      {403, ErrorCode::kDenied, "API key"},   {404, ErrorCode::kInvalidArgument, "name of the model"},
      {422, ErrorCode::kInvalidArgument, ""}, {302, ErrorCode::kInvalidArgument, "redirects"},
  };
  for (const Case& c : kCases) {
    FaultServer server({Answer(c.status, R"({"error":{"message":"because"}})"), Hello()});
    const auto reply = Ask(server);
    ExpectError(reply, c.code, fmt::format("status {}: because", c.status));
    EXPECT_THAT(reply.error().hint, HasSubstr(c.hint));
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_P(EndpointFaults, KeyThatTheServerRepeatsIsNotShown) {
  const std::string padding(390, 'x');  // so that a cut through the key would leave half of it
  const std::pair<int, std::string> cases[] = {
      {401, fmt::format(R"({{"error":{{"message":"Incorrect API key: {}"}}}})", kKey)},
      {401, fmt::format("{}{}", padding, kKey)},
      {500, fmt::format("{} {}", kKey, kKey)},
      {200, fmt::format(R"({{"type":"error","error":{{"message":"{}"}}}})", kKey)},
      {200, kKey},
  };
  for (const auto& [status, body] : cases) {
    const auto scene = Answer(status, body);
    FaultServer server({scene, scene, scene});
    const auto reply = Ask(server);  // looks for the whole key
    ASSERT_FALSE(reply.has_value());
    EXPECT_THAT(reply.error().message, Not(HasSubstr("sk-test"))) << body;
    EXPECT_THAT(server.requests().at(0), HasSubstr(kKey));
  }
  FaultServer server({AnswerBytes(std::string(kKey) + "\r\n")});
  EXPECT_THAT(Ask(server).error().message, Not(HasSubstr("sk-test")));
}

TEST_P(EndpointFaults, ServersWordsAreMadeSafeAndShort) {
  FaultServer server({Answer(400, "\x1b]0;evil\x07" + std::string(10'000, 'y'))});
  const auto reply = Ask(server);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().message.find('\x1b'), std::string::npos);
  EXPECT_LT(reply.error().message.size(), 600u);
}

INSTANTIATE_TEST_SUITE_P(Protocols, EndpointFaults, testing::ValuesIn(kProtocols),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace gloveport
