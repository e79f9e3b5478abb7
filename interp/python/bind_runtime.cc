#include <pybind11/stl.h>

#include <chrono>
#include <string>

#include "gloveport/core/host/result_json.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/observers.h"
#include "gloveport/interp/python/python_tool.h"
#include "gloveport/interp/python/values.h"

namespace gloveport::python {
namespace {

using Seconds = std::optional<std::chrono::milliseconds>;

bool Has(const py::dict& given, const char* key) { return given.contains(key) && !given[key].is_none(); }

Seconds SecondsOf(const py::dict& given, const char* key) {
  if (!Has(given, key)) return {};
  return std::chrono::milliseconds(std::llround(py::cast<double>(given[key]) * 1000));
}

std::shared_ptr<BoundRuntime> Create(const std::string& interp_path, std::size_t min_ready,
                                     std::size_t max_sessions, const std::string& audit) {
  RuntimeOptions options;
  options.interp_path = interp_path;
  options.min_ready = min_ready;
  options.max_sessions = max_sessions;
  std::shared_ptr<AuditLog> log;
  if (!audit.empty()) log = Unwrap(AuditLog::Create(audit), "opening an audit log", audit);
  options.record = log;
  auto runtime = Unwrap(Released([&] { return Runtime::Create(options); }), "Runtime", interp_path);
  return std::make_shared<BoundRuntime>(std::move(runtime), std::move(log));
}

py::object Open(const std::shared_ptr<BoundRuntime>& self, const py::dict& given) {
  Runtime& runtime = self->get();
  SessionOptions options = SessionOptionsOf(given);
  const std::string policy = options.policy.name;
  auto session =
      Unwrap(Released([&] { return runtime.Open(std::move(options)); }), "Runtime.open", "policy " + policy);
  return MakeSession(std::move(session), self);
}

py::object Check(BoundRuntime& self, const Policy& policy, const std::string& code,
                 const std::vector<std::string>& tools) {
  Runtime& runtime = self.get();
  const auto verdict = Released([&] { return runtime.Check(policy, code, tools); });
  return ToPython(ToJson(Unwrap(verdict, "Runtime.check", "policy " + policy.name)));
}

py::list Validate(BoundRuntime& self, const py::object& value, const py::object& schema) {
  Runtime& runtime = self.get();
  const Value what = FromPython(value);
  const Value against = FromPython(schema);
  py::list list;
  for (const SchemaError& error :
       Unwrap(Released([&] { return runtime.Validate(what, against); }), "Runtime.validate"))
    list.append(py::make_tuple(error.path, error.message));
  return list;
}

}  // namespace

BoundRuntime::~BoundRuntime() {
  if (!process_.is_this()) {
    (void)runtime_.release();  // its threads and children are another process's
  } else if (PyGILState_Check() != 0) {
    const py::gil_scoped_release released;
    runtime_.reset();
  }
}

SessionOptions SessionOptionsOf(const py::dict& given) {
  SessionOptions options;
  if (Has(given, "policy")) options.policy = py::cast<Policy>(given["policy"]);
  if (Has(given, "tools")) options.tools = MakeRegistry(py::cast<py::list>(given["tools"]));
  if (Has(given, "workdir")) options.workdir = py::cast<std::string>(given["workdir"]);
  if (Has(given, "on_event")) options.sink = MakeSink(given["on_event"]);
  if (Has(given, "approve")) options.approver = MakeApprover(given["approve"]);
  if (Has(given, "seed")) options.seed = py::cast<std::uint64_t>(given["seed"]);
  options.idle_timeout = SecondsOf(given, "idle_timeout_s");
  options.time_to_live = SecondsOf(given, "time_to_live_s");
  return options;
}

void BindRuntime(py::module_& module) {
  py::class_<BoundRuntime, std::shared_ptr<BoundRuntime>>(module, "Runtime")
      .def(py::init(&Create), py::arg("interp_path"), py::arg("min_ready"), py::arg("max_sessions"),
           py::arg("audit"))
      .def("open", &Open)
      .def("check", &Check)
      .def("validate", &Validate)
      .def("probe_layers",
           [](BoundRuntime& self) {
             Runtime& runtime = self.get();
             const auto layers = Released([&] { return runtime.ProbeLayers(); });
             return ToPython(ToJson(Unwrap(layers, "Runtime.probe_layers")));
           })
      .def_property_readonly("audit_head",
                             [](const BoundRuntime& self) -> py::object {
                               if (self.audit() == nullptr) return py::none();
                               return py::str(self.audit()->head());
                             })
      .def("seal_audit", [](const BoundRuntime& self) {
        (void)self.get();  // only where it was made
        if (self.audit() == nullptr) return;
        Unwrap(Released([&] { return self.audit()->Seal(); }), "sealing the audit log",
               self.audit()->path().string());
      });
}

}  // namespace gloveport::python
