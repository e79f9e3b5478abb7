#include "gloveport/core/model/factory.h"

#include <fmt/core.h>

#include <algorithm>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/anthropic.h"
#include "gloveport/core/model/openai_chat.h"
#include "gloveport/core/model/scripted.h"

namespace gloveport {
namespace {

constexpr const char* kKinds = "write openai:NAME, anthropic:NAME or scripted:FILE";

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

Result<EndpointOptions> ReadEndpoint(const EnvLookup& environment, const std::string& variable) {
  EndpointOptions endpoint;
  endpoint.base_url = Variable(environment, variable);
  endpoint.http.proxies = ProxyRules::FromEnvironment(environment);
  if (endpoint.base_url.empty()) return endpoint;
  if (auto checked = CheckBaseUrl(endpoint.base_url); !checked) {
    return Fail(checked.error().code, fmt::format("{}: {}", variable, checked.error().message),
                checked.error().hint);
  }
  return endpoint;
}

Result<std::unique_ptr<Model>> MakeOpenAi(std::string name, const EnvLookup& environment) {
  OpenAiChatOptions options;
  options.model = std::move(name);
  ASSIGN_OR_RETURN(options.endpoint, ReadEndpoint(environment, "OPENAI_BASE_URL"));
  const Key need = options.endpoint.base_url.empty() ? Key::kRequired : Key::kOptional;
  ASSIGN_OR_RETURN(options.api_key, ReadKey(environment, "OPENAI_API_KEY", need));
  return std::make_unique<OpenAiChat>(std::move(options));
}

Result<std::unique_ptr<Model>> MakeAnthropic(std::string name, const EnvLookup& environment) {
  AnthropicOptions options;
  options.model = std::move(name);
  ASSIGN_OR_RETURN(options.endpoint, ReadEndpoint(environment, "ANTHROPIC_BASE_URL"));
  ASSIGN_OR_RETURN(options.api_key, ReadKey(environment, "ANTHROPIC_API_KEY", Key::kRequired));
  return std::make_unique<Anthropic>(std::move(options));
}

}  // namespace

Result<std::unique_ptr<Model>> MakeModel(std::string_view spec, const EnvLookup& environment) {
  const auto colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  const bool known = kind == "openai" || kind == "anthropic" || kind == "scripted";
  if (!known) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" names no kind of model", EscapeForTerminal(spec)), kKinds);
  }
  std::string name(colon == std::string_view::npos ? "" : spec.substr(colon + 1));
  if (name.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" names no {}", spec, kind == "scripted" ? "file" : "model"), kKinds);
  }
  if (kind == "openai") return MakeOpenAi(std::move(name), environment);
  if (kind == "anthropic") return MakeAnthropic(std::move(name), environment);
  ASSIGN_OR_RETURN(auto scripted, Scripted::Load(name));
  return std::unique_ptr<Model>(std::move(scripted));
}

}  // namespace gloveport
