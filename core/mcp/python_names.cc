#include "gloveport/core/mcp/python_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "gloveport/core/mcp/plain_text.h"
#include "gloveport/tools/tool_names.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxShownBytes = 64;

// Sorted: keywords, builtins of Python 3.11 to 3.13, and what sessions have besides.
constexpr std::string_view kReserved[] = {
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "Ellipsis",
    "EncodingWarning",
    "EnvironmentError",
    "Exception",
    "ExceptionGroup",
    "False",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "IOError",
    "ImportError",
    "ImportWarning",
    "In",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "None",
    "NotADirectoryError",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "Out",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "ToolError",
    "ToolTimeoutError",
    "True",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
    "abs",
    "aiter",
    "all",
    "and",
    "anext",
    "any",
    "as",
    "ascii",
    "assert",
    "async",
    "await",
    "bin",
    "bool",
    "break",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "case",
    "chr",
    "class",
    "classmethod",
    "compile",
    "complex",
    "continue",
    "copyright",
    "credits",
    "def",
    "del",
    "delattr",
    "dict",
    "dir",
    "display",
    "divmod",
    "elif",
    "else",
    "enumerate",
    "eval",
    "except",
    "exec",
    "exit",
    "filter",
    "final_answer",
    "finally",
    "float",
    "for",
    "format",
    "from",
    "frozenset",
    "getattr",
    "global",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "if",
    "import",
    "in",
    "input",
    "int",
    "is",
    "isinstance",
    "issubclass",
    "iter",
    "lambda",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "match",
    "max",
    "memoryview",
    "min",
    "next",
    "nonlocal",
    "not",
    "object",
    "oct",
    "open",
    "or",
    "ord",
    "pass",
    "pow",
    "print",
    "property",
    "quit",
    "raise",
    "range",
    "repr",
    "return",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tools",
    "try",
    "tuple",
    "type",
    "vars",
    "while",
    "with",
    "yield",
    "zip",
};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// `name` itself, or with the first number behind it that makes it new.
std::string Unused(const std::string& name, const std::set<std::string>& taken) {
  if (!taken.contains(name)) return name;
  for (int number = 2;; ++number) {
    std::string numbered = fmt::format("{}_{}", name, number);
    if (!taken.contains(numbered)) return numbered;
  }
}

}  // namespace

std::string AsIdentifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (out.size() >= kMaxNameBytes) break;
    const bool plain = IsLetter(c) || IsDigit(c);
    // Leading underscores would make it private or Python's own.
    if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_' && !name.ends_with('_')) out.pop_back();
  if (out.empty()) return "tool";
  return IsDigit(out.front()) ? "_" + out : out;
}

bool IsReservedInPython(std::string_view name) {
  return std::binary_search(std::begin(kReserved), std::end(kReserved), name);
}

std::string ParameterName(std::string_view name, std::set<std::string>& taken) {
  std::string identifier = AsIdentifier(name);
  if (IsPythonKeyword(identifier)) identifier += '_';
  identifier = Unused(identifier, taken);
  taken.insert(identifier);
  return identifier;
}

ChosenNames ChooseNames(const std::vector<ServerTool>& tools, const std::set<std::string>& taken) {
  std::map<std::string, int> wanted;
  std::map<std::string, std::string> prefixes;  // by server
  for (const ServerTool& tool : tools) {
    ++wanted[AsIdentifier(tool.tool)];
    prefixes[tool.server] = AsIdentifier(tool.server + "_");
  }
  // Whether it looks like a name that another server's tool has or gets: no server may pass for another.
  const auto poses = [&](const ServerTool& tool) {
    const std::string own = AsIdentifier(tool.tool);
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) {
      return prefix.first != tool.server && own.starts_with(prefix.second);
    });
  };
  ChosenNames chosen;
  std::set<std::string> used = taken;
  // Those that keep their own names come first, so that no name with a server's in front takes one from them.
  chosen.names.resize(tools.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string own = AsIdentifier(tools[i].tool);
    if (wanted[own] > 1 || IsReservedInPython(own) || taken.contains(own) || poses(tools[i])) continue;
    chosen.names[i] = own;
    used.insert(own);
  }
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (!chosen.names[i].empty()) continue;
    const std::string own = AsIdentifier(tools[i].tool);
    const std::string name = Unused(AsIdentifier(tools[i].server + "_" + own), used);
    used.insert(name);
    chosen.names[i] = name;
    const char* why = IsReservedInPython(own) ? "that name belongs to Python or to the session"
                      : taken.contains(own)   ? "there is a tool of that name already"
                      : wanted[own] > 1       ? "several tools have that name"
                                              : "that name begins with the name of another server";
    chosen.notes.push_back(fmt::format("tool {} of MCP server {} is {}(): {}",
                                       CleanLine(tools[i].tool, kMaxShownBytes), tools[i].server, name, why));
  }
  return chosen;
}

}  // namespace gloveport
