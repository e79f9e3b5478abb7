#include "gloveport/tests/interp/child/case_tools.h"

#include "gloveport/core/wire/cbor.h"

namespace gloveport::testing {
namespace {

struct Failure {
  std::string message;
};

std::string KindOf(const Value& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "boolean";
  if (value.is_int() || value.is_big_int()) return "integer";
  if (value.is_double()) return "number";
  if (value.is_text()) return "string";
  if (value.is_list() || value.is(Form::kTuple)) return "array";
  if (value.is_map()) return "object";
  if (value.is_bytes() || value.is(Form::kBytearray)) return "bytes";
  return "other";
}

Value Sum(const Json& behavior, const Value& args) {
  bool whole = true;
  std::int64_t integers = 0;
  double numbers = 0;
  for (const Json& name : behavior["params"]) {
    const Value* value = args.Find(name.get<std::string>());
    if (value == nullptr || !(value->is_int() || value->is_double())) throw Failure{"not a number"};
    whole = whole && value->is_int();
    if (value->is_int()) integers += value->as_int();
    numbers += value->is_int() ? static_cast<double>(value->as_int()) : value->as_double();
  }
  return whole ? Value(integers) : Value(numbers);
}

Value Lookup(const Json& behavior, const Value& args) {
  const Value* key = args.Find(behavior["param"].get<std::string>());
  const std::string text = key != nullptr && key->is_text() ? key->as_text() : std::string("?");
  if (behavior["table"].contains(text)) return FromPlainJson(behavior["table"][text]);
  throw Failure{behavior["missing_error"].get<std::string>() + ": " + text};
}

Value Concat(const Json& behavior, const Value& args) {
  std::string out;
  bool first = true;
  for (const Json& name : behavior["params"]) {
    if (!first) out += behavior["sep"].get<std::string>();
    first = false;
    out += args.TextOr(name.get<std::string>(), "");
  }
  return Value(out);
}

Value Range(std::int64_t count) {
  Value::List list;
  for (std::int64_t i = 0; i < count; ++i) list.emplace_back(i);
  return Value(std::move(list));
}

Value Repeat(const Json& behavior, std::int64_t count) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i) out += behavior["text"].get<std::string>();
  return Value(std::move(out));
}

Value FromHex(const std::string& hex) {
  Value::Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return Value(std::move(bytes));
}

Value Behave(const Json& behavior, const Value& args, int call_number) {
  const auto kind = behavior["kind"].get<std::string>();
  const Value* param = behavior.contains("param") ? args.Find(behavior["param"].get<std::string>()) : nullptr;
  const std::int64_t count = param != nullptr && param->is_int() ? param->as_int() : 0;
  if (kind == "const") return FromPlainJson(behavior["value"]);
  if (kind == "echo") return *param;
  if (kind == "args") return args;
  if (kind == "sum") return Sum(behavior, args);
  if (kind == "concat") return Concat(behavior, args);
  if (kind == "count") return Value(call_number);
  if (kind == "range") return Range(count);
  if (kind == "repeat") return Repeat(behavior, count);
  if (kind == "type_of") return Value(KindOf(*param));
  if (kind == "bytes") return FromHex(behavior["hex"].get<std::string>());
  if (kind == "lookup") return Lookup(behavior, args);
  if (kind == "error") throw Failure{behavior["message"].get<std::string>()};
  if (kind == "fail_times") {
    if (call_number <= behavior["times"].get<int>()) throw Failure{behavior["message"].get<std::string>()};
    return FromPlainJson(behavior["value"]);
  }
  throw Failure{"unknown behavior " + kind};
}

}  // namespace

Value CaseTools::Definitions() const {
  Value::List tools;
  for (const Json& tool : tools_) {
    Value::List parameters;
    for (const Json& param : tool["params"]) {
      parameters.push_back(Value::Object({{"name", param["name"].get<std::string>()},
                                          {"annotation", "object"},
                                          {"description", ""},
                                          {"schema", Value(Value::Map())},
                                          {"has_default", param.contains("default")},
                                          {"default", FromPlainJson(param.value("default", Json()))}}));
    }
    tools.push_back(Value::Object({{"name", tool["name"].get<std::string>()},
                                   {"description", tool["doc"].get<std::string>()},
                                   {"returns", "object"},
                                   {"returns_description", tool.value("returns", "")},
                                   {"parameters", Value(std::move(parameters))}}));
  }
  return Value::Object({{"tools", Value(std::move(tools))}});
}

wire::ToolReply CaseTools::Answer(const wire::ToolCall& call) {
  wire::ToolReply reply{.call = call.call};
  for (const Json& tool : tools_) {
    if (tool["name"] != call.name) continue;
    const auto args = DecodeValue(call.args);
    try {
      if (!args) throw Failure{args.error().message};
      reply.value = EncodeValue(Behave(tool["behavior"], *args, ++counts_[call.name]));
      reply.ok = true;
    } catch (const Failure& failure) {
      reply.error_type = "ToolError";
      reply.error_message = failure.message;
    }
  }
  return reply;
}

}  // namespace gloveport::testing
