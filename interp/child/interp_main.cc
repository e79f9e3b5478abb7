// gloveport-interp: the only program of Gloveport that embeds Python. The host starts it with a control
// socket as descriptor 3 and the constant environment; by hand it does nothing but say so.
#include "gloveport/interp/child/interp_main.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/interp/child/launcher.h"
#include "gloveport/interp/child/template.h"
#include "gloveport/policy/codec.h"

namespace gloveport::child {
namespace {

bool IsSeqPacketSocket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

void SetUpProcess() {
  ::setsid();
  ::umask(077);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::syscall(__NR_close_range, wire::kControlFd + 1, ~0u, 0);
  ::fcntl(wire::kControlFd, F_SETFD, FD_CLOEXEC);
}

void ReportFailure(int control, const Error& error) {
  wire::TemplateReply reply;
  reply.error_code = ErrorCodeName(error.code);
  reply.message = error.message;
  reply.hint = error.hint;
  (void)SendWithFds(control, AsBytes(wire::Encode(reply)), {});
}

int Main() {
  SetUpProcess();
  UniqueFd control(wire::kControlFd);
  auto packet = ReceiveWithFds(control.get(), wire::kMaxTemplatePacket, 0, Deadline::Never());
  if (!packet) return 1;
  auto start = wire::DecodeTemplateStart(packet->bytes);
  if (!start) return 1;
  auto policy = ParsePolicy(start->policy, "policy");
  if (!policy) return ReportFailure(control.get(), policy.error()), 1;
  if (const Status ready = BecomeTemplate(*start, *policy, control); !ready) {
    return ReportFailure(control.get(), ready.error()), 1;
  }
  return RunTemplate(std::move(control), *start, *policy);
}

}  // namespace

void InterpMain() {
  if (!IsSeqPacketSocket(wire::kControlFd)) {
    std::fputs(
        "gloveport-interp is started by a program that links libgloveport; run `gloveport --help` instead.\n",
        stderr);
    ::_exit(2);
  }
  const int status = Main();
  // Neither a template nor a session runs destructors: Python's would touch, and so copy, every page it
  // shares.
  ::_exit(status);
}

}  // namespace gloveport::child
