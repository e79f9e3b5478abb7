#include "gloveport/core/cli/highlight.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace gloveport {
namespace {

constexpr std::array<std::string_view, 38> kKeywords = {
    "False",  "None",     "True",   "and", "as",   "assert", "async",  "await",    "break", "case",
    "class",  "continue", "def",    "del", "elif", "else",   "except", "finally",  "for",   "from",
    "global", "if",       "import", "in",  "is",   "lambda", "match",  "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "try", "type", "while",  "with",   "yield"};

bool IsWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool IsWord(char c) { return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool IsKeyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

// r, b, f, u and pairs of them in front of a quote.
bool IsStringPrefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("rRbBfFuU") == std::string_view::npos;
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

std::size_t EndOfWord(std::string_view text, std::size_t at) {
  while (at < text.size() && IsWord(text[at])) ++at;
  return at;
}

std::size_t EndOfNumber(std::string_view text, std::size_t at) {
  while (at < text.size() && (IsWord(text[at]) || text[at] == '.')) ++at;
  return at;
}

}  // namespace

// `begin` is the opening quote, or the line's beginning inside of a string.
std::size_t PythonHighlighter::EndOfString(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  if (open_.empty()) {
    const bool triple =
        text.size() >= begin + 3 && text[begin + 1] == text[begin] && text[begin + 2] == text[begin];
    open_ = std::string(triple ? 3 : 1, text[begin]);
    at += open_.size();
  }
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with(open_)) {
      at += open_.size();
      open_.clear();
      return at;
    }
  }
  if (open_.size() == 1) open_.clear();  // it ends with the line, by rule or by mistake
  return text.size();
}

std::string PythonHighlighter::Line(std::string_view line) {
  const std::string text = Console::Safe(line);
  std::string out;
  std::size_t at = 0;
  const auto paint = [&](std::size_t end, Style style) {
    out += console_.Paint(std::string_view(text).substr(at, end - at), style);
    at = end;
  };
  if (!open_.empty()) paint(EndOfString(text, 0), Style::kString);
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      paint(text.size(), Style::kDim);
    } else if (IsQuote(c)) {
      paint(EndOfString(text, at), Style::kString);
    } else if (IsWordStart(c)) {
      const std::size_t end = EndOfWord(text, at);
      const std::string_view word = std::string_view(text).substr(at, end - at);
      const bool prefix = end < text.size() && IsQuote(text[end]) && IsStringPrefix(word);
      paint(prefix ? EndOfString(text, end) : end, prefix            ? Style::kString
                                                   : IsKeyword(word) ? Style::kKeyword
                                                                     : Style::kPlain);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      paint(EndOfNumber(text, at), Style::kNumber);
    } else {
      paint(at + 1, Style::kPlain);
    }
  }
  return out;
}

}  // namespace gloveport
