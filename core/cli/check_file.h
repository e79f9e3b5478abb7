// CheckFile: one cell behind those that ran before it, as a file that a type checker can read from its
// beginning to its end as if it were one program. Pure.
//
// Cells redefine what earlier ones have defined, and go on after a final answer; to a checker the first would
// be an error and the second unreachable. So an earlier definition that is replaced later gets a name that
// nobody uses, and an earlier final_answer becomes a call that returns. Imports from __future__, which must
// be first, go there. All this is done line by line on the text: where it goes wrong, for the content of a
// string for example, a checker finds less.
#ifndef GLOVEPORT_CORE_CLI_CHECK_FILE_H_
#define GLOVEPORT_CORE_CLI_CHECK_FILE_H_

#include <string>
#include <string_view>
#include <vector>

namespace gloveport {

struct CheckFile {
  std::string text;
  int lines_before = 0;  // of the code: line n of it is line n + lines_before of the text
};

// `import_line` is put before all cells.
CheckFile MakeCheckFile(std::string_view import_line, const std::vector<std::string>& earlier,
                        std::string_view code);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_CHECK_FILE_H_
