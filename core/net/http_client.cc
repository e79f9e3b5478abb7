#include "gloveport/core/net/http_client.h"

#include <fmt/core.h>

#include <mutex>
#include <optional>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"
#include "gloveport/core/net/http_reader.h"
#include "gloveport/core/net/io_wait.h"
#include "gloveport/core/net/tcp.h"
#include "gloveport/core/net/tls.h"
#include "gloveport/core/net/url.h"

namespace gloveport {

struct HttpClient::State {
  explicit State(HttpClientOptions chosen) : options(std::move(chosen)) {}

  const HttpClientOptions options;
  std::mutex mutex;
  std::shared_ptr<const TlsContext>
      tls;  // made with the first https request: loading authorities takes a while

  Result<std::shared_ptr<const TlsContext>> Tls() {
    const std::lock_guard lock(mutex);
    if (!tls) {
      ASSIGN_OR_RETURN(tls, TlsContext::Make(options.ca_file));
    }
    return tls;
  }
};

namespace {

constexpr const char* kOwnFields[] = {"host", "connection", "content-length", "transfer-encoding"};

Status CheckRequest(const HttpRequest& request, const Url& url, const HttpClientOptions& options) {
  if (!IsHttpToken(request.method) || request.method == "CONNECT") {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" is no HTTP method that can be sent", EscapeForTerminal(request.method)));
  }
  if (!url.userinfo.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the URL of {} holds a user name or password", url.origin()),
                "send credentials in a header field");
  }
  RETURN_IF_ERROR(CheckHeader({"User-Agent", options.user_agent}));
  for (const HttpHeader& header : request.headers) {
    RETURN_IF_ERROR(CheckHeader(header));
    for (const char* own : kOwnFields) {
      if (EqualsIgnoringCase(header.name, own)) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("the HTTP header field {} is set by the client itself", header.name));
      }
    }
  }
  return {};
}

std::string ProxyAuthorization(const Url& proxy) {
  if (proxy.userinfo.empty()) return "";
  return fmt::format("Proxy-Authorization: Basic {}\r\n",
                     EncodeBase64(AsBytes(DecodePercent(proxy.userinfo))));
}

// The proxy's credentials go to the proxy only: into the head of a plain request that it reads itself, and
// into CONNECT, never into what the tunnel carries.
std::string RequestHead(const HttpRequest& request, const Url& url, const std::optional<Url>& proxy,
                        const HttpClientOptions& options) {
  const bool absolute = proxy && !url.secure();
  std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method,
                                 absolute ? url.origin() : "", url.target, url.authority());
  if (absolute) head += ProxyAuthorization(*proxy);
  if (!FindHeader(request.headers, "user-agent"))
    head += fmt::format("User-Agent: {}\r\n", options.user_agent);
  if (!FindHeader(request.headers, "accept")) head += "Accept: */*\r\n";
  if (!FindHeader(request.headers, "accept-encoding")) head += "Accept-Encoding: identity\r\n";
  for (const HttpHeader& header : request.headers)
    head += fmt::format("{}: {}\r\n", header.name, header.value);
  const bool may_have_body = request.method != "GET" && request.method != "HEAD";
  if (may_have_body || !request.body.empty())
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  return head + "\r\n";
}

Status OpenTunnel(ByteStream& stream, const Url& url, const Url& proxy, IoWait& wait) {
  wait.set_phase("asking the proxy for a tunnel");
  const std::string target = url.host.find(':') == std::string::npos
                                 ? fmt::format("{}:{}", url.host, url.port)
                                 : fmt::format("[{}]:{}", url.host, url.port);
  RETURN_IF_ERROR(stream.Write(
      fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", target, ProxyAuthorization(proxy))));
  HttpReader reader(stream);
  ASSIGN_OR_RETURN(const auto answer, reader.ReadHead());
  if (answer.status / 100 == 2) return {};
  return Fail(ErrorCode::kIo,
              fmt::format("the proxy {} refuses the tunnel with status {}", proxy.authority(), answer.status),
              answer.status == 407 ? "give user and password in HTTPS_PROXY"
                                   : "name the host in NO_PROXY, or ask who runs the proxy");
}

Error WithContext(Error error, const std::string& what) {
  error.message = fmt::format("{}: {}", what, error.message);
  return error;
}

Status CheckCoding(const HttpResponse& response) {
  const std::string* coding = FindHeader(response.headers, "content-encoding");
  if (!coding || coding->empty() || EqualsIgnoringCase(*coding, "identity")) return {};
  return Fail(ErrorCode::kProtocol, fmt::format("the answer is packed ({}) although that was not asked for",
                                                EscapeForTerminal(coding->substr(0, 40))));
}

// Sends the request and reads the answer over a connection that stands.
Result<HttpResponse> Exchange(const HttpRequest& request, std::string_view head, ByteStream& stream,
                              IoWait& wait) {
  wait.set_phase("sending the request");
  auto sent = stream.Write(head);
  if (sent) sent = stream.Write(request.body);
  // A server may answer and close before it has read everything (413, 401): its answer counts for more.
  if (!sent && sent.error().code != ErrorCode::kIo) return tl::unexpected<Error>(sent.error());
  wait.set_phase("waiting for the answer");
  wait.set_max_silence(request.max_silence);
  HttpReader reader(stream);
  auto response = reader.ReadHead();
  if (!response) {
    const bool sending_failed = !sent && response.error().code == ErrorCode::kIo;
    return tl::unexpected<Error>(sending_failed ? sent.error() : response.error());
  }
  wait.set_phase("reading the answer");
  RETURN_IF_ERROR(CheckCoding(*response));
  if (request.on_head) request.on_head(*response);
  const bool streamed = request.on_body && response->status / 100 == 2;
  const auto sink = [&](std::string_view piece) -> Status {
    if (!streamed) {
      response->body.append(piece);
    } else if (!request.on_body(piece)) {
      return Fail(ErrorCode::kClosed, "the receiver of the answer wanted no more of it");
    }
    return {};
  };
  const std::size_t max_bytes =
      streamed && request.max_streamed_bytes != 0 ? request.max_streamed_bytes : request.max_response_bytes;
  RETURN_IF_ERROR(reader.ReadBody(request.method, *response, max_bytes, sink));
  return response;
}

Result<std::unique_ptr<ByteStream>> Connect(const Url& url, const std::optional<Url>& proxy,
                                            const TlsContext* tls, const AdmitAddress& admit, IoWait& wait) {
  const Url& first = proxy ? *proxy : url;
  auto stream = ConnectTcp(first.host, first.port, wait, admit);
  if (!stream) {
    if (!proxy) return stream;
    return tl::unexpected<Error>(
        WithContext(stream.error(), fmt::format("through the proxy {}", proxy->authority())));
  }
  if (!tls) return stream;
  if (proxy) RETURN_IF_ERROR(OpenTunnel(**stream, url, *proxy, wait));
  return tls->Connect(std::move(*stream), url.host, wait);
}

}  // namespace

HttpClient::HttpClient(HttpClientOptions options) : state_(std::make_unique<State>(std::move(options))) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) const {
  ASSIGN_OR_RETURN(const Url url, ParseUrl(request.url));
  RETURN_IF_ERROR(CheckRequest(request, url, state_->options));
  ASSIGN_OR_RETURN(const auto proxy, state_->options.proxies.ProxyFor(url));
  const auto in_context = [&](Error error) {
    return tl::unexpected<Error>(
        WithContext(std::move(error), fmt::format("{} {}", request.method, url.origin())));
  };
  std::shared_ptr<const TlsContext> tls;
  if (url.secure()) {
    ASSIGN_OR_RETURN(tls, state_->Tls());
  }
  ASSIGN_OR_RETURN(const auto wait, IoWait::Make(request.deadline, request.cancel));
  if (auto go = wait->Check(); !go) return in_context(go.error());
  auto stream = Connect(url, proxy, tls.get(), request.admit, *wait);
  if (!stream) return in_context(stream.error());
  auto response = Exchange(request, RequestHead(request, url, proxy, state_->options), **stream, *wait);
  if (!response) return in_context(response.error());
  return response;
}

}  // namespace gloveport
