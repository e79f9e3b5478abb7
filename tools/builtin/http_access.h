// HttpAccess: what the HTTP tools share: which hosts and addresses may be reached, redirects that are
// followed step by step and judged anew at each, secrets that only the host knows.
//
// A secret is put into a request after everything about the request was judged, and only by https or to this
// machine. It appears in no message; where an answer repeats it, what the cell gets has "[secret]" in its
// place.
#ifndef GLOVEPORT_TOOLS_BUILTIN_HTTP_ACCESS_H_
#define GLOVEPORT_TOOLS_BUILTIN_HTTP_ACCESS_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_client.h"
#include "gloveport/core/net/ip_network.h"
#include "gloveport/core/net/url.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/builtin/host_pattern.h"
#include "gloveport/tools/struct_type.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct HttpSecret {
  std::string host;    // a HostPattern
  std::string header;  // that is added to each request to it, for example "Authorization"
  std::string prefix;  // before the secret itself, for example "Bearer "
  std::string value;
};

struct HttpAccessOptions {
  std::vector<std::string> hosts;             // HostPatterns; no other host is reached
  std::vector<std::string> private_networks;  // addresses that are not public and may be reached all the same
  std::vector<HttpSecret> secrets;
  std::size_t max_response_bytes = 4u << 20;
  std::size_t max_request_bytes = 1u << 20;
  std::size_t max_redirects = 5;
  std::chrono::milliseconds timeout{20'000};  // for a call, redirects included
  // With a proxy the addresses are the proxy's matter: then only `hosts` holds here.
  HttpClientOptions client;
};

// What a call of a tool asks for.
struct HttpCall {
  std::string method = "GET";
  std::string url;
  std::map<std::string, std::string> headers;
  std::string body;
  std::optional<double> timeout_s;
};

// What the cell gets.
struct HttpAnswer {
  std::int64_t status = 0;
  std::string url;
  std::map<std::string, std::string> headers;
  std::optional<std::string> text;
  std::optional<Value::Bytes> content;
};
constexpr auto ToolFields(const HttpAnswer*) {
  return std::make_tuple(Field("status", &HttpAnswer::status, "such as 200; no status is an error"),
                         Field("url", &HttpAnswer::url, "the last one, where redirects were followed"),
                         Field("headers", &HttpAnswer::headers, "names in lower case"),
                         Field("text", &HttpAnswer::text, "the body; None where it is no text"),
                         Field("content", &HttpAnswer::content, "the body; None where it is text"));
}

// Thread-safe.
class HttpAccess {
 public:
  // kInvalidArgument for patterns, networks, secrets and limits that are none.
  static Result<HttpAccess> Make(HttpAccessOptions options);

  // kDenied: the host, an address or a redirect is not allowed; kInvalidArgument: the request is malformed;
  // else the errors of HttpClient::Send. Every message is for the code that called.
  Result<HttpAnswer> Send(const HttpCall& call, const CallContext& context) const;

 private:
  struct Secret {
    HostPattern host;
    HttpSecret secret;
  };
  struct Step;

  explicit HttpAccess(HttpAccessOptions options);
  Status CheckUrl(const Url& url) const;
  Status CheckBody(const HttpCall& call) const;
  Status AddHeaders(const Url& url, const HttpCall& call, HttpRequest& request) const;
  Status CheckAddress(const Url& url, const SocketAddress& address) const;
  bool IsListed(const Url& url, const IpAddress& address) const;
  Result<std::string> NextUrl(const Url& url, const HttpResponse& response) const;
  HttpAnswer AnswerFrom(std::string url, HttpResponse response) const;
  std::string WithoutSecrets(std::string text) const;

  HttpAccessOptions options_;
  std::vector<HostPattern> hosts_;
  std::vector<IpNetwork> networks_;
  std::vector<Secret> secrets_;
  std::shared_ptr<const HttpClient> client_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_HTTP_ACCESS_H_
