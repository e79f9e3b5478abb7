#include "gloveport/core/mcp/server_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/net/url.h"
#include "gloveport/core/wire/json_members.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxConfigBytes = 1u << 20;
constexpr std::size_t kMaxServers = 64;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::array<std::string_view, 12> kKeys = {"command",   "args",     "env",         "cwd",
                                                    "url",       "headers",  "type",        "disabled",
                                                    "timeout_s", "revision", "description", "transport"};
// Of other clients, and without effect here: what is approved is the policy's matter.
constexpr std::array<std::string_view, 4> kForeignKeys = {"alwaysAllow", "autoApprove", "name", "timeout"};

bool IsKey(std::string_view key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() ||
         std::find(kForeignKeys.begin(), kForeignKeys.end(), key) != kForeignKeys.end();
}

tl::unexpected<Error> Wrong(const std::string& where, std::string_view problem, std::string hint = "") {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", where, problem), std::move(hint));
}

Status CheckName(std::string_view name) {
  const bool plain =
      !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.';
      });
  if (plain) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\" cannot be the name of an MCP server", CleanLine(name, kMaxNameBytes)),
              "use letters, digits, \"_\", \"-\" and \".\"");
}

Status CheckUrl(const std::string& url, const std::string& where) {
  const auto parsed = ParseUrl(url);
  if (!parsed) return Wrong(where, parsed.error().message);
  if (parsed->userinfo.empty()) return {};
  return Wrong(where, "the URL holds a user name or password", "send credentials in \"headers\"");
}

Result<std::string> Variable(std::string_view inside, const EnvLookup& environment,
                             const std::string& where) {
  const auto mark = inside.find(":-");
  const std::string name(inside.substr(0, mark));
  if (const auto value = environment(name)) return *value;
  if (mark != std::string_view::npos) return std::string(inside.substr(mark + 2));
  return Wrong(
      where, fmt::format("the variable {} is not set", CleanLine(name, kMaxNameBytes)),
      fmt::format("set it, or write ${{{}:-}} where it may be missing", CleanLine(name, kMaxNameBytes)));
}

Result<std::string> Expand(std::string_view text, const EnvLookup& environment, const std::string& where) {
  std::string out;
  while (true) {
    const auto open = text.find("${");
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    text.remove_prefix(open + 2);
    const auto close = text.find('}');
    if (close == std::string_view::npos) return Wrong(where, "\"${\" without \"}\"");
    ASSIGN_OR_RETURN(const std::string value, Variable(text.substr(0, close), environment, where));
    out += value;
    text.remove_prefix(close + 1);
  }
}

// One server's object, member by member.
class ServerReader {
 public:
  ServerReader(const std::string& name, const Json& json, const EnvLookup& environment)
      : json_(json), environment_(environment), where_(fmt::format("MCP server {}", name)) {
    config_.name = name;
  }

  Result<McpServerConfig> Read() {
    if (!json_.is_object()) return Wrong(where_, "it must be an object");
    for (const auto& [key, value] : json_.items()) {
      if (!IsKey(key)) return Wrong(where_, fmt::format("unknown key \"{}\"", CleanLine(key, kMaxNameBytes)));
    }
    RETURN_IF_ERROR(ReadCommand());
    RETURN_IF_ERROR(ReadUrl());
    if (config_.command.argv.empty() == config_.url.empty())
      return Wrong(where_, "it needs either \"command\" or \"url\"");
    RETURN_IF_ERROR(CheckType());
    RETURN_IF_ERROR(ReadRest());
    return std::move(config_);
  }

 private:
  Result<std::string> Text(const Json& value, std::string_view key) {
    if (!value.is_string()) return Wrong(where_, fmt::format("\"{}\" must be text", key));
    return Expand(value.get_ref<const std::string&>(), environment_, fmt::format("{}, \"{}\"", where_, key));
  }

  Status ReadCommand() {
    const Json* command = Member(json_, "command");
    if (command == nullptr) return {};
    ASSIGN_OR_RETURN(std::string program, Text(*command, "command"));
    if (program.empty()) return Wrong(where_, "\"command\" is empty");
    config_.command.argv.push_back(std::move(program));
    const Json& args = MemberOf(json_, "args");
    if (!args.is_null() && !args.is_array()) return Wrong(where_, "\"args\" must be a list");
    for (const Json& arg : args) {
      ASSIGN_OR_RETURN(std::string text, Text(arg, "args"));
      config_.command.argv.push_back(std::move(text));
    }
    const Json& env = MemberOf(json_, "env");
    if (!env.is_null() && !env.is_object()) return Wrong(where_, "\"env\" must be an object");
    for (const auto& [name, value] : env.items()) {
      if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos)
        return Wrong(where_, "\"env\" has a name that no variable can have");
      ASSIGN_OR_RETURN(config_.command.env[name], Text(value, "env"));
    }
    if (const Json* folder = Member(json_, "cwd")) {
      ASSIGN_OR_RETURN(config_.command.folder, Text(*folder, "cwd"));
    }
    return {};
  }

  Status ReadUrl() {
    const Json* url = Member(json_, "url");
    if (url == nullptr) return {};
    ASSIGN_OR_RETURN(config_.url, Text(*url, "url"));
    RETURN_IF_ERROR(CheckUrl(config_.url, where_));
    const Json& headers = MemberOf(json_, "headers");
    if (!headers.is_null() && !headers.is_object()) return Wrong(where_, "\"headers\" must be an object");
    for (const auto& [name, value] : headers.items()) {
      HttpHeader header{name, ""};
      ASSIGN_OR_RETURN(header.value, Text(value, "headers"));
      if (const Status fits = CheckHeader(header); !fits) return Wrong(where_, fits.error().message);
      config_.headers.push_back(std::move(header));
    }
    return {};
  }

  Status CheckType() {
    std::string type = TextOf(json_, "type");
    if (type.empty()) type = TextOf(json_, "transport");
    if (type == "sse") {
      return Wrong(where_, "the transport \"sse\" of revision 2024-11-05 is not offered",
                   "most such servers offer streamable HTTP too, often at a URL that ends in /mcp");
    }
    const bool http = type == "http" || type == "streamable-http" || type == "streamableHttp";
    if (type.empty() || (http && !config_.url.empty()) || (type == "stdio" && config_.url.empty())) return {};
    return Wrong(where_, fmt::format("the type \"{}\" does not fit", CleanLine(type, kMaxNameBytes)),
                 "write \"stdio\" beside \"command\", \"http\" beside \"url\"");
  }

  Status ReadRest() {
    if (const Json* seconds = Member(json_, "timeout_s")) {
      const double time = seconds->is_number() ? seconds->get<double>() : 0;
      if (!(time >= 0.001 && time <= 86'400))
        return Wrong(where_, "\"timeout_s\" must be a number from 0.001 to 86400");
      config_.call_time = std::chrono::milliseconds(std::llround(time * 1000));
    }
    config_.revision = TextOf(json_, "revision");
    if (!config_.revision.empty() && !IsKnownRevision(config_.revision))
      return Wrong(where_, "\"revision\" is none that is known", "leave it out, or write \"2025-11-25\"");
    return {};
  }

  const Json& json_;
  const EnvLookup& environment_;
  const std::string where_;
  McpServerConfig config_;
};

Result<std::vector<std::string>> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (std::exchange(inside, false)) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
      inside = true;
    }
  }
  if (quote != 0) return Fail(ErrorCode::kInvalidArgument, "a quote is not closed");
  if (inside) words.push_back(std::move(word));
  return words;
}

}  // namespace

Result<std::vector<McpServerConfig>> ParseMcpConfig(std::string_view text, const EnvLookup& environment) {
  ASSIGN_OR_RETURN(const Json json,
                   ParseJson(text, {.max_bytes = kMaxConfigBytes, .max_depth = 32, .allow_comments = true}));
  const Json& servers = MemberOf(json, "mcpServers");
  if (!servers.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "there is no object \"mcpServers\"",
                R"(for example {"mcpServers": {"files": {"command": "npx", "args": ["-y", "..."]}}})");
  }
  if (servers.size() > kMaxServers) return Fail(ErrorCode::kInvalidArgument, "there are too many servers");
  std::vector<McpServerConfig> configs;
  for (const auto& [name, server] : servers.items()) {
    RETURN_IF_ERROR(CheckName(name));
    if (FlagOf(server, "disabled")) continue;
    ASSIGN_OR_RETURN(McpServerConfig config, ServerReader(name, server, environment).Read());
    configs.push_back(std::move(config));
  }
  return configs;
}

Result<McpServerConfig> ParseMcpServer(std::string_view text) {
  const auto mark = text.find('=');
  if (mark == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, "a server is given as NAME=COMMAND or NAME=URL",
                "for example 'files=npx -y @modelcontextprotocol/server-filesystem .'");
  }
  McpServerConfig config;
  config.name = text.substr(0, mark);
  RETURN_IF_ERROR(CheckName(config.name));
  text.remove_prefix(mark + 1);
  if (text.starts_with("http://") || text.starts_with("https://")) {
    config.url = text;
    RETURN_IF_ERROR(CheckUrl(config.url, "MCP server " + config.name));
    return config;
  }
  ASSIGN_OR_RETURN(config.command.argv, SplitWords(text));
  if (config.command.argv.empty()) return Wrong("MCP server " + config.name, "the command is empty");
  return config;
}

}  // namespace gloveport
