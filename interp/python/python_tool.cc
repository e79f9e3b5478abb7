#include "gloveport/interp/python/python_tool.h"

#include <stop_token>
#include <string>
#include <utility>

#include "gloveport/core/record/tool_spec_json.h"
#include "gloveport/interp/python/values.h"
#include "gloveport/tools/builtin/builtin_tools.h"

namespace gloveport::python {
namespace {

// What is left of a CallContext when the call has ended: the Python side may keep it.
struct BoundContext {
  std::string session;
  std::uint32_t cell = 0;
  std::stop_token stop;
  Deadline deadline = Deadline::Never();
};

class PythonTool : public Tool {
 public:
  PythonTool(ToolSpec spec, SharedObject call) : spec_(std::move(spec)), call_(std::move(call)) {}

  const ToolSpec& spec() const override { return spec_; }

  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    const py::gil_scoped_acquire gil;
    try {
      const BoundContext bound{context.session, context.cell, context.stop, context.deadline};
      return FromPython((*call_)(ToPython(Value(arguments.all())), bound));
    } catch (py::error_already_set& error) {
      return tl::unexpected<Error>(ErrorOf(error));
    }
  }

 private:
  ToolSpec spec_;
  SharedObject call_;
};

std::shared_ptr<Tool> ToolOf(py::handle item) {
  if (PyCapsule_IsValid(item.ptr(), kToolCapsule) != 0)
    return *static_cast<std::shared_ptr<Tool>*>(PyCapsule_GetPointer(item.ptr(), kToolCapsule));
  const auto pair = py::cast<py::tuple>(item);
  ToolSpec spec = Unwrap(ReadToolSpec(ToJson(FromPython(pair[0]))), "declaring a tool");
  return MakePythonTool(std::move(spec), pair[1]);
}

}  // namespace

std::shared_ptr<Tool> MakePythonTool(ToolSpec spec, py::object call) {
  return std::make_shared<PythonTool>(std::move(spec), Share(std::move(call)));
}

std::shared_ptr<const ToolRegistry> MakeRegistry(const py::list& tools) {
  if (tools.empty()) return nullptr;
  auto registry = std::make_shared<ToolRegistry>();
  for (const py::handle item : tools) {
    auto tool = ToolOf(item);
    const std::string name = tool->spec().name;
    Unwrap(registry->Add(std::move(tool)), "adding a tool", name);
  }
  return registry;
}

py::capsule CapsuleOf(std::shared_ptr<Tool> tool) {
  const auto release = [](PyObject* capsule) {
    delete static_cast<std::shared_ptr<Tool>*>(PyCapsule_GetPointer(capsule, kToolCapsule));
  };
  return py::capsule(new std::shared_ptr<Tool>(std::move(tool)), kToolCapsule, release);
}

py::list BuiltinTools(const std::string& configuration, const std::string& folder) {
  BuiltinHost host;
  host.folder = folder;
  auto made = Released([&] { return MakeBuiltinTools(configuration, host); });
  py::list capsules;
  for (std::shared_ptr<Tool>& tool : Unwrap(std::move(made), "making built-in tools"))
    capsules.append(CapsuleOf(std::move(tool)));
  return capsules;
}

void BindTools(py::module_& module) {
  py::class_<BoundContext>(module, "CallContext", "What a running call of a tool may ask.")
      .def_readonly("session", &BoundContext::session, "Id of the session that calls.")
      .def_readonly("cell", &BoundContext::cell, "Number of the cell that calls.")
      .def_property_readonly(
          "stopped", [](const BoundContext& context) { return context.stop.stop_requested(); },
          "Whether nobody waits for the answer any more: the cell was interrupted or ran out of time.")
      .def_property_readonly(
          "seconds_left",
          [](const BoundContext& context) -> py::object {
            if (context.deadline.never()) return py::none();
            return py::float_(std::chrono::duration<double>(context.deadline.left()).count());
          },
          "Until the call's time is over; None where it has no limit of its own.");
  module.def("builtin_tools", &BuiltinTools, py::arg("configuration"), py::arg("folder"));
  module.def(
      "capsule_spec",
      [](const py::capsule& tool) { return ToPython(FromPlainJson(ToJson(ToolOf(tool)->spec()))); },
      "The declaration of a C++ tool.");
}

}  // namespace gloveport::python
