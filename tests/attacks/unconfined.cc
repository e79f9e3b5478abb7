// The positive control: payloads that are known to work do work here, in the real interpreter without any
// layer of confinement, as an ordinary user, each in a process that is thrown away. Never installed, and no
// switch of anything that is: the layers cannot be left out of gloveport-interp.

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_surroundings.h"
#include "gloveport/policy/presets.h"
#include "gloveport/tests/interp/child/session_process.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;
using testing::SessionProcess;

constexpr uid_t kNobody = 65534;
constexpr std::chrono::seconds kPatience{20};
constexpr double kLeastShare = 0.9;

// ---- circumstances ----

struct Circumstance {
  std::string_view id;
  std::string_view name;  // as naive_host.py knows it
};
constexpr Circumstance kCircumstances[] = {
    {"imp-012", "path"},   {"frm-011", "pickle"}, {"aud-001", "hook"},   {"aud-015", "hook"},
    {"ipc-009", "pickle"}, {"ipc-010", "pickle"}, {"ipc-011", "pickle"}, {"ipc-013", "json"},
    {"ipc-015", "pickle"}, {"ipc-017", "json"},   {"ipc-018", "pickle"}, {"ipc-022", "pickle"},
    {"lek-019", "pickle"},
};

std::string CircumstanceOf(std::string_view id) {
  for (const Circumstance& circumstance : kCircumstances) {
    if (circumstance.id == id) return std::string(circumstance.name);
  }
  return "";
}

enum class Standing { kOrdinary, kRoot };

struct Place {
  fs::path folder;  // belongs to the user that runs the payload
  std::string prelude;
};

Status BecomeOrdinary() {
  if (::geteuid() != 0) return {};
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0)
    return FailErrno("cannot become an ordinary user", errno);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return {};
}

// Root, but with names and mounts of its own; an ordinary user is root of a user namespace only.
Status BecomeRoot() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | (uid == 0 ? 0 : CLONE_NEWUSER)) != 0)
    return FailErrno("cannot make namespaces", errno);
  if (uid != 0) {
    RETURN_IF_ERROR(WriteFile("/proc/self/setgroups", "deny"));
    RETURN_IF_ERROR(WriteFile("/proc/self/gid_map", fmt::format("0 {} 1", gid)));
    RETURN_IF_ERROR(WriteFile("/proc/self/uid_map", fmt::format("0 {} 1", uid)));
  }
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return {};
}

void LimitSelf() {
  const auto limit = [](__rlimit_resource resource, rlim_t value) {
    rlimit now{};
    ::getrlimit(resource, &now);
    now.rlim_max = std::min(now.rlim_max, value);
    now.rlim_cur = now.rlim_max;
    ::setrlimit(resource, &now);
  };
  limit(RLIMIT_AS, 4ull << 30);
  limit(RLIMIT_FSIZE, 64u << 20);
  limit(RLIMIT_NPROC, 4096);
  limit(RLIMIT_NOFILE, 16384);
  limit(RLIMIT_CPU, 30);
}

// What careless hosts leave open: a file, a socket; and a service that listens.
void LeaveOpen(const fs::path& folder) {
  (void)!::open((folder / "leaked").c_str(), O_CREAT | O_RDONLY, 0600);
  (void)::socket(AF_INET, SOCK_STREAM, 0);
  const int service = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/tmp/zz-attack-{}.sock", ::getpid());
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ::bind(service, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::listen(service, 4);
}

bool PrintsEscaped(const testing::CellRun& run) {
  return run.out.starts_with("ESCAPED:") || run.out.find("\nESCAPED:") != std::string::npos;
}

// In the process that is thrown away: 0 where the payload reached its goal.
int Perform(const AttackPayload& payload, const Place& place, Standing standing) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const Status ready = standing == Standing::kRoot ? BecomeRoot() : BecomeOrdinary();
  if (!ready) return 3;
  LimitSelf();
  LeaveOpen(place.folder);
  auto policy = PresetPolicy("open");
  if (!policy) return 3;
  const auto surroundings = AttackSurroundings::Make();
  if (!surroundings) return 3;
  SessionProcess session({false, *policy}, place.folder);
  const Value variables = (*surroundings)->Variables();
  for (const auto& [name, value] : variables.as_map())
    session.Ask("set_variable", Value::Object({{"name", name}, {"value", value}}));
  (void)session.Run(std::string(AttackPrelude()));
  if (const std::string circumstance = CircumstanceOf(payload.id); !circumstance.empty()) {
    const auto run = session.Run(fmt::format("CIRCUMSTANCE = '{}'\n{}", circumstance, place.prelude));
    if (!run.done || run.done->status != "ok") return 4;
  }
  testing::CellRun run;
  for (int i = 0; i < payload.sessions; ++i) run = session.Run(payload.code, std::chrono::seconds(15));
  ::unlink(fmt::format("/tmp/zz-attack-{}.sock", ::getpid()).c_str());
  if (std::getenv("GLOVEPORT_SHOW_OUTPUT")) {
    fmt::print(stderr, "--- {}\n{}{}{}\n", payload.id, run.out, run.err,
               run.done ? run.done->error : "no end");
  }
  return PrintsEscaped(run) ? 0 : 1;
}

// Kills the process and everything that it may have started.
void KillAll(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
}

bool Reaches(const AttackPayload& payload, const std::string& prelude, Standing standing) {
  const TemporaryFolder folder;
  if (::geteuid() == 0 && standing == Standing::kOrdinary &&
      ::chown(folder.path().c_str(), kNobody, kNobody) != 0)
    return false;
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(Perform(payload, {folder.path(), prelude}, standing));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  (void)WaitFor(pidfd.get(), POLLIN, Deadline::After(kPatience));
  KillAll(pid);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- the run ----

struct Why {
  std::string_view id;
  std::string_view reason;
};
constexpr std::string_view kNeedsRoot = "works for root, or where the machine lets every user do it";
// Known to fail here, for reasons that are no confinement.
constexpr Why kReasons[] = {
    {"imp-011", "the import guard takes modules from the runtime's folders alone, with layers or without"},
    {"imp-012", "the import guard takes modules from the runtime's folders alone, with layers or without"},
    {"dun-012", "the interpreter starts without site, so that its printers are not there"},
    {"dun-015", "what the template holds is frozen, and the collector does not list it"},
    {"lek-006", "the interpreter's own paths are constants of the build, with layers or without"},
    {"nat-011", kNeedsRoot},
    {"nat-025", kNeedsRoot},
    {"fs-008", kNeedsRoot},
    {"fs-010", kNeedsRoot},
    {"fs-012", kNeedsRoot},
    {"lek-013", kNeedsRoot},
    {"lek-017", kNeedsRoot},
};

std::string ReasonFor(std::string_view id) {
  for (const Why& why : kReasons) {
    if (why.id == id) return std::string(why.reason);
  }
  return "unknown: this machine or this user may not allow it";
}

int Run(const std::vector<AttackPayload>& payloads, const std::string& prelude) {
  std::size_t tried = 0;
  std::vector<std::string> failed;
  for (const AttackPayload& payload : payloads) {
    if (!payload.verified_unsandboxed || !RunsHere(payload)) continue;
    ++tried;
    if (!Reaches(payload, prelude, Standing::kOrdinary) && !Reaches(payload, prelude, Standing::kRoot))
      failed.push_back(payload.id);
  }
  const std::size_t reached = tried - failed.size();
  fmt::print("Without any layer {} of {} payloads reach their goal.\n", reached, tried);
  for (const std::string& id : failed) fmt::print("  not here: {}: {}\n", id, ReasonFor(id));
  const bool enough = tried > 0 && static_cast<double>(reached) >= kLeastShare * static_cast<double>(tried);
  fmt::print("unconfined: {} passed, {} failed, {} skipped\n", enough ? reached : 0, enough ? 0 : tried,
             enough ? failed.size() : 0);
  return enough ? 0 : 1;
}

Result<std::vector<AttackPayload>> Load(const std::vector<std::string>& words) {
  std::vector<AttackPayload> all;
  std::vector<std::string> ids;
  for (const std::string& word : words) {
    if (!word.ends_with(".jsonl")) {
      ids.push_back(word);
      continue;
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(word));
    ASSIGN_OR_RETURN(std::vector<AttackPayload> payloads, ParseAttackCorpus(text));
    std::ranges::move(payloads, std::back_inserter(all));
  }
  if (!ids.empty()) {
    std::erase_if(
        all, [&](const AttackPayload& payload) { return std::ranges::find(ids, payload.id) == ids.end(); });
  }
  return all;
}

int Main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "unconfined PRELUDE.py CORPUS.jsonl... [ID...]\n"), 2;
  ::setenv(kCanaryVariable.data(), kCanaryValue.data(), 1);
  const auto prelude = ReadFile(argv[1]);
  const auto payloads = Load({argv + 2, argv + argc});
  if (!prelude) return fmt::print(stderr, "unconfined: {}\n", prelude.error().message), 2;
  if (!payloads) return fmt::print(stderr, "unconfined: {}\n", payloads.error().message), 2;
  const auto canary = CanaryFile::Make();
  if (::geteuid() == 0) (void)!::chown(kCanaryPath.data(), kNobody, kNobody);
  SessionProcess::WarmUp();
  return Run(*payloads, *prelude);
}

}  // namespace
}  // namespace gloveport

int main(int argc, char** argv) { return gloveport::Main(argc, argv); }
