#include "gloveport/core/cli/stream_view.h"

#include <fmt/format.h>

#include <utility>

#include "gloveport/core/base/text.h"

namespace gloveport {

void StreamView::Add(const ChatDelta& delta) {
  switch (delta.kind) {
    case ChatDelta::Kind::kArguments:
      return;  // kThought and kCode have them unpacked
    case ChatDelta::Kind::kReasoning:
      Turn(Part::kReasoning);
      break;
    case ChatDelta::Kind::kContent:
      if (!content_begun_ && !Trim(delta.text).empty()) {
        content_begun_ = true;
        is_json_ = Trim(delta.text).starts_with('{');
      }
      if (is_json_) return;
      Turn(fenced_ ? Part::kCode : Part::kText);
      break;
    case ChatDelta::Kind::kThought:
      Turn(Part::kText);
      break;
    case ChatDelta::Kind::kCode:
      Turn(Part::kCode);
      break;
  }
  pending_ += delta.text;
  TakeLines();
}

void StreamView::Turn(Part part) {
  if (part == part_) return;
  if (!pending_.empty()) ShowLine(std::exchange(pending_, ""));
  Begin(part);
}

void StreamView::Begin(Part part) {
  part_ = part;
  if (part == Part::kReasoning) console_.Note("The model thinks:", Style::kBold);
  if (part == Part::kText) console_.Note("The model says:", Style::kBold);
  if (part == Part::kCode) console_.Note("and wants to run:", Style::kBold);
}

void StreamView::TakeLines() {
  for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
    const std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    ShowLine(line);
  }
}

void StreamView::ShowLine(std::string_view line) {
  has_shown_ = true;
  const bool fence = Trim(line).starts_with("```");
  if (part_ == Part::kText && fence) {
    fenced_ = true;
    Begin(Part::kCode);  // what is pending is code already
  } else if (part_ == Part::kCode && fenced_ && fence) {
    fenced_ = false;
    part_ = Part::kNone;
  } else if (part_ == Part::kCode) {
    ShowCode(line);
  } else if (!Trim(line).empty()) {
    console_.Note("    " + Console::Safe(line), part_ == Part::kReasoning ? Style::kDim : Style::kPlain);
  }
}

void StreamView::ShowCode(std::string_view line) {
  code_ += line;
  code_ += '\n';
  console_.Note(fmt::format("{}  {}", console_.Paint(fmt::format("{:>4}", ++line_number_), Style::kDim),
                            highlighter_.Line(line)));
}

void StreamView::Finish() {
  if (!pending_.empty()) ShowLine(std::exchange(pending_, ""));
}

}  // namespace gloveport
