#include <pybind11/stl.h>

#include <string>

#include "gloveport/core/wire/value_json.h"
#include "gloveport/interp/python/bindings.h"
#include "gloveport/policy/codec.h"
#include "gloveport/policy/presets.h"

namespace gloveport::python {
namespace {

void Warn(const std::vector<PolicyWarning>& warnings, const std::string& origin) {
  for (const PolicyWarning& warning : warnings) {
    const std::string text = origin + ":" + std::to_string(warning.line) + ":" +
                             std::to_string(warning.column) + ": " + warning.message;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) != 0) throw py::error_already_set();
  }
}

Policy Parse(const std::string& text, const std::string& origin) {
  std::vector<PolicyWarning> warnings;
  Policy policy = Unwrap(ParsePolicy(text, origin, &warnings), "reading a policy", origin);
  Warn(warnings, origin);
  return policy;
}

Policy Load(const std::string& name) {
  std::vector<PolicyWarning> warnings;
  Policy policy = Unwrap(LoadPolicy(name, &warnings), "loading a policy", name);
  Warn(warnings, name);
  return policy;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const Preset& preset : Presets()) names.emplace_back(preset.name);
  return names;
}

}  // namespace

void BindPolicy(py::module_& module) {
  py::class_<Policy>(module, "Policy")
      .def_static("parse", &Parse, py::arg("text"), py::arg("origin"))
      .def_static("load", &Load, py::arg("name_or_path"))
      .def_static("presets", &PresetNames)
      .def("to_json", &PolicyToJson)
      .def("__eq__", [](const Policy& a, const Policy& b) { return a == b; })
      .def_readonly("name", &Policy::name);
  module.def("policy_schema", [] { return std::string(PolicySchema()); });
}

}  // namespace gloveport::python
