#include "gloveport/tests/bench/process_memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace gloveport::bench {
namespace {

std::map<pid_t, pid_t> Parents() {
  std::map<pid_t, pid_t> parents;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (pid <= 0 || !std::getline(file, line)) continue;
    // The name, in parentheses, may hold anything.
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    std::string state;
    pid_t parent = 0;
    if (rest >> state >> parent) parents[pid] = parent;
  }
  return parents;
}

// The sum of all lines "Key:   123 kB" of a file whose key is one of these; -1 where there is none.
double SumOf(const std::string& path, std::initializer_list<std::string_view> keys) {
  std::ifstream file(path);
  double sum = -1;
  for (std::string line; std::getline(file, line);) {
    const std::string_view key = std::string_view(line).substr(0, line.find(':'));
    for (const std::string_view wanted : keys) {
      if (key == wanted) sum = std::max(sum, 0.0) + std::atof(line.c_str() + key.size() + 1);
    }
  }
  return sum;
}

}  // namespace

std::set<pid_t> ProcessesBelow(pid_t ancestor) {
  const std::map<pid_t, pid_t> parents = Parents();
  std::set<pid_t> below;
  for (const auto& [pid, parent] : parents) {
    auto at = parents.find(pid);
    while (at != parents.end() && at->second != ancestor) at = parents.find(at->second);
    if (at != parents.end()) below.insert(pid);
  }
  return below;
}

Result<PrivateMemory> PrivateMemoryOf(pid_t pid) {
  PrivateMemory memory;
  memory.pages_kib = SumOf(fmt::format("/proc/{}/smaps_rollup", pid), {"Private_Dirty", "Private_Clean"});
  memory.page_tables_kib = SumOf(fmt::format("/proc/{}/status", pid), {"VmPTE"});
  if (memory.pages_kib < 0 || memory.page_tables_kib < 0)
    return Fail(ErrorCode::kIo, fmt::format("the memory of process {} may not be read (root may)", pid));
  return memory;
}

double AvailableMemoryMib() { return SumOf("/proc/meminfo", {"MemAvailable"}) / 1024; }

}  // namespace gloveport::bench
