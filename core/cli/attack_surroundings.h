// AttackSurroundings: what a payload must not reach, and the look at it from outside: the canary file, a
// listening socket, a process of the same user, and all that the host's process would keep if something were
// left behind.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_SURROUNDINGS_H_
#define GLOVEPORT_CORE_CLI_ATTACK_SURROUNDINGS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/base/unique_fd.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

inline constexpr std::string_view kCanaryPath = "/tmp/escape-canary";
inline constexpr std::string_view kCanaryText = "CANARY-file-51c0";
inline constexpr std::string_view kCanaryVariable = "HOST_CANARY";
inline constexpr std::string_view kCanaryValue = "CANARY-env-7f3a";
inline constexpr std::string_view kSecretAnswer = "S3CR3T-told";  // by the tool that is not granted

// A file that only its owner may read, there as long as this object. Where another run has it already, this
// one shares it.
class CanaryFile {
 public:
  static Result<std::unique_ptr<CanaryFile>> Make();
  ~CanaryFile();
  CanaryFile(const CanaryFile&) = delete;
  CanaryFile& operator=(const CanaryFile&) = delete;

 private:
  explicit CanaryFile(bool owned) : owned_(owned) {}
  const bool owned_;
};

struct AttackSnapshot {
  uid_t canary_owner = 0;
  std::string canary;  // content, mode, times
  std::string host_name;
  std::string mounts;
  std::string flags;  // of the standard descriptors
  std::size_t descriptors = 0;
  std::set<pid_t> processes;        // below this one
  std::set<std::string> leftovers;  // names in places that are shared: files, shared memory, queues, keys
};

class AttackSurroundings {
 public:
  // Starts the victim: call it in a process with one thread.
  static Result<std::unique_ptr<AttackSurroundings>> Make();
  ~AttackSurroundings();
  AttackSurroundings(const AttackSurroundings&) = delete;
  AttackSurroundings& operator=(const AttackSurroundings&) = delete;

  // What payloads are told, so that nothing hangs on their guesses: a map from variable to value.
  Value Variables() const;

  AttackSnapshot Look() const;
  // What differs, in words; and whether the victim was touched or somebody connected.
  std::vector<std::string> Differences(const AttackSnapshot& before, const AttackSnapshot& after) const;
  std::vector<std::string> Intrusions();

  // Only where files of the host are visible: the canary then belongs to the user that the session runs as.
  void GiveCanaryTo(uid_t uid);

 private:
  AttackSurroundings() = default;
  pid_t victim_ = -1;
  UniqueFd tcp_;
  UniqueFd udp_;
  UniqueFd abstract_;
  int tcp_port_ = 0;
  int udp_port_ = 0;
  std::string abstract_name_;
};

// Of this process.
std::uint64_t PeakResidentBytes();
void ResetPeakResident();

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_SURROUNDINGS_H_
