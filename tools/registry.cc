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
  tools_.push_back(std::move(tool));
  return {};
}

std::shared_ptr<Tool> ToolRegistry::Find(std::string_view name) const {
  const auto found = std::find_if(tools_.begin(), tools_.end(), [name](const std::shared_ptr<Tool>& tool) {
    return tool->spec().name == name;
  });
  return found == tools_.end() ? nullptr : *found;
}

}  // namespace gloveport
