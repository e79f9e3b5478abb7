// LineEditor: reads what somebody types, with editing and history at a terminal, plain lines from a pipe. One
// instance in a process; used by one thread.
#ifndef GLOVEPORT_CORE_CLI_LINE_EDITOR_H_
#define GLOVEPORT_CORE_CLI_LINE_EDITOR_H_

#include <optional>
#include <string>
#include <string_view>

namespace gloveport {

class LineEditor {
 public:
  LineEditor();

  // The next line without its line end; nothing at the end of the input. A line that ends with a backslash
  // goes on in the next.
  std::optional<std::string> Read(std::string_view prompt);

  bool at_terminal() const { return at_terminal_; }

 private:
  std::optional<std::string> ReadOne(const std::string& prompt);

  const bool at_terminal_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_LINE_EDITOR_H_
