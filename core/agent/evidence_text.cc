#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/agent/evidence.h"
#include "gloveport/core/base/text.h"
#include "gloveport/tools/python_literal.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostCalls = 20;     // shown of all tool calls
constexpr std::size_t kMostRefusals = 20;  // and of all refusals
constexpr std::size_t kMostText = 200;     // bytes of one text of the session
constexpr std::size_t kMostOfValue = 60;   // and of one value

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Text of a session or a model on one line of ours.
std::string Inline(std::string_view text, std::size_t max_bytes = kMostText) {
  std::string flat(text);
  for (char& c : flat) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  if (flat.size() > max_bytes) {
    std::size_t cut = max_bytes;
    while (cut > 0 && (static_cast<unsigned char>(flat[cut]) & 0xC0) == 0x80) --cut;
    flat = flat.substr(0, cut) + "...";
  }
  return EscapeForTerminal(flat);
}

// Rows under headings: the heading once, at the left.
class Table {
 public:
  void Row(std::string_view heading, std::string_view text) {
    out_ += fmt::format("  {:<11} {}\n", heading == last_ ? "" : heading, text);
    last_ = heading;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_ = "Evidence\n";
  std::string last_;
};

std::string UsageText(const Usage& usage) {
  return fmt::format("{:.2f} s, {:.2f} s CPU, {} MiB", Seconds(usage.wall),
                     Seconds(usage.cpu_user + usage.cpu_system),
                     (usage.max_rss_bytes + (1u << 20) - 1) >> 20);
}

std::string CellText(const AgentStep& step) {
  if (!step.result && step.action.code) {
    return fmt::format("{:<13} not run: {} by the check before it", "held back",
                       Counted(step.findings.size(), "mistake was found", "mistakes were found"));
  }
  if (!step.result) return fmt::format("{:<13} no code was run", ActionErrorName(step.action.error));
  const CellResult& cell = *step.result;
  std::string text = fmt::format("{:<13}", OutcomeName(cell.outcome));
  if (cell.outcome != Outcome::kDenied) text += " " + UsageText(cell.usage);
  if (!cell.tool_calls.empty()) text += ", " + Counted(cell.tool_calls.size(), "tool call", "tool calls");
  if (cell.limit) text += ", " + Inline(cell.limit->message);
  if (cell.state != SessionState::kKept) text += fmt::format(", variables {}", SessionStateName(cell.state));
  if (cell.error) text += ", " + Inline(cell.error->type + ": " + cell.error->message);
  if (cell.final_answer)
    text += step.validation_errors.empty() ? ", final answer" : ", final answer that does not fit";
  return text;
}

void AddCells(Table& table, const AgentResult& result) {
  for (const AgentStep& step : result.steps)
    table.Row("steps", fmt::format("{:>2}  {}", step.number, CellText(step)));
  if (result.steps.empty()) table.Row("steps", "none");
}

void AddFiles(Table& table, std::string_view heading, const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) all += (all.empty() ? "" : ", ") + Inline(file);
  table.Row(heading, all.empty() ? "none" : all);
}

std::vector<std::string> RefusalTexts(const AgentResult& result) {
  std::vector<std::string> texts;
  for (const AgentStep& step : result.steps) {
    if (!step.result) continue;
    if (step.result->outcome == Outcome::kDenied && step.result->verdict) {
      for (const Finding& finding : step.result->verdict->findings) {
        texts.push_back(fmt::format("{:>2}  before the run, line {}, {}: {}", step.number, finding.line,
                                    Inline(finding.rule), Inline(finding.message)));
      }
    }
    for (const Refusal& refusal : step.result->usage.denied) {
      if (refusal.source == "inspector") continue;  // the verdict has said it
      texts.push_back(fmt::format("{:>2}  by the {}, {} {}: {}", step.number, Inline(refusal.source),
                                  Inline(refusal.rule), Inline(refusal.what), Inline(refusal.message)));
    }
  }
  return texts;
}

std::string CallText(const AgentStep& step, const ToolCallRecord& call) {
  const std::string args = PythonArguments(call.args, kMostOfValue);
  return fmt::format(
      "{:>2}  {}({}) {} {}, {:.3f} ms", step.number, Inline(call.name), Inline(args),
      call.ok ? "->" : "failed:", Inline(call.ok ? ShortLiteral(call.result, kMostOfValue) : call.error),
      Seconds(call.duration) * 1000);
}

std::vector<std::string> CallTexts(const AgentResult& result) {
  std::vector<std::string> texts;
  for (const AgentStep& step : result.steps) {
    if (!step.result) continue;
    for (const ToolCallRecord& call : step.result->tool_calls) texts.push_back(CallText(step, call));
  }
  return texts;
}

void AddList(Table& table, std::string_view heading, const std::vector<std::string>& texts,
             std::size_t most) {
  if (texts.empty()) table.Row(heading, "none");
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) table.Row(heading, texts[i]);
  if (texts.size() > most) table.Row(heading, fmt::format("    and {} more", texts.size() - most));
}

void AddLayers(Table& table, const AgentResult& result) {
  for (const LayerStatus& layer : result.layers) {
    table.Row("confined by",
              fmt::format("{:<14} {}{}", Inline(layer.name), layer.active ? "in force" : "NOT in force",
                          layer.detail.empty() ? "" : ": " + Inline(layer.detail)));
  }
  if (result.layers.empty()) table.Row("confined by", "nothing is known about it");
}

}  // namespace

std::string EvidenceText(const AgentResult& result) {
  Table table;
  table.Row("ended", fmt::format("{}: {}", StopReasonName(result.stop_reason), Inline(result.stop_message)));
  table.Row("model", fmt::format("{}{}, {} in {:.2f} s, {} tokens read, {} written", Inline(result.model),
                                 result.scripted ? " (its words come from a script)" : "",
                                 Counted(result.steps.size(), "reply", "replies"), Seconds(result.model_time),
                                 result.tokens.input_tokens, result.tokens.output_tokens));
  if (result.cost && *result.cost > 0)
    table.Row("cost", fmt::format("{:.4f} {}", *result.cost, Inline(result.currency)));
  for (const RecoveryRecord& each : result.recoveries) {
    table.Row("recovered", fmt::format("{:>2}  {}, instead of ending as {}: {}", each.after_step,
                                       RecoveryActionName(each.action), StopReasonName(each.reason),
                                       Inline(each.message)));
  }
  table.Row("policy", Inline(result.policy));
  AddCells(table, result);
  AddFiles(table, "files read", result.totals.files_read);
  AddFiles(table, "written", result.totals.files_written);
  AddList(table, "refused", RefusalTexts(result), kMostRefusals);
  AddList(table, "tool calls", CallTexts(result), kMostCalls);
  table.Row("used", fmt::format("{} in cells, {} bytes of output; {:.2f} s for the whole run",
                                UsageText(result.totals), result.totals.output_bytes, Seconds(result.wall)));
  AddLayers(table, result);
  return table.Take();
}

}  // namespace gloveport
