// HostLink: the session's end of the channel. Any thread may send and any thread may have tool calls in
// flight: of the threads that wait, one reads the channel for all (the leader) and hands each reply to the
// thread it belongs to.
//
// Thread-safe. No function needs the GIL, and callers release it around those that block.
#ifndef GLOVEPORT_INTERP_CHILD_HOST_LINK_H_
#define GLOVEPORT_INTERP_CHILD_HOST_LINK_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/channel.h"
#include "gloveport/core/wire/messages.h"

namespace gloveport::child {

class HostLink {
 public:
  // Makes the channel non-blocking and the descriptor for Wake.
  static Result<std::unique_ptr<HostLink>> Create(Channel channel);

  // In a copy of the process, which has one thread: goes on over another channel, and shares nothing with the
  // original.
  Status Replace(Channel channel);

  // kResourceExhausted: the message is too large and was not sent. kClosed: the host has gone.
  Status Send(const wire::SessionMessage& message);

  // A cell is open between these two. The host listens to calls, answers and displays only then; threads of
  // earlier cells that call meanwhile have to wait. Calls that are in flight when the cell ends fail: the
  // host drops their answers.
  void OpenCell(std::uint32_t cell);
  Status CloseCell(const wire::CellDone& done);

  // Sends the message if a cell is open, and returns whether it was.
  Result<bool> SendInCell(const wire::SessionMessage& message);

  using Command = std::variant<wire::RunCell, wire::Request>;
  // Blocks for the host's next command. kClosed when the host has closed the channel.
  Result<Command> NextCommand();

  // How the reply to a call is taken: by AwaitReply, or by whoever calls AwaitCollected.
  enum class Delivery { kAwaited, kCollected };

  // Sends a call and returns its id; `args` are left as they were. Throws std::bad_alloc. Blocks while no
  // cell is open; returns nothing when the wake-up count differs from `wakes` before one is.
  Result<std::optional<std::uint64_t>> StartCall(const std::string& name, wire::Encoded& args,
                                                 std::uint64_t wakes, Delivery delivery = Delivery::kAwaited);

  // Blocks until the reply to `call` is there, or until the wake-up count differs from `wakes`: then returns
  // nothing.
  Result<std::optional<wire::ToolReply>> AwaitReply(std::uint64_t call, std::uint64_t wakes);

  // Blocks until replies to collected calls are there, and returns all of them; none when the wake-up count
  // differs from `wakes` first.
  Result<std::vector<wire::ToolReply>> AwaitCollected(std::uint64_t wakes);

  // The reply to `call` is no longer wanted; it is dropped when it comes.
  void AbandonCall(std::uint64_t call);

  // Where large arguments are put, and where large results stand. With the GIL only, which orders their
  // users.
  SharedSpace* outgoing() { return channel_.outgoing(); }
  const SharedView* incoming() { return channel_.incoming(); }
  // Arguments that were encoded and will not be sent.
  void Withdraw(const wire::Encoded& args);

  // Counts the wake-ups so far, also those that no reader has seen yet.
  std::uint64_t wakes() const { return wakes_.load(); }

  // Makes every AwaitReply return soon. Async-signal-safe.
  void Wake();

  // Makes threads that wait for a cell to open look at the wake-up count. Not for signal handlers.
  void WakeWaiters() { cell_opened_.notify_all(); }

 private:
  HostLink(Channel channel, UniqueFd wake_fd) : channel_(std::move(channel)), wake_fd_(std::move(wake_fd)) {}

  // Reads for all until `done` holds; `done` is called with the lock held.
  template <typename Done>
  Status WaitUntil(Done done);
  Status ReadSome(std::unique_lock<std::mutex>& lock) noexcept;  // half a message is the end
  void Wait();
  void FailCallsInFlight();
  void MarkSent(std::uint64_t call);
  Status SendCall(std::uint64_t call, const std::string& name, wire::Encoded& args);
  Status Take(std::string_view payload);

  struct Call {
    Delivery delivery = Delivery::kAwaited;
    bool sent = false;
    std::optional<wire::ToolReply> reply;
  };
  using CallMap = std::map<std::uint64_t, Call>;
  void Answer(CallMap::iterator call, wire::ToolReply reply);  // with mutex_ held

  Channel channel_;
  UniqueFd wake_fd_;
  std::mutex send_mutex_;
  std::condition_variable cell_opened_;     // with send_mutex_
  std::optional<std::uint32_t> open_cell_;  // with send_mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reading_ = false;         // some thread is the leader
  std::optional<Error> broken_;  // the channel is of no more use
  std::atomic<std::uint64_t> wakes_{0};
  std::uint64_t next_call_ = 1;
  CallMap calls_;
  std::vector<wire::ToolReply> collected_;  // replies that wait for AwaitCollected
  std::deque<Command> commands_;
};

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_HOST_LINK_H_
