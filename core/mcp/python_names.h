// Names of MCP tools and parameters as Python identifiers. Pure.
#ifndef GLOVEPORT_CORE_MCP_PYTHON_NAMES_H_
#define GLOVEPORT_CORE_MCP_PYTHON_NAMES_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gloveport {

// Letters, digits and underscores stay; runs of anything else become one underscore: "get-sum" is "get_sum".
// A name without letters or digits is "tool"; one that begins with a digit gets an underscore in front; at
// most 100 bytes.
std::string AsIdentifier(std::string_view name);

// A keyword (hard or soft), a name of Python's builtins, or one that Gloveport gives a meaning in sessions.
bool IsReservedInPython(std::string_view name);

// The identifier that stands for a parameter: a keyword gets an underscore at its end, and so does what is in
// `taken` already, with a number. Adds it to `taken`.
std::string ParameterName(std::string_view name, std::set<std::string>& taken);

struct ServerTool {
  std::string server;  // as configured
  std::string tool;    // as the server calls it
};

struct ChosenNames {
  std::vector<std::string> names;  // one for each tool, in their order; all different
  std::vector<std::string> notes;  // which names are others than one would expect, and why
};

// A tool's own name as an identifier, where it is nobody else's, not reserved nor in `taken`, and does not
// begin with another server's name ("files_"), as that server's tools may; else with the server's name in
// front ("files_read"), and with a number behind it where even that is taken. Both of two servers' tools that
// share a name get their server's name, so that the order of servers changes nothing.
ChosenNames ChooseNames(const std::vector<ServerTool>& tools, const std::set<std::string>& taken);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MCP_PYTHON_NAMES_H_
