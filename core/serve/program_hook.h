// ProgramHook: a program that decides. It is started for each question, gets the question as JSON on its
// standard input and answers with JSON on its standard output (see core/host/decision_hook.h). Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_PROGRAM_HOOK_H_
#define GLOVEPORT_CORE_SERVE_PROGRAM_HOOK_H_

#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/decision_hook.h"

namespace gloveport {

class ProgramHook : public DecisionHook {
 public:
  // `argv` begins with the program: a path, or a name that is looked up on PATH; no shell is involved. It
  // runs with the host's rights, environment, working folder and standard error. kInvalidArgument where it is
  // empty.
  static Result<std::unique_ptr<ProgramHook>> Create(std::vector<std::string> argv);

  std::string name() const override { return "program " + argv_.front(); }
  // At the deadline the program and what it has started in its process group are killed. An exit code other
  // than 0, a signal and more than kMaxHookAnswerBytes of output are errors.
  Result<HookAnswer> Decide(const HookQuestion& question, Deadline deadline) override;

 private:
  explicit ProgramHook(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  const std::vector<std::string> argv_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_PROGRAM_HOOK_H_
