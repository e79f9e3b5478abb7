#include "gloveport/interp/child/host_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport::child {

Result<std::unique_ptr<HostLink>> HostLink::Create(Channel channel) {
  RETURN_IF_ERROR(SetNonBlocking(channel.fd()));
  UniqueFd wake_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_fd) return FailErrno("eventfd", errno);
  return std::unique_ptr<HostLink>(new HostLink(std::move(channel), std::move(wake_fd)));
}

Status HostLink::Replace(Channel channel) {
  ASSIGN_OR_RETURN(const std::unique_ptr<HostLink> fresh, Create(std::move(channel)));
  channel_ = std::move(fresh->channel_);
  wake_fd_ = std::move(fresh->wake_fd_);
  commands_.clear();
  return {};
}

Status HostLink::Send(const wire::SessionMessage& message) {
  const std::string payload = wire::Encode(message);
  std::lock_guard lock(send_mutex_);
  return channel_.Send(payload);
}

void HostLink::OpenCell(std::uint32_t cell) {
  std::lock_guard lock(send_mutex_);
  open_cell_ = cell;
  cell_opened_.notify_all();
}

Status HostLink::CloseCell(const wire::CellDone& done) {
  const std::string payload = wire::Encode(done);
  std::lock_guard lock(send_mutex_);
  open_cell_.reset();
  Status sent = channel_.Send(payload);
  FailCallsInFlight();
  return sent;
}

void HostLink::FailCallsInFlight() {
  bool any = false;
  {
    std::lock_guard lock(mutex_);
    for (auto call = calls_.begin(); call != calls_.end();) {
      const auto current = call++;
      if (!current->second.sent || current->second.reply) continue;
      any = true;
      Answer(current, {current->first, false, {}, "ToolError", "the cell ended before the tool answered"});
    }
  }
  if (any) Wake();  // the one that reads looks again at what it waits for
}

void HostLink::Answer(CallMap::iterator call, wire::ToolReply reply) {
  if (call->second.delivery == Delivery::kAwaited) {
    call->second.reply = std::move(reply);
  } else {
    calls_.erase(call);
    collected_.push_back(std::move(reply));
  }
  changed_.notify_all();
}

Result<bool> HostLink::SendInCell(const wire::SessionMessage& message) {
  const std::string payload = wire::Encode(message);
  std::lock_guard lock(send_mutex_);
  if (!open_cell_) return false;
  RETURN_IF_ERROR(channel_.Send(payload));
  return true;
}

void HostLink::Withdraw(const wire::Encoded& args) {
  if (SharedSpace* space = channel_.outgoing()) SharedBytesOf(args, space->AsView(), SharedBytes::kGiveBack);
}

void HostLink::Wake() {
  wakes_.fetch_add(1);
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_fd_.get(), &one, sizeof one);
  errno = saved;
}

Status HostLink::Take(std::string_view payload) {
  ASSIGN_OR_RETURN(wire::HostMessage message, wire::DecodeHostMessage(payload));
  if (auto* reply = std::get_if<wire::ToolReply>(&message)) {
    const auto call = calls_.find(reply->call);
    if (call != calls_.end() && !call->second.reply) {
      Answer(call, std::move(*reply));
    } else if (channel_.incoming() != nullptr) {
      SharedBytesOf(reply->value, *channel_.incoming(), SharedBytes::kGiveBack);
    }
  } else if (auto* cell = std::get_if<wire::RunCell>(&message)) {
    commands_.emplace_back(std::move(*cell));
  } else {
    commands_.emplace_back(std::move(std::get<wire::Request>(message)));
  }
  return {};
}

// Until there is something to read, or a wake-up; EINTR is one like any other.
void HostLink::Wait() {
  pollfd wake{wake_fd_.get(), POLLIN, 0};
  channel_.Wait(std::span(&wake, 1), Deadline::Never());
  if (wake.revents == 0) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(wake_fd_.get(), &count, sizeof count);
}

// The leader's turn: waits without the lock, so that others can send, start calls and wait.
Status HostLink::ReadSome(std::unique_lock<std::mutex>& lock) noexcept {
  reading_ = true;
  lock.unlock();
  // Several frames may have come in at once: what is there is taken before anything is waited for.
  auto frame = channel_.TryReceive();
  if (frame && !*frame) {
    Wait();
    frame = channel_.TryReceive();
  }
  lock.lock();
  reading_ = false;
  Status status;
  if (!frame) {
    status = tl::unexpected<Error>(std::move(frame).error());
  } else if (*frame) {
    status = Take(**frame);
  }
  if (!status) broken_ = status.error();
  changed_.notify_all();
  return status;
}

template <typename Done>
Status HostLink::WaitUntil(Done done) {
  std::unique_lock lock(mutex_);
  while (!done()) {
    if (broken_) return tl::unexpected<Error>(*broken_);
    if (reading_) {
      changed_.wait(lock);
    } else {
      RETURN_IF_ERROR(ReadSome(lock));
    }
  }
  // Whoever leaves passes the lead on: someone else may still be waiting.
  if (!reading_) changed_.notify_all();
  return {};
}

Result<HostLink::Command> HostLink::NextCommand() {
  std::optional<Command> command;
  RETURN_IF_ERROR(WaitUntil([&] {
    if (commands_.empty()) return false;
    command = std::move(commands_.front());
    commands_.pop_front();
    return true;
  }));
  return std::move(*command);
}

Result<std::optional<std::uint64_t>> HostLink::StartCall(const std::string& name, wire::Encoded& args,
                                                         std::uint64_t wakes, Delivery delivery) {
  std::uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    id = next_call_++;
    calls_.emplace(id, Call{delivery, false, std::nullopt});
  }
  const auto sent = [&]() -> Result<bool> {
    std::unique_lock lock(send_mutex_);
    cell_opened_.wait(lock, [&] { return open_cell_.has_value() || wakes_.load() != wakes; });
    if (!open_cell_) return false;
    MarkSent(id);
    RETURN_IF_ERROR(SendCall(id, name, args));
    return true;
  };
  Result<bool> done = false;
  try {
    done = sent();
  } catch (const std::bad_alloc&) {
    AbandonCall(id);
    throw;
  }
  if (done && *done) return id;
  AbandonCall(id);
  if (!done) return tl::unexpected<Error>(done.error());
  return std::nullopt;
}

// `args` may be large: they are lent to the message, not copied.
Status HostLink::SendCall(std::uint64_t call, const std::string& name, wire::Encoded& args) {
  std::string payload;
  {
    wire::SessionMessage message = wire::ToolCall{call, *open_cell_, name, std::move(args)};
    payload = wire::Encode(message);
    args = std::move(std::get<wire::ToolCall>(message).args);
  }
  return channel_.Send(payload);
}

Result<std::optional<wire::ToolReply>> HostLink::AwaitReply(std::uint64_t call, std::uint64_t wakes) {
  std::optional<wire::ToolReply> reply;
  RETURN_IF_ERROR(WaitUntil([&] {
    const auto found = calls_.find(call);
    if (found != calls_.end() && found->second.reply) {
      reply = std::move(found->second.reply);
      calls_.erase(found);
      return true;
    }
    return wakes_.load() != wakes;
  }));
  return reply;
}

Result<std::vector<wire::ToolReply>> HostLink::AwaitCollected(std::uint64_t wakes) {
  std::vector<wire::ToolReply> replies;
  RETURN_IF_ERROR(WaitUntil([&] {
    replies = std::exchange(collected_, {});
    return !replies.empty() || wakes_.load() != wakes;
  }));
  return replies;
}

void HostLink::MarkSent(std::uint64_t call) {
  std::lock_guard lock(mutex_);
  if (const auto found = calls_.find(call); found != calls_.end()) found->second.sent = true;
}

void HostLink::AbandonCall(std::uint64_t call) {
  std::lock_guard lock(mutex_);
  calls_.erase(call);
}

}  // namespace gloveport::child
