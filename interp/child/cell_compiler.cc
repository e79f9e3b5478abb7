#include "gloveport/interp/child/cell_compiler.h"

#include "gloveport/interp/child/python_parts.h"

namespace gloveport::child {
namespace {

// The way over CPython's own syntax tree: exact for every text, but the tree becomes Python objects in
// between.
bool CompileByTree(PyObject* source, PyObject* filename, CompiledCell& out) {
  PyObject* split = PythonFunction("sources", "compile_cell");
  if (split == nullptr) return false;
  const PyRef pair = PyRef::Steal(PyObject_CallFunctionObjArgs(split, source, filename, nullptr));
  if (!pair) return false;
  PyObject* body = PyTuple_GET_ITEM(pair.get(), 0);
  PyObject* value = PyTuple_GET_ITEM(pair.get(), 1);
  if (body != Py_None) out.body = PyRef::Borrow(body);
  if (value != Py_None) out.value = PyRef::Borrow(value);
  return true;
}

}  // namespace

bool CompileCell(std::string_view text, PyObject* filename, CompiledCell& out) {
  const PyRef source = PyText(text);
  return source && CompileByTree(source.get(), filename, out);
}

}  // namespace gloveport::child
