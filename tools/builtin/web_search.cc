#include "gloveport/tools/builtin/web_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gloveport/core/base/text.h"
#include "gloveport/core/net/url.h"
#include "gloveport/tools/binding.h"
#include "gloveport/tools/builtin/http_tools.h"

namespace gloveport {

struct SearchHit {
  std::string title;
  std::string url;
  std::string snippet;
};
constexpr auto ToolFields(const SearchHit*) {
  return std::make_tuple(Field("title", &SearchHit::title), Field("url", &SearchHit::url),
                         Field("snippet", &SearchHit::snippet));
}

namespace {

constexpr std::size_t kMaxTextBytes = 4'000;

// The member at a JSON Pointer; null where there is none.
const Json& At(const Json& json, const std::string& pointer) {
  static const Json kNone;
  const Json::json_pointer place(pointer);
  return json.contains(place) ? json.at(place) : kNone;
}

std::string TextAt(const Json& json, const std::string& pointer) {
  const Json& found = At(json, pointer);
  const std::string text = found.is_string() ? found.get<std::string>() : "";
  return ToValidUtf8(text.substr(0, kMaxTextBytes));
}

Status CheckPointer(std::string_view name, const std::string& pointer) {
  const bool ends_in_tilde = pointer.ends_with('~');
  bool valid = (pointer.empty() || pointer.front() == '/') && !ends_in_tilde;
  for (std::size_t at = pointer.find('~'); valid && at != std::string::npos; at = pointer.find('~', at + 1))
    valid = pointer[at + 1] == '0' || pointer[at + 1] == '1';
  if (valid) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\": \"{}\" is no JSON Pointer", name, EscapeForTerminal(pointer)),
              "write one such as /web/results");
}

class Searcher {
 public:
  explicit Searcher(WebSearchOptions options) : options_(std::move(options)), client_(options_.client) {}

  Result<std::vector<SearchHit>> Search(const std::string& query, std::uint32_t wanted,
                                        const CallContext& context) const {
    if (Trim(query).empty()) return Fail(ErrorCode::kInvalidArgument, "web_search(): the query is empty");
    const std::size_t most = std::min<std::size_t>(wanted, options_.max_results);
    HttpRequest request = RequestFor(query, most);
    request.deadline = Earlier(context.deadline, Deadline::After(options_.timeout));
    request.cancel = context.stop;
    ASSIGN_OR_RETURN(const HttpResponse response, client_.Send(request));
    if (response.status != 200)
      return Fail(ErrorCode::kIo, fmt::format("the search service answered with status {}", response.status));
    const auto json = ParseJson(response.body);
    if (!json) return Fail(ErrorCode::kProtocol, "the search service did not answer with JSON");
    return HitsIn(*json, most);
  }

 private:
  HttpRequest RequestFor(const std::string& query, std::size_t most) const {
    HttpRequest request;
    request.method = options_.method;
    request.headers = options_.headers;
    request.max_response_bytes = options_.max_response_bytes;
    if (options_.method == "GET") {
      std::map<std::string, std::string> parameters{{options_.query_field, query}};
      if (!options_.count_field.empty()) parameters[options_.count_field] = std::to_string(most);
      request.url = UrlWithParameters(options_.url, parameters);
      return request;
    }
    Json body = options_.body;
    body[options_.query_field] = query;
    if (!options_.count_field.empty()) body[options_.count_field] = most;
    request.url = options_.url;
    request.headers.push_back({"Content-Type", "application/json"});
    request.body = DumpJson(body);
    return request;
  }

  Result<std::vector<SearchHit>> HitsIn(const Json& json, std::size_t most) const {
    const Json& results = At(json, options_.results);
    if (!results.is_array())
      return Fail(ErrorCode::kProtocol,
                  fmt::format("the search service's answer has no list at {}", options_.results));
    std::vector<SearchHit> hits;
    for (const Json& result : results) {
      if (hits.size() == most) break;
      SearchHit hit{TextAt(result, options_.title), TextAt(result, options_.link),
                    TextAt(result, options_.snippet)};
      if (!hit.url.empty() || !hit.title.empty()) hits.push_back(std::move(hit));
    }
    return hits;
  }

  const WebSearchOptions options_;
  const HttpClient client_;
};

Status CheckOptions(const WebSearchOptions& options) {
  RETURN_IF_ERROR(ParseUrl(options.url));
  if (options.method != "GET" && options.method != "POST")
    return Fail(ErrorCode::kInvalidArgument, "\"method\" is GET or POST");
  if (!options.body.is_object()) return Fail(ErrorCode::kInvalidArgument, "\"body\" must be an object");
  for (const HttpHeader& header : options.headers) RETURN_IF_ERROR(CheckHeader(header));
  RETURN_IF_ERROR(CheckPointer("results", options.results));
  RETURN_IF_ERROR(CheckPointer("title", options.title));
  RETURN_IF_ERROR(CheckPointer("link", options.link));
  return CheckPointer("snippet", options.snippet);
}

}  // namespace

Result<std::shared_ptr<Tool>> MakeWebSearch(WebSearchOptions options) {
  RETURN_IF_ERROR(CheckOptions(options));
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(options.max_results, 10));
  const auto searcher = std::make_shared<const Searcher>(std::move(options));
  return BindFunction("web_search", "Searches the web",
                      [searcher](const std::string& query, std::uint32_t max_results, CallContext& context) {
                        return searcher->Search(query, max_results, context);
                      },
                      {Arg("query"), Arg("max_results", "", most)});
}

}  // namespace gloveport
