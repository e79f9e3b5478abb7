#include "gloveport/core/host/cell_run.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/limit_hit.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/core/wire/cbor.h"

namespace gloveport {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGrace{1000};         // between a soft stop and the kill
constexpr milliseconds kSampleInterval{50};  // of CPU time and memory
constexpr std::size_t kMaxListed = 200;      // displays that one result lists
constexpr std::size_t kMaxRecords = 10'000;  // tool calls that one result lists
constexpr int kFramesAtOnce = 64;            // before deadlines, output and everything else get their turn
constexpr std::size_t kReadChunk = 256 * 1024;
constexpr std::uint64_t kFloodFactor = 512;  // output beyond this many times the kept bytes ends the cell
constexpr std::uint64_t kResidentSlack =
    64ull << 20;  // libraries and shared pages that come in without being asked for

// How the child is told to stop a cell; it takes the signal only for the cell whose number comes with it.
constexpr int kTimeoutSignal = SIGUSR1;
constexpr int kInterruptSignal = SIGUSR2;

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

PythonError ReadError(const Value& map) {
  PythonError error;
  error.type = map.TextOr("type", "Exception");
  error.message = map.TextOr("message", "");
  error.line = static_cast<int>(map.IntOr("line", 0));
  error.cell = static_cast<int>(map.IntOr("cell", 0));
  error.traceback = map.TextOr("traceback", "");
  return error;
}

}  // namespace

CellRun::CellRun(SessionProcess& process, const CellEnvironment& environment, std::uint32_t cell)
    : process_(process),
      environment_(environment),
      cell_(cell),
      out_(environment.policy.limits.output_kib * 1024),
      err_(environment.policy.limits.output_kib * 1024),
      order_(environment.sink, environment.session, cell),
      displays_(kMaxListed),
      calls_(process,
             {environment.session, environment.policy, environment.gate, environment.tools,
              environment.dispatcher, environment.totals, environment.desk, environment.sink,
              environment.hook, environment.hook_time},
             *this, cell),
      kept_budget_(environment.policy.limits.result_mib << 20),
      evidence_(environment.session, cell, environment.sink),
      meter_(process.pid(), environment.totals, environment.counters) {
  result_.cell = cell;
}

CellResult CellRun::Run(std::string_view code, milliseconds wall, Approved approved,
                        std::optional<std::chrono::nanoseconds> clock) {
  clock_ = CellClock(wall);
  sample_at_ = Deadline::After(kSampleInterval);
  const wire::RunCell message{cell_, std::string(code), approved == Approved::kYes, clock};
  if (const auto sent = process_.channel().Send(wire::Encode(wire::HostMessage(message)), deadline()); !sent)
    OnBrokenChannel(sent.error());
  Loop();
  Finish();
  return std::move(result_);
}

void CellRun::Loop() {
  while (!done_ && !exited_) {
    WaitForEvents();
    TakeFrames();
    calls_.AnswerDecided();
    calls_.waits_for_person() ? clock_.Stop() : clock_.GoOn();
    CheckDeadlines();
  }
}

void CellRun::TakeFrames() {
  for (int i = 0; i < kFramesAtOnce; ++i) {
    if (!ReadFrame()) return order_.Tell();
  }
}

Deadline CellRun::NextDeadline() const {
  return Earlier(Earlier(sample_at_, calls_.NextDeadline()),
                 stop_ == Stop::kNone ? deadline() : kill_deadline_);
}

void CellRun::WaitForEvents() {
  std::array<pollfd, 5> others = {
      pollfd{out_open_ ? process_.out() : -1, POLLIN, 0},
      pollfd{err_open_ ? process_.err() : -1, POLLIN, 0},
      pollfd{process_.witness().fd(), POLLIN, 0},
      pollfd{process_.pidfd(), POLLIN, 0},
      pollfd{environment_.dispatcher.wake_fd(), POLLIN, 0},
  };
  process_.channel().Wait(others, NextDeadline(),
                          calls_.none_in_flight() ? Expect::kFrame : Expect::kAnything);
  if (others[0].revents | others[1].revents) ReadOutput();
  if (others[2].revents & POLLIN) AnswerHeldCall();
  exited_ = (others[3].revents & POLLIN) != 0;
  if (others[4].revents & POLLIN) {
    // A tool that waited until the cell's deadline fails at that moment: the cell ends of the limit, not of
    // that.
    if (deadline().passed()) RequestStop(Stop::kWall);
    calls_.AnswerCompleted();
  }
}

void CellRun::AnswerHeldCall() {
  if (const Status answered = process_.witness().AnswerOne(); !answered)
    return Violate(answered.error().message);
  TakeWitnessed();
}

void CellRun::TakeWitnessed() {
  if (const auto violation = evidence_.Take(process_.witness(), process_.pid())) {
    KillFor(Outcome::kViolation, "",
            fmt::format("the code made a system call that only an attack makes, {}; its process was ended",
                        *violation));
  }
}

void CellRun::CheckDeadlines() {
  if (environment_.interrupt.exchange(false)) RequestStop(Stop::kInterrupt);
  if (deadline().passed()) RequestStop(Stop::kWall);
  calls_.AnswerLate();
  if (sample_at_.passed()) {
    sample_at_ = Deadline::After(kSampleInterval);
    meter_.SampleCpu();
    const Limits& limits = environment_.policy.limits;
    if (meter_.cpu() > limits.cpu) RequestStop(Stop::kCpu);
    if (meter_.total_cpu() > limits.total_cpu) RequestStop(Stop::kTotalCpu);
    CheckMemory();
    if (environment_.disk) CheckDisk(environment_.disk->AddedBytes());
  }
  if (stop_ != Stop::kNone && kill_deadline_.passed() && !done_) {
    KillFor(StopOutcome(), LimitOf(stop_),
            StopMessage() + "; the code did not stop when asked, so its process was ended");
  }
}

// RLIMIT_DATA is the limit on memory; this catches what it does not count (shared mappings).
void CellRun::CheckMemory() {
  if (!meter_.SampleMemory()) return;
  const std::uint64_t limit = environment_.policy.limits.memory_mib << 20;
  const bool too_much = meter_.resident_growth_bytes() > limit + kResidentSlack;
  if (too_much || environment_.family.SharedGrowthBytes() > limit + kResidentSlack) {
    KillFor(Outcome::kMemory, "memory", Hit("memory").message);
  }
}

void CellRun::CheckDisk(std::uint64_t added_bytes) {
  if (added_bytes > environment_.policy.limits.disk_mib << 20)
    KillFor(Outcome::kOutputLimit, "disk", Hit("disk").message);
}

// Asks the child first: the cell is unwound and the state kept. Only code that never looks is killed.
void CellRun::RequestStop(Stop reason) {
  if (stop_ != Stop::kNone) return;
  stop_ = reason;
  kill_deadline_ = Deadline::After(kGrace);
  process_.Signal(reason == Stop::kInterrupt || reason == Stop::kCalls ? kInterruptSignal : kTimeoutSignal,
                  cell_);
  environment_.dispatcher.StopCalls();
}

void CellRun::KillFor(Outcome outcome, std::string_view limit, std::string message) {
  if (killed_for_) return;
  killed_for_ = outcome;
  if (!limit.empty()) result_.limit = Hit(limit);
  result_.error =
      PythonError{std::string(OutcomeName(outcome)), std::move(message), 0, static_cast<int>(cell_), ""};
  process_.Kill();
}

// What the result holds of what a child sent. Nothing where the cell was ended for it.
std::optional<Value> CellRun::Keep(std::string_view encoded, const char* what) {
  auto kept = DecodeWithin(kept_budget_, encoded);
  if (kept) return std::move(kept->value);
  if (kept.error().code == ErrorCode::kResourceExhausted) {
    KillFor(Outcome::kOutputLimit, "result", Hit("result").message);
  } else {
    Violate(fmt::format("{}: {}", what, kept.error().message));
  }
  return std::nullopt;
}

bool CellRun::KeepText(std::size_t bytes) {
  if (kept_budget_.Take(bytes)) return true;
  KillFor(Outcome::kOutputLimit, "result", Hit("result").message);
  return false;
}

void CellRun::ReadOutput() {
  if (out_open_) out_open_ = ReadStream(process_.out(), out_, Stream::kStdout);
  if (err_open_) err_open_ = ReadStream(process_.err(), err_, Stream::kStderr);
  const Limits& limits = environment_.policy.limits;
  const std::uint64_t written = out_.total_bytes() + err_.total_bytes();
  if (written > limits.output_kib * 1024 * kFloodFactor)
    KillFor(Outcome::kOutputLimit, "output", Hit("output").message);
  if (environment_.totals.output_bytes + written > limits.total_output_mib << 20)
    KillFor(Outcome::kOutputLimit, "total_output", Hit("total_output").message);
}

// False at the end: a session may close its standard streams, and poll would not sleep on what is closed.
bool CellRun::ReadStream(int fd, OutputBuffer& buffer, Stream stream) {
  std::string text;
  const bool open = ReadAvailable(fd, kReadChunk, text).value_or(false);
  if (text.empty()) return open;
  buffer.Append(text);
  order_.Add(stream, text);
  return open;
}

// True where there was one, and there may be more.
bool CellRun::ReadFrame() {
  if (done_ || killed_for_ || channel_closed_) return false;
  auto frame = process_.channel().TryReceive();
  if (!frame) return OnBrokenChannel(frame.error()), false;
  if (!*frame) return false;
  auto message = wire::DecodeSessionMessage(**frame);
  if (!message) return Violate(message.error().message), false;
  frame->reset();  // it may be large
  Take(*message);
  return true;
}

void CellRun::OnBrokenChannel(const Error& error) {
  if (error.code == ErrorCode::kDeadlineExceeded) {
    return KillFor(Outcome::kTimeout, "wall",
                   Hit("wall").message + "; the process did not even take the code");
  }
  // Half a frame may be all that a process that crashed has left.
  pollfd hung_up{process_.channel().fd(), 0, 0};
  const bool closed = error.code == ErrorCode::kClosed || ::poll(&hung_up, 1, 0) > 0;
  if (!closed) return Violate(error.message);
  // A process that ends closes its channel a moment before its end can be seen, and its end gives the
  // outcome.
  channel_closed_ = true;
  if (!WaitFor(process_.pidfd(), POLLIN, Deadline::After(kGrace)))
    return Violate("it closed its channel and went on");
  exited_ = true;
}

void CellRun::Take(wire::SessionMessage& message) {
  if (auto* call = std::get_if<wire::ToolCall>(&message)) {
    order_.Tell();  // the cell waits: all of it was written before
    return calls_.Take(*call);
  }
  if (auto* answer = std::get_if<wire::FinalAnswer>(&message)) return On(*answer);
  if (auto* display = std::get_if<wire::Display>(&message)) return On(*display);
  if (auto* event = std::get_if<wire::Event>(&message)) return On(*event);
  if (auto* done = std::get_if<wire::CellDone>(&message)) return On(*done);
  Violate("a message that does not belong into a running cell");
}

void CellRun::Violate(std::string what) {
  KillFor(Outcome::kProtocolError, "", "the session broke the protocol: " + std::move(what));
}

void CellRun::OnCallLimit(LimitHit hit) { call_limit_ = result_.limit = std::move(hit); }

// Half a frame may have been written: the process cannot go on.
void CellRun::OnHalfAnswer() {
  RequestStop(Stop::kWall);
  kill_deadline_ = Deadline::After(milliseconds(0));
}

void CellRun::Record(ToolCallRecord record) {
  if (environment_.sink) environment_.sink->OnToolCall(environment_.session, cell_, record);
  if (result_.tool_calls.size() >= kMaxRecords) return;
  // Beyond what a result may hold, a call is still listed; the sink had all of it.
  if (!kept_budget_.Take(CostOf(record.args) + CostOf(record.result)))
    record.args = record.result = Value("not kept: too large");
  result_.tool_calls.push_back(std::move(record));
}

void CellRun::On(wire::FinalAnswer& answer) {
  if (answer.cell != cell_) return Violate("a final answer for a cell that does not run");
  if (result_.final_answer) return;  // the first one counts, whatever comes after it
  auto value = Keep(answer.value, "a final answer");
  if (!value || !KeepText(answer.repr.size() + answer.explanation.size())) return;
  result_.final_answer =
      FinalAnswerValue{std::move(*value), std::move(answer.repr), std::move(answer.explanation)};
}

void CellRun::On(wire::Display& display) {
  if (display.cell != cell_) return Violate("a display for a cell that does not run");
  auto bundle = Keep(display.bundle, "a display");
  if (!bundle) return;
  if (!bundle->is_map()) return Violate("a display that is no map");
  ReadOutput();  // what was written before it is in the pipes
  order_.TellBefore(*bundle);
  Show(std::move(*bundle));
}

void CellRun::Show(Value display) {
  if (displays_.Add(display) && environment_.sink)
    environment_.sink->OnDisplay(environment_.session, cell_, display);
}

void CellRun::On(wire::Event& event) {
  if (const Status taken = evidence_.Take(event); !taken) Violate(taken.error().message);
}

void CellRun::On(wire::CellDone& done) {
  if (done.cell != cell_) return Violate("the end of a cell that does not run");
  auto value = Keep(done.value, "a value");
  if (!value) return;
  auto error = Keep(done.error, "an error");
  if (!error || !KeepText(done.repr.size() + done.type.size())) return;
  result_.value = std::move(*value);
  result_.repr = std::move(done.repr);
  result_.type = std::move(done.type);
  if (error->is_map()) result_.error = ReadError(*error);
  if (done.status == "timeout" && stop_ != Stop::kWall && stop_ != Stop::kCpu && stop_ != Stop::kTotalCpu)
    return Violate("a time-out that nobody asked for");
  if (done.status == "timeout") {
    result_.outcome = Outcome::kTimeout;
    result_.limit = Hit(LimitOf(stop_));
    if (result_.error) result_.error->message = result_.limit->message;
  } else if (done.status == "memory") {
    result_.outcome = Outcome::kMemory;
    result_.limit = Hit("memory");
    if (result_.error && result_.error->message.empty()) result_.error->message = result_.limit->message;
  } else {
    result_.outcome = done.status == "ok" ? Outcome::kOk : Outcome::kError;
    if (stop_ == Stop::kCalls && result_.error) result_.error->message = StopMessage();
  }
  // Out of memory it may not even be able to say what happened.
  if (result_.outcome != Outcome::kOk && !result_.error) {
    std::string message =
        result_.limit ? result_.limit->message : "the session did not say which error it was";
    result_.error = PythonError{std::string(OutcomeName(result_.outcome)), std::move(message), 0,
                                static_cast<int>(cell_), ""};
  }
  done_ = true;
}

Outcome CellRun::StopOutcome() const {
  return stop_ == Stop::kInterrupt || stop_ == Stop::kCalls ? Outcome::kKilled : Outcome::kTimeout;
}

std::string_view CellRun::LimitOf(Stop stop) const {
  switch (stop) {
    case Stop::kWall:
      return "wall";
    case Stop::kCpu:
      return "cpu";
    case Stop::kTotalCpu:
      return "total_cpu";
    case Stop::kCalls:
      return call_limit_ ? std::string_view(call_limit_->limit) : std::string_view();
    case Stop::kNone:
    case Stop::kInterrupt:
      break;
  }
  return "";
}

std::string CellRun::StopMessage() const {
  if (stop_ == Stop::kCalls)
    return fmt::format("more than {} tool calls of one cell were refused, the last {}",
                       CellCalls::kMaxRefused,
                       call_limit_ ? "because of this: " + call_limit_->message : "for other reasons");
  const std::string_view limit = LimitOf(stop_);
  return limit.empty() ? "interrupted" : Hit(limit).message;
}

LimitHit CellRun::Hit(std::string_view name) const {
  const Limits& limits = environment_.policy.limits;
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  const auto in = [](std::uint64_t bytes, int shift) {
    return static_cast<double>(bytes) / static_cast<double>(1u << shift);
  };
  const std::uint64_t written = out_.total_bytes() + err_.total_bytes();
  if (name == "wall") return MakeLimitHit(name, seconds(clock_.limit()), seconds(clock_.used()));
  if (name == "cpu") return MakeLimitHit(name, seconds(limits.cpu), seconds(meter_.cpu()));
  if (name == "total_cpu") return MakeLimitHit(name, seconds(limits.total_cpu), seconds(meter_.total_cpu()));
  if (name == "memory")
    return MakeLimitHit(name, static_cast<double>(limits.memory_mib), in(meter_.peak_growth_bytes(), 20));
  if (name == "disk")
    return MakeLimitHit(name, static_cast<double>(limits.disk_mib), in(environment_.disk->AddedBytes(), 20));
  if (name == "output")
    return MakeLimitHit(name, static_cast<double>(limits.output_kib * kFloodFactor), in(written, 10));
  if (name == "total_output")
    return MakeLimitHit(name, static_cast<double>(limits.total_output_mib),
                        in(environment_.totals.output_bytes + written, 20));
  if (name == "result")
    return MakeLimitHit(name, static_cast<double>(limits.result_mib), in(kept_budget_.used_bytes(), 20));
  return call_limit_.value_or(MakeLimitHit(name, 0, 0));
}

void CellRun::Finish() {
  ReadOutput();  // all that was written before the end is in the pipes by now
  if (environment_.disk) CheckDisk(environment_.disk->AddedBytesNow());
  if (done_ && !killed_for_) {
    result_.state = SessionState::kKept;
  } else {
    while (ReadFrame()) {  // a final answer may have been sent just before the end
    }
    FinishFromExit();
  }
  if (result_.final_answer && !killed_for_) result_.outcome = Outcome::kOk;
  if (result_.final_answer && result_.outcome == Outcome::kOk) result_.error.reset();
  order_.Tell();
  result_.displays = displays_.Take();
  calls_.WithdrawApprovals();
  environment_.dispatcher.StopCalls();
  FillUsage();
  TrimSharedMemory();
}

// What large arguments and results took goes back to the system. A thread that an earlier cell has started
// may just be putting something there: then not now.
void CellRun::TrimSharedMemory() {
  if (result_.state == SessionState::kLost) return;
  SharedView& incoming = *process_.channel().incoming();
  const bool used = incoming.used();
  process_.channel().outgoing()->Trim();
  if (used && ReadThreadCount(process_.pid()) == 1) incoming.Trim();
}

// The process is gone, or must go: what it was killed for, or how it ended by itself.
void CellRun::FinishFromExit() {
  if (killed_for_) process_.Kill();
  const int status = process_.WaitForExit();
  for (int i = 0; i < 64; ++i) {  // what is left in the pipes, a bounded number of chunks
    const std::uint64_t before = out_.total_bytes() + err_.total_bytes();
    ReadOutput();
    if (out_.total_bytes() + err_.total_bytes() == before) break;
  }
  result_.state = SessionState::kLost;
  TakeWitnessed();  // whoever waits for a copy of this session answers its calls too
  // Whoever was told to stop and ended, ended of that, be it that the signal itself killed it.
  if (stop_ != Stop::kNone) KillFor(StopOutcome(), LimitOf(stop_), StopMessage());
  if (killed_for_) {
    result_.outcome = *killed_for_;
    return;
  }
  std::string message;
  if (WIFEXITED(status) && WEXITSTATUS(status) == wire::kOutOfMemoryStatus) {
    result_.outcome = Outcome::kMemory;
    result_.limit = Hit("memory");
    message = result_.limit->message;
  } else if (WIFEXITED(status)) {
    result_.outcome = Outcome::kCrashed;
    message = fmt::format("the interpreter ended with exit status {}", WEXITSTATUS(status));
  } else {
    const int signal = WTERMSIG(status);
    result_.outcome = signal == SIGSYS    ? Outcome::kViolation
                      : signal == SIGKILL ? Outcome::kKilled
                                          : Outcome::kCrashed;
    message = signal == SIGSYS
                  ? "the code made a system call that only an attack makes; its process was ended"
                  : fmt::format("the interpreter was ended by {}", SignalName(signal));
    if (signal == SIGSYS) evidence_.AddRefusal({"kernel", "syscall", "violation", message});
  }
  result_.error = PythonError{std::string(OutcomeName(result_.outcome)), std::move(message), 0,
                              static_cast<int>(cell_), ""};
}

void CellRun::FillUsage() {
  meter_.Finish(result_.state);
  environment_.totals.output_bytes += out_.total_bytes() + err_.total_bytes();
  Usage& usage = result_.usage;
  meter_.Fill(usage);
  usage.tool_calls = calls_.count();
  usage.output_bytes = out_.total_bytes() + err_.total_bytes();
  evidence_.Fill(usage);
  result_.out = out_.Text();
  result_.err = err_.Text();
  result_.truncated_out_bytes = out_.cut_bytes();
  result_.truncated_err_bytes = err_.cut_bytes();
}

}  // namespace gloveport
