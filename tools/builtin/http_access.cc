#include "gloveport/tools/builtin/http_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/net/resolver.h"

namespace gloveport {
namespace {

constexpr std::string_view kStandsForSecret = "[secret]";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool SameOrigin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

// The reference of a Location field against the URL that it came from (RFC 3986, without dot segments, which
// servers take as they are).
std::string Resolve(const Url& base, std::string_view reference) {
  const auto colon = reference.find("://");
  if (colon != std::string_view::npos && colon < reference.find_first_of("/?#"))
    return std::string(reference);
  if (reference.starts_with("//")) return fmt::format("{}:{}", base.scheme, reference);
  if (reference.starts_with('/')) return base.origin() + std::string(reference);
  const std::string path = base.target.substr(0, base.target.find('?'));
  if (reference.starts_with('?')) return base.origin() + path + std::string(reference);
  return base.origin() + path.substr(0, path.rfind('/') + 1) + std::string(reference);
}

std::string Latin1ToUtf8(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | (byte >> 6));
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

// The body as text, where it is one.
std::optional<std::string> TextOf(const HttpResponse& response) {
  if (IsValidUtf8(response.body)) return response.body;
  const std::string* type = FindHeader(response.headers, "content-type");
  const std::string lower = type != nullptr ? Lower(*type) : "";
  if (lower.find("iso-8859-1") != std::string::npos || lower.find("latin-1") != std::string::npos)
    return Latin1ToUtf8(response.body);
  return std::nullopt;
}

// What a redirect makes of a call: as browsers do.
void Redirect(HttpCall& call, int status, const Url& from, const Url& to) {
  const bool becomes_get =
      (status == 303 && call.method != "HEAD") || ((status == 301 || status == 302) && call.method == "POST");
  if (becomes_get) {
    call.method = "GET";
    call.body.clear();
  }
  std::erase_if(call.headers, [&](const auto& header) {
    const std::string name = Lower(header.first);
    return (becomes_get && name.starts_with("content-")) ||
           (!SameOrigin(from, to) && (name == "authorization" || name == "cookie"));
  });
}

}  // namespace

HttpAccess::HttpAccess(HttpAccessOptions options)
    : options_(std::move(options)), client_(std::make_shared<HttpClient>(options_.client)) {}

Result<HttpAccess> HttpAccess::Make(HttpAccessOptions options) {
  HttpAccess access(std::move(options));
  const HttpAccessOptions& given = access.options_;
  if (given.hosts.empty())
    return Fail(ErrorCode::kInvalidArgument, "the HTTP tools have no hosts that they may reach",
                "list them under \"hosts\": [\"api.example.org\"]");
  for (const std::string& host : given.hosts) {
    ASSIGN_OR_RETURN(HostPattern pattern, HostPattern::Parse(host));
    access.hosts_.push_back(std::move(pattern));
  }
  for (const std::string& text : given.private_networks) {
    ASSIGN_OR_RETURN(IpNetwork network, IpNetwork::Parse(text));
    access.networks_.push_back(network);
  }
  for (const HttpSecret& secret : given.secrets) {
    ASSIGN_OR_RETURN(HostPattern host, HostPattern::Parse(secret.host));
    RETURN_IF_ERROR(CheckHeader({secret.header, secret.prefix + secret.value}));
    if (secret.value.empty())
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the secret for {} is empty", EscapeForTerminal(secret.host)));
    access.secrets_.push_back({std::move(host), secret});
  }
  if (given.timeout.count() <= 0 || given.max_response_bytes == 0)
    return Fail(ErrorCode::kInvalidArgument, "the limits of the HTTP tools must be above 0");
  return access;
}

Status HttpAccess::CheckUrl(const Url& url) const {
  if (!url.userinfo.empty())
    return Fail(ErrorCode::kInvalidArgument, "the URL holds a user name or password: give none");
  const bool listed =
      std::any_of(hosts_.begin(), hosts_.end(), [&](const HostPattern& host) { return host.Matches(url); });
  if (listed) return {};
  std::string allowed;
  for (const std::string& host : options_.hosts) allowed += (allowed.empty() ? "" : ", ") + host;
  return Fail(ErrorCode::kDenied, fmt::format("{} is not among the hosts that may be reached; those are: {}",
                                              url.origin(), allowed));
}

Status HttpAccess::CheckBody(const HttpCall& call) const {
  if (call.body.size() > options_.max_request_bytes)
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the body has {} bytes, more than the {} that may be sent", call.body.size(),
                            options_.max_request_bytes));
  if (!call.body.empty() && (call.method == "GET" || call.method == "HEAD"))
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} has no body: use POST", call.method));
  return {};
}

Status HttpAccess::AddHeaders(const Url& url, const HttpCall& call, HttpRequest& request) const {
  std::vector<const Secret*> secrets;
  for (const Secret& secret : secrets_) {
    if (!secret.host.Matches(url)) continue;
    if (!url.secure() && !IsLoopbackHost(url.host))
      return Fail(
          ErrorCode::kDenied,
          fmt::format("requests to {} carry a secret of the host and go by https only", url.origin()));
    secrets.push_back(&secret);
  }
  for (const auto& [name, value] : call.headers) {
    const bool set_here = std::any_of(
        secrets.begin(), secrets.end(),
        [&, &name = name](const Secret* secret) { return EqualsIgnoringCase(secret->secret.header, name); });
    if (set_here || EqualsIgnoringCase(name, "proxy-authorization"))
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the header {} is set by the host: leave it out", EscapeForTerminal(name)));
    request.headers.push_back({name, value});
    RETURN_IF_ERROR(CheckHeader(request.headers.back()));
  }
  for (const Secret* secret : secrets)
    request.headers.push_back({secret->secret.header, secret->secret.prefix + secret->secret.value});
  return {};
}

bool HttpAccess::IsListed(const Url& url, const IpAddress& address) const {
  const bool by_network = std::any_of(networks_.begin(), networks_.end(),
                                      [&](const IpNetwork& network) { return network.Contains(address); });
  return by_network || std::any_of(hosts_.begin(), hosts_.end(), [&](const HostPattern& host) {
           return host.address() == address && host.Matches(url);
         });
}

// The address is the one that is connected to next: a name that resolves to another one later gains nothing.
Status HttpAccess::CheckAddress(const Url& url, const SocketAddress& address) const {
  const auto ip = IpAddress::Of(address);
  if (ip && (ip->is_public() || IsListed(url, *ip))) return {};
  return Fail(
      ErrorCode::kDenied,
      fmt::format("{} leads to an address that is not public, and the host has not allowed it", url.host));
}

Result<std::string> HttpAccess::NextUrl(const Url& url, const HttpResponse& response) const {
  const std::string* location = FindHeader(response.headers, "location");
  if (location == nullptr)
    return Fail(ErrorCode::kProtocol,
                fmt::format("{} redirects to nowhere: it names no place", url.origin()));
  std::string next = Resolve(url, *location);
  const auto parsed = ParseUrl(next);
  if (!parsed)
    return Fail(ErrorCode::kProtocol,
                fmt::format("{} redirects to what is no http or https URL", url.origin()));
  if (url.secure() && !parsed->secure())
    return Fail(ErrorCode::kDenied, fmt::format("{} redirects from https to http", url.origin()));
  if (const Status allowed = CheckUrl(*parsed); !allowed)
    return Fail(allowed.error().code,
                fmt::format("{} redirects elsewhere: {}", url.origin(), allowed.error().message));
  return next;
}

std::string HttpAccess::WithoutSecrets(std::string text) const {
  for (const Secret& secret : secrets_) ReplaceAll(text, secret.secret.value, kStandsForSecret);
  return text;
}

HttpAnswer HttpAccess::AnswerFrom(std::string url, HttpResponse response) const {
  HttpAnswer answer;
  answer.status = response.status;
  answer.url = WithoutSecrets(std::move(url));
  for (const HttpHeader& header : response.headers) {
    std::string& value = answer.headers[Lower(header.name)];
    value += (value.empty() ? "" : ", ") + WithoutSecrets(header.value);
  }
  response.body = WithoutSecrets(std::move(response.body));
  answer.text = TextOf(response);
  if (!answer.text) {
    const auto bytes = AsBytes(response.body);
    answer.content = Value::Bytes(bytes.begin(), bytes.end());
  }
  return answer;
}

Result<HttpAnswer> HttpAccess::Send(const HttpCall& given, const CallContext& context) const {
  HttpCall call = given;
  auto timeout = options_.timeout;
  if (call.timeout_s) {
    if (!(*call.timeout_s > 0)) return Fail(ErrorCode::kInvalidArgument, "timeout_s must be above 0");
    const double most = static_cast<double>(timeout.count()) / 1e3;
    timeout = std::chrono::milliseconds(std::llround(std::ceil(std::min(*call.timeout_s, most) * 1e3)));
  }
  const Deadline deadline = Earlier(context.deadline, Deadline::After(timeout));
  RETURN_IF_ERROR(CheckBody(call));
  for (std::size_t step = 0; step <= options_.max_redirects; ++step) {
    ASSIGN_OR_RETURN(const Url url, ParseUrl(call.url));
    RETURN_IF_ERROR(CheckUrl(url));
    HttpRequest request;
    request.method = call.method;
    request.url = call.url;
    request.body = call.body;
    request.deadline = deadline;
    request.cancel = context.stop;
    request.max_response_bytes = options_.max_response_bytes;
    ASSIGN_OR_RETURN(const auto proxy, options_.client.proxies.ProxyFor(url));
    if (!proxy) request.admit = [&](const SocketAddress& address) { return CheckAddress(url, address); };
    RETURN_IF_ERROR(AddHeaders(url, call, request));
    ASSIGN_OR_RETURN(HttpResponse response, client_->Send(request));
    if (!IsRedirect(response.status)) return AnswerFrom(std::move(call.url), std::move(response));
    ASSIGN_OR_RETURN(std::string next, NextUrl(url, response));
    ASSIGN_OR_RETURN(const Url to, ParseUrl(next));
    Redirect(call, response.status, url, to);
    call.url = std::move(next);
  }
  return Fail(ErrorCode::kProtocol, fmt::format("more than {} redirects", options_.max_redirects));
}

}  // namespace gloveport
