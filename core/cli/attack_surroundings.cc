#include "gloveport/core/cli/attack_surroundings.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

std::string ReadOrEmpty(const fs::path& path) { return ReadFile(path).value_or(std::string()); }

// The text behind "Name:" in a file of such lines.
std::string FieldOf(const std::string& text, std::string_view name) {
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with(name)) return std::string(Trim(line.substr(name.size())));
  }
  return "";
}

std::uint64_t NumberIn(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> NamesIn(const char* folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  return names;
}

std::set<pid_t> ProcessesBelow(pid_t root) {
  std::map<pid_t, pid_t> parents;
  for (const std::string& name : NamesIn("/proc")) {
    const auto pid = static_cast<pid_t>(NumberIn(name));
    if (pid <= 0) continue;
    const std::string stat = ReadOrEmpty(fmt::format("/proc/{}/stat", pid));
    const auto end = stat.rfind(')');
    if (end == std::string::npos || end + 4 >= stat.size()) continue;
    if (stat[end + 2] != 'Z')
      parents[pid] = static_cast<pid_t>(NumberIn(std::string_view(stat).substr(end + 4)));
  }
  std::set<pid_t> below;
  for (const auto& [pid, parent] : parents) {
    for (pid_t ancestor = parent; ancestor > 1;
         ancestor = parents.contains(ancestor) ? parents[ancestor] : 0) {
      if (ancestor != root) continue;
      below.insert(pid);
      break;
    }
  }
  return below;
}

// Everything that the corpus leaves bears this mark.
std::set<std::string> Leftovers() {
  constexpr std::string_view kMark = "zz";
  std::set<std::string> found;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/dev/mqueue"}) {
    for (const std::string& name : NamesIn(folder)) {
      if (name.starts_with(kMark) || name.starts_with(".zz"))
        found.insert(fmt::format("{}/{}", folder, name));
    }
  }
  for (const char* table : {"/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"}) {
    const std::string text = ReadOrEmpty(table);
    for (const std::string_view line : SplitLines(text))
      found.insert(fmt::format("{}: {}", table, line.substr(0, 22)));
  }
  if (ReadOrEmpty("/proc/keys").find("zz_corpus") != std::string::npos)
    found.insert("a key in the kernel's keyring");
  return found;
}

std::string Canary(uid_t& owner) {
  struct stat info {};
  if (::stat(kCanaryPath.data(), &info) != 0) return "gone";
  owner = info.st_uid;
  return fmt::format("{:o} {} bytes, written {}.{}, changed {}.{}: {}", info.st_mode, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec,
                     ReadOrEmpty(kCanaryPath));
}

std::string HostName() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

UniqueFd Listen(int type, int& port) {
  UniqueFd socket(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return {};
  if (type == SOCK_STREAM && ::listen(socket.get(), 16) != 0) return {};
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return socket;
}

UniqueFd ListenAbstract(const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy_n(name.begin(), std::min(name.size(), sizeof address.sun_path - 1), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(socket.get(), 16) != 0)
    return {};
  return socket;
}

[[noreturn]] void BeVictim(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(0);
  while (true) ::pause();
}

bool Accepts(const UniqueFd& socket) {
  const UniqueFd peer(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return static_cast<bool>(peer);
}

}  // namespace

Result<std::unique_ptr<CanaryFile>> CanaryFile::Make() {
  const UniqueFd file(::open(kCanaryPath.data(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST) return std::unique_ptr<CanaryFile>(new CanaryFile(false));
  if (!file) return FailErrno(fmt::format("cannot make {}", kCanaryPath), errno);
  std::unique_ptr<CanaryFile> canary(new CanaryFile(true));
  RETURN_IF_ERROR(WriteFull(file.get(), AsBytes(kCanaryText), Deadline::Never()));
  return canary;
}

CanaryFile::~CanaryFile() {
  if (owned_) ::unlink(kCanaryPath.data());
}

Result<std::unique_ptr<AttackSurroundings>> AttackSurroundings::Make() {
  std::unique_ptr<AttackSurroundings> made(new AttackSurroundings);
  const pid_t self = ::getpid();
  made->victim_ = ::fork();
  if (made->victim_ < 0) return FailErrno("cannot start the victim", errno);
  if (made->victim_ == 0) BeVictim(self);
  made->abstract_name_ = fmt::format("gloveport-attack-{}", self);
  made->tcp_ = Listen(SOCK_STREAM, made->tcp_port_);
  made->udp_ = Listen(SOCK_DGRAM, made->udp_port_);
  made->abstract_ = ListenAbstract(made->abstract_name_);
  if (!made->tcp_ || !made->udp_ || !made->abstract_) return FailErrno("cannot listen for intruders", errno);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0,
          0);  // what a session might leave behind becomes a child of this process
  return made;
}

AttackSurroundings::~AttackSurroundings() {
  if (victim_ <= 0) return;
  ::kill(victim_, SIGKILL);
  ::waitpid(victim_, nullptr, 0);
}

Value AttackSurroundings::Variables() const {
  return Value::Object({{"HOST_PID", static_cast<std::int64_t>(::getpid())},
                        {"VICTIM_PID", static_cast<std::int64_t>(victim_)},
                        {"HOST_TCP_PORT", tcp_port_},
                        {"HOST_UDP_PORT", udp_port_},
                        {"HOST_ABSTRACT", abstract_name_},
                        {"HOST_FILE", kCanaryPath}});
}

AttackSnapshot AttackSurroundings::Look() const {
  AttackSnapshot now;
  now.canary = Canary(now.canary_owner);
  now.host_name = HostName();
  now.mounts = ReadOrEmpty("/proc/self/mountinfo");
  for (const int fd : {0, 1, 2}) now.flags += fmt::format("{} ", ::fcntl(fd, F_GETFL));
  now.descriptors = NamesIn("/proc/self/fd").size();
  now.processes = ProcessesBelow(::getpid());
  now.leftovers = Leftovers();
  return now;
}

std::vector<std::string> AttackSurroundings::Differences(const AttackSnapshot& before,
                                                         const AttackSnapshot& after) const {
  std::vector<std::string> found;
  // Only root can give it away, and a run beside this one does.
  if (before.canary != after.canary && before.canary_owner == after.canary_owner)
    found.push_back(fmt::format("{} was {}, now {}", kCanaryPath, before.canary, after.canary));
  if (before.host_name != after.host_name) found.push_back("the host's name has changed");
  if (before.mounts != after.mounts) found.push_back("the host's mounts have changed");
  if (before.flags != after.flags) found.push_back("flags of the host's standard descriptors have changed");
  if (before.descriptors < after.descriptors) {
    found.push_back(
        fmt::format("the host holds {} descriptors more", after.descriptors - before.descriptors));
  }
  if (before.processes.size() < after.processes.size()) {
    found.push_back(
        fmt::format("{} processes are left behind", after.processes.size() - before.processes.size()));
  }
  for (const std::string& name : after.leftovers) {
    if (!before.leftovers.contains(name)) found.push_back("left behind: " + name);
  }
  return found;
}

std::vector<std::string> AttackSurroundings::Intrusions() {
  std::vector<std::string> found;
  if (Accepts(tcp_)) found.emplace_back("somebody connected to the host's TCP port");
  if (Accepts(abstract_)) found.emplace_back("somebody connected to the host's abstract socket");
  char byte = 0;
  if (::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0)
    found.emplace_back("a datagram reached the host's UDP port");
  const std::string status = ReadOrEmpty(fmt::format("/proc/{}/status", victim_));
  const std::string state = FieldOf(status, "State:");
  if (!state.starts_with("S"))
    found.push_back(fmt::format("the victim process is no longer asleep: {}", state));
  if (FieldOf(status, "TracerPid:") != "0") found.emplace_back("the victim process is traced");
  return found;
}

void AttackSurroundings::GiveCanaryTo(uid_t uid) {
  struct stat info {};
  if (::stat(kCanaryPath.data(), &info) == 0 && info.st_uid != uid)
    (void)!::chown(kCanaryPath.data(), uid, static_cast<gid_t>(-1));
}

std::uint64_t PeakResidentBytes() {
  return NumberIn(FieldOf(ReadOrEmpty("/proc/self/status"), "VmHWM:")) * 1024;
}

void ResetPeakResident() { (void)WriteFile("/proc/self/clear_refs", "5"); }

}  // namespace gloveport
