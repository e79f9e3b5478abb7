// HttpHook: an HTTP endpoint that decides. Each question is a POST with JSON, the answer of status 200 is
// JSON (see core/host/decision_hook.h). Redirects are not followed. Thread-safe.
#ifndef GLOVEPORT_CORE_SERVE_HTTP_HOOK_H_
#define GLOVEPORT_CORE_SERVE_HTTP_HOOK_H_

#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/host/decision_hook.h"
#include "gloveport/core/net/http_client.h"

namespace gloveport {

struct HttpHookOptions {
  std::string url;      // http or https
  HttpHeaders headers;  // for example Authorization; never in a message
  HttpClientOptions client;
};

class HttpHook : public DecisionHook {
 public:
  // kInvalidArgument for a URL or a header that is none.
  static Result<std::unique_ptr<HttpHook>> Create(HttpHookOptions options);

  std::string name() const override { return name_; }  // scheme, host and port
  Result<HookAnswer> Decide(const HookQuestion& question, Deadline deadline) override;

 private:
  HttpHook(HttpHookOptions options, std::string name);

  const HttpHookOptions options_;
  const std::string name_;
  const HttpClient client_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_SERVE_HTTP_HOOK_H_
