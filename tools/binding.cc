#include "gloveport/tools/binding.h"

#include <fmt/format.h>

#include <exception>

#include "gloveport/core/base/text.h"
#include "gloveport/tools/tool_names.h"

namespace gloveport::binding_internal {
namespace {

// A struct's fields follow what the caller says of the parameter.
std::string Joined(std::string description, const std::string& fields) {
  if (description.empty() || fields.empty()) return description + fields;
  return std::move(description) + "; " + fields;
}

Status CheckDefaults(const ToolSpec& spec, const std::vector<TypeDoc>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Parameter& parameter = spec.parameters[i];
    if (!parameter.default_value) continue;
    const Status fits = types[i].check(*parameter.default_value, ValuePlace(parameter.name));
    if (fits) continue;
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}(): the default does not fit: {}", spec.name, fits.error().message));
  }
  return {};
}

}  // namespace

Result<ToolSpec> MakeSpec(std::string_view name, std::string_view description, std::vector<Arg> args,
                          const std::vector<TypeDoc>& parameters, const TypeDoc& result) {
  if (args.size() != parameters.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}(): the C++ function has {} parameters, but {} were described", name,
                            parameters.size(), args.size()),
                "give one Arg(name, description[, default]) for each parameter, CallContext& left out");
  }
  ToolSpec spec;
  spec.name = name;
  spec.description = description;
  for (std::size_t i = 0; i < args.size(); ++i) {
    spec.parameters.push_back(
        {std::move(args[i].name), Joined(std::move(args[i].description), parameters[i].description),
         parameters[i].annotation, parameters[i].schema, std::move(args[i].default_value)});
  }
  for (std::size_t i = args.size(); i-- > 0;) {
    if (spec.parameters[i].default_value) continue;
    if (!parameters[i].optional) break;
    spec.parameters[i].default_value = Value();
  }
  spec.returns = result.annotation;
  spec.returns_description = result.description;
  spec.returns_schema = result.schema;
  RETURN_IF_ERROR(CheckToolSpec(spec));
  RETURN_IF_ERROR(CheckDefaults(spec, parameters));
  return spec;
}

Error ErrorOfException(std::string_view tool) {
  try {
    throw;
  } catch (const std::exception& exception) {
    return {ErrorCode::kInternal, fmt::format("{} failed: {}", tool, ToValidUtf8(exception.what())), ""};
  } catch (...) {
    return {ErrorCode::kInternal, fmt::format("{} failed with an exception that is no std::exception", tool),
            ""};
  }
}

const Value& ArgumentOrNone(const Arguments& arguments, std::string_view name) {
  static const Value kNone;
  const Value* found = arguments.Find(name);
  return found != nullptr ? *found : kNone;
}

}  // namespace gloveport::binding_internal
