#include "gloveport/core/serve/program_hook.h"

#include <fmt/core.h>

#include <utility>

#include "gloveport/core/base/subprocess.h"

namespace gloveport {

Result<std::unique_ptr<ProgramHook>> ProgramHook::Create(std::vector<std::string> argv) {
  if (argv.empty() || argv.front().empty()) {
    return Fail(ErrorCode::kInvalidArgument, "a decision hook needs the name of a program");
  }
  return std::unique_ptr<ProgramHook>(new ProgramHook(std::move(argv)));
}

Result<HookAnswer> ProgramHook::Decide(const HookQuestion& question, Deadline deadline) {
  SubprocessOptions options;
  options.argv = argv_;
  options.input = HookQuestionJson(question) + "\n";
  options.max_output_bytes = kMaxHookAnswerBytes;
  options.deadline = deadline;
  ASSIGN_OR_RETURN(const SubprocessResult ended, RunSubprocess(options));
  if (ended.signal != 0) return Fail(ErrorCode::kProtocol, fmt::format("ended by signal {}", ended.signal));
  if (ended.exit_code != 0) return Fail(ErrorCode::kProtocol, fmt::format("exit code {}", ended.exit_code));
  return ParseHookAnswer(ended.output);
}

}  // namespace gloveport
