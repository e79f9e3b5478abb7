// Which system calls a session may make, may not, and which the host hears of: the rows of the system call
// filter that do not depend on arguments.
#ifndef GLOVEPORT_POLICY_SYSCALL_LISTS_H_
#define GLOVEPORT_POLICY_SYSCALL_LISTS_H_

#include <string_view>

namespace gloveport {

// Measured: what the standard library, numpy, pandas, matplotlib, sqlite3, threads and asyncio need after
// warm-up, with their neighbours of other library versions (both the old calls of x86-64 and the *at forms of
// arm64).
inline constexpr std::string_view kAllowed[] = {
    // memory
    "brk",
    "munmap",
    "mremap",
    "msync",
    "mincore",
    // reading and writing of what is open
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "lseek",
    "close",
    "fstat",
    "ftruncate",
    "fsync",
    "fdatasync",
    "fallocate",
    "dup",
    "dup2",
    "dup3",
    "pipe",
    "pipe2",
    "sendfile",
    "copy_file_range",
    "fadvise64",
    // paths: what they reach is decided by the root file system and Landlock
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "getcwd",
    "chdir",
    "fchdir",
    "mkdir",
    "mkdirat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "readlink",
    "readlinkat",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
    "getdents64",
    "statfs",
    "fstatfs",
    "umask",
    // time
    "gettimeofday",
    "time",
    "nanosleep",
    "setitimer",
    "getitimer",
    "times",
    "alarm",
    "pause",
    // identity and random numbers
    "getrandom",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "getrusage",
    "uname",
    "getpgrp",
    "getresuid",
    "getresgid",
    // threads and signals
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "sigaltstack",
    "set_robust_list",
    "set_tid_address",
    "rseq",
    "sched_yield",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "exit",
    "exit_group",
    "restart_syscall",
    "membarrier",
    // waiting for events
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd2",
    "recvfrom",
    "getsockname",
    "getpeername",
    "shutdown",
};

// Only an attack makes these: the host learns of the attempt and ends the process. Nothing that a library
// tries may stand here. The filter does not end the process by itself, for then nobody could tell what was
// tried.
inline constexpr std::string_view kViolations[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "kcmp",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "mount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "unshare",
    "setns",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "open_by_handle_at",
    "iopl",
    "ioperm",
    "modify_ldt",
    "pidfd_getfd",
    "fanotify_init",
    "memfd_secret",
    "chroot",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "lookup_dcookie",
    "vhangup",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
};

// The kernel ends the process at once: with its own filter a session could answer in the host's place.
inline constexpr std::string_view kEnding[] = {"seccomp"};

// Refused with a record: the host learns of each attempt and answers EPERM. sendmsg must not stand here: the
// session sends the listener with it, when nobody holds the listener yet.
inline constexpr std::string_view kWitnessed[] = {
    "socket",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "execve",
    "execveat",
    "fork",
    "vfork",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_open",
    "pidfd_send_signal",
    "memfd_create",
    "setuid",
    "setgid",
    "setreuid",
    "setresuid",
    "mknod",
    "mknodat",
    "personality",
    "sendmmsg",
    "recvmsg",
    "recvmmsg",
    "shmget",
    "msgget",
    "semget",
    "mq_open",
    "name_to_handle_at",
    "syslog",
    "setgroups",
    "setregid",
    "setresgid",
    "setfsuid",
    "setfsgid",
    "capset",
};

// Decided by the host, which knows whom the first argument means: a process may signal itself and start
// threads. A number in the filter would not do, for a fork inherits the filter and has another number.
inline constexpr std::string_view kDecided[] = {"kill", "tgkill", "clone"};

// The host answers ENOSYS: glibc tries clone3 for each thread before it takes clone. What it asks for stands
// in memory, where the filter cannot see it.
inline constexpr std::string_view kUnsupported[] = {"clone3"};

// Files being opened, where the policy wants the kernel's evidence of it.
inline constexpr std::string_view kOpens[] = {"open", "openat", "creat"};

}  // namespace gloveport

#endif  // GLOVEPORT_POLICY_SYSCALL_LISTS_H_
