#include "gloveport/interp/child/cell_compiler.h"

#include <string>

#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/statement_scanner.h"

namespace gloveport::child {
namespace {

constexpr int kTopLevelAwait = 0x2000;  // PyCF_ALLOW_TOP_LEVEL_AWAIT of the internal headers

// What `from __future__` imports of earlier cells have set; a notebook keeps them.
int g_future_flags = 0;

PyRef Compile(const std::string& text, PyObject* filename, int start) {
  PyCompilerFlags flags{};
  flags.cf_flags = PyCF_SOURCE_IS_UTF8 | PyCF_IGNORE_COOKIE | kTopLevelAwait | g_future_flags;
  flags.cf_feature_version = PY_MINOR_VERSION;
  PyRef code = PyRef::Steal(Py_CompileStringObject(text.c_str(), filename, start, &flags, -1));
  if (code) g_future_flags |= reinterpret_cast<PyCodeObject*>(code.get())->co_flags & PyCF_MASK;
  return code;
}

// The way over CPython's own syntax tree: exact for every text, but the tree becomes Python objects in
// between.
bool CompileByTree(PyObject* source, PyObject* filename, CompiledCell& out) {
  PyObject* split = PythonFunction("sources", "compile_cell");
  if (split == nullptr) return false;
  const PyRef triple = PyRef::Steal(PyObject_CallFunction(split, "OOi", source, filename, g_future_flags));
  if (!triple) return false;
  PyObject* body = PyTuple_GET_ITEM(triple.get(), 0);
  PyObject* value = PyTuple_GET_ITEM(triple.get(), 1);
  if (body != Py_None) out.body = PyRef::Borrow(body);
  if (value != Py_None) out.value = PyRef::Borrow(value);
  g_future_flags = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(triple.get(), 2)));
  return true;
}

// The expression at its own line and column, so that positions in tracebacks are those of the cell. A line
// cannot begin with blanks; a parenthesis takes the first column and the blanks stand inside.
std::string ExpressionAtItsPlace(std::string_view text, const LastStatement& last) {
  std::string out(last.line, '\n');
  const std::string_view expression = text.substr(last.begin, last.end - last.begin);
  if (last.column == 0) return out.append(expression);
  out += '(';
  out.append(last.column - 1, ' ');
  return out.append(expression).append("\n)");
}

// True where both parts could be compiled; otherwise no error is left.
bool CompileInParts(std::string_view text, const LastStatement& last, PyObject* filename, CompiledCell& out) {
  const int flags_before = g_future_flags;
  if (last.one_line && !last.alone) {
    out.interactive = Compile(std::string(text), filename, Py_single_input);
    if (!out.interactive) PyErr_Clear();
    return static_cast<bool>(out.interactive);
  }
  if (!last.alone) {
    out.body = Compile(std::string(text.substr(0, last.begin)), filename, Py_file_input);
    if (!out.body) return PyErr_Clear(), false;
  }
  out.value = Compile(ExpressionAtItsPlace(text, last), filename, Py_eval_input);
  if (out.value) return true;
  PyErr_Clear();
  out = {};
  g_future_flags = flags_before;
  return false;
}

bool Register(PyObject* source, PyObject* filename) {
  static PyObject* texts = PythonFunction("sources", "texts");
  return texts != nullptr && PyDict_SetItem(texts, filename, source) == 0;
}

}  // namespace

bool CompileCell(std::string_view text, PyObject* filename, CompiledCell& out) {
  const PyRef source = PyText(text);
  if (!source || !Register(source.get(), filename)) return false;
  const LastStatement last = FindLastStatement(text);
  const bool plain = text.find('\0') == std::string_view::npos;
  if (plain && last.kind == LastStatement::Kind::kOther) {
    out.body = Compile(std::string(text), filename, Py_file_input);
    return static_cast<bool>(out.body);
  }
  if (plain && last.kind == LastStatement::Kind::kExpression && CompileInParts(text, last, filename, out))
    return true;
  return CompileByTree(source.get(), filename, out);
}

}  // namespace gloveport::child
