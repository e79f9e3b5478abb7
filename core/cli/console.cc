#include "gloveport/core/cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

// https://no-color.org: any value but the empty one switches colour off.
bool WantsColour(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return ::isatty(fd) == 1;
}

std::string_view CodeOf(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kWarning:
      return "\x1b[33m";
    case Style::kHeading:
      return "\x1b[1;36m";
    case Style::kKeyword:
      return "\x1b[35m";
    case Style::kString:
      return "\x1b[32m";
    case Style::kNumber:
      return "\x1b[36m";
  }
  return "";
}

std::string Painted(std::string_view text, Style style) {
  if (style == Style::kPlain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", CodeOf(style), text);
}

}  // namespace

Console::Console() : Console(Colour::kWhereWanted) {}

Console::Console(Colour colour)
    : stdout_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      stderr_is_terminal_(::isatty(STDERR_FILENO) == 1),
      colour_(colour == Colour::kWhereWanted && WantsColour(STDERR_FILENO)),
      data_colour_(colour == Colour::kWhereWanted && WantsColour(STDOUT_FILENO)) {}

const Console& Console::Plain() {
  static const Console plain(Colour::kNever);
  return plain;
}

void Console::WriteTo(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      if (fd == STDOUT_FILENO) output_failed_ = true;
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void Console::EraseStatus() {
  if (status_drawn_) WriteTo(STDERR_FILENO, "\r\x1b[K");
  status_drawn_ = false;
}

void Console::DrawStatus() {
  if (status_.empty() || status_held_ > 0) return;
  WriteTo(STDERR_FILENO, status_);
  status_drawn_ = true;
}

void Console::SetStatus(std::string_view text) {
  if (!stderr_is_terminal_) return;
  std::string painted = text.empty() ? "" : Paint(text, Style::kDim);
  const std::lock_guard lock(mutex_);
  EraseStatus();
  status_ = std::move(painted);
  DrawStatus();
}

void Console::HoldStatus() {
  const std::lock_guard lock(mutex_);
  EraseStatus();
  ++status_held_;
}

void Console::ReleaseStatus() {
  const std::lock_guard lock(mutex_);
  --status_held_;
  DrawStatus();
}

void Console::Data(std::string_view text) {
  const std::lock_guard lock(mutex_);
  EraseStatus();
  WriteTo(STDOUT_FILENO, text);
  if (text.ends_with('\n')) DrawStatus();
}

void Console::JsonData(std::string_view json) {
  Data((stdout_is_terminal_ ? EscapeForTerminal(json) : std::string(json)) + "\n");
}

void Console::StreamData(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (text.empty()) return;
  data_at_line_start_ = text.back() == '\n';
  WriteTo(STDOUT_FILENO, stdout_is_terminal_ ? EscapeForTerminal(data_.Add(text)) : std::string(text));
}

void Console::EndStream() {
  const std::lock_guard lock(mutex_);
  if (stdout_is_terminal_) WriteTo(STDOUT_FILENO, EscapeForTerminal(data_.Take()));
  if (stdout_is_terminal_ && !data_at_line_start_) WriteTo(STDOUT_FILENO, "\n");
  data_at_line_start_ = true;
  WriteTo(STDERR_FILENO, EscapeForTerminal(notes_.Take()));
}

void Console::Note(std::string_view text, Style style) {
  const std::string line = Paint(text, style) + "\n";
  const std::lock_guard lock(mutex_);
  EraseStatus();
  WriteTo(STDERR_FILENO, line);
  DrawStatus();
}

void Console::StreamNote(std::string_view text) {
  const std::lock_guard lock(mutex_);
  WriteTo(STDERR_FILENO, EscapeForTerminal(notes_.Add(text)));
}

void Console::Failure(std::string_view program, const Error& error) {
  std::string text = fmt::format("{}: {}", program, Safe(error.message));
  if (!error.hint.empty()) text += fmt::format("\n  what to do: {}", Safe(error.hint));
  Note(text, Style::kBad);
}

std::string Console::Safe(std::string_view text) { return EscapeForTerminal(text); }

std::string Console::Paint(std::string_view text, Style style) const {
  return colour_ ? Painted(text, style) : std::string(text);
}

std::string Console::PaintData(std::string_view text, Style style) const {
  return data_colour_ ? Painted(text, style) : std::string(text);
}

std::string Console::Block(std::string_view text, std::string_view prefix) const {
  std::string block;
  for (const std::string_view line : SplitLines(text)) {
    if (!block.empty()) block += '\n';
    block += prefix;
    block += Safe(line);
  }
  return block;
}

}  // namespace gloveport
