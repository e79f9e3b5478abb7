#include "gloveport/core/model/json_endpoint.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "gloveport/core/base/text.h"
#include "gloveport/core/model/secret_text.h"
#include "gloveport/core/model/server_error.h"
#include "gloveport/core/net/url.h"
#include "gloveport/core/wire/json_members.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxShownBytes = 400;
constexpr std::size_t kMaxJsonDepth = 64;
constexpr std::size_t kLeastSecretBytes = 8;       // shorter values of a query are words such as "json"
constexpr std::size_t kMaxErrorBytes = 64 * 1024;  // of an answer that is an error instead

std::string JoinUrl(const std::string& base, std::string_view path) {
  const auto query = base.find('?');
  std::string url = base.substr(0, query);
  while (url.ends_with('/')) url.pop_back();
  url += path;
  if (query != std::string::npos) url += base.substr(query);
  return url;
}

std::string HintFor(int status) {
  switch (status) {
    case 401:
    case 403:
      return "check the API key and what it may use";
    case 404:
      return "check the name of the model and the base URL (it usually ends in /v1)";
    case 429:
      return "wait, or raise the limits of the account";
    default:
      return status / 100 == 3 ? "set the base URL to where the server redirects: redirects are not followed"
                               : "";
  }
}

std::string TriesText(int tries) { return tries > 1 ? fmt::format(" (after {} tries)", tries) : ""; }

// The client names method and origin first; here it is said once, before what happened to the stream.
Error WithoutContext(Error error, const HttpRequest& request, std::string_view origin) {
  const std::string context = fmt::format("{} {}: ", request.method, origin);
  if (error.message.starts_with(context)) error.message.erase(0, context.size());
  return error;
}

// What a router answers whose own server failed: an error of its kind within a status 200.
std::optional<ServerError> ErrorWithin(const HttpResponse& response) {
  if (response.status / 100 != 2 || response.body.size() > kMaxErrorBytes) return std::nullopt;
  const auto body = ParseJson(response.body, {.max_depth = kMaxJsonDepth});
  if (!body) return std::nullopt;
  const Json* error = Member(*body, "error");
  if (!error) return std::nullopt;
  return ReadServerError(*error);
}

// Another try after this one.
bool MayHelp(const Result<HttpResponse>& response, Deadline deadline) {
  if (response) {
    const auto error = ErrorWithin(*response);
    return WorthRetrying(*response) || (error && error->again);
  }
  const ErrorCode code = response.error().code;
  return code == ErrorCode::kIo || (code == ErrorCode::kDeadlineExceeded && !deadline.passed());
}

}  // namespace

Status CheckBaseUrl(const std::string& base_url) {
  const auto url = ParseUrl(base_url);
  if (!url) return tl::unexpected<Error>(url.error());
  if (!url->userinfo.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the URL of {} holds a user name or password", url->origin()),
                "give the key in its own variable");
  }
  return {};
}

// Some servers take their key in the query of the URL.
JsonEndpoint::JsonEndpoint(EndpointOptions options) : options_(std::move(options)), client_(options_.http) {
  const auto query = options_.base_url.find('?');
  if (query == std::string::npos) return;
  std::string_view rest = std::string_view(options_.base_url).substr(query + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    const auto equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    if (value.size() >= kLeastSecretBytes) options_.secrets.emplace_back(value);
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
  }
}

std::string JsonEndpoint::origin() const {
  const auto url = ParseUrl(options_.base_url);
  return url ? url->origin() : "the endpoint";
}

std::string JsonEndpoint::Safe(std::string_view text) const {
  std::string safe = WithoutSecrets(std::string(text.substr(0, 1 << 20)), options_.secrets);
  // Cut only now: half of a secret would not have been found.
  if (safe.size() > kMaxShownBytes) safe = safe.substr(0, kMaxShownBytes) + "...";
  return EscapeForTerminal(ToValidUtf8(safe));
}

Error JsonEndpoint::ErrorOf(const JsonReply& reply) const {
  std::string words = ServerMessage(reply.body);
  if (words.empty()) words = Trim(reply.text);
  Error error;
  error.code = CodeForStatus(reply.status);
  error.message = fmt::format("{} answers with status {}{}{}{}", origin(), reply.status,
                              TriesText(reply.tries), words.empty() ? "" : ": ", Safe(words));
  error.hint = HintFor(reply.status);
  return error;
}

Error JsonEndpoint::Malformed(std::string_view what) const {
  return {ErrorCode::kProtocol, fmt::format("the answer of {} cannot be used: {}", origin(), Safe(what)),
          "check that the base URL is that of a server with this protocol"};
}

struct JsonEndpoint::Attempt {
  Result<HttpResponse> response;
  bool streamed = false;
  bool again = false;  // another try may help
};

HttpRequest JsonEndpoint::RequestFor(std::string_view path, const Json& body, std::stop_token cancel) const {
  HttpRequest request;
  request.method = "POST";
  request.url = JoinUrl(options_.base_url, path);
  request.headers = options_.headers;
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = DumpJson(body);
  request.cancel = std::move(cancel);
  request.max_response_bytes = options_.max_response_bytes;
  return request;
}

JsonEndpoint::Attempt JsonEndpoint::Try(const HttpRequest& request, Deadline deadline) const {
  HttpRequest attempt = request;
  attempt.deadline = Earlier(deadline, Deadline::After(options_.attempt_timeout));
  auto response = client_.Send(attempt);
  const bool again = MayHelp(response, deadline);
  return {std::move(response), false, again};
}

JsonEndpoint::Attempt JsonEndpoint::TryStream(const HttpRequest& request, Deadline deadline,
                                              StreamHandler& handler) const {
  handler.Begin();
  EventStream stream(handler, options_.max_response_bytes, options_.stream);
  HttpRequest attempt = request;
  attempt.deadline = deadline;
  attempt.max_silence = options_.attempt_timeout;
  attempt.max_response_bytes = options_.max_stream_bytes;
  bool begun = false;
  attempt.on_head = [&](const HttpResponse& head) {
    begun = head.status / 100 == 2;
    stream.TakeHead(head);
  };
  attempt.on_body = [&](std::string_view piece) { return stream.TakeBody(piece); };
  auto response = client_.Send(attempt);
  if (!begun) {
    const bool again = MayHelp(response, deadline);
    return {std::move(response), false, again};
  }
  stream.End(response ? std::nullopt
                      : std::optional<Error>(WithoutContext(response.error(), request, origin())));
  if (const auto& failure = stream.failure()) {
    const bool silent = failure->error.code == ErrorCode::kDeadlineExceeded && !deadline.passed();
    Error error = failure->error;
    if (error.code == ErrorCode::kProtocol) {
      error = Malformed(error.message);
    } else {
      error.message = fmt::format("{}: {}", origin(), error.message);
    }
    return {tl::unexpected<Error>(std::move(error)), true,
            (failure->again || silent) && !handler.handed_on()};
  }
  if (!stream.is_document()) return {HttpResponse{200, {}, ""}, true, false};
  if (response) response->body = stream.TakeDocument();
  const bool again = response && MayHelp(response, deadline);
  return {std::move(response), false, again};
}

Result<JsonReply> JsonEndpoint::Conclude(Attempt attempt, int tries) const {
  auto& response = attempt.response;
  if (!response) {
    Error error = response.error();
    error.message = Safe(error.message) + TriesText(tries);
    return tl::unexpected<Error>(std::move(error));
  }
  const auto error = ErrorWithin(*response);
  JsonReply reply{response->status, nullptr, std::move(response->body), tries, attempt.streamed};
  if (reply.streamed) return reply;
  auto parsed = ParseJson(reply.text, {.max_bytes = options_.max_response_bytes, .max_depth = kMaxJsonDepth});
  if (parsed) {
    reply.body = std::move(*parsed);
  } else if (reply.status / 100 == 2) {
    // The parser's own words could repeat half of a secret.
    const std::string* type = FindHeader(response->headers, "content-type");
    return tl::unexpected<Error>(
        Malformed(fmt::format("it is no JSON ({})", type ? *type : "of no stated type")));
  }
  if (error && error->code != ErrorCode::kProtocol) {
    return Fail(error->code, fmt::format("{} answers with an error{}: {}", origin(), TriesText(tries),
                                         Safe(error->message)));
  }
  return reply;
}

Result<JsonReply> JsonEndpoint::Send(const HttpRequest& request, Deadline deadline,
                                     StreamHandler* handler) const {
  for (int tries = 1;; ++tries) {
    Attempt attempt = handler ? TryStream(request, deadline, *handler) : Try(request, deadline);
    if (!attempt.again || tries > options_.retry.max_retries) return Conclude(std::move(attempt), tries);
    const auto delay = RetryDelay(
        options_.retry, tries, attempt.response ? attempt.response->headers : HttpHeaders(), options_.clock);
    if (deadline.left() <= delay) {
      auto reply = Conclude(std::move(attempt), tries);
      const Error error = reply ? ErrorOf(*reply) : reply.error();
      return Fail(ErrorCode::kDeadlineExceeded,
                  fmt::format("no time is left for another try in {}: {}", delay, error.message), error.hint);
    }
    RETURN_IF_ERROR(options_.clock.sleep(delay, deadline, request.cancel));
  }
}

Result<JsonReply> JsonEndpoint::Post(std::string_view path, const Json& body, Deadline deadline,
                                     std::stop_token cancel) const {
  HttpRequest request = RequestFor(path, body, std::move(cancel));
  request.headers.push_back({"Accept", "application/json"});
  return Send(request, deadline, nullptr);
}

Result<JsonReply> JsonEndpoint::PostForStream(std::string_view path, const Json& body, Deadline deadline,
                                              std::stop_token cancel, StreamHandler& handler) const {
  HttpRequest request = RequestFor(path, body, std::move(cancel));
  request.headers.push_back({"Accept", "text/event-stream, application/json"});
  return Send(request, deadline, &handler);
}

}  // namespace gloveport
