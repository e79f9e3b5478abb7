#include "gloveport/core/cli/terminal_prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

// The choice that a line names, by its number or by its text.
std::optional<std::string> Chosen(const std::vector<std::string>& choices, std::string_view line) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool is_number = error == std::errc() && end == line.data() + line.size();
  if (is_number && number >= 1 && number <= choices.size()) return choices[number - 1];
  const auto found = std::find(choices.begin(), choices.end(), line);
  return found == choices.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

std::shared_ptr<TerminalPrompt> TerminalPrompt::Find(Console& console) {
  auto dialog = TerminalDialog::Open(console);
  return dialog ? std::make_shared<TerminalPrompt>(std::move(dialog)) : nullptr;
}

void TerminalPrompt::Ask(const UserQuestion& question, Answer answer) {
  dialog_->Ask(question.id, [this, question, answer = std::move(answer)] { answer(Put(question)); });
}

std::optional<std::string> TerminalPrompt::Put(const UserQuestion& question) {
  if (dialog_->IsOver(question.id)) return std::nullopt;
  Console& console = dialog_->console();
  dialog_->DropTyped();
  console.Note("\n" + console.Paint("The code asks you", Style::kWarning));
  console.Note(console.Block(question.question, "  | "));
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    console.Note(fmt::format("  {}) {}", i + 1, Console::Safe(question.choices[i])));
  while (true) {
    console.Note(console.Paint(
        question.choices.empty() ? "  Your answer (empty: none) ?" : "  Number (empty: no answer) ?",
        Style::kBold));
    const auto line = dialog_->ReadLine(question.id);
    if (!line) {
      if (dialog_->IsOver(question.id)) console.Note("  No answer is needed any more.");
      return std::nullopt;
    }
    const std::string answer(Trim(*line));
    if (answer.empty()) return std::nullopt;
    if (question.choices.empty()) return ToValidUtf8(answer);
    if (auto chosen = Chosen(question.choices, answer)) return chosen;
  }
}

}  // namespace gloveport
