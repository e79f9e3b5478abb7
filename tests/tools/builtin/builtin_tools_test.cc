#include "gloveport/tools/builtin/builtin_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/tests/support/fault_server/fault_server.h"
#include "gloveport/tests/support/temporary_folder.h"

#include "call_tool.h"

namespace gloveport {
namespace {

using testing::HasSubstr;
using testing::Not;

BuiltinHost Host() {
  BuiltinHost host;
  host.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "TOKEN") return "s3cr3t";
    return std::nullopt;
  };
  return host;
}

std::string Names(std::string_view text, const BuiltinHost& host = Host()) {
  const auto tools = MakeBuiltinTools(text, host);
  if (!tools) return "error: " + tools.error().message + " | " + tools.error().hint;
  std::string names;
  for (const auto& tool : *tools) names += (names.empty() ? "" : " ") + tool->spec().name;
  return names;
}

TEST(BuiltinTools, ExistWhereTheirSectionDoes) {
  TemporaryFolder folder;
  BuiltinHost host = Host();
  host.folder = folder.path();
  EXPECT_EQ(Names("{}"), "");
  EXPECT_EQ(Names(R"({"regex": {}, "calculator": {}, "ask_user": {"timeout_s": 5}})"),
            "regex_search calculator ask_user");
  EXPECT_EQ(Names(R"({"http": {"hosts": ["a.example"], "timeout_s": 2.5}})"), "http_get");
  EXPECT_EQ(Names(R"({"http": {"hosts": ["a.example"], "methods": ["POST"]}})"), "http_get http_request");
  EXPECT_EQ(Names(R"({"files": {"folders": {"here": "."}}, // relative to the configuration
                     "memory": {"file": "memory.json", "max_keys": 3}})",
                  host),
            "read_text list_files search_files remember recall recall_keys");
  EXPECT_EQ(
      Names(R"({"web_search": {"url": "https://s.example", "headers": {"A": "b", "K": {"env": "TOKEN"}}}})"),
      "web_search");
}

TEST(BuiltinTools, TakeSecretsFromTheEnvironment) {
  FaultServer server({Answer(200, "")});
  const std::string here = "127.0.0.1:" + std::to_string(server.port());
  const auto tools = MakeBuiltinTools(R"({"http": {"hosts": [")" + here + R"("], "secrets": {")" + here +
                                          R"(": {"header": "X-Token", "prefix": "t=", "env": "TOKEN"}}}})",
                                      Host());
  ASSERT_TRUE(tools) << tools.error().message;
  Said(*tools, "http_get", {{"url", server.url()}});
  EXPECT_THAT(server.requests()[0], HasSubstr("X-Token: t=s3cr3t\r\n"));
}

TEST(BuiltinTools, SayWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* message;
  };
  static constexpr Case kCases[] = {
      {"{", "line 1"},
      {"[]", "expected an object"},
      {R"({"htp": {}})", "htp: unknown key | the keys here are: ask_user, calculator, files, http"},
      {R"({"calculator": {"x": 1}})", "calculator.x: unknown key"},
      {R"({"http": {}})", "http: the HTTP tools have no hosts"},
      {R"({"http": {"hosts": "a"}})", "http.hosts: expected a list of texts"},
      {R"({"http": {"hosts": ["a/b"]}})", "names no host"},
      {R"({"http": {"hosts": ["a"], "timeout_s": 0}})", "http.timeout_s: expected seconds above 0"},
      {R"({"http": {"hosts": ["a"], "max_redirects": -1}})",
       "http.max_redirects: expected an integer from 1"},
      {R"({"http": {"hosts": ["a"], "private_networks": ["10.0.0.0/99"]}})", "no range of IP addresses"},
      {R"({"http": {"hosts": ["a"], "secrets": {"a": {"env": "ABSENT"}}}})",
       "http.secrets.a.env: the variable ABSENT is not set"},
      {R"({"http": {"hosts": ["a"], "secrets": {"a": {"value": "x"}}}})",
       "http.secrets.a.env: expected the name of a variable"},
      {R"({"files": {"folders": {"x": "/no/such/folder"}}})",
       "files: cannot open the folder /no/such/folder"},
      {R"({"sql": {"databases": {"main": "/no/such.db"}}})", "sql: the database /no/such.db: cannot open"},
      {R"({"memory": {}})", "memory: remember and recall have no file"},
      {R"({"web_search": {}})", "web_search: the URL cannot be used"},
      {R"({"web_search": {"url": "https://a.example", "headers": {"A": {"env": "TOKEN", "x": 1}}}})",
       "web_search.headers.A.x: unknown key"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(Names(c.text), HasSubstr(c.message)) << c.text;
    EXPECT_THAT(Names(c.text), Not(HasSubstr("s3cr3t"))) << c.text;
  }
}

}  // namespace
}  // namespace gloveport
