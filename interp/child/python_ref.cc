#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

PyRef PyText(std::string_view utf8) {
  return PyRef::Steal(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace"));
}

std::string Utf8Of(PyObject* text) {
  if (text == nullptr || !PyUnicode_Check(text)) return {};
  Py_ssize_t size = 0;
  if (PyUnicode_IS_COMPACT_ASCII(text)) {
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    return std::string(data, static_cast<std::size_t>(size));
  }
  const PyRef bytes = PyRef::Steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return {};
  }
  return std::string(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
}

PyRef TakeException() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return {};
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr && value != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return PyRef::Steal(value);
}

tl::unexpected<Error> FailPython(std::string_view what) {
  const PyRef exception = TakeException();
  std::string text(what);
  if (exception) {
    text += ": ";
    text += Py_TYPE(exception.get())->tp_name;
    const PyRef message = PyRef::Steal(PyObject_Str(exception.get()));
    if (!message) PyErr_Clear();
    if (const std::string detail = Utf8Of(message.get()); !detail.empty()) text += ": " + detail;
  }
  return Fail(ErrorCode::kInternal, std::move(text));
}

}  // namespace gloveport::child
