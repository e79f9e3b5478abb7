// What both sides of the border between C++ threads and Python need to hold each other's objects.
#ifndef GLOVEPORT_INTERP_PYTHON_OWNERSHIP_H_
#define GLOVEPORT_INTERP_PYTHON_OWNERSHIP_H_

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "gloveport/interp/python/errors.h"

namespace gloveport::python {

// The process that made something. A fork has neither its threads nor its children.
class Process {
 public:
  bool is_this() const { return ::getpid() == owner_; }
  void Check(std::string_view what) const {
    if (is_this()) return;
    const py::object forked = py::module_::import("gloveport.errors").attr("forked");
    const py::object exception = forked(std::string(what));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    throw py::error_already_set();
  }

 private:
  pid_t owner_ = ::getpid();
};

// A Python object that C++ keeps and lets go on any thread, without the GIL.
using SharedObject = std::shared_ptr<py::object>;
inline SharedObject Share(py::object object) {
  return {new py::object(std::move(object)), [](py::object* owned) {
            if (Py_IsInitialized() == 0) return;  // too late: with the interpreter it has gone
            const py::gil_scoped_acquire gil;
            delete owned;
          }};
}

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_OWNERSHIP_H_
