#include "gloveport/tests/interp/child/session_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/interpreter.h"

namespace gloveport::testing {
namespace {

constexpr auto kGrace = std::chrono::milliseconds(900);
constexpr auto kSignalEvery = std::chrono::milliseconds(100);

[[noreturn]] void Fatal(const std::string& what) {
  std::fprintf(stderr, "session process: %s\n", what.c_str());
  std::abort();
}

// What the launcher's constant environment does for a real session.
void SetEnvironment() {
  ::setenv("MPLBACKEND", "Agg", 1);
  ::setenv("OMP_NUM_THREADS", "1", 1);
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  ::setenv("NUMEXPR_MAX_THREADS", "1", 1);
  ::setenv("MPLCONFIGDIR", "/tmp/gloveport-test-mpl", 1);
}

[[noreturn]] void ServeInChild(UniqueFd channel, int out, int err, const SessionConfig& config,
                               const std::filesystem::path& folder, std::optional<std::uint64_t> seed) {
  if (::dup2(out, 1) < 0 || ::dup2(err, 2) < 0 || ::chdir(folder.c_str()) != 0) ::_exit(3);
  ::close(0);
  if (!Interpreter::AfterFork(seed)) ::_exit(4);
  ::_exit(RunSession(Channel(std::move(channel)), config));
}

}  // namespace

void SessionProcess::WarmUp() {
  static const bool once = [] {
    SetEnvironment();
    if (const Status started = Interpreter::Start({}); !started) Fatal(started.error().message);
    if (const Status warm = Interpreter::Preload({"numpy", "pandas", "matplotlib.pyplot"}); !warm) {
      Fatal(warm.error().message);
    }
    Interpreter::Freeze();
    return true;
  }();
  (void)once;
}

bool SessionProcess::Has(const std::string& module) {
  const auto& missing = Interpreter::Missing();
  return std::none_of(missing.begin(), missing.end(),
                      [&](const std::string& line) { return line.starts_with(module); });
}

SessionProcess::SessionProcess(const SessionConfig& config, const std::filesystem::path& folder,
                               std::optional<std::uint64_t> seed) {
  WarmUp();
  auto sockets = MakeSocketPair();
  auto out = MakePipe();
  auto err = MakePipe();
  if (!sockets || !out || !err) Fatal("no descriptors");
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) Fatal("cannot fork");
  if (pid_ == 0) {
    sockets->first.reset();
    ServeInChild(std::move(sockets->second), out->write_end.get(), err->write_end.get(), config, folder,
                 seed);
  }
  channel_ = Channel(std::move(sockets->first));
  out_ = std::move(out->read_end);
  err_ = std::move(err->read_end);
  for (const int fd : {channel_.fd(), out_.get(), err_.get()}) {
    if (!SetNonBlocking(fd)) Fatal("cannot make a descriptor non-blocking");
  }
}

SessionProcess::~SessionProcess() { Kill(); }

void SessionProcess::Kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void SessionProcess::Close() {
  channel_.Close();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void SessionProcess::Signal(int signal, int value) const {
  ::sigqueue(pid_, signal, sigval{.sival_int = value});
}

void SessionProcess::Take(CellRun& run, const std::string& payload, const ToolHandler& tools) {
  auto message = wire::DecodeSessionMessage(payload);
  if (!message) Fatal("bad message: " + message.error().message);
  if (auto* done = std::get_if<wire::CellDone>(&*message)) run.done = std::move(*done);
  if (auto* answer = std::get_if<wire::FinalAnswer>(&*message)) {
    if (!run.final_answer) run.final_answer = std::move(*answer);
  }
  if (auto* display = std::get_if<wire::Display>(&*message)) run.displays.push_back(std::move(*display));
  if (auto* event = std::get_if<wire::Event>(&*message)) run.events.push_back(std::move(*event));
  if (auto* reply = std::get_if<wire::Reply>(&*message)) reply_ = std::move(*reply);
  if (auto* call = std::get_if<wire::ToolCall>(&*message)) {
    wire::ToolReply answer = tools ? tools(*call) : wire::ToolReply{.error_type = "ToolError"};
    answer.call = call->call;
    if (answer.value.empty()) answer.value = "\xf6";
    run.tool_calls.push_back(std::move(*call));
    if (!channel_.Send(wire::Encode(wire::HostMessage(std::move(answer))))) run.killed = true;
  }
}

void SessionProcess::PumpOnce(CellRun& run, int timeout_ms, const ToolHandler& tools) {
  pollfd entries[3] = {{channel_.fd(), POLLIN, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}};
  ::poll(entries, 3, timeout_ms);
  if (entries[1].revents != 0) (void)ReadAvailable(out_.get(), 1 << 20, run.out);
  if (entries[2].revents != 0) (void)ReadAvailable(err_.get(), 1 << 20, run.err);
  while (!run.done) {
    auto frame = channel_.TryReceive();
    if (!frame) {  // the session has gone
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
      return;
    }
    if (!*frame) break;
    Take(run, **frame, tools);
  }
  if (watch_) watch_(run);
}

CellRun SessionProcess::Run(const std::string& code, std::chrono::milliseconds timeout,
                            const ToolHandler& tools) {
  CellRun run;
  const std::uint32_t cell = next_cell_++;
  if (!channel_.Send(wire::Encode(wire::HostMessage(wire::RunCell{cell, code})))) return run;
  const auto start = std::chrono::steady_clock::now();
  auto signal_at = start + timeout;
  while (!run.done && pid_ > 0) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= start + timeout + kGrace) {
      run.killed = true;
      Kill();
    } else if (now >= signal_at) {
      run.timed_out = true;
      Signal(SIGUSR1, static_cast<int>(cell));
      signal_at = now + kSignalEvery;
    }
    if (pid_ > 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(signal_at - now).count();
      PumpOnce(run, static_cast<int>(std::clamp<long long>(left, 0, 1000)), tools);
    }
  }
  (void)ReadAvailable(out_.get(), 1u << 30, run.out);  // all of it was flushed before CellDone
  (void)ReadAvailable(err_.get(), 1u << 30, run.err);
  return run;
}

wire::Reply SessionProcess::Ask(const std::string& op, const Value& args) {
  const std::uint64_t id = next_request_++;
  reply_.reset();
  CellRun ignored;
  if (!channel_.Send(wire::Encode(wire::HostMessage(wire::Request{id, op, EncodeValue(args)})))) return {};
  while (!reply_ && pid_ > 0) PumpOnce(ignored, 1000, nullptr);
  return reply_ ? std::move(*reply_) : wire::Reply{};
}

}  // namespace gloveport::testing
