// remember and recall: values that outlive the session, in a file of the host.
//
//   remember(key: str, value: object)            None removes what was there
//   recall(key: str, default: object = None) -> object
//   recall_keys(prefix: str = '') -> list[str]
#ifndef GLOVEPORT_TOOLS_BUILTIN_MEMORY_TOOLS_H_
#define GLOVEPORT_TOOLS_BUILTIN_MEMORY_TOOLS_H_

#include <filesystem>
#include <memory>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/builtin/memory_file.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct MemoryToolOptions {
  std::filesystem::path file;  // made with the first thing that is remembered, readable for its owner only
  MemoryLimits limits;
};

// The errors of MemoryFile::Check.
Result<std::vector<std::shared_ptr<Tool>>> MakeMemoryTools(MemoryToolOptions options);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_MEMORY_TOOLS_H_
