// http_get and http_request: HTTP for cells, which have no network of their own.
//
//   http_get(url: str, params: dict[str, str] | None = None, headers: dict[str, str] | None = None,
//            timeout_s: float | None = None)
//   http_request(method: Literal['GET', ...], url: str, params, headers, body: str | bytes | None,
//                json: object, timeout_s)
//
// Both give {"status", "url", "headers", "text", "content"}; see HttpAnswer.
#ifndef GLOVEPORT_TOOLS_BUILTIN_HTTP_TOOLS_H_
#define GLOVEPORT_TOOLS_BUILTIN_HTTP_TOOLS_H_

#include <memory>
#include <string>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/tools/builtin/http_access.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct HttpToolOptions {
  HttpAccessOptions access;
  // Of http_request. With GET and HEAD alone there is http_get only.
  std::vector<std::string> methods = {"GET"};
};

// http_get, and http_request where `methods` has more than GET and HEAD. The errors of HttpAccess::Make, and
// kInvalidArgument for a method that HTTP does not know.
Result<std::vector<std::shared_ptr<Tool>>> MakeHttpTools(HttpToolOptions options);

// `url` with further query parameters, percent-encoded.
std::string UrlWithParameters(std::string url, const std::map<std::string, std::string>& parameters);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_HTTP_TOOLS_H_
