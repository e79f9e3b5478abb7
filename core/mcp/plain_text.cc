#include "gloveport/core/mcp/plain_text.h"

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::string_view kCut = " ...";

// The longest beginning of at most `max_bytes` that does not end within a character.
std::string_view Beginning(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::string CleanText(std::string_view text, std::size_t max_bytes) {
  // What is cut away anyway need not be made visible first.
  std::string clean = EscapeForTerminal(Beginning(text, max_bytes));
  const bool cut = text.size() > max_bytes || clean.size() > max_bytes;
  if (!cut) return clean;
  const std::size_t room = max_bytes > kCut.size() ? max_bytes - kCut.size() : 0;
  return std::string(Beginning(clean, room)) + std::string(kCut);
}

std::string CleanLine(std::string_view text, std::size_t max_bytes) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
    if (line.size() > 2 * max_bytes) break;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return CleanText(line, max_bytes);
}

}  // namespace gloveport
