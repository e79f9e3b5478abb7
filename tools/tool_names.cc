#include "gloveport/tools/tool_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "gloveport/tools/python_literal.h"

namespace gloveport {
namespace {

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

constexpr std::size_t kMaxNameBytes = 128;

bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (text.empty() || !letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Status CheckName(std::string_view what, std::string_view name) {
  const std::string shown = PythonLiteral(Value(name.substr(0, kMaxNameBytes)));
  if (!IsIdentifier(name) || name.size() > kMaxNameBytes) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} {} is no name in Python", what, shown),
                fmt::format("use letters, digits and underscores, no digit first, at most {} of them",
                            kMaxNameBytes));
  }
  if (IsPythonKeyword(name)) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} {} is a keyword of Python", what, shown),
                fmt::format("for example '{}_' is none", name));
  }
  if (name.starts_with("__")) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{} {} begins with two underscores", what, shown),
                "such names belong to Python itself");
  }
  return {};
}

Status CheckVariadic(const ToolSpec& spec) {
  bool variadic = false;
  for (std::size_t i = 0; i < spec.parameters.size(); ++i) {
    const Parameter& parameter = spec.parameters[i];
    if (parameter.kind == ParameterKind::kPlain) continue;
    const std::string what = fmt::format("{}(): parameter '{}'", spec.name, parameter.name);
    if (parameter.default_value)
      return Fail(ErrorCode::kInvalidArgument,
                  what + " is variadic and cannot have a default: it is empty without one");
    if (parameter.kind == ParameterKind::kKeywordVariadic) {
      if (i + 1 == spec.parameters.size()) continue;
      return Fail(ErrorCode::kInvalidArgument, what + " takes all further keywords and must be the last");
    }
    if (variadic)
      return Fail(ErrorCode::kInvalidArgument, what + " is the second that takes all further arguments");
    variadic = true;
  }
  return {};
}

}  // namespace

bool IsPythonKeyword(std::string_view text) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), text) != std::end(kKeywords);
}

Status CheckToolName(std::string_view name) {
  RETURN_IF_ERROR(CheckName("tool name", name));
  if (name == "final_answer") {
    return Fail(ErrorCode::kInvalidArgument,
                "tool name 'final_answer' is taken: every session has that function", "choose another name");
  }
  return {};
}

Status CheckToolSpec(const ToolSpec& spec) {
  RETURN_IF_ERROR(CheckToolName(spec.name));
  if (spec.timeout && spec.timeout->count() <= 0) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}(): a time limit must be above 0", spec.name));
  }
  RETURN_IF_ERROR(CheckVariadic(spec));
  const Parameter* with_default = nullptr;
  bool by_keyword = false;
  for (std::size_t i = 0; i < spec.parameters.size(); ++i) {
    const Parameter& parameter = spec.parameters[i];
    const std::string what = fmt::format("{}(): parameter", spec.name);
    RETURN_IF_ERROR(CheckName(what, parameter.name));
    const auto earlier = spec.parameters.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(spec.parameters.begin(), earlier,
                    [&](const Parameter& p) { return p.name == parameter.name; })) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("{} '{}' is there twice", what, parameter.name));
    }
    if (parameter.kind == ParameterKind::kVariadic) by_keyword = true;  // the others come in any order
    if (by_keyword || parameter.kind != ParameterKind::kPlain) continue;
    if (parameter.default_value) {
      with_default = &parameter;
    } else if (with_default != nullptr) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} '{}' is required but comes after '{}', which has a default", what,
                              parameter.name, with_default->name),
                  "give it a default too, or put it first");
    }
  }
  return {};
}

}  // namespace gloveport
