// Settings: values for options that nobody gave on the command line: from the environment, the project's file
// and the user's file, in this order.
//
// A file is JSON: {"run": {"model": "openai:gpt-4.1", "max-steps": 20}, "*": {"policy": "policy.json"}}: the
// options of a command without their dashes, and under "*" those of each command that has them. A relative
// path is the command's matter, as on the command line. The project's file is the nearest .gloveport.json
// from the current folder upwards; it counts only where it belongs to this user or to root and nobody else
// may write it, and may not name programs to run or servers to trust (kUserOnly). The user's is
// gloveport/config.json in $XDG_CONFIG_HOME or ~/.config. In the environment, an option is named
// GLOVEPORT_MAX_STEPS.
#ifndef GLOVEPORT_CORE_CLI_SETTINGS_H_
#define GLOVEPORT_CORE_CLI_SETTINGS_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value_json.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gloveport {

struct Setting {
  std::vector<std::string> values;
  std::string origin;  // "GLOVEPORT_MODEL", or a file's path
};

class Settings {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string& name)>;

  // An empty folder is none: there is no project then. kInvalidArgument, with the file and what is wrong in
  // it, for one that cannot be used. What is not there is no error.
  static Result<Settings> Load(const std::filesystem::path& folder, const Environment& environment);

  // Of the option (its long name without dashes) of a command ("run", "policy check").
  std::optional<Setting> Find(std::string_view command, std::string_view option) const;

  // kInvalidArgument for a name in a file that is no command's or none of its options.
  Status CheckNames(const CLI::App& app) const;

  // Files that were left out, and why.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct File {
    std::string path;
    Json json;
  };
  explicit Settings(Environment environment) : environment_(std::move(environment)) {}
  enum class Owner { kUser, kProject };
  Status Add(const std::string& path, const std::string& text, Owner owner);

  Environment environment_;
  std::vector<File> files_;  // the stronger first
  std::vector<std::string> warnings_;
};

// Makes options that have a setting optional, before parsing; and gives them its value after it, where the
// command line had none. kInvalidArgument, with the origin, for a value that the option does not take.
void RelaxRequired(CLI::App& app, const Settings& settings);
Status ApplySettings(CLI::App& app, const Settings& settings);

// "run" or "policy check": the path of a command below the program.
std::string CommandName(const CLI::App& command);
// The long name without dashes; empty for positional ones, --help and --version.
std::string SettingName(const CLI::Option& option);
// The commands with options, depth first.
void ForEachCommand(CLI::App& app, const std::function<void(CLI::App&)>& visit);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_CLI_SETTINGS_H_
