// read_text, list_files and search_files: reading in folders that the host granted.
//
//   read_text(path: str, first_line: int = 1, lines: int | None = None) -> str
//   list_files(folder: str = '', glob: str = '*') -> [{"path", "size_bytes"}]
//   search_files(pattern: str, folder: str = '', glob: str = '*', ignore_case: bool = False,
//                max_matches: int = 100) -> {"matches": [{"path", "line", "text"}], "files", "complete"}
//
// Patterns are RE2's: their time grows with the text only.
#ifndef GLOVEPORT_TOOLS_BUILTIN_FILE_TOOLS_H_
#define GLOVEPORT_TOOLS_BUILTIN_FILE_TOOLS_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct FileToolOptions {
  std::map<std::string, std::filesystem::path> folders;  // by the names under which cells see them
  std::size_t max_text_bytes = 1u << 20;                 // that one read_text gives
  std::size_t max_file_bytes = 64u << 20;     // that are read of a file; larger ones are not searched
  std::size_t max_search_bytes = 512u << 20;  // that one search_files reads
  std::size_t max_files = 100'000;            // that one call looks at
  std::size_t max_matches = 1'000;
};

// The errors of GrantedFolders::Open.
Result<std::vector<std::shared_ptr<Tool>>> MakeFileTools(FileToolOptions options);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_FILE_TOOLS_H_
