#include "gloveport/core/mcp/http_transport.h"

#include <fmt/core.h>

#include <condition_variable>
#include <limits>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/core/mcp/protocol.h"
#include "gloveport/core/net/sse_parser.h"
#include "gloveport/core/net/url.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxSessionBytes = 1024;
constexpr std::size_t kShownBodyBytes = 300;
constexpr std::size_t kMaxErrorPageBytes = 1u << 20;  // gateways like to send whole pages
constexpr std::chrono::milliseconds kLongestPause{30'000};

bool IsMedia(const HttpResponse& head, std::string_view type) {
  const std::string* field = FindHeader(head.headers, "content-type");
  return field && EqualsIgnoringCase(Trim(std::string_view(*field).substr(0, field->find(';'))), type);
}

// Returns false when the stop came first.
bool Pause(std::chrono::milliseconds time, Deadline deadline, const std::stop_token& stop,
           const std::stop_token& other_stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  const std::stop_callback wake(other_stop, [&] {
    const std::lock_guard lock(mutex);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait_until(lock, stop, Earlier(deadline, Deadline::After(time)).when(),
                     [&] { return other_stop.stop_requested(); });
  return !stop.stop_requested() && !other_stop.stop_requested() && !deadline.passed();
}

// 404, as the protocol has it; many servers say 400 and name the session.
bool SaysUnknownSession(const HttpResponse& response) {
  if (response.status == 404) return true;
  if (response.status != 400) return false;
  return response.body.find("ession ID") != std::string::npos ||
         response.body.find("ession not found") != std::string::npos;
}

tl::unexpected<Error> RefusedWith(const HttpResponse& response) {
  std::string text = fmt::format("it answered with HTTP status {}", response.status);
  if (!response.body.empty()) text += ": " + CleanLine(response.body, kShownBodyBytes);
  std::string hint;
  if (response.status == 401 || response.status == 403)
    hint = "give credentials in \"headers\" of the server's configuration";
  if (response.status / 100 == 3) hint = "give the URL that it redirects to: redirects are not followed";
  return Fail(ErrorCode::kProtocol, std::move(text), std::move(hint));
}

}  // namespace

struct HttpTransport::Exchange {
  Exchange(const McpReceiver& receiver, std::size_t max_bytes)
      : events(
            [&receiver](const SseEvent& event) -> Status {
              if ((event.name.empty() || event.name == "message") && !Trim(event.data).empty())
                receiver.on_message(event.data);
              return {};
            },
            {.max_line_bytes = max_bytes, .max_event_bytes = max_bytes}) {}

  bool is_stream = false;
  std::string body;  // of an answer that is no stream
  SseParser events;
  std::optional<Error> broken;  // a limit
};

HttpTransport::HttpTransport(HttpTransportOptions options)
    : options_(std::move(options)), client_(options_.client) {}

HttpTransport::~HttpTransport() { Close(); }

Status HttpTransport::Open(McpReceiver receiver) {
  receiver_ = std::move(receiver);
  RETURN_IF_ERROR(ParseUrl(options_.url));
  for (const HttpHeader& header : options_.headers) RETURN_IF_ERROR(CheckHeader(header));
  return {};
}

std::string HttpTransport::session() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

HttpRequest HttpTransport::MakeRequest(std::string_view method, const HttpHeaders& added) const {
  HttpRequest request;
  request.method = method;
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.insert(request.headers.end(), added.begin(), added.end());
  const std::lock_guard lock(mutex_);
  if (!session_.empty()) request.headers.push_back({"Mcp-Session-Id", session_});
  if (!revision_.empty()) request.headers.push_back({"MCP-Protocol-Version", revision_});
  return request;
}

void HttpTransport::TakeSession(const HttpResponse& head) {
  const std::string* id = FindHeader(head.headers, "mcp-session-id");
  const std::lock_guard lock(mutex_);
  // Only before a revision is agreed on: with the answer to `initialize`.
  if (id && revision_.empty() && id->size() <= kMaxSessionBytes && CheckHeader({"Mcp-Session-Id", *id}))
    session_ = *id;
}

bool HttpTransport::TakeBody(std::string_view piece, const std::function<bool()>& answered,
                             Exchange& exchange) {
  if (!exchange.is_stream) {
    exchange.body += piece;
    if (exchange.body.size() <= options_.limits.max_message_bytes) return true;
    exchange.broken = Error{ErrorCode::kResourceExhausted, fmt::format("its answer is longer than {} bytes",
                                                                       options_.limits.max_message_bytes)};
    return false;
  }
  if (const Status fed = exchange.events.Feed(piece); !fed) {
    exchange.broken = fed.error();
    return false;
  }
  return !answered || !answered();
}

Result<HttpResponse> HttpTransport::Perform(HttpRequest request, const std::function<bool()>& answered,
                                            Exchange& exchange) {
  exchange.is_stream = false;
  exchange.events.Restart();
  request.max_response_bytes = kMaxErrorPageBytes;  // of what is no success
  request.max_streamed_bytes =
      std::numeric_limits<std::size_t>::max() / 2;  // of a whole stream: events are limited
  request.on_head = [&](const HttpResponse& head) {
    exchange.is_stream = IsMedia(head, "text/event-stream");
    if (head.status / 100 == 2) TakeSession(head);
  };
  request.on_body = [&](std::string_view piece) { return TakeBody(piece, answered, exchange); };
  return client_.Send(request);
}

// After a stream or an answer is over, for whatever reason.
Status HttpTransport::Conclude(const McpOutgoing& message, const Result<HttpResponse>& response,
                               Exchange& exchange) {
  if (exchange.broken) return tl::unexpected<Error>(*exchange.broken);
  if (message.answered && message.answered()) return {};
  if (!response) {
    const bool cut = response.error().code == ErrorCode::kIo && exchange.is_stream;
    if (cut && !exchange.events.last_id().empty()) return Resume(message, exchange);
    return tl::unexpected<Error>(response.error());
  }
  if (response->status / 100 != 2) {
    if (!session().empty() && SaysUnknownSession(*response)) {
      Lose({ErrorCode::kClosed, "the server knows the session no more"});
      return Fail(ErrorCode::kNotFound, "the server knows the session no more");
    }
    // A JSON-RPC error may come with any status.
    if (Trim(response->body).starts_with('{')) receiver_.on_message(response->body);
    if (message.answered && message.answered()) return {};
    return RefusedWith(*response);
  }
  if (!message.answered) return {};  // nothing to wait for
  if (!exchange.is_stream) {
    receiver_.on_message(exchange.body);
    if (message.answered()) return {};
    return Fail(ErrorCode::kProtocol, "its HTTP answer does not hold the answer to the request");
  }
  if (!exchange.events.last_id().empty()) return Resume(message, exchange);
  return Fail(ErrorCode::kClosed, "the stream ended before the answer came");
}

// The server keeps what it still has to say for whoever comes back with the last event's id.
Status HttpTransport::Resume(const McpOutgoing& message, Exchange& exchange) {
  for (int attempt = 0; attempt < options_.max_resumes; ++attempt) {
    const auto wait = exchange.events.retry().value_or(options_.retry);
    if (!Pause(wait, message.deadline, message.stop, closing_.get_token())) break;
    HttpRequest request =
        MakeRequest("GET", {{"Accept", "text/event-stream"}, {"Last-Event-ID", exchange.events.last_id()}});
    request.deadline = message.deadline;
    request.cancel = message.stop;
    const auto response = Perform(std::move(request), message.answered, exchange);
    if (message.answered()) return {};
    if (exchange.broken) return tl::unexpected<Error>(*exchange.broken);
    if (response && response->status / 100 != 2) return RefusedWith(*response);
  }
  if (message.deadline.passed()) return Fail(ErrorCode::kDeadlineExceeded, "no answer came in time");
  return Fail(ErrorCode::kClosed, "the stream broke before the answer came");
}

Status HttpTransport::Send(const McpOutgoing& message) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_ || closing_.stop_requested())
      return Fail(ErrorCode::kClosed, "the connection to the server has ended");
  }
  HttpHeaders headers = message.headers;
  headers.push_back({"Accept", "application/json, text/event-stream"});
  headers.push_back({"Content-Type", "application/json"});
  HttpRequest request = MakeRequest("POST", headers);
  request.body = message.text;
  request.deadline = message.deadline;
  // Two may end it: whoever sends, and Close.
  std::stop_source either;
  const std::stop_callback by_caller(message.stop, [&] { either.request_stop(); });
  const std::stop_callback by_close(closing_.get_token(), [&] { either.request_stop(); });
  request.cancel = either.get_token();
  Exchange exchange(receiver_, options_.limits.max_message_bytes);
  const auto response = Perform(std::move(request), message.answered, exchange);
  return Conclude(message, response, exchange);
}

void HttpTransport::Agreed(std::string_view revision) {
  {
    const std::lock_guard lock(mutex_);
    // 2025-03-26 has no such header field, but servers take what they know and ignore it else.
    revision_ = revision;
    if (IsStateless(revision)) session_.clear();
  }
  if (!IsStateless(revision)) listener_ = std::jthread([this] { Listen(closing_.get_token()); });
}

// What the server sends on its own. Many offer no such stream (405): then there is none.
void HttpTransport::Listen(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "glove-mcp-get");
  Exchange exchange(receiver_, options_.limits.max_message_bytes);
  std::chrono::milliseconds pause = options_.retry;
  while (!stop.stop_requested()) {
    HttpHeaders headers = {{"Accept", "text/event-stream"}};
    if (!exchange.events.last_id().empty()) headers.push_back({"Last-Event-ID", exchange.events.last_id()});
    HttpRequest request = MakeRequest("GET", headers);
    request.cancel = stop;
    const auto began = std::chrono::steady_clock::now();
    const auto response = Perform(std::move(request), nullptr, exchange);
    if (exchange.broken) return Lose(*exchange.broken);
    if (response && !session().empty() && SaysUnknownSession(*response))
      return Lose({ErrorCode::kClosed, "the server knows the session no more"});
    if (response && response->status / 100 != 2) return;
    if (response && !exchange.is_stream) return;
    const bool lasted = std::chrono::steady_clock::now() - began > kLongestPause;
    pause = lasted ? exchange.events.retry().value_or(options_.retry) : std::min(2 * pause, kLongestPause);
    if (!Pause(pause, Deadline::Never(), stop, stop)) return;
  }
}

void HttpTransport::Lose(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(lost_, true)) return;
  }
  receiver_.on_lost(std::move(error));
}

void HttpTransport::Close() {
  if (closing_.request_stop()) {
    if (listener_.joinable()) listener_.join();
    bool say_farewell;
    {
      const std::lock_guard lock(mutex_);
      say_farewell = !session_.empty() && !lost_;
    }
    if (!say_farewell) return;
    HttpRequest request = MakeRequest("DELETE", {});
    request.deadline = Deadline::After(options_.farewell_time);
    request.max_response_bytes = 1u << 16;
    (void)client_.Send(request);  // a server may refuse that; it is a courtesy
  }
}

}  // namespace gloveport
