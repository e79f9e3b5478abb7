#include "gloveport/core/cli/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>

namespace gloveport {

LineEditor::LineEditor() : at_terminal_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
  if (at_terminal_) ::using_history();
}

std::optional<std::string> LineEditor::Read(std::string_view prompt) {
  auto line = ReadOne(std::string(prompt));
  while (line && line->ends_with('\\')) {
    line->pop_back();
    const auto more = ReadOne("... ");
    if (!more) break;
    *line += "\n" + *more;
  }
  if (at_terminal_ && line && !line->empty()) ::add_history(line->c_str());
  return line;
}

std::optional<std::string> LineEditor::ReadOne(const std::string& prompt) {
  if (at_terminal_) {
    const std::unique_ptr<char, decltype(&std::free)> line(::readline(prompt.c_str()), &std::free);
    if (!line) return std::nullopt;
    return std::string(line.get());
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

}  // namespace gloveport
