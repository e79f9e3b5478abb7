#include "gloveport/core/host/proc_stat.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

// The kernel gives such a file whole, in one read.
Result<std::string> ReadProcFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(fmt::format("cannot open {}", path), errno);
  char text[8192];
  const ssize_t size = ::read(fd.get(), text, sizeof text);
  if (size < 0) return FailErrno(fmt::format("cannot read {}", path), errno);
  return std::string(text, static_cast<std::size_t>(size));
}

std::uint64_t ToNumber(std::string_view text) {
  std::uint64_t number = 0;
  text = Trim(text);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = Trim(text)).empty()) {
    const auto end = text.find_first_of(" \t\n");
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
  return words;
}

// The number behind "Name:" in the text of a file of such lines.
std::uint64_t FieldOf(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || text[at - 1] != '\n') continue;
    const std::string_view rest = text.substr(at + name.size());
    return ToNumber(rest.substr(0, rest.find('\n')));
  }
  return 0;
}

std::uint64_t ReadField(const std::string& path, std::string_view name) {
  const auto text = ReadProcFile(path);
  return text ? FieldOf(*text, name) : 0;
}

// Of /proc/PID/stat, from the third field on; empty where it is none.
std::vector<std::string_view> StatWords(std::string_view text) {
  const auto name_end = text.rfind(')');  // the process's name may hold anything, spaces and parentheses too
  if (name_end == std::string_view::npos) return {};
  return Words(text.substr(name_end + 1));
}

void AddSwitches(std::string_view status, ProcessCounters& counters) {
  constexpr std::string_view kVoluntary = "voluntary_ctxt_switches:";
  constexpr std::string_view kInvoluntary = "nonvoluntary_ctxt_switches:";
  for (const std::string_view line : SplitLines(status)) {
    if (line.starts_with(kVoluntary)) counters.voluntary_switches += ToNumber(line.substr(kVoluntary.size()));
    if (line.starts_with(kInvoluntary))
      counters.involuntary_switches += ToNumber(line.substr(kInvoluntary.size()));
  }
}

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error))
    threads.push_back(static_cast<pid_t>(ToNumber(entry.path().filename().string())));
  return threads;
}

}  // namespace

Result<pid_t> PidOf(int pidfd) {
  const auto pid = static_cast<pid_t>(
      static_cast<std::int32_t>(ReadField(fmt::format("/proc/self/fdinfo/{}", pidfd), "Pid:")));
  if (pid <= 0) return Fail(ErrorCode::kClosed, "the process has ended");
  return pid;
}

Result<MemoryUse> ReadMemoryUse(pid_t pid) {
  ASSIGN_OR_RETURN(const std::string text, ReadProcFile(fmt::format("/proc/{}/statm", pid)));
  const auto words = Words(text);
  if (words.size() < 6) return Fail(ErrorCode::kIo, fmt::format("cannot understand /proc/{}/statm", pid));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return MemoryUse{ToNumber(words[0]) * page, ToNumber(words[1]) * page, ToNumber(words[5]) * page};
}

pid_t ReadParentProcess(pid_t pid) {
  return static_cast<pid_t>(ReadField(fmt::format("/proc/{}/status", pid), "PPid:"));
}

ProcessOwner ReadProcessOwner(pid_t pid) {
  ProcessOwner owner;
  const auto text = ReadProcFile(fmt::format("/proc/{}/status", pid));
  if (!text) return owner;
  for (const std::string_view line : SplitLines(*text)) {
    const auto words = Words(line);  // real, effective, saved, of the file system
    if (words.size() < 5) continue;
    if (words[0] == "Uid:") owner.uid = static_cast<uid_t>(ToNumber(words[4]));
    if (words[0] == "Gid:") owner.gid = static_cast<gid_t>(ToNumber(words[4]));
  }
  return owner;
}

ResidentBytes ReadResidentBytes(pid_t pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/status", pid));
  if (!text) return {};
  return {FieldOf(*text, "VmRSS:") * 1024, FieldOf(*text, "VmHWM:") * 1024};
}

std::uint64_t ReadAnonymousBytes(pid_t pid) {
  return ReadField(fmt::format("/proc/{}/status", pid), "RssAnon:") * 1024;
}

std::uint64_t ReadThreadCount(pid_t pid) {
  return ReadField(fmt::format("/proc/{}/status", pid), "Threads:");
}

pid_t ReadProcessOf(pid_t tid) {
  return static_cast<pid_t>(ReadField(fmt::format("/proc/{}/status", tid), "Tgid:"));
}

std::vector<pid_t> ReadChildren(pid_t pid) {
  std::vector<pid_t> children;
  const auto text = ReadFile(fmt::format("/proc/{0}/task/{0}/children", pid));
  if (!text) return children;
  for (const std::string_view word : Words(*text)) children.push_back(static_cast<pid_t>(ToNumber(word)));
  return children;
}

pid_t ReadInnerProcessNumber(pid_t tid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/status", tid));
  if (!text) return 0;
  for (std::string_view line : SplitLines(*text)) {
    if (!line.starts_with("NStgid:")) continue;
    const auto numbers = Words(line);  // from the outermost namespace to its own
    return static_cast<pid_t>(ToNumber(numbers.back()));
  }
  return 0;
}

CpuUse ReadCpuUse(pid_t pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/stat", pid));
  if (!text) return {};
  const auto words = StatWords(*text);
  if (words.size() < 13) return {};
  const std::chrono::nanoseconds tick{1'000'000'000 / ::sysconf(_SC_CLK_TCK)};
  return {tick * static_cast<std::int64_t>(ToNumber(words[11])),
          tick * static_cast<std::int64_t>(ToNumber(words[12]))};
}

std::chrono::nanoseconds ReadCpuClock(pid_t pid) {
  // What clock_getcpuclockid gives, which would ask the kernel whether the process is there first.
  constexpr clockid_t kProcess = 2;
  const clockid_t clock = static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3) | kProcess;
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::optional<ProcessCounters> ReadProcessCounters(pid_t pid) {
  const auto stat = ReadProcFile(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  const auto words = StatWords(*stat);
  if (words.size() < 18) return std::nullopt;
  ProcessCounters counters;
  counters.minor_faults = ToNumber(words[7]);
  counters.major_faults = ToNumber(words[9]);
  const bool single = ToNumber(words[17]) == 1;  // threads
  for (const pid_t thread : single ? std::vector<pid_t>{pid} : ThreadsOf(pid)) {
    if (const auto status = ReadProcFile(fmt::format("/proc/{}/status", thread)))
      AddSwitches(*status, counters);
  }
  const auto io = ReadProcFile(fmt::format("/proc/{}/io", pid));
  if (!io) return counters;
  for (const std::string_view line : SplitLines(*io)) {
    if (line.starts_with("rchar:")) counters.bytes_read = ToNumber(line.substr(6));
    if (line.starts_with("wchar:")) counters.bytes_written = ToNumber(line.substr(6));
  }
  return counters;
}

}  // namespace gloveport
