#include "gloveport/tools/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "gloveport/tools/tool_names.h"

namespace gloveport {

Status ToolRegistry::Add(std::shared_ptr<Tool> tool) {
  if (tool == nullptr) return Fail(ErrorCode::kInvalidArgument, "cannot add a tool: the pointer is null");
  RETURN_IF_ERROR(CheckToolSpec(tool->spec()));
  if (Find(tool->spec().name) != nullptr) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("there is already a tool '{}'", tool->spec().name),
                "choose another name");
  }
  if (auto continuation = tool->continuation()) continuations_.push_back(std::move(continuation));
  tools_.push_back(std::move(tool));
  return {};
}

Status ToolRegistry::AddAll(const ToolRegistry& others) {
  const auto tools = others.tools_;  // a copy: `others` may be this registry
  for (const auto& tool : tools) RETURN_IF_ERROR(Add(tool));
  return {};
}

std::shared_ptr<Tool> ToolRegistry::Find(std::string_view name) const {
  for (const auto* tools : {&tools_, &continuations_}) {
    const auto found = std::find_if(tools->begin(), tools->end(), [name](const std::shared_ptr<Tool>& tool) {
      return tool->spec().name == name;
    });
    if (found != tools->end()) return *found;
  }
  return nullptr;
}

}  // namespace gloveport
