#include "gloveport/core/agent/code_end.h"

#include "gloveport/core/agent/marks.h"

namespace gloveport {
namespace {

using Place = PythonLexer::Place;

// Bounds the work that hostile text could otherwise repeat at every fence.
constexpr int kMostFallbacks = 32;

// Code that was not closed ends before an observation that the model made up.
CodeEnd BeforeInvented(CodeEnd end, std::optional<std::size_t> invented) {
  if (!invented || end.reset || end.closed) return end;
  return {.end = *invented, .resume = *invented};
}

}  // namespace

bool CodeEndFinder::tired() const { return fallbacks_ >= kMostFallbacks; }

CodeEnd CodeEndFinder::OfFence(std::size_t body, char c, std::size_t ticks, std::string_view indent) {
  PythonLexer lexer(text_, body);
  Seen seen;
  for (std::size_t line = body; line < text_.size(); line = LineEnd(text_, line) + 1) {
    const std::size_t p = SkipBlankInLine(text_, line);
    const std::size_t run = RunLength(text_, p, c);
    if (lexer.At(p) != Place::kString) {
      if (const auto end = AtLineStart(line, p, run >= ticks ? run : 0))
        return Settle(body, BeforeInvented(*end, seen.invented), seen, indent);
      if (!seen.invented && IsObservation(text_, p)) seen.invented = line;
    } else if (run >= ticks && !seen.in_string &&
               (p + run >= text_.size() || !IsWordCharacter(text_[p + run]))) {
      seen.in_string = CodeEnd{.end = line, .resume = p + run, .closed = true};
      if (tired()) return *seen.in_string;
    }
    if (c != '`') continue;
    if (const auto end = TicksCloseInLine(lexer, p + run, ticks, seen))
      return Settle(body, *end, seen, indent);
  }
  return AtTextEnd(body, lexer, seen, indent);
}

CodeEnd CodeEndFinder::OfTag(std::size_t body, TagPlace place) {
  PythonLexer lexer(text_, body);
  Seen seen;
  const bool in_prose = place == TagPlace::kInProse;
  for (std::size_t line = body; line < text_.size(); line = LineEnd(text_, line) + 1) {
    const std::size_t p = SkipBlankInLine(text_, line);
    if (line != body && lexer.At(p) != Place::kString) {
      if (auto end = AtLineStart(line, p, 0)) {
        end->mention = in_prose && end->by_tag;
        return end->mention ? *end : BeforeInvented(*end, seen.invented);
      }
      if (!seen.invented && IsObservation(text_, p)) seen.invented = line;
    }
    if (const auto end = TagCloseInLine(lexer, p, seen)) return Settle(body, *end, seen, {});
    if (seen.in_string && tired()) return *seen.in_string;
  }
  if (in_prose && !seen.in_string && HasFenceBehind(body))
    return {.end = body, .resume = body, .mention = true};
  return AtTextEnd(body, lexer, seen, {});
}

std::optional<std::size_t> CodeEndFinder::TicksInLine(std::size_t begin, std::size_t eol, std::size_t ticks) {
  if (tired()) return std::nullopt;
  PythonLexer lexer(text_.substr(0, eol), begin);
  Seen seen;
  const auto end = TicksCloseInLine(lexer, begin, ticks, seen);
  if (end) return end->end;
  if (seen.in_comment) return seen.in_comment->end;
  ++fallbacks_;
  return std::nullopt;
}

// What ends the code at a line's first visible character `p`, which lies in code; `run` ticks stand there.
std::optional<CodeEnd> CodeEndFinder::AtLineStart(std::size_t line, std::size_t p, std::size_t run) const {
  if (run > 0 && IsOpener(text_, p + run)) return CodeEnd{.end = line, .resume = line};
  if (run > 0) return CodeEnd{.end = line, .resume = p + run, .closed = true};
  if (IsLoneReasoningClose(text_, p)) return CodeEnd{.end = line, .resume = LineEnd(text_, p), .reset = true};
  if (StartsWithNoCase(text_, p, kCodeTag)) return CodeEnd{.end = line, .resume = p, .by_tag = true};
  return std::nullopt;
}

std::optional<CodeEnd> CodeEndFinder::TicksCloseInLine(PythonLexer& lexer, std::size_t begin,
                                                       std::size_t ticks, Seen& seen) const {
  const std::size_t eol = LineEnd(text_, begin);
  for (auto at = text_.find('`', begin); at < eol;) {
    const std::size_t run = RunLength(text_, at, '`');
    const CodeEnd end{.end = at, .resume = at + run, .closed = true};
    if (run >= ticks) {
      const Place place = lexer.At(at);
      if (place == Place::kCode) return end;
      if (place == Place::kComment && !seen.in_comment && IsBlankBetween(text_, end.resume, eol))
        seen.in_comment = end;
    }
    at = text_.find('`', at + run);
  }
  return std::nullopt;
}

std::optional<CodeEnd> CodeEndFinder::TagCloseInLine(PythonLexer& lexer, std::size_t begin,
                                                     Seen& seen) const {
  const std::size_t eol = LineEnd(text_, begin);
  for (auto at = text_.find('<', begin); at < eol; at = text_.find('<', at + 1)) {
    if (!StartsWithNoCase(text_, at, kCodeClose)) continue;
    const CodeEnd end{.end = at, .resume = at + kCodeClose.size(), .closed = true};
    const Place place = lexer.At(at);
    if (place == Place::kCode || (place == Place::kComment && IsBlankBetween(text_, end.resume, eol)))
      return end;
    if (place == Place::kString && !seen.in_string) seen.in_string = end;
  }
  return std::nullopt;
}

CodeEnd CodeEndFinder::AtTextEnd(std::size_t body, PythonLexer& lexer, Seen& seen, std::string_view indent) {
  if (lexer.At(text_.size()) == Place::kString && seen.in_string) return *seen.in_string;
  if (seen.in_comment) return Settle(body, *seen.in_comment, seen, indent);
  const CodeEnd end = BeforeInvented({.end = text_.size(), .resume = text_.size()}, seen.invented);
  return Settle(body, end, seen, indent);
}

// Only a closing mark up to which the code is complete counts; if there is none, the first one does. Marks
// outside of strings are no Python, so that `in_code` is the last one that can count.
CodeEnd CodeEndFinder::Settle(std::size_t body, CodeEnd in_code, const Seen& seen, std::string_view indent) {
  if (!seen.in_string || in_code.reset) return in_code;
  if (tired()) return *seen.in_string;
  ++fallbacks_;
  return is_complete_(CutCode(text_.substr(body, in_code.end - body), indent)) ? in_code : *seen.in_string;
}

bool CodeEndFinder::HasFenceBehind(std::size_t position) {
  if (!last_fence_) {
    last_fence_ = 0;
    for (std::size_t line = 0; line < text_.size(); line = LineEnd(text_, line) + 1) {
      const std::size_t p = SkipBlankInLine(text_, line);
      if (text_.compare(p, 3, "```") == 0 || text_.compare(p, 3, "~~~") == 0) last_fence_ = p;
    }
  }
  return *last_fence_ > position;
}

}  // namespace gloveport
