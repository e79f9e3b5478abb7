// PythonHighlighter: colours Python, line by line, for a terminal. It knows tokens, not grammar: good enough
// to read by. Not thread-safe.
#ifndef GLOVEPORT_CORE_CLI_HIGHLIGHT_H_
#define GLOVEPORT_CORE_CLI_HIGHLIGHT_H_

#include <string>
#include <string_view>

#include "gloveport/core/cli/console.h"

namespace gloveport {

class PythonHighlighter {
 public:
  // Paints as `console` does its notes: not at all where that has no colour. It must outlive this.
  explicit PythonHighlighter(const Console& console) : console_(console) {}

  // The next line, without its line end; made safe to show first.
  std::string Line(std::string_view line);

 private:
  std::size_t EndOfString(std::string_view text, std::size_t begin);

  const Console& console_;
  std::string open_;  // the quotes of a string that goes on in the next line
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_HIGHLIGHT_H_
