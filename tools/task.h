// ToolTask<T>: a tool that is a coroutine.
//
//   ToolTask<Result<double>> Price(std::string symbol, CallContext& context) {
//     const Quote quote = co_await exchange.Ask(symbol);         // std::future<Quote>
//     co_await ResumeOn(pool);                                   // from here on, on a thread of the pool
//     const double rate = co_await co_await Rate(quote.currency);  // ToolTask<Result<double>>: value or
//     error co_return quote.price * rate;
//   }
//   registry.Add("price", "...", &Price, {Arg("symbol", "...")});
//
// T: what a tool may return, Result<T> (Status) where it can fail, or ToolStream<T>. What may be awaited:
//
//   std::future<U>               waited for on the thread of the call, where the coroutine goes on
//   AwaitReply<U>(begin)         likewise, for a callback of another program: a Result<U>
//   ToolTask<U>                  runs at once; an exception of its comes out of the co_await
//   Result<U>                    its value; an error ends the coroutine, whose T must be a Result, with it
//   ResumeOn(executor)           hops to a thread of the executor's, a thread pool for example
//   any other awaitable          goes on wherever it resumes the coroutine
//
// One call has one coroutine, which runs on one thread at a time. The call waits for its end, and is over
// before when it is stopped or its deadline passes (CallContext). Then a coroutine that waits for one of the
// first four, or for a thread of an executor, is destroyed where it is: destructors run, and nothing behind
// the co_await. One that is running, or waits for another awaitable, goes on without anybody who listens, and
// is destroyed at its next co_await of ours or its end; the awaitable has to resume it at last.
//
// Arguments, references and views among them, the function object with its captures, and CallContext& live as
// long as the coroutine, whatever becomes of call and tool. That is true of the tool's own parameters only: a
// coroutine that it awaits by ToolTask<U> sees what C++ lets it see, so take by value there what does not
// live in the caller. What the context tells and asks goes by way of the thread of the call.
//
// Clang needs version 15 for coroutines of the standard; with 14 include this header first.
#ifndef GLOVEPORT_TOOLS_TASK_H_
#define GLOVEPORT_TOOLS_TASK_H_

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/reply.h"
#include "gloveport/tools/task_call.h"  // first: see there
#include "gloveport/tools/tool.h"

namespace gloveport {

template <typename T>
class ToolTask;

// co_await ResumeOn(executor): the coroutine goes on where the executor runs the work that it is given. An
// executor that drops the work ends the call with an error.
struct ResumeOn {
  explicit ResumeOn(task_internal::TaskCall::Executor on) : executor(std::move(on)) {}
  task_internal::TaskCall::Executor executor;
};

// co_await AwaitReply<U>(begin): begin is called with a ToolReply<U>, by which the Result<U> is given once,
// from any thread.
template <typename U>
struct AwaitReply {
  using Item = U;
  explicit AwaitReply(std::function<void(ToolReply<U>)> with) : begin(std::move(with)) {}
  std::function<void(ToolReply<U>)> begin;
};

namespace task_internal {

template <typename T>
inline constexpr bool kIsToolTask = false;
template <typename T>
inline constexpr bool kIsToolTask<ToolTask<T>> = true;
template <typename T>
inline constexpr bool kIsAwaitReply = false;
template <typename T>
inline constexpr bool kIsAwaitReply<AwaitReply<T>> = true;

// What all coroutines of a call share. No await_suspend may be inlined: the coroutine can be gone before it
// has returned.
class PromiseBase {
 public:
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <typename P>
    [[gnu::noinline]] void await_suspend(std::coroutine_handle<P> ended) const noexcept {
      ended.promise().End();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() { exception_ = std::current_exception(); }

  void BeginIn(std::shared_ptr<TaskCall> call) { call_ = std::move(call); }
  void BeginFor(const PromiseBase& caller, std::coroutine_handle<> continuation) {
    call_ = caller.call_;
    continuation_ = continuation;
  }
  TaskCall& call() const { return *call_; }

  // This one is at its end: its caller goes on, or the call.
  void End() const {
    if (continuation_) return GoOnWith(continuation_);
    call_->End();
  }

 protected:
  std::exception_ptr exception_;

 private:
  std::shared_ptr<TaskCall> call_;
  std::coroutine_handle<> continuation_;
};

template <typename Future>
struct FutureAwaiter {
  Future future;  // a reference where the coroutine has it in a variable

  // Where it goes on shall not depend on who was faster.
  bool await_ready() const noexcept { return false; }
  template <typename P>
  [[gnu::noinline]] void await_suspend(std::coroutine_handle<P> leaf) {
    leaf.promise().call().Park(leaf, [this](const CallContext& call) { return AwaitFuture(future, call); });
  }
  decltype(auto) await_resume() { return future.get(); }
};

template <typename U>
struct ReplyAwaiter {
  std::function<void(ToolReply<U>)> begin;
  std::shared_ptr<typename ToolReply<U>::Mailbox> mailbox =
      std::make_shared<typename ToolReply<U>::Mailbox>();

  bool await_ready() const noexcept { return false; }
  template <typename P>
  [[gnu::noinline]] void await_suspend(std::coroutine_handle<P> leaf) {
    begin(ToolReply<U>(mailbox));
    leaf.promise().call().Park(leaf, [box = mailbox](const CallContext& call) { return box->Await(call); });
  }
  Result<U> await_resume() { return mailbox->Wait(CallContext()); }
};

struct ExecutorAwaiter {
  TaskCall::Executor executor;

  bool await_ready() const noexcept { return false; }
  template <typename P>
  [[gnu::noinline]] void await_suspend(std::coroutine_handle<P> leaf) {
    leaf.promise().call().ParkFor(leaf, executor);
  }
  void await_resume() const noexcept {}
};

template <typename U>
struct ResultAwaiter {
  Result<U> given;

  bool await_ready() const noexcept { return given.has_value(); }
  template <typename P>
  [[gnu::noinline]] void await_suspend(std::coroutine_handle<P> failed) {
    failed.promise().Fail(std::move(given).error());
  }
  U await_resume() {
    if constexpr (!std::is_void_v<U>) return std::move(*given);
  }
};

template <typename U>
struct TaskAwaiter {
  ToolTask<U> task;

  bool await_ready() const noexcept { return false; }
  template <typename P>
  void await_suspend(std::coroutine_handle<P> caller) {
    task.BeginFor(caller.promise(), caller);
  }
  U await_resume() { return task.Take(); }
};

// The awaiter of what the host supplies.
template <typename A>
decltype(auto) AwaiterOf(A&& awaited) {
  if constexpr (requires { std::forward<A>(awaited).operator co_await(); }) {
    return std::forward<A>(awaited).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<A>(awaited)); }) {
    return operator co_await(std::forward<A>(awaited));
  } else {
    return std::forward<A>(awaited);
  }
}

// Hands it a waker in the place of the coroutine, which it could not drive.
template <typename Awaiter>
struct HostAwaiter {
  Awaiter awaiter;  // or a reference to it

  bool await_ready() { return static_cast<bool>(awaiter.await_ready()); }
  template <typename P>
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<P> leaf) {
    const std::coroutine_handle<> waker = WakerOf(leaf);
    try {
      using Suspended = decltype(awaiter.await_suspend(waker));
      if constexpr (std::is_void_v<Suspended>) {
        awaiter.await_suspend(waker);
        return true;
      } else if constexpr (std::is_same_v<Suspended, bool>) {
        const bool is_suspended = awaiter.await_suspend(waker);
        if (!is_suspended) waker.destroy();
        return is_suspended;
      } else {
        const std::coroutine_handle<> next = awaiter.await_suspend(waker);
        if (next == waker) waker.destroy();
        GoOnWith(next == waker ? leaf : next);
        return true;
      }
    } catch (...) {
      waker.destroy();
      throw;
    }
  }
  decltype(auto) await_resume() { return awaiter.await_resume(); }
};

// Where the result lies until it is asked for.
template <typename T>
class ResultSlot : public PromiseBase {
 public:
  template <typename U>
  void return_value(U&& value) requires std::convertible_to<U&&, T> {
    value_.emplace(std::forward<U>(value));
  }
  T Take() {
    if (exception_) std::rethrow_exception(exception_);
    return std::move(*value_);
  }

 protected:
  std::optional<T> value_;
};

template <>
class ResultSlot<void> : public PromiseBase {
 public:
  void return_void() const noexcept {}
  void Take() {
    if (exception_) std::rethrow_exception(exception_);
  }
};

template <typename T>
class Promise : public ResultSlot<T> {
 public:
  ToolTask<T> get_return_object() { return ToolTask<T>(std::coroutine_handle<Promise>::from_promise(*this)); }

  // Ends the coroutine where it is.
  void Fail(Error error) {
    static_assert(binding_internal::kIsResult<T>,
                  "Gloveport: co_await of a Result needs a coroutine that can fail: ToolTask<Result<...>>");
    if constexpr (binding_internal::kIsResult<T>)
      this->value_.emplace(tl::unexpected<Error>(std::move(error)));
    this->End();
  }

  template <typename A>
  auto await_transform(A&& awaited) {
    using Plain = std::remove_cvref_t<A>;
    if constexpr (binding_internal::kIsFuture<Plain>) {
      return FutureAwaiter<A>{std::forward<A>(awaited)};
    } else if constexpr (binding_internal::kIsResult<Plain>) {
      return ResultAwaiter<typename Plain::value_type>{std::forward<A>(awaited)};
    } else if constexpr (kIsAwaitReply<Plain>) {
      return ReplyAwaiter<typename Plain::Item>{std::forward<A>(awaited).begin};
    } else if constexpr (kIsToolTask<Plain>) {
      static_assert(!std::is_reference_v<A>, "Gloveport: a ToolTask is awaited once: std::move it");
      return TaskAwaiter<typename Plain::Item>{std::move(awaited)};
    } else if constexpr (std::is_same_v<Plain, ResumeOn>) {
      return ExecutorAwaiter{std::forward<A>(awaited).executor};
    } else {
      using Awaiter = decltype(AwaiterOf(std::forward<A>(awaited)));
      return HostAwaiter<Awaiter>{AwaiterOf(std::forward<A>(awaited))};
    }
  }
};

}  // namespace task_internal

// Begins when it is awaited, or when its call has it. Not thread-safe; move-only.
template <typename T>
class [[nodiscard]] ToolTask {
 public:
  using promise_type = task_internal::Promise<T>;
  using Item = T;

  ToolTask(ToolTask&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ToolTask& operator=(ToolTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~ToolTask() {
    if (handle_) handle_.destroy();
  }

  // One call: `begin` makes the coroutine with the context that it gets, and this waits for its end. For a
  // Tool that is written by hand; BindFunction does so by itself. `kept` lives as long as the coroutine.
  // kClosed, kDeadlineExceeded where the call is over before; throws what the coroutine threw.
  template <typename Begin>
  static Result<T> Complete(CallContext& context, std::shared_ptr<const void> kept, const Begin& begin) {
    const auto call = std::make_shared<task_internal::TaskCall>(context, std::move(kept));
    ToolTask task = begin(call->context());
    if (!task.handle_) return Fail(ErrorCode::kInternal, "the tool gave a coroutine that was moved away");
    task.handle_.promise().BeginIn(call);
    const auto handle = std::exchange(task.handle_, nullptr);
    RETURN_IF_ERROR(call->Run(handle));
    task.handle_ = handle;
    if constexpr (std::is_void_v<T>) {
      task.Take();
      return {};
    } else {
      return Result<T>(tl::in_place, task.Take());
    }
  }

 private:
  friend promise_type;
  friend task_internal::TaskAwaiter<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit ToolTask(Handle handle) : handle_(handle) {}
  void BeginFor(const task_internal::PromiseBase& caller, std::coroutine_handle<> continuation) {
    handle_.promise().BeginFor(caller, continuation);
    task_internal::GoOnWith(handle_);
  }
  T Take() { return handle_.promise().Take(); }

  Handle handle_;
};

namespace binding_internal {

template <typename T>
inline constexpr bool kIsTask<ToolTask<T>> = true;
template <typename T>
struct ResultOf<ToolTask<T>> : ResultOf<T> {};

}  // namespace binding_internal

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_TASK_H_
