#include "gloveport/core/cli/narrator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/highlight.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/host/display_marks.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMostLines = 40;        // of one cell's output
constexpr std::size_t kLongestLine = 16'384;  // shown in pieces beyond it
constexpr std::string_view kOutputPrefix = "    | ";

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::string_view WithoutCode(ActionError error) {
  switch (error) {
    case ActionError::kEmpty:
      return "It said nothing at all.";
    case ActionError::kNoCode:
      return "There is no code in it.";
    case ActionError::kToolCallJson:
      return "It asks for a tool call in JSON; here tools are called from code.";
    case ActionError::kBadCall:
      return "It calls execute_code in a way that cannot be used.";
    case ActionError::kBadJson:
      return "It is JSON that cannot be read.";
    case ActionError::kNone:
      return "";
  }
  return "";
}

std::string CellSummary(const CellResult& result) {
  std::string text = fmt::format("The cell ended: {}, after {:.2f} s ({:.2f} s of CPU time, {} of memory).",
                                 OutcomeName(result.outcome), Seconds(result.usage.wall),
                                 Seconds(result.usage.cpu_user + result.usage.cpu_system),
                                 DescribeBytes(result.usage.max_rss_bytes));
  if (result.outcome == Outcome::kOk && !result.final_answer && !result.type.empty() &&
      result.type != "NoneType") {
    text += fmt::format("\nIts value: {}", Console::Safe(result.repr));
  }
  return text;
}

}  // namespace

void Narrator::Heading(std::string_view text) { console_.Note("\n" + std::string(text), Style::kHeading); }

void Narrator::OnStep(std::size_t number, std::size_t max_steps) {
  Heading(fmt::format("Step {} of at most {}", number, max_steps));
  has_branches_ = false;
  const std::lock_guard lock(mutex_);
  lines_shown_ = 0;
  started_.clear();
  nested_.clear();  // of a cell that did not wait for their end
}

std::string Narrator::CodeBlock(std::string_view code) const {
  std::string block;
  PythonHighlighter highlighter(console_);
  int number = 0;
  for (const std::string_view line : SplitLines(code)) {
    block +=
        fmt::format("{}{}  {}", number == 0 ? "" : "\n",
                    console_.Paint(fmt::format("{:>4}", number + 1), Style::kDim), highlighter.Line(line));
    ++number;
  }
  return block;
}

void Narrator::OnState(AgentState state) {
  spinner_.reset();
  if (state == AgentState::kPlan || state == AgentState::kGenerate) view_.reset();  // of a reply that failed
  if (state == AgentState::kPlan) spinner_.emplace(console_, "the model plans");
  if (state == AgentState::kGenerate) spinner_.emplace(console_, "waiting for the model");
  if (state == AgentState::kCheck) spinner_.emplace(console_, "the types are checked");
  if (state == AgentState::kRun) spinner_.emplace(console_, "the cell is checked and runs");
}

void Narrator::OnDelta(const ChatDelta& delta) {
  if (!view_) view_.emplace(console_);
  if (spinner_) spinner_->SetWhat("the model writes");
  view_->Add(delta);
}

void Narrator::OnModelReply(const ChatReply& reply) {
  spinner_.reset();
  if (view_) view_->Finish();
  if (voice_ == Voice::kScript) return;
  console_.Note(fmt::format("{}{} tokens read, {} written", reply.usage.reported ? "" : "about ",
                            reply.usage.input_tokens, reply.usage.output_tokens),
                Style::kDim);
}

void Narrator::OnPlan(const AgentPlan& plan) {
  if (!view_ || !view_->has_shown()) {
    console_.Note("\nThe plan:", Style::kBold);
    console_.Note(console_.Block(plan.text));
  }
  view_.reset();
}

void Narrator::OnRecovery(const RecoveryRecord& record) {
  console_.Note(fmt::format("It would end here ({}: {}) and goes on: {}.", StopReasonName(record.reason),
                            Console::Safe(record.message), RecoveryActionName(record.action)),
                Style::kWarning);
}

void Narrator::OnAction(const Action& action) {
  // What was shown as it came need not be what is taken out of the reply.
  const bool shown = view_ && view_->has_shown() && action.code && Trim(view_->code()) == Trim(*action.code);
  view_.reset();
  if (shown) return;
  console_.Note(voice_ == Voice::kScript ? "The script says, in place of a model:" : "The model says:",
                Style::kBold);
  if (!action.thought.empty()) console_.Note(console_.Block(action.thought));
  if (!action.code) {
    console_.Note(WithoutCode(action.error), Style::kWarning);
    return;
  }
  console_.Note("and wants to run:", Style::kBold);
  console_.Note(CodeBlock(*action.code));
}

void Narrator::OnCheck(const Result<std::vector<Finding>>& found) {
  spinner_.reset();
  if (!found) {
    console_.Note("The types could not be checked: " + Console::Safe(found.error().message), Style::kWarning);
  } else if (!found->empty()) {
    console_.Note("The check of the types finds mistakes:", Style::kBad);
    console_.Note(DescribeFindings({Decision::kDeny, *found}, "    "));
  }
}

void Narrator::OnVerdict(std::string_view, std::uint32_t, const Verdict& verdict) {
  if (verdict.decision == Decision::kAllow) {
    console_.Note("The policy check allows it. It runs:", Style::kGood);
    return;
  }
  console_.Note(verdict.decision == Decision::kDeny ? "The policy check refuses it; nothing of it runs:"
                                                    : "The policy check wants a person to decide:",
                Style::kBad);
  console_.Note(DescribeFindings(verdict, "    "));
}

void Narrator::ShowLines(bool with_rest) {
  std::size_t start = 0;
  while (start < output_.size()) {
    std::size_t end = output_.find('\n', start);
    if (end == std::string::npos && !with_rest && output_.size() - start < kLongestLine) break;
    if (end == std::string::npos) end = output_.size();
    const std::string_view line = std::string_view(output_).substr(start, end - start);
    if (lines_shown_ < kMostLines) console_.Note(std::string(kOutputPrefix) + Console::Safe(line));
    if (++lines_shown_ == kMostLines) console_.Note("    [more output is not shown here]", Style::kDim);
    start = end + 1;
  }
  output_.erase(0, start);
}

void Narrator::OnOutput(std::string_view, std::uint32_t, Stream, std::string_view text) {
  const std::lock_guard lock(mutex_);
  output_ += text;
  ShowLines(false);
}

void Narrator::InCell(std::string_view text, Style style) {
  if (has_branches_) return cell_.Item(text, style);
  console_.Note(console_.Block(text), style);
}

void Narrator::OnToolStart(std::string_view, std::uint32_t, std::uint64_t call, std::string_view tool,
                           const Value& arguments) {
  if (!agents_.contains(tool)) return;
  std::string text = DescribeCall(tool, arguments);
  const std::lock_guard lock(mutex_);
  started_[call] = std::move(text);
}

AgentToolOptions::Listeners Narrator::ListenTo(std::string_view name, const CallContext& call) {
  const std::string tag = fmt::format("#{}", call.call);
  const auto nested = std::make_shared<NestedNarrator>(cell_.Below(), tag);
  std::string text(name);
  {
    const std::lock_guard lock(mutex_);
    if (const auto started = started_.find(call.call); started != started_.end()) text = started->second;
    nested_.push_back({call.call, nested});
    if (nested_.size() > 1) {
      for (const Nested& each : nested_) each.narrator->TagLines();
    }
  }
  has_branches_ = true;
  cell_.Item(fmt::format("{} calls the agent {}", tag, text), Style::kGood);
  return {nested, nested};
}

void Narrator::OnToolCall(std::string_view, std::uint32_t, const ToolCallRecord& call) {
  std::shared_ptr<NestedNarrator> nested;
  {
    const std::lock_guard lock(mutex_);
    started_.erase(call.call);
    const auto found = std::find_if(nested_.begin(), nested_.end(),
                                    [&](const Nested& each) { return each.call == call.call; });
    if (found != nested_.end()) {
      nested = std::move(found->narrator);
      nested_.erase(found);
    }
  }
  has_branches_ = true;
  if (!nested) return cell_.Item("calls the tool " + DescribeToolCall(call), Style::kGood);
  nested->Close(call.error);
}

void Narrator::OnRefusal(std::string_view, std::uint32_t, const Refusal& refusal) {
  has_branches_ = true;
  cell_.Item(
      fmt::format("refused by the {}: {}", Console::Safe(refusal.source), Console::Safe(refusal.message)),
      Style::kBad);
}

void Narrator::OnResult(const CellResult& result) {
  {
    const std::lock_guard lock(mutex_);
    ShowLines(true);
  }
  for (const Value& display : result.displays) {
    if (!HasOnlyMarks(display)) InCell(DescribeDisplay(display), Style::kDim);
  }
  for (const std::string& line : DescribeTruncation(result)) InCell(line, Style::kWarning);
  if (result.outcome == Outcome::kDenied) return;  // OnVerdict has said it
  if (result.outcome != Outcome::kOk) InCell(DescribeFailure(result, Console::Plain()), Style::kPlain);
  if (has_branches_) {
    cell_.Last(CellSummary(result));
  } else {
    console_.Note(CellSummary(result));
  }
  if (result.final_answer) {
    console_.Note("It gives a final answer:", Style::kBold);
    console_.Note(console_.Block(DumpJson(result.final_answer->value)));
  }
}

void Narrator::OnValidation(const std::vector<SchemaError>& errors) {
  if (errors.empty()) {
    console_.Note("The answer is accepted.", Style::kGood);
    return;
  }
  console_.Note("The answer is not accepted:", Style::kBad);
  for (const SchemaError& error : errors) {
    console_.Note(fmt::format("    at {}: {}", error.path.empty() ? "the top" : Console::Safe(error.path),
                              Console::Safe(error.message)));
  }
}

void Narrator::OnObservation(std::string_view) {
  console_.Note("The model is told what happened and asked again.");
}

}  // namespace gloveport
