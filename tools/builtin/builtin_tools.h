// The built-in tools from one configuration in JSON: what the command line reads, and what a program may keep
// in a file. A tool exists where its section does; each section is described beside the tool's options.
//
//   {
//     "http": {"hosts": ["api.example.org", "*.example.net:8443"], "methods": ["GET", "POST"],
//              "secrets": {"api.example.org": {"header": "Authorization", "prefix": "Bearer ", "env":
//              "TOKEN"}}, "private_networks": [], "max_response_bytes": 4194304, "max_request_bytes":
//              1048576, "max_redirects": 5, "timeout_s": 20, "proxy": "environment", "ca_file": "ca.pem"},
//     "files": {"folders": {"reports": "data/reports"}, "max_text_bytes": 1048576, "max_matches": 1000},
//     "sql": {"databases": {"main": "sales.db"}, "max_rows": 10000, "max_result_bytes": 16777216,
//     "timeout_s": 30}, "regex": {}, "calculator": {}, "ask_user": {"timeout_s": 600}, "web_search": {"url":
//     "https://searx.example.org/search?format=json", "query_field": "q",
//                    "results": "/results", "title": "/title", "link": "/url", "snippet": "/content",
//                    "headers": {"X-Key": {"env": "SEARCH_KEY"}}},
//     "memory": {"file": "memory.json", "max_keys": 1000}
//   }
#ifndef GLOVEPORT_TOOLS_BUILTIN_BUILTIN_TOOLS_H_
#define GLOVEPORT_TOOLS_BUILTIN_BUILTIN_TOOLS_H_

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/net/proxy.h"
#include "gloveport/tools/builtin/ask_user.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

// What the configuration draws on.
struct BuiltinHost {
  EnvLookup environment = ProcessEnvironment();  // where secrets and proxies are looked up, once
  std::shared_ptr<UserPrompt> prompt;            // for ask_user; may be null
  std::filesystem::path folder;                  // that relative paths begin in; empty: the current one
};

// `text` is JSON; comments are allowed. kInvalidArgument with the place for what is wrong in it, a variable
// that is not set among it; and the errors of the tools' own Make functions. No message has a secret.
Result<std::vector<std::shared_ptr<Tool>>> MakeBuiltinTools(std::string_view text,
                                                            const BuiltinHost& host = {});

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BUILTIN_BUILTIN_TOOLS_H_
