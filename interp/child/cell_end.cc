#include "gloveport/interp/child/cell_end.h"

#include <fcntl.h>

#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {
namespace {

void CallQuietly(const char* part, const char* function) {
  PyObject* found = PythonFunction(part, function);
  const PyRef result = found != nullptr ? PyRef::Steal(PyObject_CallNoArgs(found)) : PyRef();
  if (!result) PyErr_Clear();
}

// matplotlib._pylab_helpers.Gcf.figs, once matplotlib is there; never null afterwards.
PyObject* FigureManagers() {
  static PyObject* name = PyUnicode_InternFromString("matplotlib._pylab_helpers");
  static PyObject* figures = nullptr;
  if (figures != nullptr) return figures;
  PyObject* module = PyDict_GetItem(PyImport_GetModuleDict(), name);  // borrowed
  if (module == nullptr) return nullptr;
  const PyRef holder = PyRef::Steal(PyObject_GetAttrString(module, "Gcf"));
  if (holder) figures = PyObject_GetAttrString(holder.get(), "figs");
  if (figures == nullptr) PyErr_Clear();
  return figures;
}

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

// True where sys.<name> is still the stream of the session and could be flushed.
bool FlushOwn(const char* name, PyObject* own) {
  static PyObject* flush = PyUnicode_InternFromString("flush");
  if (own == nullptr || PySys_GetObject(name) != own) return false;
  const PyRef done = PyRef::Steal(PyObject_CallMethodNoArgs(own, flush));
  if (!done) PyErr_Clear();
  return static_cast<bool>(done);
}

// What is written from here on is the next cell's.
void ForgetCounts() {
  PyObject* counts = PythonFunction("streams", "counts");
  if (counts == nullptr || !PyList_CheckExact(counts)) return PyErr_Clear();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(counts); ++i) {
    if (PyObject_IsTrue(PyList_GET_ITEM(counts, i)) != 0) PyList_SetItem(counts, i, PyLong_FromLong(0));
  }
}

bool FlushBoth() {
  PyObject* streams = PythonFunction("streams", "current");  // a list: [stdout, stderr]
  const bool known = streams != nullptr && PyList_CheckExact(streams) && PyList_GET_SIZE(streams) == 2;
  if (!known) return PyErr_Clear(), true;
  return FlushOwn("stdout", PyList_GET_ITEM(streams, 0)) && FlushOwn("stderr", PyList_GET_ITEM(streams, 1)) &&
         IsOpen(1) && IsOpen(2);
}

}  // namespace

void ShowOpenFigures() {
  PyObject* figures = FigureManagers();
  if (figures == nullptr || PyObject_Size(figures) <= 0) return PyErr_Clear();
  CallQuietly("display", "finish_cell");
}

void FinishStreams() {
  if (!FlushBoth()) CallQuietly("streams", "finish_cell");
  ForgetCounts();
}

}  // namespace gloveport::child
