#include "gloveport/tools/task_call.h"

#include <exception>
#include <utility>

#include "gloveport/tools/reply.h"

namespace gloveport::task_internal {
namespace {

// Of the innermost Drive of this thread: what it runs next.
thread_local std::coroutine_handle<>* driven_next = nullptr;

// A coroutine that begins when it is resumed and destroys itself at its end.
struct Waker {
  struct promise_type {
    Waker get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // coroutines of ours let none out
  };
  std::coroutine_handle<> handle;
};

Waker MakeWaker(std::coroutine_handle<> leaf) {
  Drive(leaf);
  co_return;
}

}  // namespace

void Drive(std::coroutine_handle<> coroutine) {
  std::coroutine_handle<>* const outer = driven_next;
  while (coroutine) {
    std::coroutine_handle<> next;
    driven_next = &next;
    coroutine.resume();  // it may be gone after this
    coroutine = next;
  }
  driven_next = outer;
}

void GoOnWith(std::coroutine_handle<> next) { *driven_next = next; }

std::coroutine_handle<> WakerOf(std::coroutine_handle<> leaf) { return MakeWaker(leaf).handle; }

// In the hands of an executor. Where it goes unused, the work was dropped.
struct TaskCall::Ticket {
  std::shared_ptr<TaskCall> call;
  std::uint64_t parking;

  Ticket(std::shared_ptr<TaskCall> of, std::uint64_t number) : call(std::move(of)), parking(number) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { call->Lose(parking, "the executor dropped the tool's work"); }
};

TaskCall::TaskCall(CallContext& context, std::shared_ptr<const void> kept)
    : kept_(std::move(kept)), context_(context) {
  own_.deadline = context.deadline;
  own_.stop = context.stop;
  own_.session = context.session;
  own_.cell = context.cell;
  own_.call = context.call;
  if (context.on_progress) {
    own_.on_progress = [this](const ToolProgress& progress) {
      OnCallThread([&](CallContext& call) { call.on_progress(progress); });
    };
  }
  if (context.on_ask) {
    own_.on_ask = [this](std::string reason, Value details) {
      ApprovalDecision decision;
      const bool asked = OnCallThread([&](CallContext& call) {
        decision = call.on_ask(std::move(reason), std::move(details));
        own_.deadline = call.deadline;  // the coroutine waits for this: nobody else reads it
      });
      if (!asked) decision = {.allowed = false, .reason = "the call is over"};
      return decision;
    };
  }
}

Status TaskCall::Run(std::coroutine_handle<> root) {
  root_ = root;
  Drive(root);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_work = [this] { return HasWork(); };
    const bool come = context_.deadline.never()
                          ? changed_.wait(lock, context_.stop, has_work)
                          : changed_.wait_until(lock, context_.stop, context_.deadline.when(), has_work);
    if (!come) return GiveUp(lock);
    if (question_ != nullptr) {
      Answer(lock);
    } else if (wait_) {
      RETURN_IF_ERROR(GoOn(lock));
    } else {
      break;
    }
  }
  over_ = true;
  changed_.notify_all();
  context_.displays = std::move(own_.displays);
  return {};
}

void TaskCall::Answer(std::unique_lock<std::mutex>& lock) {
  Question& question = *question_;
  lock.unlock();
  try {
    (*question.ask)(context_);
  } catch (...) {
    question.thrown = std::current_exception();
  }
  lock.lock();
  question.answered = true;
  question_ = nullptr;
  changed_.notify_all();
}

// The coroutine is parked, and only this thread wakes it.
Status TaskCall::GoOn(std::unique_lock<std::mutex>& lock) {
  const Wait wait = std::exchange(wait_, nullptr);
  lock.unlock();
  const Status ready = wait(context_);
  lock.lock();
  if (!ready) {
    over_ = true;
    changed_.notify_all();
    lock.unlock();
    root_.destroy();
    return ready;
  }
  parked_ = 0;
  const auto leaf = leaf_;
  lock.unlock();
  Drive(leaf);
  lock.lock();
  return {};
}

Status TaskCall::GiveUp(std::unique_lock<std::mutex>& lock) {
  over_ = true;
  const bool parked = parked_ != 0;
  changed_.notify_all();
  lock.unlock();
  if (parked) root_.destroy();
  return GivenUp(context_);
}

std::uint64_t TaskCall::TryPark(std::coroutine_handle<> leaf, Wait wait) {
  const auto self = shared_from_this();  // the coroutine may hold the last other one
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      leaf_ = leaf;
      wait_ = std::move(wait);
      parked_ = ++parkings_;
      changed_.notify_all();
      return parked_;
    }
  }
  root_.destroy();
  return 0;
}

void TaskCall::Park(std::coroutine_handle<> leaf, Wait wait) { TryPark(leaf, std::move(wait)); }

void TaskCall::ParkFor(std::coroutine_handle<> leaf, const Executor& executor) {
  const auto self = shared_from_this();
  const Executor post = executor;  // which may live in the coroutine
  const std::uint64_t parking = TryPark(leaf, nullptr);
  if (parking == 0) return;
  // Kept until the executor has returned, so that what it throws is told, not that it dropped its copy.
  const std::function<void()> work = [ticket = std::make_shared<Ticket>(self, parking)] {
    ticket->call->Resume(ticket->parking);
  };
  try {
    post(work);
  } catch (const std::exception& error) {
    Lose(parking, std::string("the executor took no work: ") + error.what());
  } catch (...) {
    Lose(parking, "the executor took no work");
  }
}

void TaskCall::Resume(std::uint64_t parking) {
  std::unique_lock lock(mutex_);
  if (over_ || parked_ != parking || wait_) return;
  parked_ = 0;
  const auto leaf = leaf_;
  lock.unlock();
  Drive(leaf);
}

void TaskCall::Lose(std::uint64_t parking, std::string why) {
  const std::lock_guard lock(mutex_);
  if (over_ || parked_ != parking || wait_) return;
  wait_ = [why = std::move(why)](const CallContext&) -> Status { return Fail(ErrorCode::kClosed, why); };
  changed_.notify_all();
}

void TaskCall::End() {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (!over_) {
      ended_ = true;
      changed_.notify_all();
      return;
    }
  }
  root_.destroy();
}

bool TaskCall::OnCallThread(const std::function<void(CallContext&)>& ask) {
  std::unique_lock lock(mutex_);
  if (over_) return false;
  if (std::this_thread::get_id() == thread_) {
    lock.unlock();
    ask(context_);
    return true;
  }
  Question question{.ask = &ask, .answered = false, .thrown = nullptr};
  changed_.wait(lock, [this] { return over_ || question_ == nullptr; });
  if (over_) return false;
  question_ = &question;
  changed_.notify_all();
  changed_.wait(lock, [&] { return question.answered || (over_ && question_ == &question); });
  if (question.thrown) std::rethrow_exception(question.thrown);
  if (!question.answered) question_ = nullptr;
  return question.answered;
}

}  // namespace gloveport::task_internal
