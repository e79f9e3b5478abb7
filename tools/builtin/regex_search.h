// regex_search: regular expressions over text whose size would make Python's own engine a risk.
//
//   regex_search(pattern: str, text: str, ignore_case: bool = False, multi_line: bool = False,
//                dot_all: bool = False, max_matches: int = 1000)
//       -> [{"text", "start", "end", "groups", "named"}]
#ifndef GLOVEPORT_TOOLS_BUILTIN_REGEX_SEARCH_H_
#define GLOVEPORT_TOOLS_BUILTIN_REGEX_SEARCH_H_

#include <memory>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// Positions count characters from 0, as Python does. Matches do not overlap; a group that took no part is
// None.
Result<std::shared_ptr<Tool>> MakeRegexSearch();

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_REGEX_SEARCH_H_
