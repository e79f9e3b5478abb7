// JsonEndpoint: posts JSON to a model's server and takes JSON, or a stream of events, back, with retries
// within the caller's deadline.
//
// Thread-safe. Secrets never reach a message: not from here, and not when the server repeats them.
#ifndef GLOVEPORT_CORE_MODEL_JSON_ENDPOINT_H_
#define GLOVEPORT_CORE_MODEL_JSON_ENDPOINT_H_

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/deadline.h"
#include "gloveport/core/base/result.h"
#include "gloveport/core/model/event_stream.h"
#include "gloveport/core/model/retry.h"
#include "gloveport/core/net/http_client.h"
#include "gloveport/core/wire/value_json.h"

namespace gloveport {

struct EndpointOptions {
  std::string base_url;  // without a slash at the end; may have a query, which each request then carries
  HttpHeaders headers;   // sent with each request
  std::vector<std::string> secrets;  // shown as "[secret]" wherever a message would hold one
  HttpClientOptions http;
  RetryPolicy retry;
  RetryClock clock = RetryClock::System();
  // For each try, within the deadline of the whole. A stream may take longer, but not be silent for longer.
  std::chrono::milliseconds attempt_timeout{600'000};
  std::size_t max_response_bytes = 32u << 20;  // of a whole answer, or of the text that a stream brings
  std::size_t max_stream_bytes =
      1u << 30;  // of a stream with all that stands around the text; none of it is kept
  SseLimits stream;
};

// kInvalidArgument, with a message for the user, where `base_url` cannot be used.
Status CheckBaseUrl(const std::string& base_url);

struct JsonReply {
  int status = 0;
  Json body;         // null where the body is no JSON, and where it was a stream
  std::string text;  // the body as it came; empty for a stream
  int tries = 1;
  bool streamed = false;  // the handler has the answer
};

class JsonEndpoint {
 public:
  explicit JsonEndpoint(EndpointOptions options);

  // Posts `body` to `path`, which begins with a slash, below the base URL. Returns the last answer, whatever
  // its status; an answer of 2xx has a JSON body. Errors: kIo, kDeadlineExceeded, kClosed (cancelled),
  // kProtocol, kResourceExhausted (the answer is too large), kInvalidArgument (the request cannot be sent).
  Result<JsonReply> Post(std::string_view path, const Json& body, Deadline deadline,
                         std::stop_token cancel) const;

  // The same for a request that asks for a stream, whose events `handler` takes on this thread. A server may
  // answer with a JSON body all the same; `streamed` says which it was. A stream that was cut (kIo), reports
  // an error (the code that it stands for) or went on after the deadline is an error that says how far it
  // came; it is tried again only while `handler` has handed nothing on.
  Result<JsonReply> PostForStream(std::string_view path, const Json& body, Deadline deadline,
                                  std::stop_token cancel, StreamHandler& handler) const;

  // The error that an answer of a status other than 2xx is, with the server's own words (CodeForStatus).
  Error ErrorOf(const JsonReply& reply) const;

  // A kProtocol error about an answer that has the wrong form.
  Error Malformed(std::string_view what) const;

 private:
  struct Attempt;
  HttpRequest RequestFor(std::string_view path, const Json& body, std::stop_token cancel) const;
  Attempt Try(const HttpRequest& request, Deadline deadline) const;
  Attempt TryStream(const HttpRequest& request, Deadline deadline, StreamHandler& handler) const;
  Result<JsonReply> Send(const HttpRequest& request, Deadline deadline, StreamHandler* handler) const;
  Result<JsonReply> Conclude(Attempt attempt, int tries) const;
  std::string Safe(std::string_view text) const;  // without secrets and control characters, cut to a length
  std::string origin() const;

  EndpointOptions options_;
  HttpClient client_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_JSON_ENDPOINT_H_
