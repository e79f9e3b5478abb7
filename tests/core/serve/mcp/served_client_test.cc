#include "gloveport/core/serve/mcp/served_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "../fake_runtime.h"
#include "recorded_exchange.h"

namespace gloveport {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHandshake = "2025-11-25";

class ServedClient : public testing::Test {
 protected:
  ServedClient() { Serve({}); }

  void Serve(McpServerLimits limits) {
    client_.reset();
    McpServerOptions options;
    options.limits = limits;
    service_ = McpService::Create(runtime_, std::move(options)).value();
    client_ = McpServedClient::Create(*service_, McpIdScope::kConnection);
  }

  static RpcMessage Request(Json id, std::string method, Json params) {
    RpcMessage message;
    message.kind = RpcMessage::Kind::kRequest;
    message.id = std::move(id);
    message.method = std::move(method);
    message.params = std::move(params);
    return message;
  }

  // A stateless one of `client`.
  static std::shared_ptr<RecordedExchange> Begin(McpServedClient& client, Json id, std::string method,
                                                 Json params, McpServedClient::Cancel* cancel = nullptr) {
    AddRequestMeta(params, {"test", "1"}, {});
    auto exchange = std::make_shared<RecordedExchange>();
    auto stop = client.Handle(Request(std::move(id), std::move(method), std::move(params)), exchange);
    if (cancel != nullptr) *cancel = std::move(stop);
    return exchange;
  }

  Json Run(McpServedClient& client, const std::string& code, const std::string& session = "") {
    Json arguments = {{"code", code}};
    if (!session.empty()) arguments["session"] = session;
    return Begin(client, next_id_++, "tools/call", {{"name", "execute_python"}, {"arguments", arguments}})
        ->AwaitReply()["result"]["structuredContent"];
  }

  std::shared_ptr<RecordedExchange> Block(McpServedClient& client, const std::string& session, Json id,
                                          McpServedClient::Cancel* cancel = nullptr) {
    return Begin(client, std::move(id), "tools/call",
                 {{"name", "execute_python"}, {"arguments", {{"code", "block"}, {"session", session}}}},
                 cancel);
  }

  FakeRuntime runtime_;
  std::unique_ptr<McpService> service_;
  std::shared_ptr<McpServedClient> client_;
  int next_id_ = 1000;
};

TEST_F(ServedClient, SessionsAreFoundByTheirOwnerOnly) {
  const std::string handle = Run(*client_, "hello")["session"];
  EXPECT_EQ(handle.size(), 32u);
  EXPECT_EQ(Run(*client_, "again", handle)["session"], handle);
  const auto other = McpServedClient::Create(*service_, McpIdScope::kConnection);
  EXPECT_EQ(Run(*other, "mine", handle)["status"], "not_run");
  EXPECT_EQ(Run(*client_, "still", handle)["status"], "ok");
}

TEST_F(ServedClient, RoomIsCountedForEachClientAndForAll) {
  McpServerLimits limits;
  limits.max_sessions_per_client = 2;
  limits.max_sessions = 3;
  Serve(limits);
  const auto other = McpServedClient::Create(*service_, McpIdScope::kConnection);
  const std::string mine[] = {Run(*client_, "1")["session"], Run(*client_, "2")["session"]};
  const std::string theirs = Run(*other, "1")["session"];
  for (const std::string& handle : mine) (void)Block(*client_, handle, handle);
  (void)Block(*other, theirs, 1);
  EXPECT_THAT(Run(*client_, "3")["error"]["message"].get<std::string>(), HasSubstr("runs in all of them"));
  EXPECT_THAT(Run(*other, "2")["error"]["message"].get<std::string>(), HasSubstr("as many as it may"));
  Begin(*client_, 1, "tools/call",
        {{"name", "reset_session"}, {"arguments", {{"session", mine[0]}, {"close", true}}}})
      ->AwaitReply();
  EXPECT_EQ(Run(*other, "2")["status"], "ok");
  client_->Close();
  other->Close();
}

TEST_F(ServedClient, TheOneThatIsIdleForLongestMakesRoom) {
  McpServerLimits limits;
  limits.max_sessions_per_client = 3;
  Serve(limits);
  const std::string busy = Run(*client_, "1")["session"];
  const auto blocked = Block(*client_, busy, 1);
  const std::string old = Run(*client_, "x")["session"];
  const std::string used = Run(*client_, "x")["session"];
  EXPECT_EQ(Run(*client_, "x", old)["status"], "ok");  // now `used` is the older one
  const std::string fresh = Run(*client_, "x")["session"];
  EXPECT_THAT(Run(*client_, "x", used)["error"]["message"].get<std::string>(), HasSubstr("to make room"));
  EXPECT_EQ(Run(*client_, "x", old)["status"], "ok");
  EXPECT_EQ(Run(*client_, "x", fresh)["status"], "ok");
  EXPECT_FALSE(blocked->answered());
  client_->Close();
}

TEST_F(ServedClient, CallsOfOneSessionRunInTheirOrder) {
  const std::string handle = Run(*client_, "x")["session"];
  for (int round = 0; round < 20; ++round) {
    std::vector<std::shared_ptr<RecordedExchange>> calls;
    for (int i = 0; i < 8; ++i)
      calls.push_back(
          Begin(*client_, i, "tools/call",
                {{"name", "execute_python"}, {"arguments", {{"code", "x"}, {"session", handle}}}}));
    int last = -1;
    for (const auto& call : calls) {
      // The fake numbers its cells; the text begins with the number.
      const std::string text = call->AwaitReply()["result"]["content"][0]["text"];
      const int cell = std::stoi(text.substr(std::string("Cell ").size()));
      EXPECT_GT(cell, last);
      last = cell;
    }
  }
}

TEST_F(ServedClient, ManyThatCannotBeToldApartHaveWhatThereIs) {
  McpServerLimits limits;
  limits.max_sessions_per_client = 1;
  Serve(limits);
  const auto all =
      McpServedClient::Create(*service_, McpIdScope::kExchange, McpClientLimits::OfAll(service_->limits()));
  const std::string first = Run(*all, "1")["session"];
  EXPECT_EQ(Run(*all, "2")["status"], "ok");
  EXPECT_EQ(Run(*all, "3", first)["status"], "ok");
}

TEST_F(ServedClient, ASessionThatCannotBeOpenedTakesNoRoom) {
  McpServerLimits limits;
  limits.max_sessions = 1;
  Serve(limits);
  runtime_.fail_to_open = true;
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(Run(*client_, "1")["error"]["message"].get<std::string>(), HasSubstr("no seccomp here"));
  runtime_.fail_to_open = false;
  EXPECT_EQ(Run(*client_, "1")["status"], "ok");
}

TEST_F(ServedClient, CancelledByItsIdOrByItsExchange) {
  const std::string handle = Run(*client_, "1")["session"];
  McpServedClient::Cancel cancel;
  const auto first = Block(*client_, handle, "a", &cancel);
  // The fake may not have begun: it is interrupted only while it blocks, so ask until it ends.
  cancel();
  EXPECT_TRUE(first->AwaitReply().is_null());
  RpcMessage notification;
  notification.method = "notifications/cancelled";
  notification.params = {{"requestId", "b"}};
  const auto second = Block(*client_, handle, "b");
  client_->Handle(notification, nullptr);
  EXPECT_TRUE(second->AwaitReply().is_null());
}

TEST_F(ServedClient, AnIdInUseIsRefusedUnlessIdsAreNobodys) {
  const std::string handle = Run(*client_, "1")["session"];
  const auto first = Block(*client_, handle, 7);
  EXPECT_EQ(Block(*client_, handle, 7)->AwaitReply()["error"]["code"], -32600);
  EXPECT_EQ(Begin(*client_, "7", "tools/list", Json::object())->AwaitReply().contains("result"), true);
  client_->Close();
  EXPECT_TRUE(first->AwaitReply().is_null());

  const auto many = McpServedClient::Create(*service_, McpIdScope::kExchange);
  const std::string other = Run(*many, "1")["session"];
  const auto one = Block(*many, other, 7);
  const auto two = Block(*many, other, 7);
  EXPECT_FALSE(two->answered());
  many->Close();
  EXPECT_TRUE(one->AwaitReply().is_null());
  EXPECT_TRUE(two->AwaitReply().is_null());
}

TEST_F(ServedClient, CallsAreLimited) {
  McpServerLimits limits;
  limits.max_calls_per_client = 2;
  Serve(limits);
  const std::string handle = Run(*client_, "1")["session"];
  const auto one = Block(*client_, handle, 1);
  const auto two = Block(*client_, handle, 2);
  EXPECT_EQ(Run(*client_, "x", handle)["error"]["type"], "LimitError");
  client_->Close();
  EXPECT_TRUE(one->AwaitReply().is_null());
  EXPECT_TRUE(two->AwaitReply().is_null());
}

TEST_F(ServedClient, ClosingEndsAllSessions) {
  const std::string handle = Run(*client_, "1")["session"];
  Run(*client_, "2");
  EXPECT_EQ(runtime_.open_sessions, 2);
  const auto blocked = Block(*client_, handle, 1);
  client_->Close();
  EXPECT_EQ(runtime_.open_sessions, 0);
  EXPECT_EQ(Run(*client_, "3")["status"], Json());
}

TEST_F(ServedClient, ManyClientsAtTheSameTime) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([this, i] {
      const auto client = McpServedClient::Create(*service_, McpIdScope::kConnection);
      Json arguments = {{"code", "print hello"}};
      for (int j = 0; j < 20; ++j) {
        const Json result =
            Begin(*client, i * 100 + j, "tools/call", {{"name", "execute_python"}, {"arguments", arguments}})
                ->AwaitReply()["result"]["structuredContent"];
        EXPECT_EQ(result["stdout"], "hello");
        arguments["session"] = result["session"];
      }
    });
  }
  threads.clear();
  EXPECT_EQ(runtime_.open_sessions, 0);
}

TEST_F(ServedClient, HandshakeOnceAndInOrder) {
  const auto ask = [&](const std::string& method, Json params) {
    auto exchange = std::make_shared<RecordedExchange>();
    client_->Handle(Request(1, method, std::move(params)), exchange);
    return exchange->AwaitReply();
  };
  EXPECT_EQ(ask("tools/list", nullptr)["error"]["code"], -32600);
  EXPECT_EQ(ask("initialize", Json::object())["error"]["code"], -32602);
  EXPECT_EQ(ask("initialize", {{"protocolVersion", "2099-01-01"}})["result"]["protocolVersion"], kHandshake);
  EXPECT_EQ(ask("initialize", {{"protocolVersion", kHandshake}})["error"]["code"], -32600);
  EXPECT_EQ(ask("tools/list", nullptr)["result"]["tools"].size(), 3u);
  EXPECT_EQ(ask("server/discover", nullptr)["error"]["code"], -32601);
}

}  // namespace
}  // namespace gloveport
