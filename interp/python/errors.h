// Errors of the host library as exceptions of gloveport.errors, and exceptions of Python as errors. Needs the
// GIL.
#ifndef GLOVEPORT_INTERP_PYTHON_ERRORS_H_
#define GLOVEPORT_INTERP_PYTHON_ERRORS_H_

#include <pybind11/pybind11.h>

#include <string_view>
#include <utility>

#include "gloveport/core/base/result.h"

namespace gloveport::python {

namespace py = pybind11;

// The exception for `error`. `what` names the operation, `where` the object that it was about.
py::object MakeException(const Error& error, std::string_view what, std::string_view where);
[[noreturn]] void Raise(const Error& error, std::string_view what, std::string_view where);

template <typename T>
T Unwrap(Result<T> result, std::string_view what, std::string_view where = "") {
  if (!result) Raise(result.error(), what, where);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// kInvalidArgument for TypeError and ValueError, else kInternal, with the exception's class and text.
Error ErrorOf(py::error_already_set& error);

// The same call with the GIL given up, for everything that waits.
template <typename F>
auto Released(F call) {
  const py::gil_scoped_release released;
  return call();
}

}  // namespace gloveport::python

#endif  // GLOVEPORT_INTERP_PYTHON_ERRORS_H_
