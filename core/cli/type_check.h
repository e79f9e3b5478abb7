// A type checker over a cell before it runs, with the tools as a stub beside it: `gloveport exec --check`. It
// helps to find mistakes early and protects against nothing: what it cannot tell it lets pass.
#ifndef GLOVEPORT_CORE_CLI_TYPE_CHECK_H_
#define GLOVEPORT_CORE_CLI_TYPE_CHECK_H_

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/host/outcome.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

enum class TypeChecker { kTy, kPyright, kMypy };
std::string_view TypeCheckerName(TypeChecker checker);  // "ty", "pyright", "mypy": the program's name too

// The first of ty, pyright and mypy that is on PATH. kNotFound where none is, with what to install.
Result<TypeChecker> FindTypeChecker();

struct TypeCheckInput {
  std::string_view code;
  std::vector<ToolSpec> tools;
  std::vector<std::string> earlier;  // cells whose definitions the code may use; see check_file.h
};

// What the checker finds, with the rule "types": lines and columns are those of `code`. The checker runs in a
// temporary folder that has the code and the stub only, with no configuration of the user's. kIo where it
// cannot be started or does not say anything that can be read, kDeadlineExceeded, kClosed where it was
// stopped, kResourceExhausted where there is too much to look at.
Result<std::vector<Finding>> CheckTypes(TypeChecker checker, const TypeCheckInput& input, Deadline deadline,
                                        std::stop_token stop = {});

// The findings in what a checker wrote about a file with so many lines before the code, of which it says
// nothing. Pure.
std::vector<Finding> ReadFindings(TypeChecker checker, std::string_view output, int lines_before);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_TYPE_CHECK_H_
