#include "gloveport/core/agent/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/display_marks.h"

namespace gloveport {
namespace {

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The largest cut of at most `max_bytes` from the front: at a line end where one is in the last quarter.
std::size_t HeadSize(std::string_view text, std::size_t max_bytes) {
  const auto newline = text.rfind('\n', max_bytes);
  if (newline != std::string_view::npos && newline + 1 <= max_bytes &&
      newline + 1 >= max_bytes - max_bytes / 4)
    return newline + 1;
  while (max_bytes > 0 && IsContinuation(text[max_bytes])) --max_bytes;
  return max_bytes;
}

// Where the tail of at most `max_bytes` begins.
std::size_t TailBegin(std::string_view text, std::size_t max_bytes) {
  std::size_t begin = text.size() - max_bytes;
  const auto newline = text.find('\n', begin);
  if (newline != std::string_view::npos && newline - begin <= max_bytes / 4 && newline + 1 < text.size())
    return newline + 1;
  while (begin < text.size() && IsContinuation(text[begin])) ++begin;
  return begin;
}

std::size_t CountLines(std::string_view text) {
  if (text.empty()) return 0;
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + (text.back() != '\n');
}

std::string_view LineOf(std::string_view code, int line) {
  const auto lines = SplitLines(code);
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return {};
  return lines[static_cast<std::size_t>(line) - 1];
}

// One line of untrusted text inside a sentence of ours.
std::string Inline(std::string_view text, std::size_t max_bytes = 300) {
  std::string flat = HeadAndTail(text, max_bytes);
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  return EscapeForTerminal(flat);
}

void AppendCodeLine(std::string& out, std::string_view code, int line) {
  const std::string_view text = LineOf(code, line);
  if (!Trim(text).empty()) out += fmt::format("| {:>4}  {}\n", line, Inline(text));
}

std::string_view OutcomeSentence(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ran";
    case Outcome::kError:
      return "ended with an error";
    case Outcome::kDenied:
      return "was refused before it ran; nothing of it was executed";
    case Outcome::kTimeout:
      return "was stopped at its time limit";
    case Outcome::kMemory:
      return "ran out of memory";
    case Outcome::kOutputLimit:
      return "was stopped because it wrote too much";
    case Outcome::kViolation:
      return "was stopped because it tried something that the confinement forbids";
    case Outcome::kCrashed:
      return "crashed the Python process";
    case Outcome::kKilled:
      return "was killed";
    case Outcome::kProtocolError:
      return "broke the connection to the Python process";
  }
  return "ended";
}

std::string_view StateSentence(const CellResult& result) {
  if (result.state == SessionState::kLost)
    return "All variables, imports and functions are lost: define again what you need. So are files of the "
           "work folder, "
           "unless it is one of the host's.\n";
  if (result.state == SessionState::kRestored) return "Variables are as they were before this cell.\n";
  return "";
}

void AppendFindings(std::string& out, const std::vector<Finding>& findings, std::string_view code,
                    const ObservationLimits& limits) {
  std::size_t shown = 0;
  for (const Finding& finding : findings) {
    if (shown++ == limits.max_findings) {
      out += fmt::format("- and {} more\n", findings.size() - limits.max_findings);
      break;
    }
    out += fmt::format("- line {}, column {} [{}]: {}\n", finding.line, finding.column, finding.rule,
                       Inline(finding.message));
    AppendCodeLine(out, code, finding.line);
    if (!finding.hint.empty()) out += fmt::format("  Instead: {}\n", Inline(finding.hint));
  }
}

void AppendVerdict(std::string& out, const Verdict& verdict, std::string_view refusal_reason,
                   std::string_view code, const ObservationLimits& limits) {
  if (verdict.decision == Decision::kEscalate)
    out += fmt::format("It needs the consent of a person and did not get it: {}\n",
                       Inline(GivenReason(refusal_reason)));
  AppendFindings(out, verdict.findings, code, limits);
}

void AppendError(std::string& out, const CellResult& result, std::string_view code,
                 const ObservationLimits& limits) {
  const PythonError& error = *result.error;
  const bool own = error.line > 0 && error.cell == static_cast<int>(result.cell);
  out += fmt::format("error: {}", Inline(error.type));
  if (error.line > 0)
    out += fmt::format(", line {}{}", error.line, own ? "" : fmt::format(" of cell {}", error.cell));
  out += ":\n" + Quote(HeadAndTail(error.message, limits.max_message));
  if (own) {
    out += "The line to mend:\n";
    AppendCodeLine(out, code, error.line);
  }
  // A traceback says more than the line only where the error came from another frame.
  if (std::count(error.traceback.begin(), error.traceback.end(), '\n') > 4)
    out += "traceback:\n" + Quote(HeadAndTail(error.traceback, limits.max_traceback));
}

void AppendStream(std::string& out, std::string_view name, std::string_view text, std::uint64_t dropped,
                  std::size_t max_bytes) {
  if (text.empty() && dropped == 0) return;
  out += fmt::format("{} ({} line{}", name, CountLines(text), CountLines(text) == 1 ? "" : "s");
  if (dropped > 0) out += fmt::format("; {} bytes in the middle were dropped at the output limit", dropped);
  out += "):\n" + Quote(HeadAndTail(text, max_bytes));
}

void AppendDisplays(std::string& out, const CellResult& result) {
  for (const Value& display : result.displays) {
    if (!display.is_map() || HasOnlyMarks(display)) continue;
    out += "display:";
    for (const auto& [type, data] : display.as_map()) {
      if (type.is_text() && !IsDisplayMark(type.as_text())) out += " " + Inline(type.as_text(), 80);
    }
    out += "\n";
  }
}

std::string HowToReply(ActionForm form) {
  switch (form) {
    case ActionForm::kText:
      break;
    case ActionForm::kJson:
      return "Reply with one JSON object, {\"thought\": ..., \"code\": ...}, and nothing else. When you have "
             "the answer, "
             "the code is final_answer(value, \"how it was found\").\n";
    case ActionForm::kTool:
      return "Call the tool execute_code with \"thought\" and \"code\". When you have the answer, the code "
             "is "
             "final_answer(value, \"how it was found\").\n";
  }
  return "Reply with one block of Python:\n"
         "```python\n"
         "print(1 + 1)\n"
         "```\n"
         "When you have the answer, give it by code, too:\n"
         "```python\n"
         "final_answer(value, \"how it was found\")\n"
         "```\n";
}

}  // namespace

std::string HeadAndTail(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  const std::size_t head = HeadSize(text, max_bytes * 3 / 5);
  const std::size_t tail = TailBegin(text, max_bytes - max_bytes * 3 / 5);
  const std::string_view missing = text.substr(head, tail - head);
  const std::size_t lines = CountLines(missing);
  const bool own_line = head > 0 && text[head - 1] == '\n';
  return fmt::format("{}{}[... {} characters left out{} ...]\n{}", text.substr(0, head), own_line ? "" : "\n",
                     std::count_if(missing.begin(), missing.end(), [](char c) { return !IsContinuation(c); }),
                     lines > 1 ? fmt::format(" in {} lines", lines) : "", text.substr(tail));
}

std::string Quote(std::string_view untrusted) {
  std::string out;
  for (const std::string_view line : SplitLines(untrusted)) out += "| " + EscapeForTerminal(line) + "\n";
  return out;
}

CellResult Redacted(const Redactor& redactor, CellResult result) {
  if (redactor.empty()) return result;
  for (std::string* text : {&result.out, &result.err, &result.repr}) *text = redactor.Apply(*text);
  if (!result.error) return result;
  result.error->message = redactor.Apply(result.error->message);
  result.error->traceback = redactor.Apply(result.error->traceback);
  return result;
}

std::string ObserveCell(const CellResult& result, std::string_view code, const ObservationLimits& limits) {
  std::string out = fmt::format("Observation: cell {} {}", result.cell, OutcomeSentence(result.outcome));
  out +=
      result.outcome == Outcome::kDenied ? ".\n" : fmt::format(" ({:.2f} s).\n", Seconds(result.usage.wall));
  if (result.limit) out += fmt::format("limit: {}\n", Inline(result.limit->message));
  if (result.verdict && result.outcome == Outcome::kDenied)
    AppendVerdict(out, *result.verdict, result.refusal_reason, code, limits);
  AppendStream(out, "stdout", result.out, result.truncated_out_bytes, limits.max_stdout);
  AppendStream(out, "stderr", result.err, result.truncated_err_bytes, limits.max_stderr);
  if (!result.type.empty() && result.type != "NoneType")
    out += fmt::format("value ({}):\n{}", Inline(result.type, 80),
                       Quote(HeadAndTail(result.repr, limits.max_value)));
  AppendDisplays(out, result);
  const bool explained =
      result.outcome == Outcome::kDenied && result.verdict && !result.verdict->findings.empty();
  if (result.error && !explained) AppendError(out, result, code, limits);
  if (result.outcome == Outcome::kOk && result.out.empty() && result.err.empty() && result.type.empty())
    out += "It printed nothing and has no value: print what you need to see.\n";
  out += StateSentence(result);
  return out;
}

std::string ObserveCellBriefly(const CellResult& result) {
  std::string out = fmt::format("Observation: cell {} {}", result.cell, OutcomeSentence(result.outcome));
  if (result.error) out += fmt::format(" ({})", Inline(result.error->type, 80));
  const std::size_t size = result.out.size() + result.err.size() + result.repr.size();
  return out + fmt::format("; its {} bytes of output are left out here.\n", size);
}

std::string ObserveFindings(const std::vector<Finding>& findings, std::string_view code,
                            const ObservationLimits& limits) {
  std::string out = "Observation: the cell was not run: a check of its code found mistakes.\n";
  AppendFindings(out, findings, code, limits);
  return out +
         "Mend these lines and send the whole cell again. One that is right as it is runs when you send "
         "it once more unchanged.\n";
}

std::string ObserveValidation(const std::vector<SchemaError>& errors, const ObservationLimits& limits) {
  std::string out =
      "Observation: final_answer was called, but its value does not fit the schema of the answer:\n";
  std::size_t shown = 0;
  for (const SchemaError& error : errors) {
    if (shown++ == limits.max_findings) {
      out += fmt::format("- and {} more\n", errors.size() - limits.max_findings);
      break;
    }
    out += fmt::format("- at {}: {}\n", error.path.empty() ? "the whole value" : Inline(error.path),
                       Inline(error.message));
  }
  return out + "Your variables are still there. Mend the value and call final_answer again.\n";
}

std::string ObserveNoAction(const Action& action, ActionForm form) {
  std::string what;
  switch (action.error) {
    case ActionError::kEmpty:
      what = "your reply was empty.";
      break;
    case ActionError::kToolCallJson:
      what =
          "your reply was a tool call in JSON, which nothing here understands. Tools are Python functions: "
          "call them "
          "by name in your code.";
      break;
    case ActionError::kBadJson:
      what = "your reply looks like JSON but is not valid JSON, so that no code could be taken from it.";
      break;
    case ActionError::kBadCall:
      what = EscapeForTerminal(action.problem);
      break;
    case ActionError::kNoCode:
    case ActionError::kNone:
      what = "there was no Python code in your reply, so that nothing was run.";
      break;
  }
  return fmt::format("Observation: {}\n{}", what, HowToReply(form));
}

}  // namespace gloveport
