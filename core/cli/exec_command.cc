#include "gloveport/core/cli/exec_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/cli/builtin_option.h"
#include "gloveport/core/cli/display_printer.h"
#include "gloveport/core/cli/failure.h"
#include "gloveport/core/cli/figure_folder.h"
#include "gloveport/core/cli/hook_option.h"
#include "gloveport/core/cli/interrupt_watcher.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/cli/terminal_approver.h"
#include "gloveport/core/cli/type_check.h"
#include "gloveport/core/host/result_json.h"
#include "gloveport/core/host/runtime.h"
#include "gloveport/core/serve/output_budget.h"
#include "gloveport/policy/codec.h"
#include "gloveport/tools/python_stub.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxCodeBytes = 16u << 20;
constexpr const char* kTypeCheckError = "TypeCheckError";

// Shows what the cell writes as it is written, as far as the policy keeps it.
class StreamingSink : public EventSink {
 public:
  StreamingSink(Console& console, const Limits& limits) : console_(console) { budget_.Reset(limits); }
  // Called once nobody reads what the cell writes: `gloveport exec ... | head`.
  void OnReaderGone(std::function<void()> callback) { on_reader_gone_ = std::move(callback); }

  void OnOutput(std::string_view, std::uint32_t, Stream stream, std::string_view text) override {
    const std::string_view part = budget_.Take(stream, text);
    if (stream == Stream::kStdout) {
      console_.StreamData(part);
    } else {
      console_.StreamNote(part);
    }
    if (console_.output_failed() && on_reader_gone_) std::exchange(on_reader_gone_, nullptr)();
  }

 private:
  Console& console_;
  OutputBudget budget_;
  std::function<void()> on_reader_gone_;
};

Result<std::string> ReadCode(const ExecOptions& options) {
  if (options.code) return *options.code;
  // /dev/stdin, not descriptor 0: a file that was redirected is read from its beginning to its end.
  const std::string path = options.file == "-" ? "/dev/stdin" : options.file;
  auto text = ReadFile(path, kMaxCodeBytes);
  if (text) return text;
  return Fail(ErrorCode::kInvalidArgument, text.error().message,
              "name a file with Python code, give code with -c, or use - for standard input");
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(std::ceil(std::min(seconds, 1e9) * 1000)));
}

Result<SessionOptions> MakeSessionOptions(const ExecOptions& options) {
  SessionOptions session;
  ASSIGN_OR_RETURN(session.policy, AtOption("--policy", LoadPolicy(options.policy)));
  // Who starts the command owns the policy: a longer time on the command line is meant.
  if (options.timeout_s) session.policy.limits.wall = Milliseconds(*options.timeout_s);
  if (!options.workdir.empty()) session.workdir = options.workdir;
  return session;
}

std::vector<ToolSpec> SpecsOf(const ToolRegistry* tools) {
  std::vector<ToolSpec> specs;
  if (tools == nullptr) return specs;
  for (const auto& tool : tools->tools()) specs.push_back(tool->spec());
  return specs;
}

// A result that says what a type checker found, as if the policy had refused the cell; nothing where it found
// none.
Result<std::optional<CellResult>> CheckCell(const std::string& code, const ToolRegistry* tools) {
  constexpr std::chrono::seconds kCheckerTime{60};
  ASSIGN_OR_RETURN(const TypeChecker checker, AtOption("--check", FindTypeChecker()));
  const TypeCheckInput input{.code = code, .tools = SpecsOf(tools), .earlier = {}};
  ASSIGN_OR_RETURN(const auto findings,
                   AtOption("--check", CheckTypes(checker, input, Deadline::After(kCheckerTime))));
  if (findings.empty()) return std::nullopt;
  CellResult result;
  result.outcome = Outcome::kDenied;
  result.error =
      PythonError{kTypeCheckError, fmt::format("{} found errors; nothing was run", TypeCheckerName(checker)),
                  findings.front().line, 0, ""};
  result.verdict = Verdict{Decision::kDeny, findings};
  return std::optional<CellResult>(std::move(result));
}

Result<CellResult> RunCell(const ExecOptions& options, const FigureFolder& figures,
                           const std::shared_ptr<AuditLog>& log, Console& console) {
  if (!options.figures.empty()) RETURN_IF_ERROR(AtOption("--figures", figures.opened()));
  ASSIGN_OR_RETURN(const std::string code, ReadCode(options));
  ASSIGN_OR_RETURN(SessionOptions session_options, MakeSessionOptions(options));
  const auto sink = std::make_shared<StreamingSink>(console, session_options.policy.limits);
  if (!options.json) session_options.sink = sink;
  session_options.approver = TerminalApprover::Find(console);
  ASSIGN_OR_RETURN(session_options.tools, WithBuiltinTools(nullptr, options.builtin, &console));
  ASSIGN_OR_RETURN(const std::shared_ptr<DecisionHook> hook, MakeHook(options.hook));
  ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime,
                   Runtime::Create({.min_ready = 0,
                                    .imports = Imports::kWhenNeeded,
                                    .record = log,
                                    .hook = hook}));  // there is no next session
  ASSIGN_OR_RETURN(const auto mcp, OpenMcp(options.mcp, runtime.get(), session_options.approver, console));
  ASSIGN_OR_RETURN(session_options.tools, AddMcpTools(mcp, session_options.tools, console));
  if (options.check) {
    ASSIGN_OR_RETURN(auto found, CheckCell(code, session_options.tools.get()));
    if (found) return std::move(*found);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, runtime->Open(std::move(session_options)));
  InterruptWatcher watcher([&session] { (void)session->Interrupt(); });
  sink->OnReaderGone([&watcher] { watcher.Trigger(); });
  return session->Run(code);
}

// The rest of what a notebook shows: the value, or why there is none.
void ShowResult(const CellResult& result, DisplayPrinter& displays, Console& console) {
  console.EndStream();
  const bool has_value = !result.final_answer && result.outcome == Outcome::kOk && !result.type.empty() &&
                         result.type != "NoneType";
  displays.Print(result, has_value ? result.repr : "");
  if (result.final_answer) {
    console.Data(DumpJson(result.final_answer->value) + "\n");
    if (!result.final_answer->explanation.empty())
      console.Note(Console::Safe(result.final_answer->explanation));
  } else if (has_value) {
    console.StreamData(result.repr + "\n");
    console.EndStream();
  }
  for (const std::string& line : DescribeTruncation(result)) console.Note(line, Style::kWarning);
  if (result.error && result.error->type == kTypeCheckError) {
    console.Note(Console::Safe(result.error->message) + ":", Style::kBad);
    console.Note(DescribeFindings(*result.verdict));
  } else if (result.outcome != Outcome::kOk) {
    console.Note(DescribeFailure(result, console));
  }
}

Result<std::string> StubOfTools(const ExecOptions& options, Console& console) {
  ASSIGN_OR_RETURN(auto tools, WithBuiltinTools(nullptr, options.builtin, nullptr));
  ASSIGN_OR_RETURN(const auto mcp, OpenMcp(options.mcp, nullptr, nullptr, console));
  ASSIGN_OR_RETURN(tools, AddMcpTools(mcp, tools, console));
  return PythonStub(SpecsOf(tools.get()));
}

}  // namespace

ExitCode RunExec(const Program& program, const ExecOptions& options, Console& console) {
  if (options.tools_pyi) {
    const auto stub = StubOfTools(options, console);
    if (!stub) return ReportFailure(program, "exec", stub.error(), FailureFormOf(options.json), console);
    console.Data(*stub);
    return kExitOk;
  }
  FigureFolder figures(options.figures, FigurePrefix(options.code ? "" : options.file));
  const auto log = OpenAuditLog(options.audit);
  const auto result =
      log ? RunCell(options, figures, *log, console) : Result<CellResult>(tl::unexpected<Error>(log.error()));
  if (!result) return ReportFailure(program, "exec", result.error(), FailureFormOf(options.json), console);
  DisplayPrinter displays(console, figures);
  if (options.json) {
    console.Data(DumpJson(ToJson(*result)) + "\n");
    if (!options.figures.empty()) displays.SaveImages(*result);
  } else {
    ShowResult(*result, displays, console);
  }
  if (!FinishAuditLog(*log, console)) return kExitProgramFailed;
  // Who names a folder counts on the files; the current one is only offered.
  if (result->outcome == Outcome::kOk && !options.figures.empty() && !displays.all_saved())
    return kExitProgramFailed;
  return ExitCodeOf(result->outcome);
}

}  // namespace gloveport
