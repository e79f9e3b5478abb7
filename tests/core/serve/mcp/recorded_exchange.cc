#include "recorded_exchange.h"

#include <gtest/gtest.h>

#include <chrono>

namespace gloveport {
namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

bool RecordedExchange::Send(std::string text) {
  const std::lock_guard lock(mutex_);
  if (!reads) return false;
  sent_.push_back(ParseJson(text).value());
  changed_.notify_all();
  return true;
}

void RecordedExchange::Answer(McpReply reply) {
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(reply_) << "it was answered twice";
  reply_ = ParseJson(reply.text).value();
  EXPECT_EQ(reply.code.has_value(), reply_->contains("error"));
  changed_.notify_all();
}

void RecordedExchange::EndUnanswered() {
  const std::lock_guard lock(mutex_);
  EXPECT_FALSE(reply_);
  reply_ = Json();
  changed_.notify_all();
}

Json RecordedExchange::AwaitReply() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, kPatience, [this] { return reply_.has_value(); }));
  return reply_.value_or(Json());
}

Json RecordedExchange::AwaitSent(std::size_t index) {
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, kPatience, [&] { return sent_.size() > index; });
  EXPECT_TRUE(came);
  return came ? sent_[index] : Json();
}

std::vector<Json> RecordedExchange::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

bool RecordedExchange::answered() const {
  const std::lock_guard lock(mutex_);
  return reply_.has_value();
}

}  // namespace gloveport
