// web_search: asks a search service that answers with JSON (SearXNG, Brave, Tavily, an own one), as the host
// has described it.
//
//   web_search(query: str, max_results: int = 10) -> [{"title", "url", "snippet"}]
#ifndef GLOVEPORT_TOOLS_BUILTIN_WEB_SEARCH_H_
#define GLOVEPORT_TOOLS_BUILTIN_WEB_SEARCH_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/http_client.h"
#include "gloveport/core/wire/value_json.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

struct WebSearchOptions {
  std::string url;  // where to ask; the host's own choice, so it may be a private address
  // "GET" puts the query into the URL, "POST" into a JSON object.
  std::string method = "GET";
  std::string query_field = "q";
  std::string count_field;     // takes max_results, where the service knows one
  Json body = Json::object();  // further members of the object of a POST
  HttpHeaders headers;         // for example Authorization; in no message and not known to cells
  // Where the results are in the answer, and what is where in each: JSON Pointers.
  std::string results = "/results";
  std::string title = "/title";
  std::string link = "/url";
  std::string snippet = "/content";
  std::size_t max_results = 20;
  std::size_t max_response_bytes = 4u << 20;
  std::chrono::milliseconds timeout{20'000};
  HttpClientOptions client;
};

// kInvalidArgument for a URL, a header or a JSON Pointer that is none.
Result<std::shared_ptr<Tool>> MakeWebSearch(WebSearchOptions options);

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_WEB_SEARCH_H_
