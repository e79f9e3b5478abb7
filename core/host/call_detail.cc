#include "gloveport/core/host/call_detail.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

enum class Form {
  kNumber,
  kHex,
  kText,  // the address of one
  kFamily,
  kSocketType,
  kAddress,  // of a socket; its length is the next argument
  kSignal,
  kTraceRequest,
  kNamespaces,
};

struct Argument {
  std::size_t index;
  Form form;
};

using Arguments = std::vector<Argument>;

struct Name {
  std::uint64_t value;
  std::string_view name;
};

constexpr std::array kFamilies = {
    Name{AF_UNIX, "AF_UNIX"},       Name{AF_INET, "AF_INET"},     Name{AF_INET6, "AF_INET6"},
    Name{AF_NETLINK, "AF_NETLINK"}, Name{AF_PACKET, "AF_PACKET"}, Name{AF_VSOCK, "AF_VSOCK"},
    Name{AF_ALG, "AF_ALG"},
};
constexpr std::array kTypes = {
    Name{SOCK_STREAM, "SOCK_STREAM"},
    Name{SOCK_DGRAM, "SOCK_DGRAM"},
    Name{SOCK_RAW, "SOCK_RAW"},
    Name{SOCK_SEQPACKET, "SOCK_SEQPACKET"},
};
constexpr std::array kTraceRequests = {
    Name{PTRACE_TRACEME, "PTRACE_TRACEME"},   Name{PTRACE_PEEKTEXT, "PTRACE_PEEKTEXT"},
    Name{PTRACE_PEEKDATA, "PTRACE_PEEKDATA"}, Name{PTRACE_POKETEXT, "PTRACE_POKETEXT"},
    Name{PTRACE_POKEDATA, "PTRACE_POKEDATA"}, Name{PTRACE_CONT, "PTRACE_CONT"},
    Name{PTRACE_ATTACH, "PTRACE_ATTACH"},     Name{PTRACE_SEIZE, "PTRACE_SEIZE"},
};
constexpr std::array kNamespaceFlags = {
    Name{CLONE_NEWNS, "CLONE_NEWNS"},     Name{CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
    Name{CLONE_NEWUTS, "CLONE_NEWUTS"},   Name{CLONE_NEWIPC, "CLONE_NEWIPC"},
    Name{CLONE_NEWUSER, "CLONE_NEWUSER"}, Name{CLONE_NEWPID, "CLONE_NEWPID"},
    Name{CLONE_NEWNET, "CLONE_NEWNET"},
};

// What is worth saying of a call, by its number; calls that are missing have their name only.
const std::map<int, Arguments>& KnownCalls() {
  static const auto* calls = new std::map<int, Arguments>{
      {__NR_socket, {{0, Form::kFamily}, {1, Form::kSocketType}}},
      {__NR_connect, {{1, Form::kAddress}}},
      {__NR_bind, {{1, Form::kAddress}}},
      {__NR_execve, {{0, Form::kText}}},
      {__NR_execveat, {{1, Form::kText}}},
      {__NR_clone, {{0, Form::kHex}}},
      {__NR_kill, {{0, Form::kNumber}, {1, Form::kSignal}}},
      {__NR_tkill, {{0, Form::kNumber}, {1, Form::kSignal}}},
      {__NR_tgkill, {{0, Form::kNumber}, {1, Form::kNumber}, {2, Form::kSignal}}},
      {__NR_rt_sigqueueinfo, {{0, Form::kNumber}, {1, Form::kSignal}}},
      {__NR_rt_tgsigqueueinfo, {{0, Form::kNumber}, {1, Form::kNumber}, {2, Form::kSignal}}},
      {__NR_pidfd_open, {{0, Form::kNumber}}},
      {__NR_pidfd_getfd, {{0, Form::kNumber}, {1, Form::kNumber}}},
      {__NR_pidfd_send_signal, {{0, Form::kNumber}, {1, Form::kSignal}}},
      {__NR_memfd_create, {{0, Form::kText}}},
      {__NR_setuid, {{0, Form::kNumber}}},
      {__NR_setgid, {{0, Form::kNumber}}},
      {__NR_setreuid, {{0, Form::kNumber}, {1, Form::kNumber}}},
      {__NR_setresuid, {{0, Form::kNumber}, {1, Form::kNumber}, {2, Form::kNumber}}},
      {__NR_setregid, {{0, Form::kNumber}, {1, Form::kNumber}}},
      {__NR_setresgid, {{0, Form::kNumber}, {1, Form::kNumber}, {2, Form::kNumber}}},
      {__NR_mknodat, {{1, Form::kText}}},
      {__NR_personality, {{0, Form::kHex}}},
      {__NR_mq_open, {{0, Form::kText}}},
      {__NR_name_to_handle_at, {{1, Form::kText}}},
      {__NR_ptrace, {{0, Form::kTraceRequest}, {1, Form::kNumber}}},
      {__NR_process_vm_readv, {{0, Form::kNumber}}},
      {__NR_process_vm_writev, {{0, Form::kNumber}}},
      {__NR_kcmp, {{0, Form::kNumber}, {1, Form::kNumber}}},
      {__NR_bpf, {{0, Form::kNumber}}},
      {__NR_perf_event_open, {{1, Form::kNumber}}},
      {__NR_userfaultfd, {{0, Form::kHex}}},
      {__NR_io_uring_setup, {{0, Form::kNumber}}},
      {__NR_keyctl, {{0, Form::kNumber}}},
      {__NR_add_key, {{0, Form::kText}, {1, Form::kText}}},
      {__NR_request_key, {{0, Form::kText}, {1, Form::kText}}},
      {__NR_mount, {{0, Form::kText}, {1, Form::kText}, {2, Form::kText}}},
      {__NR_umount2, {{0, Form::kText}}},
      {__NR_pivot_root, {{0, Form::kText}, {1, Form::kText}}},
      {__NR_fsopen, {{0, Form::kText}}},
      {__NR_open_tree, {{1, Form::kText}}},
      {__NR_chroot, {{0, Form::kText}}},
      {__NR_unshare, {{0, Form::kNamespaces}}},
      {__NR_setns, {{0, Form::kNumber}, {1, Form::kNamespaces}}},
      {__NR_finit_module, {{0, Form::kNumber}, {1, Form::kText}}},
      {__NR_delete_module, {{0, Form::kText}}},
      {__NR_swapon, {{0, Form::kText}}},
      {__NR_acct, {{0, Form::kText}}},
      {__NR_sethostname, {{0, Form::kText}}},
#ifdef __NR_mknod
      {__NR_mknod, {{0, Form::kText}}},
#endif
  };
  return *calls;
}

std::string NameOr(std::span<const Name> names, std::uint64_t value, std::string_view otherwise) {
  const auto found = std::ranges::find(names, value, &Name::value);
  return found != names.end() ? std::string(found->name)
                              : fmt::format(fmt::runtime(otherwise), static_cast<std::int32_t>(value));
}

std::string SocketType(std::uint64_t value) {
  return NameOr(kTypes, value & 0xF, "type {}");  // above it stand SOCK_CLOEXEC and SOCK_NONBLOCK
}

std::string SignalText(std::uint64_t value) {
  const char* name = ::sigabbrev_np(static_cast<int>(value));
  return name != nullptr ? fmt::format("SIG{}", name)
                         : fmt::format("signal {}", static_cast<std::int32_t>(value));
}

std::string NamespacesText(std::uint64_t value) {
  std::vector<std::string_view> set;
  for (const Name& flag : kNamespaceFlags) {
    if (value & flag.value) set.push_back(flag.name);
  }
  return set.empty() ? fmt::format("{:#x}", value) : fmt::format("{}", fmt::join(set, "|"));
}

std::string UnixAddress(std::string_view path) {
  const bool is_abstract = path.starts_with('\0');
  if (is_abstract) path.remove_prefix(1);
  return fmt::format("{}{}", is_abstract ? "@" : "", path.substr(0, path.find('\0')));
}

std::string AddressText(std::uint64_t address, std::uint64_t length, const SessionMemory& memory) {
  sockaddr_storage storage{};
  const auto bytes = std::as_writable_bytes(std::span(&storage, 1));
  const std::size_t size = memory.Read(address, bytes.first(std::min<std::size_t>(length, bytes.size())));
  if (size < sizeof storage.ss_family) return "";
  char host[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in in{};
    std::memcpy(&in, &storage, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
    return fmt::format("{}:{}", host, ntohs(in.sin_port));
  }
  if (storage.ss_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in{};
    std::memcpy(&in, &storage, sizeof in);
    ::inet_ntop(AF_INET6, &in.sin6_addr, host, sizeof host);
    return fmt::format("[{}]:{}", host, ntohs(in.sin6_port));
  }
  if (storage.ss_family == AF_UNIX) {
    constexpr std::size_t kPathAt = offsetof(sockaddr_un, sun_path);
    const auto* text = reinterpret_cast<const char*>(&storage);
    return UnixAddress(std::string_view(text + kPathAt, size - kPathAt));
  }
  return NameOr(kFamilies, storage.ss_family, "family {}");
}

std::string TextOf(const seccomp_data& call, const Argument& argument, const SessionMemory& memory) {
  const std::uint64_t value = call.args[argument.index];
  switch (argument.form) {
    case Form::kNumber:
      return fmt::format("{}", static_cast<std::int32_t>(value));
    case Form::kHex:
      return fmt::format("{:#x}", value);
    case Form::kText:
      return memory.ReadText(value).value_or("");
    case Form::kFamily:
      return NameOr(kFamilies, value, "family {}");
    case Form::kSocketType:
      return SocketType(value);
    case Form::kAddress:
      return AddressText(value, call.args[argument.index + 1], memory);
    case Form::kSignal:
      return SignalText(value);
    case Form::kTraceRequest:
      return NameOr(kTraceRequests, value, "request {}");
    case Form::kNamespaces:
      return NamespacesText(value);
  }
  return "";
}

}  // namespace

std::string DescribeArguments(const seccomp_data& call, const SessionMemory& memory) {
  if (call.nr == __NR_clone3) {
    const auto flags = Clone3Flags(call, memory);
    return flags ? fmt::format("{:#x}", *flags) : "";
  }
  const auto found = KnownCalls().find(call.nr);
  if (found == KnownCalls().end()) return "";
  std::vector<std::string> texts;
  for (const Argument& argument : found->second) {
    if (std::string text = TextOf(call, argument, memory); !text.empty()) texts.push_back(std::move(text));
  }
  return ToValidUtf8(fmt::format("{}", fmt::join(texts, call.nr == __NR_ptrace ? " " : ", ")));
}

std::optional<std::uint64_t> Clone3Flags(const seccomp_data& call, const SessionMemory& memory) {
  std::uint64_t flags = 0;  // the first member of its struct
  const auto bytes = std::as_writable_bytes(std::span(&flags, 1));
  if (call.args[1] < sizeof flags || memory.Read(call.args[0], bytes) != sizeof flags) return std::nullopt;
  return flags;
}

}  // namespace gloveport
