#include "gloveport/core/host/tool_dispatcher.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

namespace gloveport {
namespace {

constexpr std::size_t kMaxThreads = 32;

Result<Value> CallGuarded(Tool& tool, const Arguments& arguments, CallContext& context) {
  try {
    return tool.Call(arguments, context);
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, error.what());
  } catch (...) {
    return Fail(ErrorCode::kInternal, "the tool threw something that is no std::exception");
  }
}

}  // namespace

Result<std::unique_ptr<ToolDispatcher>> ToolDispatcher::Create(std::string session) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return FailErrno("eventfd", errno);
  return std::unique_ptr<ToolDispatcher>(new ToolDispatcher(std::move(session), std::move(wake)));
}

ToolDispatcher::~ToolDispatcher() {
  StopCalls();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ToolDispatcher::Dispatch(DispatchedCall call) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(call));
  if (idle_ < waiting_.size() && threads_.size() < kMaxThreads) threads_.emplace_back([this] { Work(); });
  ready_.notify_one();
}

std::vector<CompletedCall> ToolDispatcher::TakeCompleted() {
  std::uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(completed_, {});
}

void ToolDispatcher::Wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void ToolDispatcher::StopCalls() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  for (auto& [key, stop] : running_) stop.request_stop();
}

void ToolDispatcher::StopCall(std::uint32_t cell, std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_,
                [&](const DispatchedCall& waiting) { return waiting.cell == cell && waiting.call == call; });
  if (const auto found = running_.find({cell, call}); found != running_.end()) found->second.request_stop();
}

void ToolDispatcher::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    ready_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    DispatchedCall call = std::move(waiting_.front());
    waiting_.pop_front();
    const Key key{call.cell, call.call};
    const std::stop_token stop = running_[key].get_token();
    lock.unlock();
    CompletedCall completed = Perform(call, stop);
    lock.lock();
    running_.erase(key);
    completed_.push_back(std::move(completed));
    Wake();
  }
}

CompletedCall ToolDispatcher::Perform(DispatchedCall& call, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  CallContext context{call.deadline, std::move(stop), session_, call.cell};
  context.call = call.call;
  context.on_progress = std::move(call.on_progress);
  if (call.on_ask) {
    context.on_ask = [&context, ask = std::move(call.on_ask)](std::string reason, Value details) {
      return ask(context, std::move(reason), std::move(details));
    };
  }
  CompletedCall completed{call.call, call.cell, {}, {}};
  completed.record.name = call.tool->spec().name;
  Arguments arguments(std::move(call.arguments));
  auto result = CallGuarded(*call.tool, arguments, context);
  completed.record.duration = std::chrono::steady_clock::now() - start;
  completed.record.args = Value(std::move(arguments).Take());
  completed.record.ok = result.has_value();
  if (result) {
    completed.record.result = std::move(*result);
    completed.record.displays = std::move(context.displays);
  } else {
    completed.error = std::move(result).error();
    completed.record.error = completed.error.message;
  }
  return completed;
}

}  // namespace gloveport
