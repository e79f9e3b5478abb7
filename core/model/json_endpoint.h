// JsonEndpoint: posts JSON to a model's server and takes JSON back, with retries within the caller's
// deadline.
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
  std::chrono::seconds attempt_timeout{600};  // for each try, within the deadline of the whole
  std::size_t max_response_bytes = 32u << 20;
};

// kInvalidArgument, with a message for the user, where `base_url` cannot be used.
Status CheckBaseUrl(const std::string& base_url);

struct JsonReply {
  int status = 0;
  Json body;         // null where the body is no JSON
  std::string text;  // the body as it came
  int tries = 1;
};

class JsonEndpoint {
 public:
  explicit JsonEndpoint(EndpointOptions options);

  // Posts `body` to `path`, which begins with a slash, below the base URL. Returns the last answer, whatever
  // its status; an answer of 2xx has a JSON body. Errors: kIo, kDeadlineExceeded, kClosed (cancelled),
  // kProtocol, kResourceExhausted (the answer is too large), kInvalidArgument (the request cannot be sent).
  Result<JsonReply> Post(std::string_view path, const Json& body, Deadline deadline,
                         std::stop_token cancel) const;

  // The error that an answer of a status other than 2xx is, with the server's own words: kDenied (401, 403),
  // kResourceExhausted (429), kIo (408, 5xx), else kInvalidArgument.
  Error ErrorOf(const JsonReply& reply) const;

  // A kProtocol error about an answer that has the wrong form.
  Error Malformed(std::string_view what) const;

  // What the server says is wrong, as far as it is found in the usual places of `body`; not yet made safe to
  // show.
  static std::string ServerMessage(const Json& body);

 private:
  Result<HttpResponse> Try(const HttpRequest& request, Deadline deadline) const;
  Result<JsonReply> Conclude(Result<HttpResponse> response, int tries) const;
  std::string Safe(std::string_view text) const;  // without secrets and control characters, cut to a length
  std::string origin() const;

  EndpointOptions options_;
  HttpClient client_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_JSON_ENDPOINT_H_
