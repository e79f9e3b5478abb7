// Tools whose answer comes later: by a callback from any thread, or by a std::future. For coroutines: task.h.
//
//   void quote(std::string symbol, ToolReply<double> reply) { exchange.Ask(symbol, reply); }
//   std::future<double> quote(std::string symbol);
//
// The call waits for the answer on a thread of the dispatcher and gives up when it is stopped or its deadline
// passes; what comes afterwards is dropped. Arguments that are used after the function has returned must be
// taken by value.
#ifndef GLOVEPORT_TOOLS_REPLY_H_
#define GLOVEPORT_TOOLS_REPLY_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// Why a call that waits is over without an answer.
tl::unexpected<Error> GivenUp(const CallContext& context);

// Copies answer the same call; the first answer counts. When the last copy goes without one, the call fails.
// Thread-safe.
template <typename T>
class ToolReply {
 public:
  using Item = T;

  class Mailbox {
   public:
    void Put(Result<T> answer) {
      const std::lock_guard lock(mutex_);
      if (answer_) return;
      answer_ = std::move(answer);
      here_.notify_all();
    }
    // Until the answer is here; why not where the call is over before.
    Status Await(const CallContext& context) {
      std::unique_lock lock(mutex_);
      const auto is_here = [this] { return answer_.has_value(); };
      const bool arrived = context.deadline.never()
                               ? here_.wait(lock, context.stop, is_here)
                               : here_.wait_until(lock, context.stop, context.deadline.when(), is_here);
      if (!arrived) return GivenUp(context);
      return {};
    }
    // The same, and the answer; once.
    Result<T> Wait(const CallContext& context) {
      RETURN_IF_ERROR(Await(context));
      const std::lock_guard lock(mutex_);
      return std::move(*answer_);
    }

   private:
    std::mutex mutex_;
    std::condition_variable_any here_;
    std::optional<Result<T>> answer_;
  };

  explicit ToolReply(std::shared_ptr<Mailbox> mailbox)
      : sender_(std::make_shared<Sender>(std::move(mailbox))) {}

  void operator()(Result<T> answer) const { sender_->mailbox->Put(std::move(answer)); }

 private:
  struct Sender {
    explicit Sender(std::shared_ptr<Mailbox> box) : mailbox(std::move(box)) {}
    ~Sender() { mailbox->Put(Fail(ErrorCode::kInternal, "the tool ended without an answer")); }
    std::shared_ptr<Mailbox> mailbox;
  };
  std::shared_ptr<Sender> sender_;
};

// Waits until `future` is ready. A future has no way to be woken by a stop: it is looked at again and again.
template <typename T>
Status AwaitFuture(const std::future<T>& future, const CallContext& context) {
  constexpr std::chrono::milliseconds kLook{5};
  if (!future.valid()) return Fail(ErrorCode::kInternal, "the tool gave a future that has no state");
  while (true) {
    const auto left = std::min<std::chrono::nanoseconds>(kLook, context.deadline.left());
    if (future.wait_for(left) != std::future_status::timeout) return {};
    if (context.stopped()) return GivenUp(context);
  }
}

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_REPLY_H_
