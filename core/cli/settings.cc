#include "gloveport/core/cli/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include <CLI/CLI.hpp>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::string_view kProjectFile = ".gloveport.json";
constexpr std::string_view kEveryCommand = "*";

// Whoever hands over a folder could otherwise have programs run, requests sent, files read or written, or
// rules loosened by whoever works in it.
constexpr std::string_view kUserOnly[] = {
    "hook",       "mcp",        "mcp-config",      "builtin",         "agents",
    "file",       "workdir",    "audit",           "audit-key",       "figures",
    "prices",     "policy",     "fallback-policy", "system-template", "listen",
    "token-file", "allow-host", "allow-origin"};

fs::path UserFile(const Settings::Environment& environment) {
  if (const auto config = environment("XDG_CONFIG_HOME"); config && fs::path(*config).is_absolute())
    return fs::path(*config) / "gloveport" / "config.json";
  const auto home = environment("HOME");
  return home && fs::path(*home).is_absolute() ? fs::path(*home) / ".config" / "gloveport" / "config.json"
                                               : fs::path();
}

std::optional<fs::path> NearestProjectFile(fs::path folder) {
  std::error_code ignored;
  while (true) {
    const fs::path file = folder / kProjectFile;
    if (fs::is_regular_file(file, ignored)) return file;
    if (!folder.has_relative_path()) return std::nullopt;
    folder = folder.parent_path();
  }
}

// Opened once, so that what was looked at is what is read.
struct OpenedFile {
  UniqueFd file;
  std::string why_not;  // it is not to be trusted; empty where it is
};

OpenedFile OpenProjectFile(const fs::path& path) {
  OpenedFile opened{.file = UniqueFd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))};
  struct stat info {};
  if (!opened.file || ::fstat(opened.file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    opened.why_not = "it is no plain file that can be read";
  } else if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    opened.why_not = "it belongs to somebody else";
  } else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    opened.why_not = "others may write it";
  }
  return opened;
}

std::string VariableName(std::string_view option) {
  std::string name = "GLOVEPORT_";
  for (const char c : option)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string TextOfScalar(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> TextsOf(const Json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return {TextOfScalar(value)};
  for (const Json& item : value) texts.push_back(TextOfScalar(item));
  return texts;
}

Status CheckForm(const std::string& path, const Json& json, bool user) {
  if (!json.is_object())
    return Fail(ErrorCode::kInvalidArgument, path + ": a JSON object is needed: {\"run\": {\"model\": ...}}");
  for (const auto& command : json.items()) {
    if (!command.value().is_object())
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: \"{}\" must be an object with options", path, command.key()));
    for (const auto& option : command.value().items()) {
      const bool scalars = option.value().is_array()
                               ? std::all_of(option.value().begin(), option.value().end(),
                                             [](const Json& item) { return item.is_primitive(); })
                               : option.value().is_primitive();
      if (!scalars || option.value().is_null())
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: {}.{} must be a text, number, true, false or a list of them", path,
                                command.key(), option.key()));
      if (!user && std::find(std::begin(kUserOnly), std::end(kUserOnly), option.key()) != std::end(kUserOnly))
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: {} may not be set by a project's file", path, option.key()),
                    "set it in your own file or on the command line");
    }
  }
  return {};
}

}  // namespace

Status Settings::Add(const std::string& path, const std::string& text, Owner owner) {
  auto json = ParseJson(text);
  if (!json) return Fail(ErrorCode::kInvalidArgument, path + ": " + json.error().message);
  RETURN_IF_ERROR(CheckForm(path, *json, owner == Owner::kUser));
  files_.push_back({path, std::move(*json)});
  return {};
}

Result<Settings> Settings::Load(const fs::path& folder, const Environment& environment) {
  Settings settings(environment);
  if (const auto project = folder.empty() ? std::nullopt : NearestProjectFile(folder)) {
    const OpenedFile opened = OpenProjectFile(*project);
    if (opened.why_not.empty()) {
      ASSIGN_OR_RETURN(const std::string text,
                       ReadFile(fmt::format("/proc/self/fd/{}", opened.file.get()), kMostBytes));
      RETURN_IF_ERROR(settings.Add(project->string(), text, Owner::kProject));
    } else {
      settings.warnings_.push_back(fmt::format("{} is not used: {}", project->string(), opened.why_not));
    }
  }
  std::error_code ignored;
  if (const fs::path user = UserFile(environment); !user.empty() && fs::is_regular_file(user, ignored)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(user, kMostBytes));
    RETURN_IF_ERROR(settings.Add(user.string(), text, Owner::kUser));
  }
  return settings;
}

std::optional<Setting> Settings::Find(std::string_view command, std::string_view option) const {
  if (option.empty()) return std::nullopt;
  const std::string variable = VariableName(option);
  if (const auto value = environment_(variable); value && !value->empty()) return Setting{{*value}, variable};
  for (const File& file : files_) {
    for (const std::string_view section : {command, kEveryCommand}) {
      const auto found = file.json.find(std::string(section));
      if (found == file.json.end()) continue;
      if (const auto value = found->find(std::string(option)); value != found->end())
        return Setting{TextsOf(*value), file.path};
    }
  }
  return std::nullopt;
}

Status Settings::CheckNames(const CLI::App& app) const {
  if (files_.empty()) return {};
  std::map<std::string, std::set<std::string>> known;
  ForEachCommand(const_cast<CLI::App&>(app), [&known](CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
      if (SettingName(*option).empty()) continue;
      known[CommandName(command)].insert(SettingName(*option));
      known[std::string(kEveryCommand)].insert(SettingName(*option));
    }
  });
  for (const File& file : files_) {
    for (const auto& command : file.json.items()) {
      if (!known.contains(command.key()))
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: there is no command \"{}\"", file.path, command.key()),
                    "commands are named as on the command line: \"run\", \"policy check\"; \"*\" is for all");
      for (const auto& option : command.value().items()) {
        if (!known[command.key()].contains(option.key()))
          return Fail(ErrorCode::kInvalidArgument,
                      fmt::format("{}: {} has no option \"{}\"", file.path, command.key(), option.key()),
                      "`config list` shows what there is");
      }
    }
  }
  return {};
}

std::string CommandName(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (!parent) return "";
  const std::string above = CommandName(*parent);
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::string SettingName(const CLI::Option& option) {
  if (option.get_positional() && option.get_lnames().empty()) return "";
  if (option.get_lnames().empty()) return "";
  const std::string& name = option.get_lnames().front();
  return name == "help" || name == "version" ? "" : name;
}

void ForEachCommand(CLI::App& app, const std::function<void(CLI::App&)>& visit) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    visit(*command);
    ForEachCommand(*command, visit);
  }
}

void RelaxRequired(CLI::App& app, const Settings& settings) {
  ForEachCommand(app, [&settings](CLI::App& command) {
    for (CLI::Option* option : command.get_options()) {
      if (option->get_required() && settings.Find(CommandName(command), SettingName(*option)))
        option->required(false);
    }
  });
}

Status ApplySettings(CLI::App& app, const Settings& settings) {
  for (CLI::App* command : app.get_subcommands()) {
    for (CLI::Option* option : command->get_options()) {
      const auto setting = settings.Find(CommandName(*command), SettingName(*option));
      if (!setting || option->count() > 0) continue;
      try {
        for (const std::string& value : setting->values) option->add_result(value);
        option->run_callback();
      } catch (const CLI::Error& error) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("{}: {}: {}", setting->origin, SettingName(*option), error.what()));
      }
    }
    RETURN_IF_ERROR(ApplySettings(*command, settings));
  }
  return {};
}

}  // namespace gloveport
