#include "gloveport/core/net/proxy.h"

#include <fmt/core.h>

#include <cstdlib>

#include "gloveport/core/base/text.h"
#include "gloveport/core/net/http_message.h"

namespace gloveport {
namespace {

std::string FirstOf(const EnvLookup& lookup, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = lookup(name)) return std::string(Trim(*value));
  }
  return "";
}

bool EndsWithDomain(std::string_view host, std::string_view domain) {
  if (host.size() <= domain.size()) return EqualsIgnoringCase(host, domain);
  return host[host.size() - domain.size() - 1] == '.' &&
         EqualsIgnoringCase(host.substr(host.size() - domain.size()), domain);
}

bool EntryMatches(std::string_view entry, const Url& url) {
  if (entry == "*") return true;
  const auto colon = entry.rfind(':');
  const bool bracketed = entry.starts_with('[');
  const bool has_port =
      colon != std::string_view::npos && (bracketed ? colon > entry.find(']') : entry.find(':') == colon);
  if (has_port) {
    if (entry.substr(colon + 1) != std::to_string(url.port)) return false;
    entry = entry.substr(0, colon);
  }
  if (bracketed && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.starts_with('.')) entry.remove_prefix(1);
  return !entry.empty() && EndsWithDomain(url.host, entry);
}

bool ReachedDirectly(std::string_view no_proxy, const Url& url) {
  if (IsLoopbackHost(url.host)) return true;
  while (!no_proxy.empty()) {
    const auto comma = no_proxy.find(',');
    if (EntryMatches(Trim(no_proxy.substr(0, comma)), url)) return true;
    if (comma == std::string_view::npos) break;
    no_proxy.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

EnvLookup ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value) return std::nullopt;
    return value;
  };
}

ProxyRules ProxyRules::FromEnvironment(const EnvLookup& lookup) {
  ProxyRules rules;
  const std::string all = FirstOf(lookup, {"all_proxy", "ALL_PROXY"});
  rules.http = lookup("REQUEST_METHOD") ? FirstOf(lookup, {"http_proxy"})
                                        : FirstOf(lookup, {"http_proxy", "HTTP_PROXY"});
  rules.https = FirstOf(lookup, {"https_proxy", "HTTPS_PROXY"});
  if (rules.http.empty()) rules.http = all;
  if (rules.https.empty()) rules.https = all;
  rules.no_proxy = FirstOf(lookup, {"no_proxy", "NO_PROXY"});
  return rules;
}

Result<std::optional<Url>> ProxyRules::ProxyFor(const Url& url) const {
  const std::string& text = url.secure() ? https : http;
  if (text.empty() || ReachedDirectly(no_proxy, url)) return std::optional<Url>();
  auto proxy = ParseUrl(text.find("://") == std::string::npos ? "http://" + text : text);
  if (!proxy || proxy->secure()) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("the proxy for {} cannot be used: only proxies of the form http://HOST:PORT are known",
                    url.origin()),
        fmt::format("correct {}_PROXY, or name the host in NO_PROXY", url.secure() ? "HTTPS" : "HTTP"));
  }
  return std::optional<Url>(std::move(*proxy));
}

}  // namespace gloveport
