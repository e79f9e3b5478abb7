// Calling a built-in tool in a test as a cell would: by name, with defaults filled in.
#ifndef GLOVEPORT_TESTS_TOOLS_BUILTIN_CALL_TOOL_H_
#define GLOVEPORT_TESTS_TOOLS_BUILTIN_CALL_TOOL_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/core/wire/value.h"
#include "gloveport/tools/python_literal.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

using Tools = std::vector<std::shared_ptr<Tool>>;
using Named = std::initializer_list<std::pair<std::string_view, Value>>;

inline std::shared_ptr<Tool> FindTool(const Tools& tools, std::string_view name) {
  for (const auto& tool : tools) {
    if (tool->spec().name == name) return tool;
  }
  return nullptr;
}

inline Result<Value> CallTool(Tool& tool, Named arguments, CallContext context = {}) {
  const Value given = Value::Object(arguments);
  Value::Map bound;
  for (const Parameter& parameter : tool.spec().parameters) {
    const Value* value = given.Find(parameter.name);
    if (value == nullptr && !parameter.default_value) {
      ADD_FAILURE() << tool.spec().name << " needs " << parameter.name;
      return Value();
    }
    bound.emplace_back(Value(parameter.name), value != nullptr ? *value : *parameter.default_value);
  }
  return tool.Call(Arguments(std::move(bound)), context);
}

// The result as Python writes it, or "error: " and the message.
inline std::string Said(Tool& tool, Named arguments) {
  const auto result = CallTool(tool, arguments);
  return result ? PythonLiteral(*result) : "error: " + result.error().message;
}
inline std::string Said(const Tools& tools, std::string_view name, Named arguments) {
  const auto tool = FindTool(tools, name);
  if (tool == nullptr) return "no such tool";
  return Said(*tool, arguments);
}

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_TOOLS_BUILTIN_CALL_TOOL_H_
