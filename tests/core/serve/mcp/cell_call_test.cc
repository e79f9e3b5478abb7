#include "gloveport/core/serve/mcp/cell_call.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "recorded_exchange.h"

namespace gloveport {
namespace {

ApprovalRequest Question(std::uint64_t id) {
  ApprovalRequest request;
  request.id = id;
  request.tool = "tool";
  return request;
}

Json Decided(std::string_view decision) {
  return {{"action", "accept"}, {"content", {{"decision", decision}}}};
}

// A call and what is asked on its ways.
class CellCall : public testing::Test {
 protected:
  void Make(std::string_view revision, McpClientAbilities abilities = {true}, Json token = nullptr) {
    terms_ = {std::string(revision), {"client", "1"}, abilities, 1, std::move(token)};
    call_ = std::make_shared<McpCellCall>(
        terms_, exchange_,
        McpCellCall::Ways{
            [this](McpExchange*, std::uint64_t approval, Json params, std::function<void(Json)> answer) {
              asked_[approval] = {std::move(params), std::move(answer)};
              return reads_;
            },
            [this](McpExchange*, std::uint64_t approval) { withdrawn_.push_back(approval); },
            [this](const std::shared_ptr<McpCellCall>&) {
              return room_ ? "state-" + std::to_string(++parked_) : "";
            }},
        McpImplementation{"gloveport", "1"}, 3);
  }

  std::future<ApprovalDecision> Ask(std::uint64_t id) {
    auto promise = std::make_shared<std::promise<ApprovalDecision>>();
    call_->Ask(Question(id),
               [promise](ApprovalDecision decision) { promise->set_value(std::move(decision)); });
    return promise->get_future();
  }

  static ApprovalDecision Get(std::future<ApprovalDecision>& decision) {
    EXPECT_EQ(decision.wait_for(std::chrono::seconds(60)), std::future_status::ready);
    return decision.get();
  }
  static bool Waits(std::future<ApprovalDecision>& decision) {
    return decision.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }

  std::shared_ptr<RecordedExchange> Resume(const Json& responses) {
    auto next = std::make_shared<RecordedExchange>();
    terms_.id = 2;
    call_->Resume(terms_, next, responses);
    return next;
  }

  struct Asked {
    Json params;
    std::function<void(Json)> answer;
  };
  McpRequestTerms terms_;
  std::shared_ptr<RecordedExchange> exchange_ = std::make_shared<RecordedExchange>();
  std::shared_ptr<McpCellCall> call_;
  std::map<std::uint64_t, Asked> asked_;
  std::vector<std::uint64_t> withdrawn_;
  bool reads_ = true;
  bool room_ = true;
  int parked_ = 0;
};

TEST_F(CellCall, ResultsAreOfTheirRevision) {
  Make("2025-11-25");
  call_->Finish({{"content", Json::array()}});
  EXPECT_FALSE(exchange_->AwaitReply()["result"].contains("resultType"));
  exchange_ = std::make_shared<RecordedExchange>();
  Make(kStatelessRevision);
  call_->Finish({{"content", Json::array()}});
  const Json result = exchange_->AwaitReply()["result"];
  EXPECT_EQ(result["resultType"], "complete");
  EXPECT_EQ(result["_meta"][std::string(kMetaServerInfo)]["name"], "gloveport");
}

TEST_F(CellCall, ProgressGrowsAndIsBounded) {
  Make("2025-11-25", {}, "token");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) threads.emplace_back([this] { call_->Progress("add"); });
  threads.clear();
  const auto sent = exchange_->sent();
  ASSERT_EQ(sent.size(), 3u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i]["params"]["progress"], i + 1);
    EXPECT_EQ(sent[i]["params"]["progressToken"], "token");
  }
}

TEST_F(CellCall, WithoutTheCapabilityNobodyIsAsked) {
  for (const std::string_view revision : {std::string_view("2025-11-25"), kStatelessRevision}) {
    Make(revision, {});
    auto decision = Ask(1);
    EXPECT_FALSE(Get(decision).allowed);
    EXPECT_TRUE(asked_.empty());
    EXPECT_FALSE(exchange_->answered());
  }
}

TEST_F(CellCall, AHandshakesClientIsAskedOnTheWay) {
  Make("2025-11-25");
  auto first = Ask(1);
  auto second = Ask(2);
  EXPECT_TRUE(Waits(first));
  asked_[2].answer(Decided("allow"));
  EXPECT_TRUE(Get(second).allowed);
  asked_[1].answer(Decided("deny"));
  asked_[1].answer(Decided("allow"));  // too late
  EXPECT_FALSE(Get(first).allowed);
}

TEST_F(CellCall, AReaderThatHasGoneIsARefusal) {
  Make("2025-11-25");
  reads_ = false;
  auto decision = Ask(1);
  EXPECT_FALSE(Get(decision).allowed);
}

TEST_F(CellCall, WhatIsWithdrawnIsTakenBackOnce) {
  Make("2025-11-25");
  auto decision = Ask(1);
  call_->Withdraw(1);
  call_->Withdraw(1);
  call_->Withdraw(99);
  EXPECT_EQ(withdrawn_, std::vector<std::uint64_t>{1});
  asked_[1].answer(Decided("allow"));
  EXPECT_THROW(decision.get(), std::future_error)
      << "nobody is told: the desk has closed the question already";
}

TEST_F(CellCall, AStatelessCallIsParkedAndTakenUp) {
  Make(kStatelessRevision);
  auto decision = Ask(5);
  const Json parked = exchange_->AwaitReply()["result"];
  EXPECT_EQ(parked["resultType"], "input_required");
  EXPECT_EQ(parked["requestState"], "state-1");
  EXPECT_EQ(parked["inputRequests"]["approval-5"]["method"], "elicitation/create");
  const auto next = Resume({{"approval-5", Decided("allow")}});
  EXPECT_TRUE(Get(decision).allowed);
  EXPECT_FALSE(next->answered());
  call_->Finish({{"content", Json::array()}});
  const Json reply = next->AwaitReply();
  EXPECT_EQ(reply["result"]["resultType"], "complete");
  EXPECT_EQ(reply["id"], 2);
}

TEST_F(CellCall, WhatIsNotAnsweredIsAskedAgainWithWhatCameMeanwhile) {
  Make(kStatelessRevision);
  auto first = Ask(1);
  auto second = Ask(2);  // while it is parked
  const auto next = Resume({{"approval-99", Decided("allow")}});
  const Json requests = next->AwaitReply()["result"]["inputRequests"];
  EXPECT_TRUE(requests.contains("approval-1"));
  EXPECT_TRUE(requests.contains("approval-2"));
  EXPECT_TRUE(Waits(first));
  const auto last = Resume({{"approval-1", Decided("allow")}, {"approval-2", Decided("deny")}});
  EXPECT_TRUE(Get(first).allowed);
  EXPECT_FALSE(Get(second).allowed);
  EXPECT_FALSE(last->answered());
}

TEST_F(CellCall, AResultWaitsForAParkedClient) {
  Make(kStatelessRevision);
  auto decision = Ask(1);
  call_->Withdraw(1);  // it took too long
  call_->Finish({{"content", Json::array()}});
  EXPECT_EQ(Resume({{"approval-1", Decided("allow")}})->AwaitReply()["result"]["resultType"], "complete");
  EXPECT_THROW(decision.get(), std::future_error);
}

TEST_F(CellCall, WithoutRoomToParkItIsARefusal) {
  Make(kStatelessRevision);
  room_ = false;
  auto decision = Ask(1);
  EXPECT_FALSE(Get(decision).allowed);
  EXPECT_FALSE(exchange_->answered());
}

TEST_F(CellCall, ACancelledCallIsInterruptedAndNotAnswered) {
  Make("2025-11-25");
  bool interrupted = false;
  call_->OnCancel([&] { interrupted = true; });
  call_->Cancel();
  EXPECT_TRUE(interrupted);
  EXPECT_TRUE(call_->stop().stop_requested());
  EXPECT_TRUE(exchange_->AwaitReply().is_null());
  call_->Finish({{"content", Json::array()}});
  auto decision = Ask(1);
  EXPECT_FALSE(Get(decision).allowed);
}

}  // namespace
}  // namespace gloveport
