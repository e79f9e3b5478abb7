#include "gloveport/core/cli/option_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

std::vector<std::string> SubcommandNames(CLI::App& app) {
  std::vector<std::string> names;
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// As an identifier of a shell.
std::string Identifier(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '-' || c == '.'; }, '_');
  return text;
}

std::string BashScript(CLI::App& app) {
  const std::string name = app.get_name();
  std::string known;
  std::string cases = fmt::format("    '') words=\"{}\" ;;\n", fmt::join(SubcommandNames(app), " "));
  ForEachCommand(app, [&](CLI::App& command) {
    const std::string path = CommandName(command);
    known += fmt::format("{}'{}{}'", known.empty() ? "" : "|", path.find(' ') == std::string::npos ? " " : "",
                         path);
    auto words = SubcommandNames(command);
    const auto options = OptionNames(command);
    words.insert(words.end(), options.begin(), options.end());
    cases += fmt::format("    '{}') words=\"{}\" ;;\n", path, fmt::join(words, " "));
  });
  return fmt::format(R"(# bash completion of {0}: source it, or put it into the folder of bash completions.
{1}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command='' word words=''
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
    {2}) command="${{command:+$command }}$word" ;;
    esac
  done
  case $command in
{3}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if ((${{#COMPREPLY[@]}} == 0)); then mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi
}}
complete -o filenames -F {1} {0}
)",
                     name, "_" + Identifier(name), known, cases);
}

std::string FishScript(CLI::App& app) {
  const std::string name = app.get_name();
  std::string out = fmt::format("# fish completion of {}\n", name);
  const auto quote = [](const std::string& text) {
    std::string quoted;
    for (const char c : OneLine(text))
      quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return "'" + quoted + "'";
  };
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d {}\n", name, command->get_name(),
                       quote(command->get_description()));
  ForEachCommand(app, [&](CLI::App& command) {
    std::string seen;
    const std::string path = CommandName(command);
    for (std::size_t at = 0; at < path.size();) {
      const auto end = std::min(path.find(' ', at), path.size());
      seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ",
                          path.substr(at, end - at));
      at = end + 1;
    }
    for (CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
      out += fmt::format("complete -c {} -n '{}' -f -a {} -d {}\n", name, seen, below->get_name(),
                         quote(below->get_description()));
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_lnames().empty()) continue;
      const std::string letter = option->get_snames().empty() ? "" : " -s " + option->get_snames().front();
      out += fmt::format("complete -c {} -n '{}' -l {}{} -d {}\n", name, seen, option->get_lnames().front(),
                         letter, quote(option->get_description()));
    }
  });
  return out;
}

// zsh takes bash's.
std::string ZshScript(CLI::App& app) {
  return fmt::format("#compdef {}\nautoload -Uz bashcompinit && bashcompinit\n{}", app.get_name(),
                     BashScript(app));
}

std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string OptionEntry(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  if (names.empty()) names.push_back(option.get_single_name());
  std::string head = fmt::format("\\fB{}\\fR", Roff(fmt::format("{}", fmt::join(names, ", "))));
  if (option.get_expected_max() > 0 && !option.get_type_name().empty())
    head += " \\fI" + Roff(option.get_type_name()) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, Roff(OneLine(option.get_description())));
}

}  // namespace

std::string CompletionScript(CLI::App& app, std::string_view shell) {
  if (shell == "fish") return FishScript(app);
  return shell == "zsh" ? ZshScript(app) : BashScript(app);
}

std::string ManualPage(CLI::App& app, std::string_view version) {
  const std::string name = app.get_name();
  std::string page = fmt::format(
      ".TH {} 1 \"\" \"{} {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n.I command\n.RI [ options ]\n",
      Roff(name), Roff(name), version, Roff(name), Roff(OneLine(app.get_description())), Roff(name));
  page += ".SH COMMANDS\n";
  ForEachCommand(app, [&page](CLI::App& command) {
    page += fmt::format(".SS {}\n{}\n", Roff(CommandName(command)), Roff(OneLine(command.get_description())));
    for (const CLI::Option* option : command.get_options()) page += OptionEntry(*option);
  });
  page += ".SH NOTES\n";
  const std::string footer = app.get_footer();
  for (const std::string_view line : SplitLines(footer))
    page += (line.empty() ? ".PP" : Roff(line) + "\n.br") + "\n";
  return page;
}

std::string SettingList(CLI::App& app, const Settings& settings, Origins origins) {
  std::string out;
  ForEachCommand(app, [&](CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
      const auto setting = settings.Find(CommandName(command), SettingName(*option));
      if (!setting) continue;
      out += fmt::format("{} --{} = {}", CommandName(command), SettingName(*option),
                         fmt::join(setting->values, ","));
      if (origins == Origins::kShow) out += fmt::format("   ({})", setting->origin);
      out += "\n";
    }
  });
  return EscapeForTerminal(out);
}

}  // namespace gloveport
