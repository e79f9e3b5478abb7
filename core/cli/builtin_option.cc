#include "gloveport/core/cli/builtin_option.h"

#include <filesystem>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/cli/terminal_prompt.h"
#include "gloveport/tools/builtin/builtin_tools.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxConfigurationBytes = 1u << 20;

Result<std::vector<std::shared_ptr<Tool>>> MakeTools(const std::string& text, BuiltinHost host) {
  if (Trim(text).starts_with('{')) return MakeBuiltinTools(text, host);
  ASSIGN_OR_RETURN(const std::string read, ReadFile(text, kMaxConfigurationBytes));
  host.folder = std::filesystem::path(text).parent_path();
  return MakeBuiltinTools(read, host);
}

}  // namespace

const char* const kBuiltinHelp =
    "Tools that come with gloveport, by a file or by JSON itself, such as\n"
    "'{\"http\": {\"hosts\": [\"api.example.org\"]}, \"calculator\": {}}'; sections: http,\n"
    "files, sql, regex, calculator, ask_user, web_search, memory (see README)";

Result<std::shared_ptr<const ToolRegistry>> WithBuiltinTools(std::shared_ptr<const ToolRegistry> others,
                                                             const std::string& text, Console* console) {
  if (text.empty()) return others;
  return WithBuiltinToolsAsking(console != nullptr ? TerminalPrompt::Find(*console) : nullptr,
                                std::move(others), text);
}

Result<std::shared_ptr<const ToolRegistry>> WithBuiltinToolsAsking(std::shared_ptr<UserPrompt> prompt,
                                                                   std::shared_ptr<const ToolRegistry> others,
                                                                   const std::string& text) {
  if (text.empty()) return others;
  BuiltinHost host;
  host.prompt = std::move(prompt);
  auto made = AtOption("--builtin", MakeTools(text, std::move(host)));
  if (!made) {
    // Whatever is wrong with it is a matter of how the command was called.
    made.error().code = ErrorCode::kInvalidArgument;
    return tl::unexpected<Error>(std::move(made).error());
  }
  auto all = std::make_shared<ToolRegistry>();
  if (others) RETURN_IF_ERROR(all->AddAll(*others));
  for (auto& tool : *made) RETURN_IF_ERROR(AtOption("--builtin", all->Add(std::move(tool))));
  return all;
}

}  // namespace gloveport
