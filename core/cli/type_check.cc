#include "gloveport/core/cli/type_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/subprocess.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/check_file.h"
#include "gloveport/core/wire/json_members.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/python_stub.h"

namespace gloveport {
namespace {

constexpr std::string_view kFile = "cell.py";
constexpr std::size_t kMaxFindings = 50;
constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr TypeChecker kCheckers[] = {TypeChecker::kTy, TypeChecker::kPyright, TypeChecker::kMypy};

// What says nothing about a cell: modules that this machine's checker does not know, and what notebooks are
// free to do, which is to give a name another type.
constexpr std::string_view kIgnoredRules[] = {
    "import-not-found",          "unresolved-import",   "import-untyped",        "reportMissingImports",
    "reportMissingModuleSource", "reportRedeclaration", "reportUnusedExpression"};

bool IsIgnored(std::string_view rule, std::string_view message) {
  if (std::find(std::begin(kIgnoredRules), std::end(kIgnoredRules), rule) != std::end(kIgnoredRules))
    return true;
  // A cell may await at its top level.
  return message.find("await") != std::string_view::npos &&
         (message.find("outside") != std::string_view::npos ||
          message.find("only within async") != std::string_view::npos);
}

// A folder that goes with the check.
class CheckFolder {
 public:
  static Result<CheckFolder> Make() {
    std::string path = (std::filesystem::temp_directory_path() / "gloveport-check-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return FailErrno("cannot make a temporary folder", errno);
    return CheckFolder(path);
  }
  CheckFolder(CheckFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  CheckFolder& operator=(CheckFolder&&) = delete;
  ~CheckFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit CheckFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

std::string ImportLine(const std::vector<ToolSpec>& tools) {
  std::set<std::string> names(std::begin(kCellNames), std::end(kCellNames));
  for (const ToolSpec& tool : tools) names.insert(tool.name);
  return fmt::format("from gloveport_tools import {}", fmt::join(names, ", "));
}

std::vector<std::string> CommandOf(TypeChecker checker) {
  switch (checker) {
    case TypeChecker::kTy:
      return {"ty", "check", "--output-format", "concise", std::string(kFile)};
    case TypeChecker::kPyright:
      return {"pyright", "--outputjson", std::string(kFile)};
    case TypeChecker::kMypy:
      break;
  }
  return {"mypy",
          "--config-file=",
          "--cache-dir=/dev/null",
          "--no-error-summary",
          "--no-color-output",
          "--show-column-numbers",
          "--hide-error-context",
          "--ignore-missing-imports",
          "--check-untyped-defs",
          "--allow-redefinition",
          "--disable-error-code=var-annotated",
          "--disable-error-code=no-redef",
          "--disable-error-code=assignment",
          "--disable-error-code=top-level-await",
          std::string(kFile)};
}

bool TakeNumber(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool TakeText(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(wanted.size());
  return true;
}

struct Reported {
  Finding finding;
  std::string rule;
};

// "cell.py:3:5: error: message  [rule]" of mypy, "cell.py:3:5: error[rule] message" of ty.
std::optional<Reported> ReadLine(std::string_view line) {
  Reported reported;
  if (!TakeText(line, kFile) || !TakeText(line, ":") || !TakeNumber(line, reported.finding.line) ||
      !TakeText(line, ":"))
    return std::nullopt;
  if (TakeNumber(line, reported.finding.column) && !TakeText(line, ":")) return std::nullopt;
  if (!TakeText(line, " error")) return std::nullopt;
  const auto close = line.find(']');
  if (line.starts_with('[') && close != std::string_view::npos) {
    reported.rule = line.substr(1, close - 1);
    line.remove_prefix(close + 1);
  } else if (!TakeText(line, ":")) {
    return std::nullopt;
  }
  line = Trim(line);
  const auto open = line.rfind("  [");
  if (reported.rule.empty() && open != std::string_view::npos && line.ends_with(']')) {
    reported.rule = line.substr(open + 3, line.size() - open - 4);
    line = Trim(line.substr(0, open));
  }
  reported.finding.message = line;
  return reported;
}

std::vector<Reported> ReadLines(std::string_view output) {
  std::vector<Reported> all;
  for (const std::string_view line : SplitLines(output)) {
    if (auto reported = ReadLine(line)) all.push_back(std::move(*reported));
  }
  return all;
}

std::vector<Reported> ReadPyright(std::string_view output) {
  std::vector<Reported> all;
  const auto json = ParseJson(output);
  if (!json) return all;
  const Json& diagnostics = MemberOf(*json, "generalDiagnostics");
  if (!diagnostics.is_array()) return all;
  for (const Json& diagnostic : diagnostics) {
    if (TextOf(diagnostic, "severity") != "error") continue;
    const Json& start = MemberOf(MemberOf(diagnostic, "range"), "start");
    Reported reported;
    reported.finding.line = static_cast<int>(IntegerOf(start, "line")) + 1;
    reported.finding.column = static_cast<int>(IntegerOf(start, "character")) + 1;
    reported.finding.message = TextOf(diagnostic, "message");
    reported.rule = TextOf(diagnostic, "rule");
    all.push_back(std::move(reported));
  }
  return all;
}

// Whether the checker came to an end: else that there are no findings says nothing.
bool IsReport(TypeChecker checker, const SubprocessResult& ended) {
  if (ended.signal != 0 || ended.exit_code < 0 || ended.exit_code > 1) return false;
  return checker != TypeChecker::kPyright || ParseJson(ended.output).has_value();
}

}  // namespace

std::string_view TypeCheckerName(TypeChecker checker) {
  if (checker == TypeChecker::kTy) return "ty";
  return checker == TypeChecker::kPyright ? "pyright" : "mypy";
}

Result<TypeChecker> FindTypeChecker() {
  const char* variable = std::getenv("PATH");
  const std::string_view path = variable != nullptr ? variable : "";
  for (const TypeChecker checker : kCheckers) {
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      const auto file = std::filesystem::path(path.substr(begin, end - begin)) / TypeCheckerName(checker);
      if (end > begin && ::access(file.c_str(), X_OK) == 0) return checker;
      begin = end + 1;
    }
  }
  return Fail(ErrorCode::kInvalidArgument, "no type checker is on PATH",
              "install one, such as mypy (apt-get install mypy, or pip install mypy), or leave --check out");
}

std::vector<Finding> ReadFindings(TypeChecker checker, std::string_view output, int lines_before) {
  std::vector<Finding> findings;
  for (Reported& reported : checker == TypeChecker::kPyright ? ReadPyright(output) : ReadLines(output)) {
    Finding& finding = reported.finding;
    if (findings.size() == kMaxFindings || finding.line <= lines_before ||
        IsIgnored(reported.rule, finding.message))
      continue;
    finding.rule = "types";
    finding.line -= lines_before;
    if (!reported.rule.empty()) finding.message += fmt::format(" [{}]", reported.rule);
    findings.push_back(std::move(finding));
  }
  return findings;
}

Result<std::vector<Finding>> CheckTypes(TypeChecker checker, const TypeCheckInput& input, Deadline deadline,
                                        std::stop_token stop) {
  const CheckFile file = MakeCheckFile(ImportLine(input.tools), input.earlier, input.code);
  if (file.text.size() > kMaxFileBytes)
    return Fail(ErrorCode::kResourceExhausted, "the cells of the session are too long to be checked");
  ASSIGN_OR_RETURN(const CheckFolder folder, CheckFolder::Make());
  RETURN_IF_ERROR(WriteFile(folder.path() / kFile, file.text));
  RETURN_IF_ERROR(WriteFile(folder.path() / "gloveport_tools.pyi", PythonStub(input.tools)));
  // So that none is looked for in the folders above.
  RETURN_IF_ERROR(WriteFile(folder.path() / "pyrightconfig.json", "{\"reportMissingImports\": \"none\"}"));
  RETURN_IF_ERROR(WriteFile(folder.path() / "ty.toml", ""));
  SubprocessOptions options;
  options.argv = CommandOf(checker);
  options.folder = folder.path();
  options.deadline = deadline;
  options.stop = std::move(stop);
  options.max_output_bytes = 4u << 20;
  if (checker != TypeChecker::kPyright) options.errors = SubprocessOptions::Errors::kWithOutput;
  auto ended = RunSubprocess(options);
  if (!ended)
    return Fail(ended.error().code, fmt::format("{}: {}", TypeCheckerName(checker), ended.error().message));
  if (!IsReport(checker, *ended))
    return Fail(ErrorCode::kIo,
                fmt::format("{} failed with exit code {}: {}", TypeCheckerName(checker), ended->exit_code,
                            EscapeForTerminal(ended->output.substr(0, 500))));
  return ReadFindings(checker, ended->output, file.lines_before);
}

}  // namespace gloveport
