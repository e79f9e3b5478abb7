#include "gloveport/tools/builtin/http_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/binding.h"

namespace gloveport {
namespace {

constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

using TextMap = std::map<std::string, std::string>;

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string Hosts(const HttpAccessOptions& options) {
  std::string out;
  for (const std::string& host : options.hosts) out += (out.empty() ? "" : ", ") + host;
  return out;
}

bool OnlyReads(const std::vector<std::string>& methods) {
  return std::all_of(methods.begin(), methods.end(),
                     [](const std::string& method) { return method == "GET" || method == "HEAD"; });
}

Result<std::shared_ptr<Tool>> MakeHttpGet(std::shared_ptr<const HttpAccess> access,
                                          const std::string& hosts) {
  auto get = [access](std::string url, const std::optional<TextMap>& params, std::optional<TextMap> headers,
                      std::optional<double> timeout_s, CallContext& context) {
    HttpCall call{"GET", UrlWithParameters(std::move(url), params.value_or(TextMap())),
                  std::move(headers).value_or(TextMap()), "", timeout_s};
    return access->Send(call, context);
  };
  return BindFunction("http_get", "Fetches a URL. Hosts that can be reached: " + hosts, std::move(get),
                      {Arg("url", "absolute, http or https"), Arg("params", "added to the query, encoded"),
                       Arg("headers", "of the request"), Arg("timeout_s", "less than the host's own limit")});
}

struct Body {
  std::string bytes;
  bool is_json = false;
};

Result<Body> BodyOf(const std::optional<std::variant<std::string, Value::Bytes>>& body, const Value& json) {
  if (body && !json.is_null())
    return Fail(ErrorCode::kInvalidArgument, "http_request(): give body or json, not both");
  if (!json.is_null()) return Body{DumpJson(json), true};
  if (!body) return Body{};
  if (const auto* text = std::get_if<std::string>(&*body)) return Body{*text};
  return Body{std::string(AsText(std::get<Value::Bytes>(*body)))};
}

bool HasHeader(const TextMap& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return EqualsIgnoringCase(header.first, name); });
}

Result<std::shared_ptr<Tool>> MakeHttpRequest(std::shared_ptr<const HttpAccess> access,
                                              const std::string& hosts,
                                              const std::vector<std::string>& methods) {
  auto send = [access, methods](std::string method, std::string url, const std::optional<TextMap>& params,
                                std::optional<TextMap> headers,
                                const std::optional<std::variant<std::string, Value::Bytes>>& body,
                                const Value& json, std::optional<double> timeout_s,
                                CallContext& context) -> Result<HttpAnswer> {
    if (std::find(methods.begin(), methods.end(), method) == methods.end())
      return Fail(ErrorCode::kDenied, fmt::format("the method {} is not allowed here; those that are: {}",
                                                  method, fmt::join(methods, ", ")));
    ASSIGN_OR_RETURN(Body sent, BodyOf(body, json));
    HttpCall call{std::move(method), UrlWithParameters(std::move(url), params.value_or(TextMap())),
                  std::move(headers).value_or(TextMap()), std::move(sent.bytes), timeout_s};
    if (sent.is_json && !HasHeader(call.headers, "content-type"))
      call.headers["Content-Type"] = "application/json";
    return access->Send(call, context);
  };
  return BindFunction(
      "http_request", "Sends an HTTP request. Hosts that can be reached: " + hosts, std::move(send),
      {Arg("method", fmt::format("{}", fmt::join(methods, ", "))), Arg("url", "absolute, http or https"),
       Arg("params", "added to the query, encoded", nullptr), Arg("headers", "of the request", nullptr),
       Arg("body", "sent as it is", nullptr), Arg("json", "sent as JSON, in place of body", nullptr),
       Arg("timeout_s", "less than the host's own limit")});
}

}  // namespace

std::string UrlWithParameters(std::string url, const std::map<std::string, std::string>& parameters) {
  url = url.substr(0, url.find('#'));
  char separator = url.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : parameters) {
    url += fmt::format("{}{}={}", separator, PercentEncoded(name), PercentEncoded(value));
    separator = '&';
  }
  return url;
}

Result<std::vector<std::shared_ptr<Tool>>> MakeHttpTools(HttpToolOptions options) {
  for (const std::string& method : options.methods) {
    if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods))
      return Fail(ErrorCode::kInvalidArgument, fmt::format("\"{}\" is no method that can be allowed", method),
                  fmt::format("those are: {}", fmt::join(kMethods, ", ")));
  }
  const std::string hosts = Hosts(options.access);
  ASSIGN_OR_RETURN(HttpAccess made, HttpAccess::Make(std::move(options.access)));
  const auto access = std::make_shared<const HttpAccess>(std::move(made));
  std::vector<std::shared_ptr<Tool>> tools;
  ASSIGN_OR_RETURN(auto get, MakeHttpGet(access, hosts));
  tools.push_back(std::move(get));
  if (!OnlyReads(options.methods)) {
    ASSIGN_OR_RETURN(auto request, MakeHttpRequest(access, hosts, options.methods));
    tools.push_back(std::move(request));
  }
  return tools;
}

}  // namespace gloveport
