#include "gloveport/core/serve/http_hook.h"

#include <fmt/core.h>

#include <utility>

#include "gloveport/core/net/url.h"

namespace gloveport {

HttpHook::HttpHook(HttpHookOptions options, std::string name)
    : options_(std::move(options)), name_(std::move(name)), client_(options_.client) {}

Result<std::unique_ptr<HttpHook>> HttpHook::Create(HttpHookOptions options) {
  ASSIGN_OR_RETURN(const Url url, ParseUrl(options.url));
  for (const HttpHeader& header : options.headers) RETURN_IF_ERROR(CheckHeader(header));
  return std::unique_ptr<HttpHook>(new HttpHook(std::move(options), url.origin()));
}

Result<HookAnswer> HttpHook::Decide(const HookQuestion& question, Deadline deadline) {
  HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.push_back({"Content-Type", "application/json"});
  request.body = HookQuestionJson(question);
  request.deadline = deadline;
  request.max_response_bytes = kMaxHookAnswerBytes;
  ASSIGN_OR_RETURN(const HttpResponse response, client_.Send(request));
  if (response.status != 200) {
    return Fail(ErrorCode::kProtocol, fmt::format("it answered with status {}", response.status));
  }
  return ParseHookAnswer(response.body);
}

}  // namespace gloveport
