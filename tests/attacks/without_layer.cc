// without_layer LAYER[,LAYER...] PROGRAM [ARGUMENT...]: runs a program on a machine that lacks something.
//
//   namespaces        clone, unshare, setns and mounts refused, as by the default filter of container engines
//   user-namespaces   a user namespace in which no further one may be made
//   mounts            namespaces are there, but mounting is refused, as by security modules of some
//   distributions landlock          its system calls are unknown seccomp           no filter can be installed
//   mdwe              PR_SET_MDWE is unknown

#include <fmt/core.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

constexpr scmp_datum_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
constexpr scmp_datum_t kSetSeccomp = 22;
constexpr scmp_datum_t kSetMdwe = 65;
constexpr const char* kMountCalls[] = {"mount",     "umount2",       "pivot_root", "move_mount",
                                       "open_tree", "mount_setattr", "fsopen",     "fsmount"};

[[noreturn]] void Die(const std::string& what) {
  fmt::print(stderr, "without_layer: {}\n", what);
  std::exit(125);
}

void Refuse(scmp_filter_ctx filter, const char* name, int error) {
  if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                       seccomp_syscall_resolve_name(name), 0) != 0)
    Die(fmt::format("cannot refuse {}", name));
}

void RefuseWhere(scmp_filter_ctx filter, const char* name, int error, scmp_arg_cmp argument) {
  if (seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                             seccomp_syscall_resolve_name(name), 1, &argument) != 0)
    Die(fmt::format("cannot refuse {}", name));
}

void RefuseNamespaces(scmp_filter_ctx filter) {
  Refuse(filter, "clone3", ENOSYS);
  Refuse(filter, "unshare", EPERM);
  Refuse(filter, "setns", EPERM);
  for (scmp_datum_t bit = 1; bit != 0 && bit <= kNamespaces; bit <<= 1) {
    if (bit & kNamespaces) RefuseWhere(filter, "clone", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
  }
  for (const char* name : kMountCalls) Refuse(filter, name, EPERM);
}

// A map of every id needs a process outside of the new namespace; only root has one that may.
void MapUsers(uid_t uid, gid_t gid) {
  const std::string self = fmt::format("/proc/{}/", ::getpid());
  auto go = MakePipe();
  if (!go) Die("no pipe");
  const pid_t helper = ::fork();
  if (helper == 0) {
    char byte = 0;
    go->write_end.reset();
    (void)!::read(go->read_end.get(), &byte, 1);
    const std::string users = uid == 0 ? "0 0 4294967295" : fmt::format("{} {} 1", uid, uid);
    const std::string groups = uid == 0 ? "0 0 4294967295" : fmt::format("{} {} 1", gid, gid);
    const bool denied = uid == 0 || WriteFile(self + "setgroups", "deny");
    ::_exit(denied && WriteFile(self + "uid_map", users) && WriteFile(self + "gid_map", groups) ? 0 : 1);
  }
  if (::unshare(CLONE_NEWUSER) != 0) Die("cannot make a user namespace");
  go->write_end.reset();
  int status = 0;
  ::waitpid(helper, &status, 0);
  if (status != 0) Die("cannot map the users");
}

void ForbidUserNamespaces() {
  MapUsers(::geteuid(), ::getegid());
  if (const auto written = WriteFile("/proc/sys/user/max_user_namespaces", "0"); !written)
    Die(written.error().message);
}

void Remove(scmp_filter_ctx filter, std::string_view layer) {
  if (layer == "namespaces") return RefuseNamespaces(filter);
  if (layer == "user-namespaces") return ForbidUserNamespaces();
  if (layer == "mounts") {
    for (const char* name : kMountCalls) Refuse(filter, name, EPERM);
  } else if (layer == "landlock") {
    for (const char* name : {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"})
      Refuse(filter, name, ENOSYS);
  } else if (layer == "seccomp") {
    Refuse(filter, "seccomp", ENOSYS);
    RefuseWhere(filter, "prctl", EINVAL, SCMP_A0(SCMP_CMP_EQ, kSetSeccomp));
  } else if (layer == "mdwe") {
    RefuseWhere(filter, "prctl", EINVAL, SCMP_A0(SCMP_CMP_EQ, kSetMdwe));
  } else if (layer != "nothing") {
    Die(fmt::format("there is no layer \"{}\"", layer));
  }
}

int Main(int argc, char** argv) {
  if (argc < 3) Die("a list of layers and a program are needed");
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  std::string_view layers = argv[1];
  while (true) {
    const auto comma = layers.find(',');
    Remove(filter, layers.substr(0, comma));
    if (comma == std::string_view::npos) break;
    layers.remove_prefix(comma + 1);
  }
  // Root keeps its right to gain privileges; an ordinary user may only filter without it.
  if (::geteuid() == 0) seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
  if (seccomp_load(filter) != 0) Die("cannot install the filter");
  ::execv(argv[2], argv + 2);
  Die(fmt::format("cannot start {}", argv[2]));
}

}  // namespace
}  // namespace gloveport

int main(int argc, char** argv) { return gloveport::Main(argc, argv); }
