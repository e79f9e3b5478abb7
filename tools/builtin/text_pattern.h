// Patterns that cells give: compiled by RE2, which takes time in proportion to the text, whatever the
// pattern.
#ifndef GLOVEPORT_TOOLS_BUILTIN_TEXT_PATTERN_H_
#define GLOVEPORT_TOOLS_BUILTIN_TEXT_PATTERN_H_

#include <memory>
#include <string_view>

#include "gloveport/core/base/result.h"

namespace re2 {
class RE2;
}

namespace gloveport {

struct PatternFlags {
  bool ignore_case = false;
  bool multi_line = false;  // ^ and $ at each line
  bool dot_all = false;     // . is a line end too
};

// kInvalidArgument for what RE2 does not take, with what is missing from it where that is likely the reason.
Result<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern, PatternFlags flags = {});

// A pattern with *, ?, [...] and ** (any number of folders), for the whole path where it has a slash, else
// for the last part of it. kInvalidArgument where it cannot be compiled.
Result<std::shared_ptr<const re2::RE2>> CompileGlob(std::string_view glob);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_TEXT_PATTERN_H_
