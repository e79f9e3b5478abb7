#include "gloveport/core/model/factory.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/anthropic.h"
#include "gloveport/core/model/openai_chat.h"
#include "gloveport/core/model/openai_responses.h"
#include "gloveport/core/model/recorder.h"
#include "gloveport/core/model/replayer.h"
#include "gloveport/core/model/scripted.h"

namespace gloveport {
namespace {

constexpr const char* kKinds =
    "write openai:NAME, openai-responses:NAME, anthropic:NAME, scripted:FILE, record:FILE=MODEL or "
    "replay:FILE";
constexpr const char* kOptions =
    "options are action=text|json|tool, effort=LEVEL and, for anthropic, cache=on|off";

enum class Key { kRequired, kOptional };

std::string Variable(const EnvLookup& environment, const std::string& name) {
  return std::string(Trim(environment(name).value_or("")));
}

Result<std::string> ReadKey(const EnvLookup& environment, const std::string& variable, Key need) {
  std::string key = Variable(environment, variable);
  if (key.empty() && need == Key::kRequired) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} is not set", variable),
                fmt::format("set {} to your API key, or use scripted:FILE, which needs none", variable));
  }
  const bool printable = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (!printable) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("the value of {} cannot be an API key: it has a space, a line break or a character "
                    "outside ASCII",
                    variable),
        "copy the key again, without anything around it");
  }
  return key;
}

// Where OpenSSL's own variables are not set: what Python programs and curl read.
std::string CaFile(const EnvLookup& environment) {
  for (const char* own : {"SSL_CERT_FILE", "SSL_CERT_DIR"}) {
    if (!Variable(environment, own).empty()) return "";
  }
  std::string file = Variable(environment, "REQUESTS_CA_BUNDLE");
  return file.empty() ? Variable(environment, "CURL_CA_BUNDLE") : file;
}

Result<EndpointOptions> ReadEndpoint(const EnvLookup& environment, const std::string& variable) {
  EndpointOptions endpoint;
  endpoint.base_url = Variable(environment, variable);
  endpoint.http.proxies = ProxyRules::FromEnvironment(environment);
  endpoint.http.ca_file = CaFile(environment);
  if (endpoint.base_url.empty()) return endpoint;
  if (auto checked = CheckBaseUrl(endpoint.base_url); !checked) {
    return Fail(checked.error().code, fmt::format("{}: {}", variable, checked.error().message),
                checked.error().hint);
  }
  return endpoint;
}

// A model of a server, as it was asked for: "gpt-5?action=tool".
struct Name {
  std::string model;
  ModelOptions settings;
};

Status ReadOption(std::string_view key, std::string_view value, ModelOptions& settings) {
  if (key == "action") {
    const auto form = ParseActionForm(value);
    if (form) settings.action_form = *form;
    if (form) return {};
  } else if (key == "effort" && !value.empty()) {
    settings.reasoning_effort = value;
    return {};
  } else if (key == "cache" && (value == "on" || value == "off")) {
    settings.prompt_cache = value == "on";
    return {};
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("\"{}={}\" is no option of a model", EscapeForTerminal(key), EscapeForTerminal(value)),
      kOptions);
}

Result<Name> ReadName(std::string_view text) {
  const auto mark = text.find('?');
  Name name{std::string(text.substr(0, mark)), {.prompt_cache = true}};
  std::string_view options = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  while (!options.empty()) {
    const auto end = options.find('&');
    const std::string_view option = options.substr(0, end);
    const auto equals = std::min(option.find('='), option.size());
    RETURN_IF_ERROR(ReadOption(option.substr(0, equals), option.substr(std::min(equals + 1, option.size())),
                               name.settings));
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
  }
  return name;
}

template <typename Kind>
Result<std::unique_ptr<Model>> MakeOpenAi(Name name, const EnvLookup& environment) {
  OpenAiChatOptions options;
  options.model = std::move(name.model);
  options.settings = std::move(name.settings);
  ASSIGN_OR_RETURN(options.endpoint, ReadEndpoint(environment, "OPENAI_BASE_URL"));
  const Key need = options.endpoint.base_url.empty() ? Key::kRequired : Key::kOptional;
  ASSIGN_OR_RETURN(options.api_key, ReadKey(environment, "OPENAI_API_KEY", need));
  return std::make_unique<Kind>(std::move(options));
}

Result<std::unique_ptr<Model>> MakeAnthropic(Name name, const EnvLookup& environment) {
  AnthropicOptions options;
  options.model = std::move(name.model);
  options.settings = std::move(name.settings);
  ASSIGN_OR_RETURN(options.endpoint, ReadEndpoint(environment, "ANTHROPIC_BASE_URL"));
  ASSIGN_OR_RETURN(options.api_key, ReadKey(environment, "ANTHROPIC_API_KEY", Key::kRequired));
  return std::make_unique<Anthropic>(std::move(options));
}

Result<std::unique_ptr<Model>> MakeScripted(const std::string& file) {
  ASSIGN_OR_RETURN(auto scripted, Scripted::Load(file));
  return std::unique_ptr<Model>(std::move(scripted));
}

Result<std::unique_ptr<Model>> MakeReplay(std::string file) {
  ReplayMatch match = ReplayMatch::kPrompt;
  for (const auto& [suffix, chosen] :
       {std::pair("?match=order", ReplayMatch::kOrder), {"?match=prompt", ReplayMatch::kPrompt}}) {
    if (!file.ends_with(suffix)) continue;
    file.resize(file.size() - std::string_view(suffix).size());
    match = chosen;
    break;
  }
  ASSIGN_OR_RETURN(auto replayer, Replayer::Load(file, match));
  return std::unique_ptr<Model>(std::move(replayer));
}

Result<std::unique_ptr<Model>> MakeRecord(std::string_view text, const EnvLookup& environment) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"record:{}\" does not say which model to record into which file",
                            EscapeForTerminal(text)),
                "write record:FILE=MODEL, for example record:run.jsonl=openai:gpt-5");
  }
  const std::string_view spec = text.substr(equals + 1);
  if (spec.starts_with("record:")) {
    return Fail(ErrorCode::kInvalidArgument, "a recording cannot be recorded", kKinds);
  }
  ASSIGN_OR_RETURN(auto model, MakeModel(spec, environment));
  std::vector<std::string> secrets;
  for (const char* variable : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"})
    secrets.push_back(Variable(environment, variable));
  ASSIGN_OR_RETURN(auto recorder, Recorder::Create(std::move(model), std::string(text.substr(0, equals)),
                                                   std::move(secrets)));
  return std::unique_ptr<Model>(std::move(recorder));
}

}  // namespace

Result<std::unique_ptr<Model>> MakeModel(std::string_view spec, const EnvLookup& environment) {
  constexpr std::string_view kFiles[] = {"scripted", "record", "replay"};
  constexpr std::string_view kServers[] = {"openai", "openai-responses", "anthropic"};
  const auto colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  const bool is_file = std::ranges::find(kFiles, kind) != std::end(kFiles);
  if (!is_file && std::ranges::find(kServers, kind) == std::end(kServers)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" names no kind of model", EscapeForTerminal(spec)), kKinds);
  }
  const std::string_view rest = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  if (rest.empty() || rest.starts_with('?')) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" names no {}", spec, is_file ? "file" : "model"), kKinds);
  }
  if (kind == "scripted") return MakeScripted(std::string(rest));
  if (kind == "replay") return MakeReplay(std::string(rest));
  if (kind == "record") return MakeRecord(rest, environment);
  ASSIGN_OR_RETURN(Name name, ReadName(rest));
  if (kind == "openai") return MakeOpenAi<OpenAiChat>(std::move(name), environment);
  if (kind == "openai-responses") return MakeOpenAi<OpenAiResponses>(std::move(name), environment);
  return MakeAnthropic(std::move(name), environment);
}

}  // namespace gloveport
