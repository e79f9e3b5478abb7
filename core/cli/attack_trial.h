// AttackTrial: one payload, run under one setting and judged: by what it prints, by what the host saw of it,
// and by the surroundings.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_TRIAL_H_
#define GLOVEPORT_CORE_CLI_ATTACK_TRIAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_setting.h"
#include "gloveport/core/cli/attack_surroundings.h"
#include "gloveport/core/host/runtime.h"

namespace gloveport {

// What became of a payload. Only with kEscaped is anything wrong.
enum class AttackResult {
  kContained,  // it ran to its end, or an exception ended it
  kLimited,    // a limit ended it: time, memory, output
  kDied,       // its process ended: a violation, a crash
  kRefused,    // the inspector refused it before it ran
  kVisible,    // it saw what is stated as visible in the degraded mode
  kEscaped,
};
std::string_view AttackResultName(AttackResult result);

struct AttackTrial {
  std::string id;
  AttackResult result = AttackResult::kContained;
  std::string outcome;               // of the cell, or the host's error
  std::vector<std::string> effects;  // what must not have happened, in words
  double seconds = 0;
  double host_cpu_seconds = 0;
  std::uint64_t host_peak_growth = 0;  // bytes
};

// Runs payloads in one host process, one after the other.
class AttackBench {
 public:
  // kConfinementUnavailable where the setting cannot be had here; kInternal where honest code fails in it:
  // then no payload would prove anything.
  static Result<std::unique_ptr<AttackBench>> Make(AttackSetting setting, std::chrono::milliseconds time,
                                                   AttackSurroundings& surroundings);

  AttackTrial Try(const AttackPayload& payload);

 private:
  AttackBench(AttackSetting setting, Policy policy, AttackSurroundings& surroundings,
              std::unique_ptr<Runtime> runtime);
  Result<std::unique_ptr<Session>> Open();
  Status RunHonestCode();
  // One session from its start to its end; only `last` is judged by what it prints.
  // `before` changes where the canary has to be given to the session's user.
  void RunIn(const AttackPayload& payload, std::int64_t which, bool last, AttackSnapshot& before,
             AttackTrial& trial);
  void LookAround(const AttackSnapshot& before, AttackTrial& trial);

  const AttackSetting setting_;
  const Policy policy_;
  AttackSurroundings& surroundings_;
  std::shared_ptr<ToolRegistry> tools_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_TRIAL_H_
