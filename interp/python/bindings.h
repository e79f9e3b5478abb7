// The classes of the module gloveport._native, one function for each file. gloveport/*.py is what users see.
#ifndef GLOVEPORT_INTERP_PYTHON_BINDINGS_H_
#define GLOVEPORT_INTERP_PYTHON_BINDINGS_H_

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "gloveport/core/host/runtime.h"
#include "gloveport/core/record/audit_log.h"
#include "gloveport/interp/python/ownership.h"

namespace gloveport::python {

// The runtime with what it writes to. Sessions share it: it must outlive them.
class BoundRuntime {
 public:
  BoundRuntime(std::unique_ptr<Runtime> runtime, std::shared_ptr<AuditLog> audit)
      : audit_(std::move(audit)), runtime_(std::move(runtime)) {}
  ~BoundRuntime();
  BoundRuntime(const BoundRuntime&) = delete;
  BoundRuntime& operator=(const BoundRuntime&) = delete;

  // Throws where this is a fork of the process that made it.
  Runtime& get() const {
    process_.Check("Runtime");
    return *runtime_;
  }
  AuditLog* audit() const { return audit_.get(); }

 private:
  Process process_;
  std::shared_ptr<AuditLog> audit_;
  std::unique_ptr<Runtime> runtime_;
};

// What Runtime.open and Agent take: a dict with policy, tools, workdir, on_event, approve, seed,
// idle_timeout_s, time_to_live_s.
SessionOptions SessionOptionsOf(const py::dict& given);

void BindPolicy(py::module_& module);
void BindRuntime(py::module_& module);
void BindSession(py::module_& module);
void BindAgent(py::module_& module);
void BindMcp(py::module_& module);
void BindRecord(py::module_& module);

// A new Python object for a session that `runtime` has opened.
py::object MakeSession(std::unique_ptr<Session> session, std::shared_ptr<BoundRuntime> runtime);

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_BINDINGS_H_
