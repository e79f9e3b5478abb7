// gloveport._native: the host library for the Python package around it.
#include <pybind11/pybind11.h>

#include "gloveport/interp/python/bindings.h"
#include "gloveport/interp/python/python_tool.h"

PYBIND11_MODULE(_native, module) {
  using namespace gloveport::python;  // NOLINT(google-build-using-namespace): the module is made of it
  module.doc() = "The host library of Gloveport. Use the package gloveport.";
  BindPolicy(module);
  BindTools(module);
  BindSession(module);
  BindRuntime(module);
  BindAgent(module);
  BindMcp(module);
  BindRecord(module);
  module.attr("python_version") = GLOVEPORT_PYTHON_VERSION;
  module.attr("version") = GLOVEPORT_VERSION;
}
