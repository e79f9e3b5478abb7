// PyRef: sole owner of one reference to a Python object. Everything in this file needs the GIL unless it says
// otherwise.
#ifndef GLOVEPORT_INTERP_CHILD_PYTHON_REF_H_
#define GLOVEPORT_INTERP_CHILD_PYTHON_REF_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "gloveport/core/base/result.h"

#if PY_VERSION_HEX < 0x030B0000  // the codec is also part of the Python package, which is for older ones, too
inline PyObject* PyType_GetName(PyTypeObject* type) {
  return PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__");
}
#endif

namespace gloveport::child {

class PyRef {
 public:
  PyRef() = default;
  // Takes over a reference that the caller owns; null is allowed and means "failed, a Python error is set".
  static PyRef Steal(PyObject* object) { return PyRef(object); }
  static PyRef Borrow(PyObject* object) {
    Py_XINCREF(object);
    return PyRef(object);
  }
  PyRef(PyRef&& other) noexcept : object_(other.release()) {}
  PyRef& operator=(PyRef&& other) noexcept {
    PyObject* old = std::exchange(object_, other.release());
    Py_XDECREF(old);
    return *this;
  }
  PyRef(const PyRef&) = delete;
  PyRef& operator=(const PyRef&) = delete;
  ~PyRef() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit PyRef(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Gives the GIL up for a scope.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { PyEval_RestoreThread(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

// Puts the current Python error aside for a scope and brings it back.
class ErrorKept {
 public:
  ErrorKept() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorKept() { PyErr_Restore(type_, value_, traceback_); }
  ErrorKept(const ErrorKept&) = delete;
  ErrorKept& operator=(const ErrorKept&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* traceback_ = nullptr;
};

// Runs `body`, which returns like a function of the C API: what it cannot allocate becomes a MemoryError of
// the cell, with `failed` as result, instead of the end of the process.
template <typename Failed, typename Body>
auto OrMemoryError(Failed failed, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return failed;
  }
}

PyRef PyText(std::string_view utf8);  // undecodable bytes become U+FFFD

// The text of a str as UTF-8, lone surrogates as \udcXX. Empty for what is no str; leaves no error set.
std::string Utf8Of(PyObject* text);

// Fetches and clears the current error: its value, normalized, with its traceback attached. Never null with
// one set.
PyRef TakeException();

// Turns the current error into an Error of code kInternal that begins with `what`; clears it.
tl::unexpected<Error> FailPython(std::string_view what);

// Calls object.name(*arguments); new reference or null with an error set.
template <typename... Arguments>
PyRef CallMethod(PyObject* object, const char* name, Arguments... arguments) {
  PyRef method = PyRef::Steal(PyObject_GetAttrString(object, name));
  if (!method) return {};
  return PyRef::Steal(PyObject_CallFunctionObjArgs(method.get(), arguments..., nullptr));
}

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_PYTHON_REF_H_
