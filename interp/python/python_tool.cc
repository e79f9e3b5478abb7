#include "gloveport/interp/python/python_tool.h"

#include <pybind11/stl.h>

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "gloveport/core/record/tool_spec_json.h"
#include "gloveport/interp/python/values.h"
#include "gloveport/tools/builtin/builtin_tools.h"
#include "gloveport/tools/tool_capsule.h"

namespace gloveport::python {
namespace {

// A CallContext for as long as its call runs. A coroutine uses it on the thread of its event loop, and Python
// may keep it for good.
class LiveContext {
 public:
  explicit LiveContext(CallContext& context) : context_(&context) {}
  LiveContext(const LiveContext&) = delete;
  LiveContext& operator=(const LiveContext&) = delete;

  // Calls use(context) unless the call has ended. Without the GIL: others may wait for it with that.
  template <typename Use>
  void With(Use use) {
    const py::gil_scoped_release released;
    const std::shared_lock lock(alive_);
    if (context_ != nullptr) use(*context_);
  }
  void Show(std::string_view mime_type, Value data) {
    With([&](CallContext& context) {
      const std::lock_guard lock(displays_);
      context.Display(mime_type, std::move(data));
    });
  }
  // Waits for those who use it.
  void End() {
    const py::gil_scoped_release released;
    const std::unique_lock lock(alive_);
    context_ = nullptr;
  }

 private:
  std::shared_mutex alive_;
  std::mutex displays_;
  CallContext* context_;
};

// What Python gets of a CallContext.
struct BoundContext {
  std::string session;
  std::uint32_t cell = 0;
  std::stop_token stop;
  Deadline deadline = Deadline::Never();
  std::shared_ptr<LiveContext> live;
};

struct EndAtExit {
  explicit EndAtExit(LiveContext& of) : live(of) {}
  EndAtExit(const EndAtExit&) = delete;
  EndAtExit& operator=(const EndAtExit&) = delete;
  ~EndAtExit() { live.End(); }
  LiveContext& live;
};

class PythonTool : public Tool {
 public:
  PythonTool(ToolSpec spec, SharedObject call) : spec_(std::move(spec)), call_(std::move(call)) {}

  const ToolSpec& spec() const override { return spec_; }

  Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    const py::gil_scoped_acquire gil;
    const BoundContext bound{context.session, context.cell, context.stop, context.deadline,
                             std::make_shared<LiveContext>(context)};
    const EndAtExit end(*bound.live);
    try {
      return FromPython((*call_)(ToPython(Value(arguments.all())), bound));
    } catch (py::error_already_set& error) {
      return tl::unexpected<Error>(ErrorOf(error));
    }
  }

 private:
  ToolSpec spec_;
  SharedObject call_;
};

void* ThisProcess() { return reinterpret_cast<void*>(static_cast<std::intptr_t>(::getpid())); }

// Not looked into where its name is another: that other Gloveport's objects may be laid out differently.
std::shared_ptr<Tool> ToolOfCapsule(PyObject* capsule) {
  const char* const name = PyCapsule_GetName(capsule);
  if (name == nullptr) PyErr_Clear();
  const std::string_view given = name == nullptr ? "" : name;
  if (given == ToolCapsuleName())
    return *static_cast<std::shared_ptr<Tool>*>(PyCapsule_GetPointer(capsule, ToolCapsuleName()));
  if (given.starts_with(kToolCapsuleFamily)) {
    Raise({ErrorCode::kInvalidArgument,
           "this C++ tool is from an extension module that was built against another Gloveport or by another "
           "compiler: it is \"" +
               std::string(given) + "\", the package needs \"" + ToolCapsuleName() + "\"",
           "build the extension module again, against the Gloveport that this package is of"},
          "adding a tool", "");
  }
  Raise({ErrorCode::kInvalidArgument, "a capsule \"" + std::string(given) + "\" is no tool",
         "C++ tools come in capsules that are named by gloveport::ToolCapsuleName()"},
        "adding a tool", "");
}

std::shared_ptr<Tool> ToolOf(py::handle item) {
  if (PyCapsule_CheckExact(item.ptr())) return ToolOfCapsule(item.ptr());
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

// In a fork the tool is left alone: its threads and children are another process's.
py::capsule CapsuleOf(std::shared_ptr<Tool> tool) {
  const auto release = [](PyObject* capsule) {
    auto* const held = static_cast<std::shared_ptr<Tool>*>(PyCapsule_GetPointer(capsule, ToolCapsuleName()));
    if (PyCapsule_GetContext(capsule) != ThisProcess()) return;
    const py::gil_scoped_release released;  // the last of a server's tools waits for its end
    delete held;
  };
  py::capsule made(new std::shared_ptr<Tool>(std::move(tool)), ToolCapsuleName(), release);
  PyCapsule_SetContext(made.ptr(), ThisProcess());
  return made;
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

void Progress(const BoundContext& bound, double done, std::optional<double> total,
              const std::string& message) {
  bound.live->With([&](const CallContext& context) { context.Progress(done, total, message); });
}

void Display(const BoundContext& bound, const py::dict& bundle) {
  for (const auto& [mime_type, data] : bundle)
    bound.live->Show(py::cast<std::string>(mime_type), FromPython(data));
}

py::tuple AskPerson(const BoundContext& bound, const std::string& reason, const py::dict& details) {
  Value shown = FromPython(details);
  ApprovalDecision decision;
  decision.reason = "the call has ended";
  bound.live->With([&](CallContext& context) { decision = context.Ask(reason, std::move(shown)); });
  return py::make_tuple(decision.allowed, decision.reason);
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
          "Until the call's time is over; None where it has no limit of its own.")
      .def("progress", &Progress, py::arg("done"), py::arg("total") = py::none(), py::arg("message") = "",
           "Tells those who watch the session (on_event: \"tool_progress\") how far it has come.")
      .def("display", &Display, py::arg("bundle"),
           "Shows something beside the result: a dict of MIME types with text or bytes.")
      .def("ask", &AskPerson, py::arg("reason"), py::arg("details") = py::dict(),
           "Asks a person, by the session's approver, whether to go on: (allowed, reason). Waits; the cell's "
           "clock "
           "stands still meanwhile.");
  module.def("builtin_tools", &BuiltinTools, py::arg("configuration"), py::arg("folder"));
  module.def(
      "capsule_spec",
      [](const py::capsule& tool) { return ToPython(FromPlainJson(ToJson(ToolOf(tool)->spec()))); },
      "The declaration of a C++ tool.");
}

}  // namespace gloveport::python
