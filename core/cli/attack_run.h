// AttackRun: a whole corpus under one setting, in worker processes. A worker that dies is a host that a
// payload killed.
#ifndef GLOVEPORT_CORE_CLI_ATTACK_RUN_H_
#define GLOVEPORT_CORE_CLI_ATTACK_RUN_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/attack_corpus.h"
#include "gloveport/core/cli/attack_setting.h"
#include "gloveport/core/cli/attack_trial.h"

namespace gloveport {

struct AttackRunOptions {
  AttackSetting setting = AttackSetting::kOpen;
  unsigned workers = 2;
  std::chrono::milliseconds time{3000};  // wall and CPU limit of a payload
};

struct AttackReport {
  AttackSetting setting = AttackSetting::kOpen;
  std::vector<AttackTrial> trials;  // in the order of the corpus; without those that this machine cannot run
  double seconds = 0;

  std::size_t Count(AttackResult result) const;
  bool contained() const { return Count(AttackResult::kEscaped) == 0; }
};

// Starts the workers by fork: call it in a process with one thread. An error means that nothing was proven:
// honest code fails too, or no payload was run.
Result<AttackReport> RunAttack(const std::vector<AttackPayload>& payloads, const AttackRunOptions& options);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_ATTACK_RUN_H_
