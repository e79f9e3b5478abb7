#include "gloveport/core/agent/marks.h"

#include "gloveport/core/agent/python_text.h"

namespace gloveport {
namespace {

// Past "**", "##" and the like, with which models emphasise labels.
std::size_t SkipEmphasis(std::string_view text, std::size_t position) {
  while (position < text.size() &&
         (text[position] == '*' || text[position] == '_' || text[position] == '#' || text[position] == ' ')) {
    ++position;
  }
  return position;
}

}  // namespace

bool IsWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' ||
         c == '-' || c == '.' || c == '#';
}

std::size_t WordEnd(std::string_view text, std::size_t position) {
  while (position < text.size() && IsWordCharacter(text[position])) ++position;
  return position;
}

std::size_t FindTag(std::string_view text, std::size_t position, std::string_view lower_case_tag) {
  for (auto at = text.find('<', position); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (StartsWithNoCase(text, at, lower_case_tag)) return at;
  }
  return std::string_view::npos;
}

bool IsBlankBetween(std::string_view text, std::size_t begin, std::size_t end) {
  return SkipBlankInLine(text, begin) >= end;
}

bool IsLoneReasoningClose(std::string_view text, std::size_t position) {
  for (const std::string_view tag : {"</think>", "</thinking>", "</reasoning>"}) {
    if (StartsWithNoCase(text, position, tag))
      return IsBlankBetween(text, position + tag.size(), LineEnd(text, position));
  }
  return false;
}

bool IsCodeLabel(std::string_view text, std::size_t position) {
  constexpr std::string_view kLabel = "code:";
  const std::size_t begin = SkipEmphasis(text, position);
  return StartsWithNoCase(text, begin, kLabel) &&
         IsBlankBetween(text, SkipEmphasis(text, begin + kLabel.size()), LineEnd(text, begin));
}

bool IsObservation(std::string_view text, std::size_t position) {
  const std::size_t begin = SkipEmphasis(text, position);
  return StartsWithNoCase(text, begin, "observation:") || StartsWithNoCase(text, begin, "calling tools:");
}

bool IsOpener(std::string_view text, std::size_t behind_ticks) {
  if (behind_ticks >= text.size() || !IsWordCharacter(text[behind_ticks])) return false;
  return IsBlankBetween(text, WordEnd(text, behind_ticks), LineEnd(text, behind_ticks));
}

LanguageTag ReadLanguage(std::string_view text, std::size_t behind_ticks) {
  const std::size_t begin = SkipBlankInLine(text, behind_ticks);
  if (begin >= text.size() || text[begin] == '\n') return {Language::kNone, begin};
  const std::size_t end = WordEnd(text, begin);
  const std::size_t size = end - begin;
  const auto is = [&](std::string_view name) {
    return size == name.size() && StartsWithNoCase(text, begin, name);
  };
  if (is("python") || is("py") || is("python3")) return {Language::kPython, end};
  if (is("json") || is("jsonc") || is("json5")) return {Language::kJson, end};
  return {Language::kOther, end};
}

}  // namespace gloveport
