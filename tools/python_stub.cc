#include "gloveport/tools/python_stub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/python_literal.h"
#include "gloveport/tools/tool_names.h"

namespace gloveport {
namespace {

constexpr std::size_t kMaxDepth = 20;
constexpr std::size_t kMaxLiteralBytes = 60;

// Names that may stand in a type expression: of builtins, of typing, and of the modules that the stub
// imports.
constexpr std::string_view kTypes[] = {
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "bytearray",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "range",
    "object",
    "None",
    "True",
    "False",
    "Any",
    "Optional",
    "Union",
    "Literal",
    "Sequence",
    "Mapping",
    "Iterator",
    "datetime.datetime",
    "datetime.date",
    "datetime.time",
    "datetime.timedelta",
    "decimal.Decimal",
    "fractions.Fraction",
    "uuid.UUID",
    "numpy.ndarray",
};
constexpr std::string_view kModules[] = {"datetime", "decimal", "fractions", "numpy", "uuid"};

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// The names in a type expression, texts left out; nothing where a character is in it that none has.
std::optional<std::vector<std::string_view>> NamesIn(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) return std::nullopt;
      at = end + 1;
    } else if (IsNameCharacter(c)) {
      std::size_t end = at;
      while (end < text.size() && IsNameCharacter(text[end])) ++end;
      names.push_back(text.substr(at, end - at));
      at = end;
    } else if (std::string_view("[]|, ()-").find(c) != std::string_view::npos) {
      ++at;
    } else {
      return std::nullopt;
    }
  }
  return names;
}

bool IsNumber(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Brackets that pair up, so that a type can end neither a parameter list nor a line.
bool IsBalanced(std::string_view text) {
  std::string open;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      i += c == '\\' ? 1 : 0;
      quote = c == quote ? '\0' : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '(') {
      open += c;
    } else if (c == ']' || c == ')') {
      if (open.empty() || open.back() != (c == ']' ? '[' : '(')) return false;
      open.pop_back();
    }
  }
  return open.empty() && quote == '\0';
}

// The annotation where all of it is known, else `otherwise`.
std::string KnownType(std::string_view annotation, std::string_view otherwise) {
  const bool plain = IsValidUtf8(annotation) &&
                     std::none_of(annotation.begin(), annotation.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (!plain) return std::string(otherwise);
  const auto names = NamesIn(annotation);
  if (!names || names->empty() || !IsBalanced(annotation)) return std::string(otherwise);
  for (const std::string_view name : *names) {
    const bool known =
        IsNumber(name) || std::find(std::begin(kTypes), std::end(kTypes), name) != std::end(kTypes);
    if (!known) return std::string(otherwise);
  }
  return std::string(annotation);
}

// A type without bare generics, which strict checkers refuse: "list | None" is list[Any] | None.
std::string WithParameters(std::string_view type) {
  std::string out;
  char quote = '\0';
  for (std::size_t at = 0; at < type.size();) {
    std::size_t end = at + 1;
    if (quote == '\0' && IsNameCharacter(type[at])) {
      while (end < type.size() && IsNameCharacter(type[end])) ++end;
    } else if (type[at] == '\'' || type[at] == '"') {
      quote = quote == type[at] ? '\0' : quote == '\0' ? type[at] : quote;
    }
    const std::string_view word = type.substr(at, end - at);
    out += word;
    const bool bare = end >= type.size() || type[end] != '[';
    if (quote == '\0' && bare) {
      if (word == "list" || word == "set" || word == "frozenset") out += "[Any]";
      if (word == "dict") out += "[Any, Any]";
      if (word == "tuple") out += "[Any, ...]";
    }
    at = end;
  }
  return out;
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsNumber(text.substr(0, 1)) && text.find('.') == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), IsNameCharacter) && !IsPythonKeyword(text);
}

// "http_get" and "headers" make "HttpGetHeaders".
std::string ClassName(std::string_view text) {
  std::string out;
  bool upper = true;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter) out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = !letter;
  }
  return out.empty() || IsNumber(out.substr(0, 1)) ? "T" + out : out;
}

bool DescribesStruct(const Value& schema, std::size_t depth = 0) {
  if (depth > kMaxDepth) return false;
  if (schema.is_list()) {
    return std::any_of(schema.as_list().begin(), schema.as_list().end(),
                       [&](const Value& item) { return DescribesStruct(item, depth + 1); });
  }
  const Value* properties = schema.Find("properties");
  if (properties != nullptr && properties->is_map() && !properties->as_map().empty()) return true;
  for (const std::string_view key : {"items", "prefixItems", "anyOf", "oneOf", "additionalProperties"}) {
    if (const Value* inner = schema.Find(key); inner != nullptr && DescribesStruct(*inner, depth + 1))
      return true;
  }
  return false;
}

class StubWriter {
 public:
  explicit StubWriter(const std::vector<ToolSpec>& tools) {
    for (const ToolSpec& tool : tools) tools_.insert(tool.name);
    taken_.insert(tools_.begin(), tools_.end());
    taken_.insert(std::begin(kCellNames), std::end(kCellNames));
  }

  void Add(const ToolSpec& tool) {
    std::string parameters;
    for (const Parameter& parameter : tool.parameters)
      parameters += (parameters.empty() ? "" : ", ") + Head(tool, parameter);
    std::string returns = Type(tool.returns, tool.returns_schema, tool.name + "_result", "Any");
    if (tool.is_stream && returns.starts_with("list[")) returns.replace(0, 4, "Iterator");
    functions_ += fmt::format("\n{} {}({}) -> {}:\n{}    ...\n", tool.is_async ? "async def" : "def",
                              tool.name, parameters, returns, Docstring(tool));
  }

  std::string Text() const {
    std::string out = "# The tools of a session.\n";
    for (const std::string_view module : kModules) {
      if ((classes_ + functions_).find(std::string(module) + ".") != std::string::npos)
        out += fmt::format("import {}\n", module);
    }
    return out +
           "from typing import Any, Iterator, Literal, Mapping, NoReturn, NotRequired, Optional, Sequence, "
           "TypedDict, "
           "Union\n" +
           classes_ + functions_ + Others();
  }

 private:
  std::string Others() const {
    const std::pair<std::string_view, std::string_view> all[] = {
        {"final_answer",
         "def final_answer(value: object, explanation: str = '') -> NoReturn:\n"
         "    \"\"\"Ends the run with the answer.\"\"\"\n    ...\n"},
        {"display", "def display(*values: object) -> None:\n    ...\n"},
        {"ToolError", "class ToolError(Exception):\n    ...\n"},
        {"ToolTimeoutError", "class ToolTimeoutError(TimeoutError):\n    ...\n"}};
    std::string out;
    for (const auto& [name, text] : all) {
      if (!tools_.contains(std::string(name))) out += "\n" + std::string(text);
    }
    return out;
  }

  std::string Head(const ToolSpec& tool, const Parameter& parameter) {
    std::string out;
    if (parameter.kind != ParameterKind::kPlain)
      out += parameter.kind == ParameterKind::kVariadic ? "*" : "**";
    out += parameter.name + ": " +
           Type(parameter.annotation, parameter.schema, tool.name + "_" + parameter.name, "object");
    if (!parameter.default_value) return out;
    const Value& value = *parameter.default_value;
    const bool plain =
        value.is_null() || value.is_bool() || value.is_int() || value.is_double() || value.is_text();
    const std::string literal = plain ? PythonLiteral(value) : "...";
    return out + " = " + (literal.size() > kMaxLiteralBytes ? "..." : literal);
  }

  static std::string Docstring(const ToolSpec& tool) {
    std::string out = "    \"\"\"" + DocstringText(tool.description);
    std::string details;
    for (const Parameter& parameter : tool.parameters) {
      if (!parameter.description.empty())
        details += fmt::format("    {}: {}\n", parameter.name, DocstringText(parameter.description));
    }
    if (!details.empty()) out += "\n\n" + details + "    ";
    return out + "\"\"\"\n";
  }

  // `anything`: what stands for a type that says nothing; Any in results, so that they can be used as they
  // are.
  std::string Type(std::string_view annotation, const Value& schema, const std::string& name,
                   std::string_view anything) {
    if (DescribesStruct(schema)) return FromSchema(schema, name, anything, 0);
    std::string known = KnownType(annotation, anything);
    if (anything == "Any") {
      for (auto at = known.find("object"); at != std::string::npos; at = known.find("object", at))
        known.replace(at, 6, "Any");
    }
    return WithParameters(known);
  }

  std::string FromSchema(const Value& schema, const std::string& name, std::string_view anything,
                         std::size_t depth) {
    if (depth > kMaxDepth || !schema.is_map()) return std::string(anything);
    for (const std::string_view key : {"anyOf", "oneOf"}) {
      if (const Value* choices = schema.Find(key); choices != nullptr && choices->is_list())
        return Union(choices->as_list(), name, anything, depth);
    }
    if (const Value* choices = schema.Find("enum"); choices != nullptr && choices->is_list())
      return Literal(choices->as_list());
    if (const Value* items = schema.Find("prefixItems"); items != nullptr && items->is_list())
      return Tuple(items->as_list(), name, anything, depth);
    if (const Value* items = schema.Find("items"); items != nullptr)
      return fmt::format("list[{}]", FromSchema(*items, name + "_item", anything, depth + 1));
    const Value* properties = schema.Find("properties");
    if (properties != nullptr && properties->is_map() && !properties->as_map().empty())
      return Struct(schema, properties->as_map(), name, anything, depth);
    if (const Value* values = schema.Find("additionalProperties"); values != nullptr && values->is_map())
      return fmt::format("dict[str, {}]", FromSchema(*values, name + "_value", anything, depth + 1));
    return Plain(schema, anything);
  }

  static std::string Plain(const Value& schema, std::string_view anything) {
    const std::string type = schema.TextOr("type", "");
    if (type == "string") return schema.Find("contentEncoding") != nullptr ? "bytes" : "str";
    if (type == "integer") return "int";
    if (type == "number") return "float";
    if (type == "boolean") return "bool";
    if (type == "null") return "None";
    if (type == "array") return fmt::format("list[{}]", anything);
    if (type == "object") return fmt::format("dict[str, {}]", anything);
    const std::string format = schema.TextOr("format", "");
    if (format == "date-time") return "datetime.datetime";
    if (format == "date") return "datetime.date";
    return format == "duration" ? "datetime.timedelta" : std::string(anything);
  }

  std::string Union(const Value::List& choices, const std::string& name, std::string_view anything,
                    std::size_t depth) {
    std::string out;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::string inner =
          FromSchema(choices[i], i == 0 ? name : fmt::format("{}_{}", name, i + 1), anything, depth + 1);
      if (inner == anything) return inner;
      out += (out.empty() ? "" : " | ") + inner;
    }
    return out.empty() ? std::string(anything) : out;
  }

  std::string Tuple(const Value::List& items, const std::string& name, std::string_view anything,
                    std::size_t depth) {
    std::string out;
    for (std::size_t i = 0; i < items.size(); ++i)
      out += (i == 0 ? "" : ", ") + FromSchema(items[i], fmt::format("{}_{}", name, i), anything, depth + 1);
    return "tuple[" + (out.empty() ? "()" : out) + "]";
  }

  static std::string Literal(const Value::List& choices) {
    std::string out;
    for (const Value& choice : choices) {
      if (!choice.is_text() && !choice.is_int() && !choice.is_bool() && !choice.is_null()) return "Any";
      out += (out.empty() ? "" : ", ") + PythonLiteral(choice);
    }
    return out.empty() ? "Any" : "Literal[" + out + "]";
  }

  std::string Struct(const Value& schema, const Value::Map& properties, const std::string& name,
                     std::string_view anything, std::size_t depth) {
    const std::string type = NewName(ClassName(name));
    const Value* required = schema.Find("required");
    const auto is_required = [&](const Value& key) {
      return required != nullptr && required->is_list() &&
             std::find(required->as_list().begin(), required->as_list().end(), key) !=
                 required->as_list().end();
    };
    std::string members;
    bool identifiers = true;
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& [key, property] : properties) {
      if (!key.is_text()) continue;
      std::string member = FromSchema(property, name + "_" + key.as_text(), anything, depth + 1);
      if (!is_required(key)) member = "NotRequired[" + member + "]";
      identifiers = identifiers && IsIdentifier(key.as_text());
      fields.emplace_back(key.as_text(), std::move(member));
    }
    for (const auto& [key, member] : fields) {
      members += identifiers ? fmt::format("    {}: {}\n", key, member)
                             : fmt::format("{}{}: {}", members.empty() ? "" : ", ", PythonLiteral(Value(key)),
                                           member);
    }
    classes_ += identifiers ? fmt::format("\nclass {}(TypedDict):\n{}", type, members)
                            : fmt::format("\n{0} = TypedDict('{0}', {{{1}}})\n", type, members);
    return type;
  }

  std::string NewName(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}{}", wanted, i);
    return name;
  }

  std::set<std::string> taken_{"Any",         "Iterator", "Literal",  "Mapping",   "NoReturn",
                               "NotRequired", "Optional", "Sequence", "TypedDict", "Union"};
  std::set<std::string> tools_;
  std::string classes_;
  std::string functions_;
};

}  // namespace

std::string DocstringText(std::string_view text) {
  std::string out;
  for (const std::string_view line : SplitLines(text)) {
    if (!out.empty()) out += "\n    ";
    for (const char c : EscapeForTerminal(line))
      out += c == '\\' ? "\\\\" : c == '"' ? "'" : std::string(1, c);
  }
  return out;
}

std::string PythonStub(const std::vector<ToolSpec>& tools) {
  StubWriter writer(tools);
  for (const ToolSpec& tool : tools) writer.Add(tool);
  return writer.Text();
}

}  // namespace gloveport
