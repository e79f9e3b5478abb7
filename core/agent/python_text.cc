#include "gloveport/core/agent/python_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

// What is shown as nothing, or as a space, and gets into model output by copying and tokenising.
constexpr std::array<std::string_view, 14> kInvisible = {"\u00A0", "\u00AD", "\u180E", "\u200B", "\u200C",
                                                         "\u200D", "\u200E", "\u200F", "\u2060", "\u2061",
                                                         "\u2062", "\u2063", "\u2064", "\uFEFF"};

std::string_view IndentOf(std::string_view line) {
  const auto end = line.find_first_not_of(" \t");
  return line.substr(0, end == std::string_view::npos ? line.size() : end);
}

bool EndsWithNoCase(std::string_view text, std::string_view lower_case_suffix) {
  return text.size() >= lower_case_suffix.size() &&
         StartsWithNoCase(text, text.size() - lower_case_suffix.size(), lower_case_suffix);
}

bool IsAloneOnItsLine(std::string_view text, std::size_t position) {
  while (position > 0 && (text[position - 1] == ' ' || text[position - 1] == '\t')) --position;
  return position == 0 || text[position - 1] == '\n';
}

// "</code" and shorter: what a stop sequence leaves of a closing tag. A mere "<" may be the code's own.
std::size_t PartialTagSize(std::string_view text) {
  constexpr std::string_view kClose = "</code";
  for (std::size_t size = kClose.size(); size > 0; --size) {
    if (!EndsWithNoCase(text, kClose.substr(0, size))) continue;
    return size > 2 || IsAloneOnItsLine(text, text.size() - size) ? size : 0;
  }
  return 0;
}

std::size_t TailRun(std::string_view text, char c) {
  const auto last_other = text.find_last_not_of(c);
  return last_other == std::string_view::npos ? text.size() : text.size() - last_other - 1;
}

// A token such as <|im_end|> at the end.
std::size_t ChatTokenTail(std::string_view text) {
  const auto begin = text.rfind("<|");
  if (begin == std::string_view::npos || ChatTokenSize(text, begin) != text.size() - begin) return 0;
  return text.size() - begin;
}

// Bytes of the closing mark that `text` ends with; 0 for none.
std::size_t TrailerSize(std::string_view text) {
  for (const std::string_view mark : {"</code>", "<end_code>", "<end_action>", "</s>"}) {
    if (EndsWithNoCase(text, mark)) return mark.size();
  }
  if (text.ends_with("|>")) return ChatTokenTail(text);
  if (text.ends_with('`')) return TailRun(text, '`');
  if (text.ends_with('~')) {
    const std::size_t size = TailRun(text, '~');
    return IsAloneOnItsLine(text, text.size() - size) ? size : 0;
  }
  return PartialTagSize(text);
}

std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  const auto [at, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(at - a.begin());
}

}  // namespace

PythonLexer::Place PythonLexer::At(std::size_t position) {
  position = std::min(position, text_.size());
  while (position_ < position) Step();
  return place_;
}

void PythonLexer::Step() {
  if (place_ == Place::kString) return StepInString();
  const char c = text_[position_];
  if (place_ == Place::kComment) {
    if (c == '\n') place_ = Place::kCode;
  } else if (c == '#') {
    place_ = Place::kComment;
  } else if (c == '"' || c == '\'') {
    place_ = Place::kString;
    quote_ = c;
    triple_ = RunLength(text_, position_, c) >= 3;
    if (triple_) position_ += 2;
  }
  ++position_;
}

void PythonLexer::StepInString() {
  const char c = text_[position_];
  if (c == '\\') {
    position_ += 2;  // in raw strings, too, a backslash keeps a quote from ending the string
    return;
  }
  if (c == quote_ && (!triple_ || RunLength(text_, position_, c) >= 3)) {
    place_ = Place::kCode;
    if (triple_) position_ += 2;
  } else if (c == '\n' && !triple_) {
    place_ = Place::kCode;  // a string that was never ended: Python's own error, and code goes on
  }
  ++position_;
}

std::size_t BlankSize(std::string_view text, std::size_t position) {
  if (position >= text.size()) return 0;
  if (IsSpace(text[position])) return 1;
  for (const std::string_view invisible : kInvisible) {
    if (text.compare(position, invisible.size(), invisible) == 0) return invisible.size();
  }
  return 0;
}

std::size_t SkipBlank(std::string_view text, std::size_t position) {
  while (const std::size_t size = BlankSize(text, position)) position += size;
  return position;
}

std::size_t SkipBlankInLine(std::string_view text, std::size_t position) {
  while (position < text.size() && text[position] != '\n') {
    const std::size_t size = BlankSize(text, position);
    if (size == 0) break;
    position += size;
  }
  return position;
}

std::string_view TrimBlankEnd(std::string_view text) {
  while (!text.empty()) {
    if (IsSpace(text.back())) {
      text.remove_suffix(1);
      continue;
    }
    const auto invisible =
        std::find_if(kInvisible.begin(), kInvisible.end(),
                     [&](std::string_view candidate) { return text.ends_with(candidate); });
    if (invisible == kInvisible.end()) break;
    text.remove_suffix(invisible->size());
  }
  return text;
}

std::string_view TrimBlank(std::string_view text) {
  text.remove_prefix(SkipBlank(text, 0));
  return TrimBlankEnd(text);
}

std::size_t LineEnd(std::string_view text, std::size_t position) {
  return std::min(text.find('\n', position), text.size());
}

std::size_t RunLength(std::string_view text, std::size_t position, char c) {
  std::size_t length = 0;
  while (position + length < text.size() && text[position + length] == c) ++length;
  return length;
}

bool StartsWithNoCase(std::string_view text, std::size_t position, std::string_view lower_case_prefix) {
  if (position > text.size() || text.size() - position < lower_case_prefix.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(lower_case_prefix.begin(), lower_case_prefix.end(), text.begin() + position,
                    [&](char expected, char have) { return expected == lower(have); });
}

std::size_t ChatTokenSize(std::string_view text, std::size_t position) {
  constexpr std::size_t kLongest = 40;
  if (text.compare(position, 2, "<|") != 0) return 0;
  const std::string_view rest = text.substr(position + 2, kLongest);
  const auto end = rest.find("|>");
  if (end == std::string_view::npos ||
      rest.substr(0, end).find_first_of(" \t\n<>|") != std::string_view::npos)
    return 0;
  return end + 4;
}

std::string NormalizeText(std::string_view text) {
  std::string valid = ToValidUtf8(text);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (valid[i] == '\r') {
      if (i + 1 < valid.size() && valid[i + 1] == '\n') ++i;
      valid[kept++] = '\n';
    } else {
      valid[kept++] = valid[i];
    }
  }
  valid.resize(kept);
  return valid;
}

std::string Dedent(std::string_view code, std::string_view indent) {
  std::vector<std::string_view> lines = SplitLines(code);
  std::optional<std::string_view> common;
  for (std::string_view& line : lines) {
    line.remove_prefix(CommonPrefix(IndentOf(line), indent));
    if (TrimBlank(line).empty()) continue;
    const std::string_view own = IndentOf(line);
    common = common ? common->substr(0, CommonPrefix(*common, own)) : own;
  }
  std::string out;
  out.reserve(code.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n';
    out += lines[i].substr(common ? CommonPrefix(lines[i], *common) : 0);
  }
  return out;
}

std::string_view TrimTrailers(std::string_view raw) {
  constexpr int kMostTrailers = 8;
  for (int i = 0; i < kMostTrailers; ++i) {
    raw = TrimBlankEnd(raw);
    const std::size_t size = TrailerSize(raw);
    if (size == 0 || PythonLexer(raw).At(raw.size() - size) != PythonLexer::Place::kCode) break;
    raw.remove_suffix(size);
  }
  return raw;
}

std::string CutCode(std::string_view raw, std::string_view indent) {
  raw = TrimTrailers(raw);
  while (!raw.empty()) {
    const std::size_t first = SkipBlankInLine(raw, 0);
    if (first < raw.size() && raw[first] == '\n') {
      raw.remove_prefix(first + 1);
    } else if (!IsSpace(raw[0]) && BlankSize(raw, 0) > 0) {
      raw.remove_prefix(BlankSize(raw, 0));
    } else {
      break;
    }
  }
  return Dedent(raw, indent);
}

}  // namespace gloveport
