#include "gloveport/core/agent/markup.h"

#include <algorithm>
#include <set>

#include "gloveport/core/agent/marks.h"
#include "gloveport/core/agent/python_text.h"
#include "gloveport/core/agent/structured_output.h"

namespace gloveport {
namespace {

// Bounds the work that hostile text could otherwise repeat at every bracket.
constexpr int kMostJsonTries = 32;

class Scanner {
 public:
  Scanner(std::string_view text, const CompletenessCheck& is_complete, int depth)
      : text_(text), is_complete_(is_complete), ends_(text, is_complete), depth_(depth) {}

  Markup Run() {
    while (at_ < text_.size()) {
      if (!IsLineStart() || !TakeLineMark()) TakeCharacter();
    }
    return std::move(markup_);
  }

 private:
  bool IsLineStart() const { return at_ == 0 || at_ == line_start_ || text_[at_ - 1] == '\n'; }

  // Finds the ends of the line at `position`. Remembered: a line may be as long as the text, and be asked
  // about at each of its marks.
  void FindLine(std::size_t position) {
    if (position >= line_.first && position <= line_.second && line_known_) return;
    line_known_ = true;
    line_ = {position == 0 ? 0 : text_.rfind('\n', position - 1) + 1, LineEnd(text_, position)};
  }
  std::size_t LineBeginAt(std::size_t position) {
    FindLine(position);
    return line_.first;
  }
  std::size_t LineEndAt(std::size_t position) {
    FindLine(position);
    return line_.second;
  }

  // ---- marks at the beginning of a line ----

  bool TakeLineMark() {
    const std::size_t line = at_;
    const std::size_t p = SkipBlankInLine(text_, line);
    const std::size_t eol = LineEndAt(p);
    at_ = p;
    if (p >= eol) {
      at_ = eol + 1;
    } else if (IsLoneReasoningClose(text_, p)) {
      Reset(eol);
    } else if (IsCodeLabel(text_, p)) {
      if (!markup_.label) markup_.label = {line, eol};
      at_ = eol;
    } else if (IsObservation(text_, p)) {
      markup_.cuts.push_back(line);
      at_ = eol;
    } else if (const char c = text_[p]; (c == '`' || c == '~') && RunLength(text_, p, c) >= 3) {
      TakeFence(line, p);
    } else if (c == '{' || c == '[') {
      return TakeJson(p);
    } else {
      return false;
    }
    return true;
  }

  // Everything so far was reasoning whose opening tag the prompt had.
  void Reset(std::size_t end) {
    markup_ = Markup();
    markup_.reasoning.emplace_back(0, end);
    expect_stray_fence_ = false;
    at_ = line_start_ = end;
  }

  bool TakeJson(std::size_t p) {
    if (json_tries_++ >= kMostJsonTries) return false;
    JsonFound found = ReadModelJson(text_, p);
    const bool at_start = markup_.blocks.empty() && TrimBlank(markup_.TextBetween(text_, 0, p)).empty();
    if (found.kind == JsonKind::kNone) return false;
    if (found.kind == JsonKind::kBroken && !at_start) found.end = p;
    AddJson(std::move(found), p);
    if (at_ == p) return false;
    return true;
  }

  void AddJson(JsonFound found, std::size_t begin) {
    at_ = found.end;
    Block block{.begin = begin, .end = found.end};
    switch (found.kind) {
      case JsonKind::kCode:
      case JsonKind::kNoCode:
        block.kind = BlockKind::kJson;
        block.code = Unwrap(CutCode(NormalizeText(found.code)));
        block.thought = std::move(found.thought);
        block.only_known_keys = found.only_known_keys;
        break;
      case JsonKind::kToolCall:
        block.kind = BlockKind::kToolCall;
        break;
      case JsonKind::kBroken:
        block.kind = BlockKind::kBadJson;
        break;
      case JsonKind::kData:
      case JsonKind::kNone:
        return;
    }
    markup_.blocks.push_back(std::move(block));
  }

  // ---- marks anywhere ----

  void TakeCharacter() {
    const char c = text_[at_];
    if (c == '<' && TakeTag()) return;
    if (c == '`') return TakeTicks();
    const auto next = c == '\n' ? at_ + 1 : text_.find_first_of("<`\n", at_ + 1);
    at_ = std::min(next, text_.size());
  }

  bool TakeTag() {
    if (StartsWithNoCase(text_, at_, kCodeTag)) {
      TakeCodeTag();
      return true;
    }
    for (const std::string_view name : {"think", "thinking", "reasoning"}) {
      if (StartsWithNoCase(text_, at_, "<" + std::string(name) + ">")) return TakeReasoning(name);
    }
    for (const std::string_view name : {"tool_call", "tool_calls", "function_call", "tool_use"}) {
      if (StartsWithNoCase(text_, at_, "<" + std::string(name) + ">")) return TakeToolCall(name);
    }
    const std::size_t token = ChatTokenSize(text_, at_);
    if (token == 0) return false;
    if (text_.compare(at_, token, "<|python_tag|>") == 0) {
      if (!markup_.label) markup_.label = {at_, at_ + token};
    } else {
      markup_.cuts.push_back(at_);
    }
    at_ = line_start_ = at_ + token;
    return true;
  }

  bool TakeReasoning(std::string_view name) {
    const std::string close = "</" + std::string(name) + ">";
    const std::size_t end = FindTag(text_, at_, close);
    const std::size_t behind = end == std::string_view::npos ? text_.size() : end + close.size();
    markup_.reasoning.emplace_back(at_, behind);
    at_ = line_start_ = behind;
    return true;
  }

  bool TakeToolCall(std::string_view name) {
    const std::string close = "</" + std::string(name) + ">";
    const std::size_t end = unclosed_.contains(name) ? std::string_view::npos : FindTag(text_, at_, close);
    if (end == std::string_view::npos) unclosed_.insert(name);
    const std::size_t behind = end == std::string_view::npos ? LineEndAt(at_) : end + close.size();
    markup_.blocks.push_back({.kind = BlockKind::kToolCall, .begin = at_, .end = behind});
    at_ = behind;
    return true;
  }

  void TakeTicks() {
    const std::size_t ticks = RunLength(text_, at_, '`');
    if (ticks >= 3) return TakeFenceInLine(at_, ticks);
    const std::size_t eol = LineEndAt(at_);
    for (auto close = text_.find('`', at_ + ticks); close < eol;) {
      const std::size_t run = RunLength(text_, close, '`');
      if (run == ticks) {
        at_ = close + run;  // inline code, whatever it says
        return;
      }
      close = text_.find('`', close + run);
    }
    at_ += ticks;
  }

  // ---- fences ----

  void TakeFence(std::size_t line, std::size_t p) {
    const char c = text_[p];
    const std::size_t ticks = RunLength(text_, p, c);
    const std::size_t eol = LineEndAt(p);
    const LanguageTag tag = ReadLanguage(text_, p + ticks);
    if (std::exchange(expect_stray_fence_, false) && tag.language == Language::kNone) {
      at_ = eol;
      return;
    }
    if (c == '`' && text_.substr(0, eol).find("```", p + ticks) != std::string_view::npos)
      return TakeFenceInLine(p, ticks);
    if (tag.language == Language::kOther || tag.language == Language::kJson)
      return TakeForeignFence(p, tag.language);
    const BlockKind kind = tag.language == Language::kPython ? BlockKind::kPython : BlockKind::kUntagged;
    TakePythonFence(kind, p, text_.substr(line, p - line));
  }

  void TakePythonFence(BlockKind kind, std::size_t p, std::string_view indent) {
    const char c = text_[p];
    const std::size_t body = std::min(LineEnd(text_, p) + 1, text_.size());
    const CodeEnd end = ends_.OfFence(body, c, RunLength(text_, p, c), indent);
    if (end.reset) return Reset(end.resume);
    const std::string_view raw = text_.substr(body, end.end - body);
    at_ = end.resume;
    if (kind == BlockKind::kUntagged && TakeJsonOfFence(raw, p)) return;
    AddBlock(kind, p, CutCode(raw, indent));
    expect_stray_fence_ = end.by_tag && TrimBlank(raw).empty();
  }

  // A fence of another language ends where Markdown says; JSON in it may be structured output.
  void TakeForeignFence(std::size_t p, Language language) {
    const char c = text_[p];
    const std::size_t ticks = RunLength(text_, p, c);
    const std::size_t body = std::min(LineEnd(text_, p) + 1, text_.size());
    std::optional<std::size_t> reset;
    for (std::size_t line = body; line < text_.size(); line = LineEnd(text_, line) + 1) {
      const std::size_t q = SkipBlankInLine(text_, line);
      const std::size_t run = RunLength(text_, q, c);
      if (run >= ticks && (q + run >= text_.size() || !IsWordCharacter(text_[q + run]))) {
        at_ = q + run;
        if (language == Language::kJson && TakeJsonOfFence(text_.substr(body, line - body), p)) return;
        return AddBlock(BlockKind::kOther, p, "");
      }
      if (!reset && IsLoneReasoningClose(text_, q)) reset = LineEnd(text_, q);
    }
    if (reset) return Reset(*reset);
    at_ = text_.size();
    if (language != Language::kJson || !TakeJsonOfFence(text_.substr(body), p))
      AddBlock(BlockKind::kOther, p, "");
  }

  // at_ stands behind the fence already.
  bool TakeJsonOfFence(std::string_view raw, std::size_t begin) {
    const std::size_t first = SkipBlank(raw, 0);
    if (first >= raw.size() || (raw[first] != '{' && raw[first] != '[')) return false;
    JsonFound found = ReadModelJson(raw, first);
    if (found.kind == JsonKind::kNone || found.kind == JsonKind::kData) return false;
    found.end = at_;
    AddJson(std::move(found), begin);
    return true;
  }

  // Ticks in the middle of a line, or a fence that is opened and closed in one line.
  void TakeFenceInLine(std::size_t p, std::size_t ticks) {
    const LanguageTag tag = ReadLanguage(text_, p + ticks);
    const std::size_t eol = LineEndAt(p);
    const bool tagged =
        tag.language == Language::kPython && (tag.end >= eol || BlankSize(text_, tag.end) > 0);
    const std::size_t begin = tagged ? tag.end : p + ticks;
    if (tagged && IsBlankBetween(text_, begin, eol)) return TakePythonFence(BlockKind::kPython, p, "");
    const auto close = ends_.TicksInLine(begin, eol, ticks);
    at_ = p + ticks;
    if (!close) return;
    at_ = *close + RunLength(text_, *close, '`');
    const std::string code(TrimBlank(text_.substr(begin, *close - begin)));
    const bool fills_line = IsBlankBetween(text_, LineBeginAt(p), p) && IsBlankBetween(text_, at_, eol);
    if (tagged) return AddBlock(BlockKind::kInlinePython, p, code);
    // Without a language ticks in prose are inline code; alone on a line they are a fence.
    if (fills_line) AddBlock(BlockKind::kUntagged, p, code);
  }

  // ---- <code> ----

  void TakeCodeTag() {
    const std::size_t begin = at_;
    const std::size_t body = begin + kCodeTag.size();
    const std::size_t line = LineBeginAt(begin);
    const bool block = line_start_ == begin || IsBlankBetween(text_, line, begin) ||
                       IsBlankBetween(text_, body, LineEndAt(body));
    using TagPlace = CodeEndFinder::TagPlace;
    const CodeEnd end = ends_.OfTag(body, block ? TagPlace::kOwnLine : TagPlace::kInProse);
    if (end.reset) return Reset(end.resume);
    at_ = end.resume;
    if (end.mention) return;
    AddBlock(block ? BlockKind::kTag : BlockKind::kInlineTag, begin,
             Unwrap(CutCode(text_.substr(body, end.end - body))));
  }

  // ---- blocks ----

  void AddBlock(BlockKind kind, std::size_t begin, std::string code) {
    if (TrimBlank(code).empty()) kind = BlockKind::kOther;
    markup_.blocks.push_back({.kind = kind, .begin = begin, .end = at_, .code = std::move(code)});
  }

  // Drops one fence or tag pair that is wrapped around the whole of a block's code.
  std::string Unwrap(std::string code) const {
    const std::size_t first = SkipBlank(code, 0);
    if (depth_ > 0 || first >= code.size() ||
        (code[first] != '`' && code[first] != '~' && code[first] != '<'))
      return code;
    const Markup inner = Scanner(code, is_complete_, depth_ + 1).Run();
    if (inner.blocks.empty() || inner.blocks[0].begin != first) return code;
    const BlockKind kind = inner.blocks[0].kind;
    if (kind == BlockKind::kOther || kind == BlockKind::kJson || kind == BlockKind::kBadJson ||
        kind == BlockKind::kToolCall)
      return code;
    std::string joined;
    for (const Block& block : inner.blocks) {
      if (block.kind == kind) joined += (joined.empty() ? "" : "\n\n") + block.code;
    }
    return joined;
  }

  std::string_view text_;
  const CompletenessCheck& is_complete_;
  CodeEndFinder ends_;
  int depth_;
  Markup markup_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;       // a place that counts as the beginning of a line: behind a removed tag
  bool expect_stray_fence_ = false;  // a fence was left for a <code> tag inside it
  bool line_known_ = false;
  std::pair<std::size_t, std::size_t> line_;  // of the last FindLine
  std::set<std::string_view> unclosed_;       // tags of tool calls that nothing closes from here on
  int json_tries_ = 0;
};

}  // namespace

std::string Markup::TextBetween(std::string_view text, std::size_t begin, std::size_t end) const {
  std::string out;
  for (const auto& [from, to] : reasoning) {
    if (to <= begin || from >= end) continue;
    if (from > begin) out += text.substr(begin, from - begin);
    begin = to;
  }
  if (begin < end) out += text.substr(begin, end - begin);
  return out;
}

Markup ScanMarkup(std::string_view text, const CompletenessCheck& is_complete) {
  return Scanner(text, is_complete, 0).Run();
}

}  // namespace gloveport
