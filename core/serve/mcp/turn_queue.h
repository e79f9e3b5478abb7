// TurnQueue: turns in the order in which they were asked for. A place is taken first, by whoever decides the
// order, and waited for later, on another thread. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_MCP_TURN_QUEUE_H_
#define GLOVEPORT_CORE_SERVE_MCP_TURN_QUEUE_H_

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>

namespace gloveport {

class TurnQueue {
  struct State {
    std::mutex mutex;
    std::condition_variable_any moved;
    std::deque<std::uint64_t> waiting;  // the first one has its turn
    std::uint64_t next = 0;
  };

 public:
  // Left by its destructor, whether its turn came or not.
  class Place {
   public:
    explicit Place(std::shared_ptr<State> state) : state_(std::move(state)) {
      const std::lock_guard lock(state_->mutex);
      number_ = state_->next++;
      state_->waiting.push_back(number_);
    }
    ~Place() {
      const std::lock_guard lock(state_->mutex);
      std::erase(state_->waiting, number_);
      state_->moved.notify_all();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // False where `stop` was requested first.
    bool Await(const std::stop_token& stop) {
      std::unique_lock lock(state_->mutex);
      return state_->moved.wait(lock, stop, [this] { return state_->waiting.front() == number_; });
    }

   private:
    const std::shared_ptr<State> state_;
    std::uint64_t number_ = 0;
  };

  std::shared_ptr<Place> Join() { return std::make_shared<Place>(state_); }
  bool empty() const {
    const std::lock_guard lock(state_->mutex);
    return state_->waiting.empty();
  }

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_MCP_TURN_QUEUE_H_
