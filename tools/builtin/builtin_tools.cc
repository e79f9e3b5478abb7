#include "gloveport/tools/builtin/builtin_tools.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/builtin/calculator.h"
#include "gloveport/tools/builtin/config_object.h"
#include "gloveport/tools/builtin/file_tools.h"
#include "gloveport/tools/builtin/http_tools.h"
#include "gloveport/tools/builtin/memory_tools.h"
#include "gloveport/tools/builtin/regex_search.h"
#include "gloveport/tools/builtin/sql_query.h"
#include "gloveport/tools/builtin/web_search.h"

namespace gloveport {
namespace {

using Tools = std::vector<std::shared_ptr<Tool>>;

Result<Tools> One(Result<std::shared_ptr<Tool>> tool) {
  if (!tool) return tl::unexpected<Error>(std::move(tool).error());
  return Tools{std::move(*tool)};
}

std::filesystem::path PathOf(const BuiltinHost& host, const std::string& text) {
  const std::filesystem::path path(text);
  return path.is_absolute() || host.folder.empty() ? path : host.folder / path;
}

// The value of the variable that "env" names. A secret is never written into the configuration itself.
Result<std::string> Secret(ConfigObject& object, const BuiltinHost& host) {
  std::string name;
  RETURN_IF_ERROR(object.Text("env", name));
  if (name.empty())
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected the name of a variable", object.PlaceOf("env")));
  const auto value = host.environment(name);
  if (!value || value->empty())
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: the variable {} is not set", object.PlaceOf("env"), EscapeForTerminal(name)),
                "set it in the environment of the host");
  return *value;
}

Status ReadSecrets(ConfigObject& http, const BuiltinHost& host, std::vector<HttpSecret>& secrets) {
  const Json* member = http.Take("secrets");
  if (member == nullptr) return {};
  const std::string place = http.PlaceOf("secrets");
  if (!member->is_object()) return Fail(ErrorCode::kInvalidArgument, place + ": expected an object");
  for (const auto& [pattern, json] : member->items()) {
    ASSIGN_OR_RETURN(ConfigObject object, ConfigObject::Of(json, fmt::format("{}.{}", place, pattern)));
    HttpSecret secret;
    secret.host = pattern;
    secret.header = "Authorization";
    RETURN_IF_ERROR(object.Text("header", secret.header));
    RETURN_IF_ERROR(object.Text("prefix", secret.prefix));
    ASSIGN_OR_RETURN(secret.value, Secret(object, host));
    RETURN_IF_ERROR(object.Finish());
    secrets.push_back(std::move(secret));
  }
  return {};
}

Status ReadClient(ConfigObject& object, const BuiltinHost& host, HttpClientOptions& client) {
  std::string proxy;
  RETURN_IF_ERROR(object.Text("proxy", proxy));
  if (proxy == "environment") {
    client.proxies = ProxyRules::FromEnvironment(host.environment);
  } else {
    client.proxies.http = client.proxies.https = proxy;
  }
  std::string ca_file;
  RETURN_IF_ERROR(object.Text("ca_file", ca_file));
  if (!ca_file.empty()) client.ca_file = PathOf(host, ca_file).string();
  return {};
}

Result<Tools> MakeHttp(ConfigObject& object, const BuiltinHost& host) {
  HttpToolOptions options;
  HttpAccessOptions& access = options.access;
  RETURN_IF_ERROR(object.Texts("hosts", access.hosts));
  RETURN_IF_ERROR(object.Texts("private_networks", access.private_networks));
  RETURN_IF_ERROR(object.Texts("methods", options.methods));
  RETURN_IF_ERROR(ReadSecrets(object, host, access.secrets));
  RETURN_IF_ERROR(object.Count("max_response_bytes", access.max_response_bytes));
  RETURN_IF_ERROR(object.Count("max_request_bytes", access.max_request_bytes));
  RETURN_IF_ERROR(object.Count("max_redirects", access.max_redirects));
  RETURN_IF_ERROR(object.Seconds("timeout_s", access.timeout));
  RETURN_IF_ERROR(ReadClient(object, host, access.client));
  RETURN_IF_ERROR(object.Finish());
  return MakeHttpTools(std::move(options));
}

Result<std::map<std::string, std::filesystem::path>> Paths(ConfigObject& object, const BuiltinHost& host,
                                                           std::string_view name) {
  std::map<std::string, std::string> texts;
  RETURN_IF_ERROR(object.TextMap(name, texts));
  std::map<std::string, std::filesystem::path> paths;
  for (const auto& [key, text] : texts) paths[key] = PathOf(host, text);
  return paths;
}

Result<Tools> MakeFiles(ConfigObject& object, const BuiltinHost& host) {
  FileToolOptions options;
  ASSIGN_OR_RETURN(options.folders, Paths(object, host, "folders"));
  RETURN_IF_ERROR(object.Count("max_text_bytes", options.max_text_bytes));
  RETURN_IF_ERROR(object.Count("max_file_bytes", options.max_file_bytes));
  RETURN_IF_ERROR(object.Count("max_search_bytes", options.max_search_bytes));
  RETURN_IF_ERROR(object.Count("max_files", options.max_files));
  RETURN_IF_ERROR(object.Count("max_matches", options.max_matches));
  RETURN_IF_ERROR(object.Finish());
  return MakeFileTools(std::move(options));
}

Result<Tools> MakeSql(ConfigObject& object, const BuiltinHost& host) {
  SqlToolOptions options;
  ASSIGN_OR_RETURN(options.databases, Paths(object, host, "databases"));
  RETURN_IF_ERROR(object.Count("max_rows", options.max_rows));
  RETURN_IF_ERROR(object.Count("max_result_bytes", options.max_result_bytes));
  RETURN_IF_ERROR(object.Count("max_memory_bytes", options.max_memory_bytes));
  RETURN_IF_ERROR(object.Seconds("timeout_s", options.timeout));
  RETURN_IF_ERROR(object.Finish());
  return One(MakeSqlQuery(std::move(options)));
}

Result<Tools> MakeRegex(ConfigObject& object, const BuiltinHost&) {
  RETURN_IF_ERROR(object.Finish());
  return One(MakeRegexSearch());
}

Result<Tools> MakeCalculation(ConfigObject& object, const BuiltinHost&) {
  RETURN_IF_ERROR(object.Finish());
  return One(MakeCalculator());
}

Result<Tools> MakeAsking(ConfigObject& object, const BuiltinHost& host) {
  AskUserOptions options;
  options.prompt = host.prompt;
  RETURN_IF_ERROR(object.Seconds("timeout_s", options.timeout));
  RETURN_IF_ERROR(object.Finish());
  return One(MakeAskUser(std::move(options)));
}

// "headers": {"Accept-Language": "de", "X-Key": {"env": "SEARCH_KEY", "prefix": ""}}.
Status ReadHeaders(ConfigObject& search, const BuiltinHost& host, HttpHeaders& headers) {
  const Json* member = search.Take("headers");
  if (member == nullptr) return {};
  const std::string place = search.PlaceOf("headers");
  if (!member->is_object()) return Fail(ErrorCode::kInvalidArgument, place + ": expected an object");
  for (const auto& [name, json] : member->items()) {
    if (json.is_string()) {
      headers.push_back({name, json.get<std::string>()});
      continue;
    }
    ASSIGN_OR_RETURN(ConfigObject object, ConfigObject::Of(json, fmt::format("{}.{}", place, name)));
    std::string prefix;
    RETURN_IF_ERROR(object.Text("prefix", prefix));
    ASSIGN_OR_RETURN(const std::string value, Secret(object, host));
    RETURN_IF_ERROR(object.Finish());
    headers.push_back({name, prefix + value});
  }
  return {};
}

Result<Tools> MakeSearch(ConfigObject& object, const BuiltinHost& host) {
  WebSearchOptions options;
  RETURN_IF_ERROR(object.Text("url", options.url));
  RETURN_IF_ERROR(object.Text("method", options.method));
  RETURN_IF_ERROR(object.Text("query_field", options.query_field));
  RETURN_IF_ERROR(object.Text("count_field", options.count_field));
  if (const Json* body = object.Take("body")) options.body = *body;
  RETURN_IF_ERROR(object.Text("results", options.results));
  RETURN_IF_ERROR(object.Text("title", options.title));
  RETURN_IF_ERROR(object.Text("link", options.link));
  RETURN_IF_ERROR(object.Text("snippet", options.snippet));
  RETURN_IF_ERROR(object.Count("max_results", options.max_results));
  RETURN_IF_ERROR(object.Count("max_response_bytes", options.max_response_bytes));
  RETURN_IF_ERROR(object.Seconds("timeout_s", options.timeout));
  RETURN_IF_ERROR(ReadHeaders(object, host, options.headers));
  RETURN_IF_ERROR(ReadClient(object, host, options.client));
  RETURN_IF_ERROR(object.Finish());
  return One(MakeWebSearch(std::move(options)));
}

Result<Tools> MakeMemory(ConfigObject& object, const BuiltinHost& host) {
  MemoryToolOptions options;
  std::string file;
  RETURN_IF_ERROR(object.Text("file", file));
  if (!file.empty()) options.file = PathOf(host, file);
  RETURN_IF_ERROR(object.Count("max_keys", options.limits.max_keys));
  RETURN_IF_ERROR(object.Count("max_key_bytes", options.limits.max_key_bytes));
  RETURN_IF_ERROR(object.Count("max_value_bytes", options.limits.max_value_bytes));
  RETURN_IF_ERROR(object.Count("max_file_bytes", options.limits.max_file_bytes));
  RETURN_IF_ERROR(object.Finish());
  return MakeMemoryTools(std::move(options));
}

struct Section {
  std::string_view name;
  Result<Tools> (*make)(ConfigObject&, const BuiltinHost&);
};
constexpr Section kSections[] = {
    {"http", MakeHttp},
    {"files", MakeFiles},
    {"sql", MakeSql},
    {"regex", MakeRegex},
    {"calculator", MakeCalculation},
    {"ask_user", MakeAsking},
    {"web_search", MakeSearch},
    {"memory", MakeMemory},
};

}  // namespace

Result<Tools> MakeBuiltinTools(std::string_view text, const BuiltinHost& host) {
  JsonLimits limits;
  limits.allow_comments = true;
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, limits));
  ASSIGN_OR_RETURN(ConfigObject whole, ConfigObject::Of(json, ""));
  Tools tools;
  for (const Section& section : kSections) {
    const Json* member = whole.Take(section.name);
    if (member == nullptr) continue;
    ASSIGN_OR_RETURN(ConfigObject object, ConfigObject::Of(*member, std::string(section.name)));
    auto made = section.make(object, host);
    if (!made) {
      Error error = std::move(made).error();
      if (!error.message.starts_with(section.name))
        error.message = fmt::format("{}: {}", section.name, error.message);
      return tl::unexpected<Error>(std::move(error));
    }
    tools.insert(tools.end(), std::make_move_iterator(made->begin()), std::make_move_iterator(made->end()));
  }
  RETURN_IF_ERROR(whole.Finish());
  return tools;
}

}  // namespace gloveport
