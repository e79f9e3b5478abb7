#include "gloveport/tests/attacks/bpf_machine.h"

#include <fmt/core.h>
#include <linux/filter.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace gloveport {
namespace {

std::vector<sock_filter> InstructionsOf(const BpfProgram& program) {
  std::vector<sock_filter> code(program.bytes.size() / sizeof(sock_filter));
  std::memcpy(code.data(), program.bytes.data(), code.size() * sizeof(sock_filter));
  return code;
}

bool Holds(const sock_filter& jump, std::uint32_t a) {
  switch (BPF_OP(jump.code)) {
    case BPF_JEQ:
      return a == jump.k;
    case BPF_JGT:
      return a > jump.k;
    case BPF_JGE:
      return a >= jump.k;
    case BPF_JSET:
      return (a & jump.k) != 0;
    default:
      throw std::logic_error("a jump that is not known");
  }
}

// The kernel's order, the strictest first.
int Strictness(std::uint32_t action) { return static_cast<std::int32_t>(action & SECCOMP_RET_ACTION_FULL); }

std::string ErrorName(std::uint32_t error) {
  if (error == EPERM) return "EPERM";
  if (error == ENOSYS) return "ENOSYS";
  return error == ENOTSUP ? "ENOTSUP" : fmt::format("error {}", error);
}

}  // namespace

std::uint32_t RunBpf(const BpfProgram& program, const seccomp_data& call) {
  const std::vector<sock_filter> code = InstructionsOf(program);
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    const sock_filter& step = code[at];
    if (step.code == (BPF_LD | BPF_W | BPF_ABS)) {
      std::memcpy(&a, reinterpret_cast<const char*>(&call) + step.k, sizeof a);
    } else if (step.code == (BPF_ALU | BPF_AND | BPF_K)) {
      a &= step.k;
    } else if (step.code == (BPF_RET | BPF_K)) {
      return step.k;
    } else if (step.code == (BPF_JMP | BPF_JA)) {
      at += step.k;
    } else if (BPF_CLASS(step.code) == BPF_JMP && BPF_SRC(step.code) == BPF_K) {
      at += Holds(step, a) ? step.jt : step.jf;
    } else {
      throw std::logic_error(fmt::format("instruction {:#x} is not known", step.code));
    }
  }
  throw std::logic_error("the program ends without a return");
}

std::string AnswerOf(const SyscallFilter& filter, const seccomp_data& call) {
  const std::uint32_t main = RunBpf(filter.main, call);
  const std::uint32_t notify = RunBpf(filter.notify, call);
  const std::uint32_t action = Strictness(main) <= Strictness(notify) ? main : notify;
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
      return "passed";
    case SECCOMP_RET_ERRNO:
      return ErrorName(action & SECCOMP_RET_DATA);
    case SECCOMP_RET_USER_NOTIF:
      return "host";
    case SECCOMP_RET_KILL_PROCESS:
      return "killed";
    default:
      return fmt::format("action {:#x}", action);
  }
}

}  // namespace gloveport
