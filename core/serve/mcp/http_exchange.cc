#include "gloveport/core/serve/mcp/http_exchange.h"

#include <utility>

namespace gloveport {
namespace {

// A reader that has gone is noticed by the second write at the latest.
constexpr std::chrono::milliseconds kSign{1'000};

// DumpJson writes one line, so that one field takes it.
std::string EventOf(const std::string& text) { return "event: message\ndata: " + text + "\n\n"; }

}  // namespace

bool McpHttpExchange::Send(std::string text) {
  const std::lock_guard lock(mutex_);
  if (over_ || waiting_.size() >= kMaxWaiting) return false;
  waiting_.push_back(std::move(text));
  came_.notify_all();
  return true;
}

void McpHttpExchange::Answer(McpReply reply) {
  const std::lock_guard lock(mutex_);
  if (over_) return;
  over_ = true;
  reply_ = std::move(reply);
  came_.notify_all();
}

void McpHttpExchange::EndUnanswered() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  came_.notify_all();
}

std::optional<McpReply> McpHttpExchange::Wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, time, [this] { return over_ || !waiting_.empty(); });
  if (!waiting_.empty()) return std::nullopt;
  return std::exchange(reply_, std::nullopt);
}

McpHttpExchange::End McpHttpExchange::Stream(HttpBodyWriter& writer) {
  while (true) {
    std::string text;
    bool last = false;
    {
      std::unique_lock lock(mutex_);
      came_.wait_for(lock, kSign, [this] { return over_ || !waiting_.empty(); });
      while (!waiting_.empty()) {
        text += EventOf(waiting_.front());
        waiting_.pop_front();
      }
      last = over_;
      if (reply_) text += EventOf(reply_->text);
    }
    if (text.empty() && !last) text = ":\n\n";
    if (!text.empty() && !writer.Write(text)) break;
    if (last) return End::kDone;
  }
  EndUnanswered();  // what is sent from now on is told that nobody reads
  return End::kReaderGone;
}

}  // namespace gloveport
