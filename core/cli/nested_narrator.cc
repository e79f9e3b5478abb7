#include "gloveport/core/cli/nested_narrator.h"

#include <fmt/format.h>

#include <chrono>

#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/report.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kLongest = 160;  // of a thought or an answer, in bytes

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// The first line, and not all of it where it is long.
std::string Short(std::string_view text) {
  text = Trim(text);
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() == text.size() && line.size() <= kLongest) return Console::Safe(line);
  return Console::Safe(ToValidUtf8(line.substr(0, kLongest))) + " ...";
}

}  // namespace

std::string NestedNarrator::Tagged(std::string_view text) const {
  return is_tagged_ ? tag_ + " " + std::string(text) : std::string(text);
}

void NestedNarrator::Close(std::string_view error) {
  if (closed_.exchange(true)) return;
  steps_.Last(Tagged("failed: " + Short(error)), Style::kBad);
}

void NestedNarrator::OnStep(std::size_t number, std::size_t max_steps) {
  steps_.Item(Tagged(fmt::format("step {} of at most {}", number, max_steps)), Style::kHeading);
}

void NestedNarrator::OnAction(const Action& action) {
  if (!action.thought.empty()) InStep().Item(Tagged(Short(action.thought)));
  if (!action.code) InStep().Last(Tagged("says nothing that can be run"), Style::kWarning);
}

void NestedNarrator::OnCheck(const Result<std::vector<Finding>>& found) {
  if (!found || found->empty()) return;
  InStep().Item(Tagged("the check of the types finds " + Counted(found->size(), "mistake", "mistakes")),
                Style::kBad);
}

void NestedNarrator::OnToolCall(std::string_view, std::uint32_t, const ToolCallRecord& call) {
  InStep().Item(Tagged("calls the tool " + DescribeToolCall(call)), Style::kGood);
}

void NestedNarrator::OnRefusal(std::string_view, std::uint32_t, const Refusal& refusal) {
  InStep().Item(Tagged(fmt::format("refused by the {}: {}", Console::Safe(refusal.source),
                                   Console::Safe(refusal.message))),
                Style::kBad);
}

void NestedNarrator::OnResult(const CellResult& result) {
  std::string text = fmt::format("the cell ended: {}, after {:.2f} s", OutcomeName(result.outcome),
                                 Seconds(result.usage.wall));
  if (result.error) text += ", " + Short(result.error->type + ": " + result.error->message);
  InStep().Last(Tagged(text), result.outcome == Outcome::kOk ? Style::kPlain : Style::kBad);
}

void NestedNarrator::OnStop(const AgentResult& result) {
  if (closed_.exchange(true)) return;
  const std::string work =
      fmt::format("{}, {:.1f} s", Counted(result.steps.size(), "step", "steps"), Seconds(result.wall));
  if (result.answer) {
    steps_.Last(Tagged(fmt::format("answers {} ({})", Short(DumpJson(*result.answer)), work)), Style::kGood);
  } else {
    steps_.Last(Tagged(fmt::format("no answer: {} ({})", Short(result.stop_message), work)), Style::kBad);
  }
}

}  // namespace gloveport
