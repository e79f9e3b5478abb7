// What is made of the tree of commands and options itself: completions for shells, a manual page, and the
// list of settings. Pure.
#ifndef GLOVEPORT_CORE_CLI_OPTION_TREE_H_
#define GLOVEPORT_CORE_CLI_OPTION_TREE_H_

#include <string>
#include <string_view>

#include "gloveport/core/cli/settings.h"

namespace CLI {
class App;
}

namespace gloveport {

// `shell`: "bash", "zsh" or "fish".
std::string CompletionScript(CLI::App& app, std::string_view shell);

// Section 1, for `man -l`.
std::string ManualPage(CLI::App& app, std::string_view version);

// A line for each option that has a setting: "run --max-steps = 20", with its origin behind it where wanted.
enum class Origins { kHide, kShow };
std::string SettingList(CLI::App& app, const Settings& settings, Origins origins);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_OPTION_TREE_H_
