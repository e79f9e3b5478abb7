#include "gloveport/core/cli/hook_option.h"

#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "gloveport/core/cli/option_error.h"
#include "gloveport/core/serve/http_hook.h"
#include "gloveport/core/serve/program_hook.h"

namespace gloveport {

Result<std::shared_ptr<DecisionHook>> MakeHook(const std::string& text) {
  if (text.empty()) return nullptr;
  if (text.starts_with("http://") || text.starts_with("https://")) {
    HttpHookOptions options;
    options.url = text;
    ASSIGN_OR_RETURN(auto hook, AtOption("--hook", HttpHook::Create(std::move(options))));
    return std::shared_ptr<DecisionHook>(std::move(hook));
  }
  std::istringstream words(text);
  std::vector<std::string> argv{std::istream_iterator<std::string>(words), {}};
  ASSIGN_OR_RETURN(auto hook, AtOption("--hook", ProgramHook::Create(std::move(argv))));
  return std::shared_ptr<DecisionHook>(std::move(hook));
}

}  // namespace gloveport
