#include "gloveport/core/cli/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>

#include "gloveport/core/base/text.h"
#include "gloveport/core/host/display_marks.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

std::size_t SizeOf(const Value& value) {
  if (value.is_bytes()) return value.as_bytes().size();
  return value.is_text() ? value.as_text().size() : 0;
}

std::string ErrorText(const CellResult& result) {
  if (!result.error) return "";
  if (!result.error->traceback.empty()) return std::string(Trim(result.error->traceback));
  return fmt::format("{}: {}", result.error->type, result.error->message);
}

std::string_view StateText(SessionState state) {
  switch (state) {
    case SessionState::kKept:
      return "";
    case SessionState::kRestored:
      return "The session's variables are those from before the cell.";
    case SessionState::kLost:
      return "The session's variables are lost.";
  }
  return "";
}

std::string_view HeadlineOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kError:
      return "";  // the traceback says it
    case Outcome::kDenied:
      return "The policy refused this code; nothing of it was run:";
    case Outcome::kTimeout:
      return "The time limit ended the code:";
    case Outcome::kMemory:
      return "The memory limit ended the code:";
    case Outcome::kOutputLimit:
      return "The output limit ended the code:";
    case Outcome::kViolation:
      return "The confinement ended the code:";
    case Outcome::kCrashed:
      return "The interpreter crashed:";
    case Outcome::kKilled:
      return "The session was ended while the code ran:";
    case Outcome::kProtocolError:
      return "The session broke the protocol and was ended:";
  }
  return "";
}

void AppendLine(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
}

}  // namespace

std::string DescribeFindings(const Verdict& verdict, std::string_view indent) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    AppendLine(text, fmt::format("{}line {}, column {}: [{}] {}", indent, finding.line, finding.column,
                                 Console::Safe(finding.rule), Console::Safe(finding.message)));
    if (!finding.hint.empty())
      AppendLine(text, fmt::format("{}  hint: {}", indent, Console::Safe(finding.hint)));
  }
  return text;
}

std::string DescribeFailure(const CellResult& result, const Console& console) {
  std::string text = console.Paint(HeadlineOf(result.outcome), Style::kBad);
  if (result.outcome == Outcome::kDenied && result.verdict && !result.verdict->findings.empty()) {
    AppendLine(text, DescribeFindings(*result.verdict));
    if (!result.refusal_reason.empty())
      AppendLine(text, "  not approved: " + Console::Safe(result.refusal_reason));
    return text;
  }
  if (result.limit) AppendLine(text, "  " + Console::Safe(result.limit->message));
  AppendLine(text, Console::Safe(ErrorText(result)));
  AppendLine(text, StateText(result.state));
  return text;
}

std::string DescribeBytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string DescribeDisplay(const Value& bundle) {
  std::vector<std::string> parts;
  if (bundle.is_map()) {
    for (const auto& [type, data] : bundle.as_map()) {
      if (type.is_text() && !IsDisplayMark(type.as_text()))
        parts.push_back(fmt::format("{}, {}", Console::Safe(type.as_text()), DescribeBytes(SizeOf(data))));
    }
  }
  return fmt::format("[display: {}; --json has the data]", fmt::join(parts, "; "));
}

std::vector<std::string> DescribeTruncation(const CellResult& result) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string_view name, std::uint64_t bytes) {
    if (bytes > 0)
      lines.push_back(
          fmt::format("[{} was longer than the limit: {} were left out]", name, DescribeBytes(bytes)));
  };
  add("stdout", result.truncated_out_bytes);
  add("stderr", result.truncated_err_bytes);
  return lines;
}

std::string DescribeCall(std::string_view tool, const Value& arguments) {
  std::vector<std::string> given;
  if (arguments.is_map()) {
    for (const auto& [name, value] : arguments.as_map())
      given.push_back(fmt::format("{}={}", name.is_text() ? name.as_text() : "?", DumpJson(value)));
  }
  return Console::Safe(fmt::format("{}({})", tool, fmt::join(given, ", ")));
}

std::string DescribeToolCall(const ToolCallRecord& call) {
  const std::string outcome = call.ok ? DumpJson(call.result) : "failed: " + call.error;
  return DescribeCall(call.name, call.args) + " -> " + Console::Safe(outcome);
}

}  // namespace gloveport
