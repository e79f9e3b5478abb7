// ToolRegistry: the tools of a session, by name. Build it first, then share it read-only between sessions.
#ifndef GLOVEPORT_TOOLS_REGISTRY_H_
#define GLOVEPORT_TOOLS_REGISTRY_H_

#include <memory>
#include <string_view>
#include <vector>

#include "gloveport/tools/binding.h"
#include "gloveport/tools/tool.h"

namespace gloveport {

class ToolRegistry {
 public:
  // kInvalidArgument for a name that is no Python identifier, a keyword, "final_answer", or taken.
  Status Add(std::shared_ptr<Tool> tool);

  // Add("contact_cost", "Cost in EUR of ...", &ContactCost, {Arg("contacts", "..."), Arg("channel", "...",
  // "cellular")}): derives types, JSON Schema and signature from the C++ function; see binding.h.
  template <typename Function>
  Status Add(std::string_view name, std::string_view description, Function&& function,
             std::vector<Arg> args = {}, const ToolOptions& options = {}) {
    ASSIGN_OR_RETURN(auto tool, BindFunction(name, description, std::forward<Function>(function),
                                             std::move(args), options));
    return Add(std::move(tool));
  }

  // The tools of `others`, in their order, as Add does; the first error ends it, with those before it added.
  Status AddAll(const ToolRegistry& others);

  std::shared_ptr<Tool> Find(std::string_view name) const;                    // nullptr where there is none
  const std::vector<std::shared_ptr<Tool>>& tools() const { return tools_; }  // in order of Add

 private:
  std::vector<std::shared_ptr<Tool>> tools_;
  std::vector<std::shared_ptr<Tool>> continuations_;  // found by name, and listed nowhere
};

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_REGISTRY_H_
