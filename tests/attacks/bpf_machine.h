// BpfMachine: what the kernel would make of a filter's program, for architectures that this machine is none
// of. Only the instructions that seccomp takes.
#ifndef GLOVEPORT_TESTS_ATTACKS_BPF_MACHINE_H_
#define GLOVEPORT_TESTS_ATTACKS_BPF_MACHINE_H_

#include <linux/seccomp.h>

#include <cstdint>
#include <string>

#include "gloveport/policy/syscall_filter.h"

namespace gloveport {

// The action that the program returns for a call. Throws std::logic_error for an instruction that it does not
// know.
std::uint32_t RunBpf(const BpfProgram& program, const seccomp_data& call);

// The answer of both programs of a filter, as in the tables beside this file: the stricter one counts.
std::string AnswerOf(const SyscallFilter& filter, const seccomp_data& call);

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_ATTACKS_BPF_MACHINE_H_
