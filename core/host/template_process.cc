#include "gloveport/core/host/template_process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/host/proc_stat.h"
#include "gloveport/core/host/session_ends.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/environment.h"
#include "gloveport/policy/landlock.h"
#include "gloveport/policy/syscall_filter.h"

namespace gloveport {
namespace {

// Thread arenas reserve, but do not use, 64 MiB each; the shared memory of a session and of its copy are
// mapped at the same time for a moment.
constexpr std::uint64_t kAddressSpaceRoom = (2ull << 30) + 4 * kSharedSpaceBytes;

// A root host's templates run as a user that owns nothing. The range is far above those that systems hand
// out; each template of a host takes another, so that per-user limits are not shared.
std::uint32_t SpareUid() {
  static std::atomic<std::uint32_t> next{0};
  constexpr std::uint32_t kFirst = 0x6C000000;
  constexpr std::uint32_t kCount = 0x01000000;
  return kFirst + (static_cast<std::uint32_t>(::getpid()) * 64 + next++) % kCount;
}

struct ControlPair {
  UniqueFd host;
  UniqueFd child;
};

Result<ControlPair> MakeControlPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return FailErrno("socketpair", errno);
  return ControlPair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

ErrorCode CodeFromName(std::string_view name) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    if (ErrorCodeName(static_cast<ErrorCode>(code)) == name) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

bool WitnessesOpens(const TemplateOptions& options) {
  return !options.inspector && options.policy.evidence.opens == EvidenceSource::kKernel;
}

// Compiled once in a process for all its templates: it takes milliseconds.
Result<SyscallFilter> FilterFor(const SyscallFilterOptions& wanted) {
  static std::mutex mutex;
  static std::optional<SyscallFilter> compiled[4];
  const std::lock_guard lock(mutex);
  auto& filter = compiled[(wanted.host_root_visible ? 2 : 0) + (wanted.witness_opens ? 1 : 0)];
  if (!filter) {
    ASSIGN_OR_RETURN(filter, CompileSyscallFilter(wanted));
  }
  return *filter;
}

Result<std::string> StartPacket(const TemplateOptions& options, bool landlock, std::uint32_t spare_uid) {
  ASSIGN_OR_RETURN(const SyscallFilter filter, FilterFor({.host_root_visible = !options.own_root,
                                                          .witness_opens = WitnessesOpens(options)}));
  wire::TemplateStart start;
  start.inspector = options.inspector;
  start.imports_ahead = options.imports == Imports::kAhead;
  start.own_root = options.own_root;
  start.hash_seed = options.hash_seed;
  start.landlock = landlock;
  // A root host can read its sessions anyway.
  start.dumpable = WitnessesOpens(options) && spare_uid == 0;
  start.spare_uid = spare_uid;
  start.policy = PolicyToJson(options.policy);
  start.workdir = options.workdir;
  start.notify_filter = filter.notify.bytes;
  start.main_filter = filter.main.bytes;
  return wire::Encode(start);
}

}  // namespace

Result<std::shared_ptr<TemplateProcess>> TemplateProcess::Start(Spawner& spawner,
                                                                const std::filesystem::path& program,
                                                                const TemplateOptions& options,
                                                                const Patience& patience) {
  const bool landlock = LandlockAbi() > 0;
  if (!landlock && (!options.own_root || options.policy.Requires("landlock"))) {
    return Fail(ErrorCode::kConfinementUnavailable, "this kernel has no Landlock, which the policy requires",
                "run on Linux 5.13 or later with landlock in the lsm= list, or require own_root instead");
  }
  const std::uint32_t spare_uid = ::geteuid() == 0 ? SpareUid() : 0;
  if (options.scratch && spare_uid && ::chown(options.workdir.c_str(), spare_uid, spare_uid) != 0) {
    return FailErrno(fmt::format("cannot give away the work folder {}", options.workdir), errno);
  }
  ASSIGN_OR_RETURN(const std::string packet, StartPacket(options, landlock, spare_uid));
  ASSIGN_OR_RETURN(ControlPair control, MakeControlPair());
  ASSIGN_OR_RETURN(Pipe diagnostics, MakePipe());
  SpawnRequest request{
      program, ConstantEnvironment(options.own_root ? kWorkFolder : std::string_view(options.workdir)),
      control.child.get(), diagnostics.write_end.get()};
  ASSIGN_OR_RETURN(const pid_t pid, spawner.Spawn(request));

  std::shared_ptr<TemplateProcess> process(new TemplateProcess);
  process->options_ = options;
  process->landlock_ = landlock;
  if (WitnessesOpens(options)) {
    process->open_judge_ = std::make_shared<OpenJudge>(
        options.policy, options.own_root ? kWorkFolder : std::string_view(options.workdir), options.own_root,
        landlock);
  }
  process->patience_ = patience;
  process->pid_ = pid;
  process->control_ = std::move(control.host);
  process->diagnostics_ = std::move(diagnostics.read_end);
  control.child.reset();
  diagnostics.write_end.reset();
  RETURN_IF_ERROR(SetNonBlocking(process->diagnostics_.get()));
  RETURN_IF_ERROR(SendWithFds(process->control_.get(), AsBytes(packet), {}));
  if (auto status = process->Handshake(Deadline::After(patience.template_start)); !status)
    return tl::unexpected<Error>(process->WithDiagnostics(status.error()));
  return process;
}

TemplateProcess::~TemplateProcess() {
  control_.reset();  // the template ends itself; the signal is for one that is stuck
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

Status TemplateProcess::Handshake(Deadline deadline) {
  auto answer = ReceiveWithFds(control_.get(), wire::kMaxTemplatePacket, 1, deadline);
  if (!answer && answer.error().code == ErrorCode::kDeadlineExceeded) {
    return Fail(ErrorCode::kDeadlineExceeded, "the template was not ready in time",
                "raise RuntimeOptions::patience on a machine that is this slow");
  }
  if (!answer && answer.error().code == ErrorCode::kProtocol) return tl::unexpected<Error>(answer.error());
  if (!answer) return Fail(ErrorCode::kInternal, "the template ended while it started");
  ASSIGN_OR_RETURN(const wire::TemplateReply reply, wire::DecodeTemplateReply(answer->bytes));
  if (!reply.ok) return Fail(CodeFromName(reply.error_code), reply.message, reply.hint);
  if (answer->fds.size() != 1)
    return Fail(ErrorCode::kProtocol, "the template did not say which process it is");
  missing_ = reply.missing;
  ASSIGN_OR_RETURN(template_pid_, PidOf(answer->fds[0].get()));
  if (template_pid_ != pid_ && ReadParentProcess(template_pid_) != pid_)
    return Fail(ErrorCode::kProtocol, "the template passed another process off as itself");
  ASSIGN_OR_RETURN(const MemoryUse memory, ReadMemoryUse(template_pid_));
  const std::uint64_t allowed = options_.policy.limits.memory_mib << 20;
  anonymous_bytes_ = ReadAnonymousBytes(template_pid_);
  data_bytes_ = memory.data_bytes + allowed;
  address_space_bytes_ = memory.address_space_bytes + allowed + kAddressSpaceRoom;
  return {};
}

Error TemplateProcess::WithDiagnostics(Error error) {
  std::string text;
  (void)ReadAvailable(diagnostics_.get(), 4096, text);
  if (!Trim(text).empty()) error.message += fmt::format(" (it wrote: {})", EscapeForTerminal(Trim(text)));
  return error;
}

Result<std::pair<wire::TemplateReply, std::vector<UniqueFd>>> TemplateProcess::Ask(const std::string& packet,
                                                                                   std::span<const int> fds) {
  const std::lock_guard lock(mutex_);
  if (broken_) return Fail(ErrorCode::kClosed, "the template does not answer");
  auto answer = Exchange(packet, fds);
  if (!answer) broken_ = true;  // a late answer would be taken for that to the next question
  if (answer && !answer->first.ok)
    return Fail(CodeFromName(answer->first.error_code), answer->first.message, answer->first.hint);
  return answer;
}

Result<std::pair<wire::TemplateReply, std::vector<UniqueFd>>> TemplateProcess::Exchange(
    const std::string& packet, std::span<const int> fds) {
  RETURN_IF_ERROR(SendWithFds(control_.get(), AsBytes(packet), fds));
  ASSIGN_OR_RETURN(ReceivedMessage answer, ReceiveWithFds(control_.get(), wire::kMaxTemplatePacket, 1,
                                                          Deadline::After(patience_.session_start)));
  ASSIGN_OR_RETURN(wire::TemplateReply reply, wire::DecodeTemplateReply(answer.bytes));
  return std::pair(std::move(reply), std::move(answer.fds));
}

Result<ForkedSession> TemplateProcess::Fork(std::optional<std::uint64_t> seed) {
  ASSIGN_OR_RETURN(SessionEnds ends, SessionEnds::Make());
  const std::string request = wire::Encode(wire::ForkRequest{data_bytes_, address_space_bytes_, seed});
  ForkedSession session;
  {
    const std::lock_guard lock(children_mutex_);
    ASSIGN_OR_RETURN(auto answer, Ask(request, ends.ForSession()));
    if (answer.second.size() != 1)
      return Fail(ErrorCode::kProtocol, "the template answered a fork without a pidfd");
    session.pid_inside = answer.first.pid;
    session.pidfd = std::move(answer.second[0]);
    ASSIGN_OR_RETURN(session.pid, PidOf(session.pidfd.get()));
    children_.insert(session.pid);
  }
  // What the host measures and kills must be what it asked for, and never, for example, the host itself.
  if (!IsChild(session.pid))
    return Fail(ErrorCode::kProtocol, "the template answered a fork with a process that is not its child");
  session.channel = std::move(ends.channel);
  session.out = std::move(ends.out);
  session.err = std::move(ends.err);
  return session;
}

bool TemplateProcess::IsChild(pid_t pid) const { return ReadParentProcess(pid) == template_pid_; }

void TemplateProcess::Adopt(pid_t pid) {
  const std::lock_guard lock(children_mutex_);
  children_.insert(pid);
}

void TemplateProcess::KillStrays() {
  const std::lock_guard lock(children_mutex_);
  for (const pid_t pid : ReadChildren(template_pid_)) {
    if (children_.contains(pid)) continue;
    const UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, pid, 0)));
    const pid_t inside = ReadInnerProcessNumber(pid);
    // Its number may have gone to another process before the descriptor was there.
    if (!pidfd || inside <= 1 || !IsChild(pid)) continue;
    ::syscall(__NR_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
    (void)Ask(wire::Encode(wire::ReapRequest{inside}), {});
  }
}

Result<int> TemplateProcess::Reap(const ForkedSession& session) {
  ASSIGN_OR_RETURN(auto answer, Ask(wire::Encode(wire::ReapRequest{session.pid_inside}), {}));
  const std::lock_guard lock(children_mutex_);
  children_.erase(session.pid);
  return answer.first.status;
}

bool TemplateProcess::alive() const {
  if (broken_) return false;
  pollfd entry{control_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 0 || !(entry.revents & (POLLHUP | POLLERR));
}

}  // namespace gloveport
