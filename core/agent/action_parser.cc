#include "gloveport/core/agent/action_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gloveport/core/agent/markup.h"
#include "gloveport/core/agent/python_text.h"

namespace gloveport {
namespace {

constexpr std::string_view kThoughtLabel = "thought:";
constexpr std::string_view kCodeLabel = "code:";

std::string_view StripEmphasis(std::string_view text) {
  const auto begin = text.find_first_not_of("*_# ");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of("*_ ") - begin + 1);
}

// Bytes of a leading "Thought:" with its emphasis, 0 for none.
std::size_t ThoughtLabelSize(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of("*_# "), text.size());
  if (!StartsWithNoCase(text, begin, kThoughtLabel)) return 0;
  const std::size_t end = begin + kThoughtLabel.size();
  return std::min(text.find_first_not_of("*_", end), text.size());
}

std::string CleanThought(std::string_view text) {
  text = TrimBlank(text);
  text.remove_prefix(ThoughtLabelSize(text));
  text = TrimBlankEnd(text);
  const auto last_line = text.rfind('\n') + 1;
  const std::string_view line = StripEmphasis(text.substr(last_line));
  if (line.size() == kCodeLabel.size() && StartsWithNoCase(line, 0, kCodeLabel)) {
    text = text.substr(0, last_line);
  } else if (text.ends_with("Code:") && (text.size() == 5 || BlankSize(text, text.size() - 6) > 0)) {
    text.remove_suffix(5);
  }
  return std::string(TrimBlank(text));
}

// Nothing but closing marks and chat tokens.
bool IsTrivia(std::string_view text) { return TrimBlank(TrimTrailers(TrimBlank(text))).empty(); }

// Each question is a round trip to another process.
constexpr int kMostQuestions = 24;

// A call, an import or an assignment needs one of these; without them nobody has to be asked.
bool MayAct(std::string_view code) {
  return code.find_first_of("(=") != std::string_view::npos || code.find("import") != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string text, const SyntaxChecker& checker)
      : text_(std::move(text)),
        checker_(checker),
        markup_(ScanMarkup(text_, [this](std::string_view code) { return Check(code).complete; })),
        limit_(text_.size()) {}

  Action Parse() {
    if (TrimBlank(text_).empty()) {
      action_.error = ActionError::kEmpty;
    } else if (!TakeBareAroundMarkup()) {
      CutWhatWasInvented();
      KeepBlocksBehindLabel();
      if (!TakeBlocks() && !TakeJson()) TakeNothing();
    }
    return std::move(action_);
  }

 private:
  std::string_view View() const { return text_; }

  // ---- asking ----

  SyntaxInfo Check(std::string_view code) {
    if (questions_++ >= kMostQuestions) return {};
    Result<SyntaxInfo> info = checker_(code);
    if (info) return *info;
    action_.checker_error = info.error();
    return {};
  }

  bool IsAction(std::string_view code) {
    if (!MayAct(code)) return false;
    const SyntaxInfo info = Check(code);
    return info.complete && info.has_action;
  }

  bool CountsAsFirst(const Block& block) {
    switch (block.kind) {
      case BlockKind::kUntagged:
        return IsAction(block.code);  // else it may show the output of an earlier step
      case BlockKind::kOther:
      case BlockKind::kBadJson:
        return false;
      default:
        return true;
    }
  }

  // ---- what counts ----

  // Code without markup whose strings have fences or tags in them.
  bool TakeBareAroundMarkup() {
    if (markup_.blocks.empty()) return false;
    const std::string text = markup_.TextBetween(text_, 0, text_.size());
    const std::size_t begin = markup_.TextBetween(text_, 0, markup_.blocks[0].begin).size();
    if (PythonLexer(text).At(begin) != PythonLexer::Place::kString) return false;
    std::string code = CutCode(text);
    if (!IsAction(code)) return false;
    action_.code = std::move(code);
    return true;
  }

  // Behind the first block, everything from an "Observation:" on is the model's invention.
  void CutWhatWasInvented() {
    if (markup_.cuts.empty()) return;
    const auto first = std::find_if(markup_.blocks.begin(), markup_.blocks.end(), [&](const Block& block) {
      return block.begin < markup_.cuts.back() && CountsAsFirst(block);
    });
    if (first == markup_.blocks.end()) return;
    const auto cut = std::find_if(markup_.cuts.begin(), markup_.cuts.end(),
                                  [&](std::size_t position) { return position > first->begin; });
    if (cut != markup_.cuts.end()) CutAt(*cut);
  }

  void CutAt(std::size_t position) {
    action_.cut_invented = !IsTrivia(View().substr(position, limit_ - position));
    limit_ = position;
  }

  void KeepBlocksBehindLabel() {
    if (markup_.label && markup_.label->first >= limit_) markup_.label.reset();
    const std::size_t begin = markup_.label ? markup_.label->second : 0;
    for (Block& block : markup_.blocks) {
      if (block.begin >= begin && block.begin < limit_) blocks_.push_back(std::move(block));
    }
  }

  std::vector<const Block*> OfKind(BlockKind kind) const {
    std::vector<const Block*> found;
    for (const Block& block : blocks_) {
      if (block.kind == kind) found.push_back(&block);
    }
    return found;
  }

  static std::string Joined(const std::vector<const Block*>& blocks) {
    std::string code;
    for (const Block* block : blocks) {
      if (!code.empty()) code += "\n\n";
      code += block->code;
    }
    return code;
  }

  bool TakeBlocks() {
    for (const BlockKind kind : {BlockKind::kTag, BlockKind::kInlineTag, BlockKind::kPython,
                                 BlockKind::kInlinePython, BlockKind::kUntagged}) {
      const auto found = OfKind(kind);
      if (found.empty()) continue;
      std::string code = Joined(found);
      // Prose may mark up a name with <code>; beside a fence such tags must hold an action of their own.
      if (kind == BlockKind::kInlineTag && !OfKind(BlockKind::kPython).empty() && !IsAction(code)) continue;
      action_.code = std::move(code);
      SetThought(found.front()->begin);
      return true;
    }
    return false;
  }

  bool TakeJson() {
    for (const Block* block : OfKind(BlockKind::kJson)) {
      const bool at_start = TrimBlank(markup_.TextBetween(text_, 0, block->begin)).empty();
      const bool at_end = IsTrivia(View().substr(block->end, limit_ - std::min(limit_, block->end)));
      if (!at_start && !(block->only_known_keys && (at_end || !block->thought.empty()))) continue;
      action_.thought = std::string(TrimBlank(block->thought));
      if (TrimBlank(block->code).empty()) {
        action_.error = ActionError::kNoCode;
      } else {
        action_.code = block->code;
      }
      return true;
    }
    return false;
  }

  void TakeNothing() {
    if (!OfKind(BlockKind::kToolCall).empty()) {
      action_.error = ActionError::kToolCallJson;
    } else if (!OfKind(BlockKind::kBadJson).empty()) {
      action_.error = ActionError::kBadJson;
    } else if (blocks_.empty() && (markup_.label || markup_.blocks.empty()) && TakeBare()) {
      return;
    } else {
      action_.error = ActionError::kNoCode;
    }
    SetThought(limit_);
  }

  // ---- text without markup ----

  bool TakeBare() {
    const std::size_t begin = markup_.label ? markup_.label->second : 0;
    std::string raw = markup_.TextBetween(text_, begin, BareEnd(begin));
    if (const std::size_t label = markup_.label ? 0 : ThoughtLabelSize(raw)) {
      const std::size_t eol = LineEnd(raw, label);
      action_.thought = TrimBlank(raw.substr(label, eol - label));
      raw.erase(0, eol);
    }
    std::string code = CutCode(raw);
    if (!IsAction(code)) return false;
    if (markup_.label) SetThought(markup_.label->first);
    action_.code = std::move(code);
    return true;
  }

  // The first invented observation behind something visible.
  std::size_t BareEnd(std::size_t begin) {
    for (const std::size_t cut : markup_.cuts) {
      if (cut <= begin || TrimBlank(markup_.TextBetween(text_, begin, cut)).empty()) continue;
      CutAt(cut);
      break;
    }
    return limit_;
  }

  void SetThought(std::size_t end) { action_.thought = CleanThought(markup_.TextBetween(text_, 0, end)); }

  std::string text_;
  const SyntaxChecker& checker_;
  int questions_ = 0;
  Action action_;  // before markup_: scanning may already ask the checker
  Markup markup_;
  std::size_t limit_;
  std::vector<Block> blocks_;
};

}  // namespace

std::string_view ActionErrorName(ActionError error) {
  switch (error) {
    case ActionError::kNone:
      return "";
    case ActionError::kEmpty:
      return "empty";
    case ActionError::kNoCode:
      return "no_code";
    case ActionError::kToolCallJson:
      return "tool_call_json";
    case ActionError::kBadCall:
      return "bad_call";
    case ActionError::kBadJson:
      return "bad_json";
  }
  return "";
}

Action ParseAction(std::string_view text, const SyntaxChecker& checker) {
  return Parser(NormalizeText(text), checker).Parse();
}

}  // namespace gloveport
