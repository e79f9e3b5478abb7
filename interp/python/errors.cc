#include "gloveport/interp/python/errors.h"

#include <string>

namespace gloveport::python {

py::object MakeException(const Error& error, std::string_view what, std::string_view where) {
  const py::object make = py::module_::import("gloveport.errors").attr("from_host");
  return make(std::string(ErrorCodeName(error.code)), error.message, error.hint, std::string(what),
              std::string(where));
}

void Raise(const Error& error, std::string_view what, std::string_view where) {
  const py::object exception = MakeException(error, what, where);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

Error ErrorOf(py::error_already_set& error) {
  const bool argument = error.matches(PyExc_TypeError) || error.matches(PyExc_ValueError);
  std::string text;
  try {
    text = py::str(error.value());
  } catch (py::error_already_set&) {
    text = "(its text cannot be had)";
  }
  const std::string type = py::str(error.type().attr("__name__"));
  // A ToolError is what a tool raises for its caller to read: its class says nothing more.
  if (type == "ToolError" && !text.empty()) return {ErrorCode::kInternal, text, ""};
  return {argument ? ErrorCode::kInvalidArgument : ErrorCode::kInternal,
          text.empty() ? type : type + ": " + text, ""};
}

}  // namespace gloveport::python
