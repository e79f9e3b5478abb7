// TaskCall: one call of a tool that is a coroutine (task.h): what the thread of the call and the coroutine,
// which may be on any thread, have to tell each other. Internal to tools.
//
// The coroutine is always either running, on one thread, or parked. While it is parked and the call is over,
// it is destroyed: its destructors run, and nothing behind its co_await does. While it runs, or waits for
// something that only the host knows how to end, it cannot be: then it is abandoned, and destroys itself when
// it parks or ends.
#ifndef GLOVEPORT_TOOLS_TASK_CALL_H_
#define GLOVEPORT_TOOLS_TASK_CALL_H_

// Clang before 15 has coroutines, and no word by which libstdc++ would know.
#if defined(__clang__) && !defined(__cpp_impl_coroutine)
#define __cpp_impl_coroutine 201902L
#endif

#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport::task_internal {

// Runs the coroutine, and after it whatever it says should go on, without a stack that grows: not every
// compiler makes a jump of the transfer from coroutine to coroutine.
void Drive(std::coroutine_handle<> coroutine);
// By a coroutine that is suspended and was driven: who goes on in its place, on this thread.
void GoOnWith(std::coroutine_handle<> next);
// What stands for `leaf` with those who would resume it themselves: resuming it drives `leaf`. Is gone after
// that; else to be destroyed.
std::coroutine_handle<> WakerOf(std::coroutine_handle<> leaf);

class TaskCall : public std::enable_shared_from_this<TaskCall> {
 public:
  // What a parked coroutine waits for, on the thread of its call; an error ends coroutine and call.
  using Wait = std::function<Status(const CallContext&)>;
  // Takes work to run it, once, on a thread of its own choice.
  using Executor = std::function<void(std::function<void()>)>;

  // `kept` is what has to live as long as the coroutine. On the thread of the call, as is Run.
  TaskCall(CallContext& context, std::shared_ptr<const void> kept);

  // For the coroutine: valid as long as it lives. What it tells and asks is told and asked on the thread of
  // the call, and nothing where the call is over.
  CallContext& context() { return own_; }

  // Runs `root`, which has not begun, until it ends. After an error it is destroyed, or will be.
  Status Run(std::coroutine_handle<> root);

  // By the coroutine, when it is suspended; it may be running again or destroyed before these return.
  void Park(std::coroutine_handle<> leaf, Wait wait);
  void ParkFor(std::coroutine_handle<> leaf, const Executor& executor);
  void End();

 private:
  struct Ticket;
  struct Question {
    const std::function<void(CallContext&)>* ask;
    bool answered = false;
    std::exception_ptr thrown;
  };

  // The number of the parking, 0 where the call is over and the coroutine destroyed.
  std::uint64_t TryPark(std::coroutine_handle<> leaf, Wait wait);
  void Resume(std::uint64_t parking);
  void Lose(std::uint64_t parking, std::string why);
  bool OnCallThread(const std::function<void(CallContext&)>& ask);
  bool HasWork() const { return ended_ || wait_ || question_ != nullptr; }
  void Answer(std::unique_lock<std::mutex>& lock);
  Status GoOn(std::unique_lock<std::mutex>& lock);
  Status GiveUp(std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<const void> kept_;
  CallContext& context_;  // of the call; used on its thread only
  CallContext own_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::coroutine_handle<> root_;

  std::mutex mutex_;  // of all below
  std::condition_variable_any changed_;
  std::coroutine_handle<> leaf_;
  std::uint64_t parked_ = 0;  // number of the parking; 0: the coroutine runs
  std::uint64_t parkings_ = 0;
  Wait wait_;
  Question* question_ = nullptr;
  bool ended_ = false;
  bool over_ = false;  // the call
};

}  // namespace gloveport::task_internal

#endif  // GLOVEPORT_TOOLS_TASK_CALL_H_
