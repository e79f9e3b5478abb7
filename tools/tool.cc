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

void CallContext::Progress(double done, std::optional<double> total, std::string message) const {
  if (on_progress) on_progress({done, total, std::move(message)});
}

ApprovalDecision CallContext::Ask(std::string reason, Value details) {
  if (on_ask) return on_ask(std::move(reason), std::move(details));
  ApprovalDecision denial;
  denial.reason = "nobody can be asked here";
  denial.by = "nobody";
  return denial;
}

void CallContext::Display(std::string_view mime_type, Value data) {
  displays.push_back(Value::Object({{mime_type, std::move(data)}}));
}

const Value* Arguments::Find(std::string_view name) const {
  for (const auto& [key, value] : bound_) {
    if (key.is_text() && key.as_text() == name) return &value;
  }
  return nullptr;
}

}  // namespace gloveport
