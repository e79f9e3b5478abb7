#include "gloveport/core/mcp/stdio_transport.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/plain_text.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxErrorsBytes = 8u << 10;
constexpr std::size_t kMaxWordsBytes = 1000;
constexpr std::size_t kReadBytes = 256u << 10;  // at a time, so that standard error is not forgotten
constexpr auto kStopCheck = std::chrono::milliseconds(50);

// write(2) to a pipe whose reader has gone raises SIGPIPE, which a program that embeds us may not expect: it
// is kept from this thread, and taken away where it came.
class PipeSignalBlock {
 public:
  PipeSignalBlock() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlock() {
    const timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlock(const PipeSignalBlock&) = delete;
  PipeSignalBlock& operator=(const PipeSignalBlock&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

StdioTransport::StdioTransport(StdioTransportOptions options) : options_(std::move(options)) {}

StdioTransport::~StdioTransport() { Close(); }

Status StdioTransport::Open(McpReceiver receiver) {
  receiver_ = std::move(receiver);
  wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return FailErrno("eventfd", errno);
  const auto started = std::make_shared<std::promise<Status>>();
  auto result = started->get_future();
  thread_ = std::thread([this, started] { Run(*started); });
  return result.get();
}

void StdioTransport::Run(std::promise<Status>& started) {
  ::pthread_setname_np(::pthread_self(), "glove-mcp");
  auto process = ServerProcess::Start(options_.command);
  if (!process) {
    started.set_value(tl::unexpected<Error>(process.error()));
    return;
  }
  input_ = process->TakeInput();  // nobody writes yet
  started.set_value({});
  const auto lost = Read(*process);
  closing_ = true;  // whoever is writing gives up
  End(*process);
  if (lost) receiver_.on_lost(*lost);
}

std::optional<Error> StdioTransport::Read(ServerProcess& process) {
  bool errors_open = true;
  while (true) {
    pollfd entries[] = {{process.output().get(), POLLIN, 0},
                        {errors_open ? process.errors().get() : -1, POLLIN, 0},
                        {wake_.get(), POLLIN, 0},
                        {process.watch().get(), POLLIN, 0}};
    if (::poll(entries, 4, -1) < 0 && errno != EINTR)
      return Error{ErrorCode::kIo, "cannot wait for the server"};
    if (closing_) return std::nullopt;
    if (entries[1].revents != 0) {
      TakeErrors(process);
      errors_open = (entries[1].revents & POLLIN) != 0;
    }
    if (entries[0].revents != 0) {
      if (const Status taken = TakeOutput(process); !taken) return taken.error();
    } else if (entries[3].revents != 0) {  // it has ended, although somebody holds its output open
      return Error{ErrorCode::kClosed, "the server ended"};
    }
  }
}

Status StdioTransport::TakeOutput(ServerProcess& process) {
  const std::size_t searched = line_.size();
  ASSIGN_OR_RETURN(const bool more, ReadAvailable(process.output().get(), kReadBytes, line_));
  std::size_t begin = 0;
  for (auto end = line_.find('\n', searched); end != std::string::npos; end = line_.find('\n', begin)) {
    const std::string_view line = std::string_view(line_).substr(begin, end - begin);
    begin = end + 1;
    if (!Trim(line).empty()) receiver_.on_message(line);
  }
  line_.erase(0, begin);
  if (line_.size() > options_.limits.max_message_bytes) {
    return Fail(ErrorCode::kResourceExhausted,
                fmt::format("it wrote a line of more than {} bytes", options_.limits.max_message_bytes));
  }
  if (!more) return Fail(ErrorCode::kClosed, "the server ended");
  return {};
}

void StdioTransport::TakeErrors(ServerProcess& process) {
  std::string text;
  (void)ReadAvailable(process.errors().get(), kReadBytes, text);
  const std::lock_guard lock(words_mutex_);
  errors_ += text;
  if (errors_.size() > kMaxErrorsBytes) errors_.erase(0, errors_.size() - kMaxErrorsBytes);
}

bool StdioTransport::AwaitEnd(ServerProcess& process) {
  const Deadline deadline = Deadline::After(options_.grace);
  std::string dropped;
  bool errors_open = true;  // some servers close it long before they end
  while (!deadline.passed()) {
    pollfd entries[] = {{process.watch().get(), POLLIN, 0},
                        {process.output().get(), POLLIN, 0},
                        {errors_open ? process.errors().get() : -1, POLLIN, 0}};
    // A stream that has ended is always ready: then only the process itself is waited for.
    const int ready = ::poll(entries, dropped.empty() ? 3 : 1, deadline.poll_timeout_ms());
    if (entries[0].revents != 0) break;
    if (ready <= 0) continue;
    std::string text;
    const auto more = ReadAvailable(process.output().get(), kReadBytes, text);
    if (entries[2].revents != 0) {
      TakeErrors(process);
      errors_open = (entries[2].revents & POLLIN) != 0;
    }
    if (!more || !*more) dropped = "over";
  }
  pollfd ended{process.watch().get(), POLLIN, 0};
  const bool over = ::poll(&ended, 1, 0) > 0;
  TakeErrors(process);
  return over;
}

void StdioTransport::End(ServerProcess& process) {
  if (const TurnGate::Holder turn = writing_.Take(Deadline::Never(), {}))
    input_.reset();  // which tells an MCP server to end
  bool over = AwaitEnd(process);
  if (!over) {
    process.Signal(SIGTERM);
    over = AwaitEnd(process);
  }
  if (!over) process.Signal(SIGKILL);
  const std::string how = process.Wait();
  const std::lock_guard lock(words_mutex_);
  ended_ = over ? how : "only when it was killed";
}

Status StdioTransport::Write(const McpOutgoing& message, bool& partly_written) {
  const PipeSignalBlock block;
  const std::string line = message.text + "\n";
  std::string_view rest = line;
  const Deadline deadline = Earlier(message.deadline, Deadline::After(options_.write_time));
  while (!rest.empty()) {
    const ssize_t wrote = ::write(input_.get(), rest.data(), rest.size());
    if (wrote > 0) {
      rest.remove_prefix(static_cast<std::size_t>(wrote));
      partly_written = !rest.empty();
    } else if (errno == EPIPE) {
      return Fail(ErrorCode::kClosed, "the server reads no more");
    } else if (errno == EAGAIN) {
      if (closing_ || message.stop.stop_requested()) return Fail(ErrorCode::kClosed, "stopped while sending");
      if (deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "the server does not read");
      (void)WaitFor(input_.get(), POLLOUT, Earlier(deadline, Deadline::After(kStopCheck)));
    } else if (errno != EINTR) {
      return FailErrno("cannot write to the server", errno);
    }
  }
  return {};
}

Status StdioTransport::Send(const McpOutgoing& message) {
  const Deadline deadline = Earlier(message.deadline, Deadline::After(options_.write_time));
  const TurnGate::Holder turn = writing_.Take(deadline, message.stop);
  if (!turn && message.stop.stop_requested()) return Fail(ErrorCode::kClosed, "stopped before it was sent");
  if (!turn) return Fail(ErrorCode::kDeadlineExceeded, "the server does not read what it is sent");
  if (!input_) return Fail(ErrorCode::kClosed, "the connection to the server has ended");
  bool partly_written = false;
  const Status written = Write(message, partly_written);
  // Half a line would run into the next message.
  if (partly_written) input_.reset();
  return written;
}

std::string StdioTransport::Ending() const {
  const std::lock_guard lock(words_mutex_);
  return ended_.empty() ? "" : "it ended " + ended_;
}

std::string StdioTransport::LastWords() const {
  const std::lock_guard lock(words_mutex_);
  const std::string_view all = Trim(errors_);
  return CleanLine(all.substr(all.size() - std::min(all.size(), kMaxWordsBytes)), kMaxWordsBytes);
}

void StdioTransport::Close() {
  if (!thread_.joinable()) return;
  closing_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

}  // namespace gloveport
