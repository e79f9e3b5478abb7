// Which proxy a request goes through, by the variables that other programs use too.
#ifndef GLOVEPORT_CORE_NET_PROXY_H_
#define GLOVEPORT_CORE_NET_PROXY_H_

#include <functional>
#include <optional>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/url.h"

namespace gloveport {

// Looks up a variable of the environment; nothing where it is not set. Given by the caller, so that tests and
// hosts decide what a client may see.
using EnvLookup = std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process. Not to be called while another thread changes the environment.
EnvLookup ProcessEnvironment();

struct ProxyRules {
  std::string
      http;  // proxy for http URLs, such as "http://user:password@proxy.example.org:3128"; empty: none
  std::string https;  // proxy for https URLs
  std::string
      no_proxy;  // hosts that are reached directly: "*", or names and addresses with commas between them

  // Reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; of each the lower-case form first. HTTP_PROXY in
  // capitals is ignored where REQUEST_METHOD is set: in a CGI program a client chooses it.
  static ProxyRules FromEnvironment(const EnvLookup& lookup);

  // The proxy for `url`, or nothing for a direct connection. An entry of `no_proxy` matches the host itself
  // and, for names, every host below it (a leading dot changes nothing); with ":port" only that port.
  // Loopback hosts are always reached directly. kInvalidArgument for a proxy that is not reached by http.
  Result<std::optional<Url>> ProxyFor(const Url& url) const;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_NET_PROXY_H_
