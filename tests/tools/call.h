// Calling a tool in a test.
#ifndef GLOVEPORT_TESTS_TOOLS_CALL_H_
#define GLOVEPORT_TESTS_TOOLS_CALL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "gloveport/tools/binding.h"
#include "gloveport/tools/python_literal.h"

namespace gloveport {

// Binds `function` under the name f with parameters a, b, c ... without defaults.
template <typename Function>
std::shared_ptr<Tool> Bound(Function function, std::size_t parameters) {
  std::vector<Arg> args;
  for (std::size_t i = 0; i < parameters; ++i) args.emplace_back(std::string(1, static_cast<char>('a' + i)));
  auto tool = BindFunction("f", "", std::move(function), std::move(args));
  EXPECT_TRUE(tool) << tool.error().message;
  return *tool;
}

inline Result<Value> Called(Tool& tool, std::vector<Value> arguments) {
  Value::Map bound;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    bound.emplace_back(Value(tool.spec().parameters.at(i).name), std::move(arguments[i]));
  }
  CallContext context;
  return tool.Call(Arguments(std::move(bound)), context);
}

// The result as Python writes it, or "error: " and the message.
inline std::string Answer(Tool& tool, std::vector<Value> arguments) {
  const auto result = Called(tool, std::move(arguments));
  return result ? PythonLiteral(*result) : "error: " + result.error().message;
}

// What a function that returns its argument of type T makes of a value.
template <typename T>
std::string Echo(Value value) {
  const auto tool = Bound([](const T& a) { return a; }, 1);
  return Answer(*tool, {std::move(value)});
}

}  // namespace gloveport

#endif  // GLOVEPORT_TESTS_TOOLS_CALL_H_
