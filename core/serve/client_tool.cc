#include "gloveport/core/serve/client_tool.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <string_view>

namespace gloveport {
namespace {

struct NamedType {
  std::string_view name;        // in a declaration and in JSON Schema
  std::string_view annotation;  // in Python
};
constexpr std::array<NamedType, 9> kTypes = {{{"any", "object"},
                                              {"null", "None"},
                                              {"boolean", "bool"},
                                              {"integer", "int"},
                                              {"number", "float"},
                                              {"string", "str"},
                                              {"bytes", "bytes"},
                                              {"array", "list"},
                                              {"object", "dict"}}};

const NamedType* FindType(std::string_view name) {
  for (const NamedType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

struct TypeText {
  std::string annotation;
  Value schema;
};

// "any" accepts everything and "bytes" has no JSON Schema of its own: both have the empty schema.
Result<TypeText> TypeFromName(std::string_view name, const std::string& where) {
  const NamedType* type = FindType(name);
  if (type == nullptr || name == "null") {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: unknown type \"{}\"", where, name),
                "use any, boolean, integer, number, string, bytes, array, object, or a JSON Schema");
  }
  TypeText text{std::string(type->annotation), Value(Value::Map())};
  if (name != "any" && name != "bytes") text.schema.Set("type", name);
  return text;
}

TypeText TypeFromSchema(const Json& schema) {
  TypeText text{"object", FromPlainJson(schema)};
  const auto named = schema.find("type");
  if (named != schema.end() && named->is_string()) {
    if (const NamedType* type = FindType(named->get<std::string>())) text.annotation = type->annotation;
  }
  return text;
}

Result<TypeText> ParseType(const Json* type, const std::string& where) {
  if (type == nullptr) return TypeFromName("any", where);
  if (type->is_string()) return TypeFromName(type->get<std::string>(), where);
  if (type->is_object()) return TypeFromSchema(*type);
  return Fail(ErrorCode::kInvalidArgument, where + ": \"type\" must be the name of a type or a JSON Schema");
}

const Json* Member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

Result<std::string> TextMember(const Json& object, std::string_view key, const std::string& where) {
  const Json* member = Member(object, key);
  if (member == nullptr) return std::string();
  if (!member->is_string()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: \"{}\" must be a string", where, key));
  }
  return member->get<std::string>();
}

// The declared type of a variadic parameter is that of each item; its schema that of all together.
Status ParseKind(const Json* kind, const std::string& where, Parameter& parameter) {
  if (kind == nullptr || *kind == "plain") return {};
  const bool variadic = *kind == "variadic";
  if (!variadic && *kind != "keyword_variadic") {
    return Fail(ErrorCode::kInvalidArgument,
                where + ": \"kind\" must be plain, variadic or keyword_variadic");
  }
  parameter.kind = variadic ? ParameterKind::kVariadic : ParameterKind::kKeywordVariadic;
  Value schema = Value::Object({{"type", variadic ? "array" : "object"}});
  schema.Set(variadic ? "items" : "additionalProperties", std::move(parameter.schema));
  parameter.schema = std::move(schema);
  return {};
}

Result<Parameter> ParseParameter(const Json& declaration, const std::string& tool) {
  if (!declaration.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, tool + ": each parameter must be an object with a \"name\"");
  }
  Parameter parameter;
  ASSIGN_OR_RETURN(parameter.name, TextMember(declaration, "name", tool));
  if (parameter.name.empty())
    return Fail(ErrorCode::kInvalidArgument, tool + ": a parameter has no \"name\"");
  const std::string where = fmt::format("{}, parameter {}", tool, parameter.name);
  ASSIGN_OR_RETURN(parameter.description, TextMember(declaration, "description", where));
  ASSIGN_OR_RETURN(TypeText type, ParseType(Member(declaration, "type"), where));
  parameter.annotation = std::move(type.annotation);
  parameter.schema = std::move(type.schema);
  RETURN_IF_ERROR(ParseKind(Member(declaration, "kind"), where, parameter));
  if (const Json* value = Member(declaration, "default")) {
    auto converted = FromJson(*value);
    if (!converted)
      return Fail(converted.error().code, where + ": \"default\": " + converted.error().message);
    parameter.default_value = std::move(*converted);
  }
  return parameter;
}

// "returns" is the name of a type, a JSON Schema, or words.
void ParseReturns(const Json& returns, ToolSpec& spec) {
  if (returns.is_object()) {
    TypeText type = TypeFromSchema(returns);
    spec.returns = std::move(type.annotation);
    spec.returns_schema = std::move(type.schema);
  } else if (returns.is_string()) {
    const std::string text = returns.get<std::string>();
    if (const NamedType* type = FindType(text)) {
      spec.returns = type->annotation;
    } else {
      spec.returns_description = text;
    }
  }
}

// How it is called: "async" and "timeout_s".
Status ParseCalling(const Json& declaration, const std::string& where, ToolSpec& spec) {
  if (const Json* is_async = Member(declaration, "async")) {
    if (!is_async->is_boolean())
      return Fail(ErrorCode::kInvalidArgument, where + ": \"async\" must be true or false");
    spec.is_async = is_async->get<bool>();
  }
  if (const Json* timeout = Member(declaration, "timeout_s")) {
    constexpr double kLongest = 86'400;
    const double seconds = timeout->is_number() ? timeout->get<double>() : 0;
    if (!(seconds >= 0.001 && seconds <= kLongest)) {
      return Fail(ErrorCode::kInvalidArgument,
                  where + ": \"timeout_s\" must be a number of seconds from 0.001 to 86400");
    }
    spec.timeout = std::chrono::milliseconds(std::llround(seconds * 1000));
  }
  return {};
}

}  // namespace

Result<ToolSpec> ParseToolDeclaration(const Json& declaration) {
  if (!declaration.is_object()) {
    return Fail(
        ErrorCode::kInvalidArgument, "each tool must be an object with a \"name\"",
        R"(for example {"name":"lookup","description":"...","parameters":[{"name":"key","type":"string"}]})");
  }
  ToolSpec spec;
  ASSIGN_OR_RETURN(spec.name, TextMember(declaration, "name", "a tool"));
  if (spec.name.empty()) return Fail(ErrorCode::kInvalidArgument, "a tool has no \"name\"");
  const std::string where = "tool " + spec.name;
  ASSIGN_OR_RETURN(spec.description, TextMember(declaration, "description", where));
  if (const Json* parameters = Member(declaration, "parameters")) {
    if (!parameters->is_array()) {
      return Fail(ErrorCode::kInvalidArgument, where + ": \"parameters\" must be a list");
    }
    for (const Json& parameter : *parameters) {
      ASSIGN_OR_RETURN(auto parsed, ParseParameter(parameter, where));
      spec.parameters.push_back(std::move(parsed));
    }
  }
  if (const Json* returns = Member(declaration, "returns")) ParseReturns(*returns, spec);
  RETURN_IF_ERROR(ParseCalling(declaration, where, spec));
  return spec;
}

}  // namespace gloveport
