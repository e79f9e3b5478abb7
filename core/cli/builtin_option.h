// The option --builtin: tools that come with Gloveport, as a configuration describes them (tools/builtin/
// builtin_tools.h).
#ifndef GLOVEPORT_CORE_CLI_BUILTIN_OPTION_H_
#define GLOVEPORT_CORE_CLI_BUILTIN_OPTION_H_

#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/cli/console.h"
#include "gloveport/tools/builtin/ask_user.h"
#include "gloveport/tools/registry.h"

namespace gloveport {

// What --help says of it.
extern const char* const kBuiltinHelp;

// The tools of `others` (null: none) and the built-in ones. `text` is a file, to which paths in it are
// relative, or the JSON itself where it begins with "{"; empty: `others` as they are. ask_user asks at the
// terminal of `console`, which must outlive the tools, or nobody where that is null. kInvalidArgument where a
// tool of that name is there already.
Result<std::shared_ptr<const ToolRegistry>> WithBuiltinTools(std::shared_ptr<const ToolRegistry> others,
                                                             const std::string& text, Console* console);

// The same, with another way to ask; null: nobody is there.
Result<std::shared_ptr<const ToolRegistry>> WithBuiltinToolsAsking(std::shared_ptr<UserPrompt> prompt,
                                                                   std::shared_ptr<const ToolRegistry> others,
                                                                   const std::string& text);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_BUILTIN_OPTION_H_
