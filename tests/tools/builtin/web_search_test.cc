#include "gloveport/tools/builtin/web_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/tests/support/fault_server/fault_server.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Search(WebSearchOptions options, Named arguments = {{"query", "a b"}}) {
  const auto tool = MakeWebSearch(std::move(options));
  return tool ? Said(**tool, arguments) : "not made: " + tool.error().message;
}

TEST(WebSearch, AsksASearxngInstance) {
  FaultServer server({Answer(200, R"({"query":"a b","results":[
    {"title":"One","url":"https://one.example","content":"first","score":1},
    {"title":"Two","url":"https://two.example"}, {"content":"no link"}, 7]})")});
  WebSearchOptions options;
  options.url = server.url("/search?format=json");
  EXPECT_EQ(Search(std::move(options)),
            "[{'title': 'One', 'url': 'https://one.example', 'snippet': 'first'}, "
            "{'title': 'Two', 'url': 'https://two.example', 'snippet': ''}]");
  EXPECT_THAT(server.requests()[0], StartsWith("GET /search?format=json&q=a%20b HTTP/1.1\r\n"));
}

TEST(WebSearch, AsksOneThatTakesJsonAndAKey) {
  FaultServer server({Answer(200, R"({"web":{"results":[{"name":"N","href":"u","text":{"short":"s"}},
                                     {"name":"M","href":"v"}]}})")});
  WebSearchOptions options;
  options.url = server.url("/v1");
  options.method = "POST";
  options.query_field = "query";
  options.count_field = "count";
  options.body = Json{{"lang", "de"}};
  options.headers = {{"X-Key", "s3cr3t"}};
  options.results = "/web/results";
  options.title = "/name";
  options.link = "/href";
  options.snippet = "/text/short";
  EXPECT_EQ(Search(std::move(options), {{"query", "a b"}, {"max_results", 1}}),
            "[{'title': 'N', 'url': 'u', 'snippet': 's'}]");
  EXPECT_THAT(server.requests()[0], HasSubstr("X-Key: s3cr3t\r\n"));
  EXPECT_THAT(server.requests()[0], EndsWith(R"({"lang":"de","query":"a b","count":1})"));
}

TEST(WebSearch, SaysWhatWentWrongWithoutTheKey) {
  FaultServer server({Answer(401, "bad key s3cr3t"), Answer(200, "<html>"), Answer(200, "{}"),
                      Answer(302, "", {"Location: http://elsewhere.example"})});
  WebSearchOptions options;
  options.url = server.url();
  options.headers = {{"X-Key", "s3cr3t"}};
  const auto denied = Search(options);
  EXPECT_THAT(denied, HasSubstr("status 401"));
  EXPECT_THAT(denied, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(Search(options), HasSubstr("did not answer with JSON"));
  EXPECT_THAT(Search(options), HasSubstr("no list at /results"));
  EXPECT_THAT(Search(options), HasSubstr("status 302"));
  EXPECT_THAT(Search(options, {{"query", " "}}), HasSubstr("the query is empty"));
}

TEST(WebSearch, IsMadeOnlyFromWhatMakesSense) {
  const auto refused = [](auto change) {
    WebSearchOptions options;
    options.url = "https://a.example";
    change(options);
    return !MakeWebSearch(std::move(options));
  };
  EXPECT_FALSE(refused([](WebSearchOptions&) {}));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.url = "nowhere"; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.method = "PUT"; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.results = "results"; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.title = "/a~"; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.link = "/a~2"; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.headers = {{"A", "b\r\nC: d"}}; }));
  EXPECT_TRUE(refused([](WebSearchOptions& options) { options.body = 7; }));
}

}  // namespace
}  // namespace gloveport
