#include "gloveport/interp/child/cell_runner.h"

#include <fmt/core.h>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/cell_compiler.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

const wire::Encoded kNone = "\xf6";
constexpr std::size_t kMaxCellValueBytes = 32u << 20;

// Code with a top-level await gives a coroutine: it is run to its end in the session's event loop.
PyRef Evaluate(PyObject* code) {
  PyObject* globals = State().main_namespace;
  PyRef result = PyRef::Steal(PyEval_EvalCode(code, globals, globals));
  if (!result || (reinterpret_cast<PyCodeObject*>(code)->co_flags & CO_COROUTINE) == 0) return result;
  PyObject* run = PythonFunction("loop", "run");
  if (run == nullptr) return {};
  return PyRef::Steal(PyObject_CallFunctionObjArgs(run, result.get(), nullptr));
}

// Null with an error set, or the value of the trailing expression (None without one).
PyRef Execute(const wire::RunCell& cell) {
  const PyRef filename = PyText(fmt::format("<cell {}>", cell.cell));
  CompiledCell compiled;
  if (!filename || !CompileCell(cell.code, filename.get(), compiled)) return {};
  if (compiled.body) {
    const PyRef done = Evaluate(compiled.body.get());
    if (!done) return {};
  }
  return compiled.value ? Evaluate(compiled.value.get()) : PyRef::Borrow(Py_None);
}

// Fills in value, repr and type. False with an error set where the cell was stopped in the middle of that.
bool DescribeValue(PyObject* value, wire::CellDone& done) {
  if (value == Py_None) return true;
  done.type = Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(value))).get());
  done.repr = ShownRepr(value, kMaxReprBytes);
  if (PyErr_Occurred()) return false;
  CborWriter writer;
  if (!EncodeObject(value, writer, Fidelity::kShown, {.max_bytes = kMaxCellValueBytes})) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_Clear();
    EncodeAsShown(value, writer);
  }
  done.value = writer.Take();
  return true;
}

// errors.describe gives (status, map); should it fail itself, the class name is still told.
void DescribeError(PyObject* exception, wire::CellDone& done) {
  CborWriter writer;
  PyObject* describe = PythonFunction("errors", "describe");
  const PyRef cell = PyRef::Steal(PyLong_FromUnsignedLong(done.cell));
  PyRef answer;
  if (describe != nullptr)
    answer = PyRef::Steal(PyObject_CallFunctionObjArgs(describe, exception, cell.get(), nullptr));
  if (answer && EncodeObject(PyTuple_GET_ITEM(answer.get(), 1), writer, Fidelity::kShown)) {
    done.status = Utf8Of(PyTuple_GET_ITEM(answer.get(), 0));
    done.error = done.status == "ok" ? kNone : writer.Take();
    return;
  }
  PyErr_Clear();
  done.status = "error";
  writer.Clear();
  const std::string type = Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(exception))).get());
  WriteValue(writer, Value::Object({{"type", type},
                                    {"message", ""},
                                    {"line", 0},
                                    {"cell", static_cast<std::int64_t>(done.cell)},
                                    {"traceback", type + " (this exception cannot be shown)\n"}}));
  done.error = writer.Take();
}

void CallHook(const char* part, const char* function) {
  PyObject* hook = PythonFunction(part, function);
  const PyRef result = hook != nullptr ? PyRef::Steal(PyObject_CallNoArgs(hook)) : PyRef();
  if (!result) PyErr_Clear();
}

}  // namespace

wire::CellDone RunCell(const wire::RunCell& cell) {
  wire::CellDone done;
  done.cell = cell.cell;
  done.status = "ok";
  done.value = kNone;
  done.error = kNone;
  State().cell = cell.cell;
  State().cell_running = true;
  PyRef value = Execute(cell);
  if (value && !DescribeValue(value.get(), done)) value = {};
  const bool failed = !value;
  PyRef exception = failed ? TakeException() : PyRef();
  CallHook("display", "finish_cell");
  State().cell_running = false;
  if (failed && exception) {
    done.value = kNone;
    done.repr.clear();
    done.type.clear();
    DescribeError(exception.get(), done);
  }
  exception = {};
  value = {};
  CallHook("streams", "finish_cell");
  PyErr_Clear();
  return done;
}

}  // namespace gloveport::child
