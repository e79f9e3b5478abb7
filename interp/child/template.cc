#include "gloveport/interp/child/template.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/interp/child/branch.h"
#include "gloveport/interp/child/heap_holes.h"
#include "gloveport/interp/child/interpreter.h"
#include "gloveport/interp/child/lockdown.h"
#include "gloveport/interp/child/repeatable.h"
#include "gloveport/interp/child/session_loop.h"

namespace gloveport::child {
namespace {

constexpr std::size_t kForkDescriptors = 6;  // channel, stdout, stderr, ring memory, own event, peer event

wire::TemplateReply ReplyOf(const Status& status) {
  wire::TemplateReply reply;
  reply.ok = status.has_value();
  if (!status) {
    reply.error_code = ErrorCodeName(status.error().code);
    reply.message = status.error().message;
    reply.hint = status.error().hint;
  }
  return reply;
}

class Template {
 public:
  Template(UniqueFd control, const wire::TemplateStart& start, const Policy& policy)
      : control_(std::move(control)), start_(start), policy_(policy), config_{start.inspector, policy, {}} {}

  int Run() {
    const Status warm = Prepare();
    wire::TemplateReply reply = ReplyOf(warm);
    reply.missing = Interpreter::Missing();
    // The pidfd of this process: the host does not see it otherwise, for its pid here is 1.
    const UniqueFd self(static_cast<int>(::syscall(__NR_pidfd_open, ::getpid(), 0)));
    const int fd = self.get();
    if (!Answer(reply, std::span(&fd, self ? 1 : 0)) || !warm) return 1;
    while (true) {
      auto packet =
          ReceiveWithFds(control_.get(), wire::kMaxTemplatePacket, kForkDescriptors, Deadline::Never());
      if (!packet) return packet.error().code == ErrorCode::kClosed ? 0 : 1;
      auto request = wire::DecodeTemplateRequest(packet->bytes);
      if (!request) return 1;
      if (request->reap) {
        if (!Answer(Reap(request->reap->pid))) return 1;
      } else if (const auto session_status = Fork(*request->fork, std::move(packet->fds))) {
        return *session_status;
      }
    }
  }

 private:
  Status Prepare() {
    const WarmUp warm_up = WhatToWarmUp();
    RETURN_IF_ERROR(CheckTemplate(start_, policy_));  // by forks, which cost least while there is no Python
    RETURN_IF_ERROR(Interpreter::Start({policy_.packages, warm_up, start_.hash_seed}));
    RETURN_IF_ERROR(Interpreter::Preload(policy_.preload, warm_up));
    LearnThreadNumbers();
    RETURN_IF_ERROR(PrepareSessions(config_));
    Interpreter::Freeze();
    if (warm_up == WarmUp::kAhead) FillHeapHoles();
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return FailErrno("cannot clear the dumpable flag", errno);
    return {};
  }

  WarmUp WhatToWarmUp() const {
    // Where there is no own root a fork cannot load modules with native code.
    if (!start_.own_root) return WarmUp::kAhead;
    if (start_.inspector) return WarmUp::kInspector;
    return start_.imports_ahead ? WarmUp::kAhead : WarmUp::kOnDemand;
  }

  bool Answer(const wire::TemplateReply& reply, std::span<const int> fds = {}) {
    return SendWithFds(control_.get(), AsBytes(wire::Encode(reply)), fds).has_value();
  }

  wire::TemplateReply Reap(pid_t pid) {
    wire::TemplateReply reply;
    reply.ok = pid > 1 && ::waitpid(pid, &reply.status, 0) == pid;
    return reply;
  }

  // In the template: answers the host and returns nothing. In the session: runs it and returns its exit
  // status.
  std::optional<int> Fork(const wire::ForkRequest& request, std::vector<UniqueFd> fds) {
    if (fds.size() != kForkDescriptors) {
      Answer(ReplyOf(Fail(ErrorCode::kProtocol, "a fork needs six descriptors")));
      return std::nullopt;
    }
    const pid_t pid = ::fork();
    if (pid == 0) return RunForked(request, std::move(fds));
    if (pid < 0) {
      Answer(ReplyOf(FailErrno("cannot fork a session", errno)));
      return std::nullopt;
    }
    UniqueFd pidfd(static_cast<int>(::syscall(__NR_pidfd_open, pid, 0)));
    if (!pidfd) {
      const Status failed = FailErrno("cannot open a pidfd", errno);
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
      Answer(ReplyOf(failed));
      return std::nullopt;
    }
    wire::TemplateReply reply;
    reply.ok = true;
    reply.pid = pid;
    const int fd = pidfd.get();
    Answer(reply, std::span(&fd, 1));
    return std::nullopt;
  }

  int RunForked(const wire::ForkRequest& request, std::vector<UniqueFd> fds) {
    control_.reset();
    // The channel takes the control socket's place.
    if (::dup2(fds[0].get(), wire::kControlFd) < 0 || ::dup2(fds[1].get(), STDOUT_FILENO) < 0 ||
        ::dup2(fds[2].get(), STDERR_FILENO) < 0) {
      return 1;
    }
    Channel channel{UniqueFd(wire::kControlFd)};
    auto memory = RingMemory::Map(fds[3].get());
    if (!memory) return 1;
    channel.Attach(RingEnd::ForSession(std::move(*memory), std::move(fds[4]), std::move(fds[5])));
    fds.clear();
    if (policy_.clock) SetWallClock(*policy_.clock);
    if (const Status status = Interpreter::AfterFork(request.seed); !status) return 1;
    auto report = LockDown(start_, policy_, request, channel);
    if (!report) return 1;
    config_.ready_report = std::move(*report);
    return RunSession(std::move(channel), config_);
  }

  UniqueFd control_;
  const wire::TemplateStart& start_;
  const Policy& policy_;
  SessionConfig config_;
};

}  // namespace

int RunTemplate(UniqueFd control, const wire::TemplateStart& start, const Policy& policy) {
  return Template(std::move(control), start, policy).Run();
}

}  // namespace gloveport::child
