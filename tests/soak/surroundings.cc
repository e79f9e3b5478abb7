#include "surroundings.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "gloveport/core/base/deadline.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

std::size_t Entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::size_t Lines(const char* file) {
  std::ifstream lines(file);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  return count;
}

std::size_t ScratchEntries() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
    count += entry.path().filename().string().starts_with("gloveport-");
  return count;
}

// The parent of each process, and whether it is a zombie.
struct Entry {
  pid_t parent = 0;
  char state = '?';
};

std::map<pid_t, Entry> AllProcesses() {
  std::map<pid_t, Entry> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    // An iterator of the buffer would throw where the process ends meanwhile.
    std::string text;
    std::getline(file, text, '\0');
    const auto name_end = text.rfind(") ");
    if (name_end == std::string::npos) continue;
    all[pid] = {static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4)), text[name_end + 2]};
  }
  return all;
}

bool IsBelow(pid_t pid, pid_t top, const std::map<pid_t, Entry>& all) {
  for (int depth = 0; depth < 32; ++depth) {
    const auto found = all.find(pid);
    if (found == all.end()) return false;
    pid = found->second.parent;
    if (pid == top) return true;
  }
  return false;
}

// A template is pid 1 of a namespace, so that it has two process ids; a launcher is in the namespace of its
// host.
bool HasOwnPidNamespace(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    return std::count(line.begin(), line.end(), '\t') > 1;
  }
  return false;
}

}  // namespace

Surroundings Surroundings::Now() {
  return {Entries("/proc/self/fd"), Entries("/proc/self/task"), Descendants().size(),
          Lines("/proc/self/mountinfo"), ScratchEntries()};
}

std::vector<pid_t> Leaves() {
  const auto all = AllProcesses();
  std::set<pid_t> parents;
  for (const auto& [pid, entry] : all) parents.insert(entry.parent);
  std::vector<pid_t> leaves;
  for (const auto& [pid, entry] : all) {
    if (entry.state != 'Z' && !parents.contains(pid) && IsBelow(pid, ::getpid(), all)) leaves.push_back(pid);
  }
  return leaves;
}

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> Descendants() {
  std::vector<pid_t> below;
  const auto all = AllProcesses();
  for (const auto& [pid, entry] : all) {
    if (!IsBelow(pid, ::getpid(), all)) continue;
    // An orphan's zombie; children that somebody waits for are left to them.
    if (entry.state != 'Z') below.push_back(pid);
  }
  return below;
}

std::size_t BuryOrphans() {
  std::size_t others = 0;
  for (const auto& [pid, entry] : AllProcesses()) {
    if (entry.parent != ::getpid() || entry.state != 'Z') continue;
    if (!HasOwnPidNamespace(pid) || ::waitpid(pid, nullptr, WNOHANG) != pid) ++others;
  }
  return others;
}

bool DescendantsShrinkTo(std::size_t count, std::chrono::milliseconds patience) {
  const Deadline deadline = Deadline::After(patience);
  while (Descendants().size() > count) {
    if (deadline.passed()) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

std::size_t ResidentMib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

}  // namespace gloveport
