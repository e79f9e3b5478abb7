// A user's extension module with tools in C++, built against the same Gloveport as the package.
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "gloveport/tools/registry.h"
#include "gloveport/tools/tool_capsule.h"

namespace {

using gloveport::Arg;
using gloveport::BindFunction;
using gloveport::Tool;

// What gloveport.Session(tools=[...]) takes: a capsule of this name with a std::shared_ptr<Tool> in it.
pybind11::capsule Capsule(std::shared_ptr<Tool> tool) {
  const auto release = [](PyObject* capsule) {
    delete static_cast<std::shared_ptr<Tool>*>(PyCapsule_GetPointer(capsule, gloveport::ToolCapsuleName()));
  };
  return pybind11::capsule(new std::shared_ptr<Tool>(std::move(tool)), gloveport::ToolCapsuleName(), release);
}

double ContactCost(int contacts, const std::string& channel) {
  return contacts * (channel == "cellular" ? 0.8 : 1.2);
}

}  // namespace

PYBIND11_MODULE(native_tools, module) {
  module.def("contact_cost", [] {
    return Capsule(*BindFunction("contact_cost", "Cost in EUR of calling people", &ContactCost,
                                 {Arg("contacts", "number of contacts"), Arg("channel", "how", "cellular")},
                                 {.is_quick = true}));
  });
}
