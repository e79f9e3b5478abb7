#include "gloveport/tools/tool.h"

#include "gloveport/tools/python_literal.h"

namespace gloveport {

std::string_view ParameterKindName(ParameterKind kind) {
  if (kind == ParameterKind::kVariadic) return "variadic";
  return kind == ParameterKind::kKeywordVariadic ? "keyword_variadic" : "plain";
}

std::string ToolSpec::Signature() const {
  std::string out = name + "(";
  for (const Parameter& parameter : parameters) {
    if (out.back() != '(') out += ", ";
    if (parameter.kind != ParameterKind::kPlain)
      out += parameter.kind == ParameterKind::kVariadic ? "*" : "**";
    out += parameter.name;
    if (!parameter.annotation.empty()) out += ": " + parameter.annotation;
    if (!parameter.default_value) continue;
    out += parameter.annotation.empty() ? "=" : " = ";  // as PEP 8 has it
    out += PythonLiteral(*parameter.default_value);
  }
  return out + ") -> " + returns;
}

const Value* Arguments::Find(std::string_view name) const {
  for (const auto& [key, value] : bound_) {
    if (key.is_text() && key.as_text() == name) return &value;
  }
  return nullptr;
}

}  // namespace gloveport
