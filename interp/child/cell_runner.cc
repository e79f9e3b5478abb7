#include "gloveport/interp/child/cell_runner.h"

#include <fmt/core.h>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/cell_compiler.h"
#include "gloveport/interp/child/cell_end.h"
#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/event_log.h"
#include "gloveport/interp/child/final_answer.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

const wire::Encoded kNone = "\xf6";
constexpr std::size_t kMaxCellValueBytes = 32u << 20;

// One context for all cells, with and without await: what one sets in it, the next sees.
PyObject* Context() {
  static PyObject* context = [] {
    PyObject* make = PythonFunction("loop", "context");
    return make != nullptr ? PyObject_CallNoArgs(make) : nullptr;
  }();
  return context;
}

bool Awaits(PyObject* code) {
  return code != nullptr && (reinterpret_cast<PyCodeObject*>(code)->co_flags & CO_COROUTINE) != 0;
}

// Code with a top-level await gives a coroutine: it is run to its end in the session's event loop.
PyRef Evaluate(PyObject* code) {
  PyObject* globals = State().main_namespace;
  if (!Awaits(code)) {
    PyObject* context = Context();
    // An extension may have left the context entered; the cell then runs in what is there.
    const bool entered = context != nullptr && PyContext_Enter(context) == 0;
    if (!entered) PyErr_Clear();
    PyRef result = PyRef::Steal(PyEval_EvalCode(code, globals, globals));
    const ErrorKept kept;
    if (entered && PyContext_Exit(context) != 0) PyErr_Clear();
    return result;
  }
  const PyRef coroutine = PyRef::Steal(PyEval_EvalCode(code, globals, globals));
  PyObject* run = PythonFunction("loop", "run");
  if (!coroutine || run == nullptr) return {};
  return PyRef::Steal(PyObject_CallFunctionObjArgs(run, coroutine.get(), nullptr));
}

// A statement that makes a task needs the loop that the last expression awaits it in, and the other way
// round.
PyRef EvaluateTogether(PyObject* body, PyObject* value) {
  PyObject* run = PythonFunction("loop", "run_parts");
  if (run == nullptr) return {};
  return PyRef::Steal(PyObject_CallFunction(run, "(OO)O", body, value, State().main_namespace));
}

// The code of the interactive kind that runs, and what it has handed over; guarded by the GIL.
PyObject* g_interactive = nullptr;
PyRef g_handed_over;
PyRef g_original_hook;

// Stands for sys.displayhook while such code runs. Code that a cell compiles for itself gets the original.
PyObject* TakeOver(PyObject*, PyObject* value) {
  PyFrameObject* frame = PyEval_GetFrame();
  const PyRef code =
      frame != nullptr ? PyRef::Steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame))) : PyRef();
  if (code.get() != g_interactive) return PyObject_CallOneArg(g_original_hook.get(), value);
  g_handed_over = PyRef::Borrow(value);
  Py_RETURN_NONE;
}

PyMethodDef kTakeOver = {"displayhook", TakeOver, METH_O, nullptr};

// The last expression of a line such as `x = 1; x`: compiled once, as at a prompt.
PyRef EvaluateInteractive(PyObject* code) {
  static PyObject* take_over = PyCFunction_New(&kTakeOver, nullptr);
  g_original_hook = PyRef::Borrow(PySys_GetObject("displayhook"));
  if (!g_original_hook || PySys_SetObject("displayhook", take_over) != 0) return {};
  g_interactive = code;
  const PyRef done = Evaluate(code);
  g_interactive = nullptr;
  PyRef value = std::move(g_handed_over);
  const ErrorKept kept;
  if (PySys_GetObject("displayhook") == take_over) PySys_SetObject("displayhook", g_original_hook.get());
  g_original_hook = {};
  if (!done) return {};
  return value ? std::move(value) : PyRef::Borrow(Py_None);
}

// Null with an error set, or the value of the trailing expression (None without one).
PyRef Execute(const wire::RunCell& cell) {
  const PyRef filename = PyText(fmt::format("<cell {}>", cell.cell));
  CompiledCell compiled;
  if (!filename || !CompileCell(cell.code, filename.get(), compiled)) return {};
  if (compiled.interactive) return EvaluateInteractive(compiled.interactive.get());
  if (compiled.body && compiled.value && (Awaits(compiled.body.get()) || Awaits(compiled.value.get())))
    return EvaluateTogether(compiled.body.get(), compiled.value.get());
  if (compiled.body) {
    const PyRef done = Evaluate(compiled.body.get());
    if (!done) return {};
  }
  return compiled.value ? Evaluate(compiled.value.get()) : PyRef::Borrow(Py_None);
}

// Sends the value's rich forms, if its class has any. False with an error set where the cell was stopped
// meanwhile.
bool ShowRichly(PyObject* value) {
  if (Py_TYPE(value)->tp_flags &
      (Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS)) {
    return true;
  }
  if (PyFloat_CheckExact(value) || PyList_CheckExact(value) || PyTuple_CheckExact(value) ||
      PyDict_CheckExact(value)) {
    return true;
  }
  PyObject* show = PythonFunction("display", "show_value");
  const PyRef shown = show != nullptr ? PyRef::Steal(PyObject_CallOneArg(show, value)) : PyRef();
  if (shown) return true;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
  PyErr_Clear();
  return true;
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
  return ShowRichly(value);
}

// errors.describe gives (status, map); should it fail itself, the class name is still told. `status` is what
// is already known, or empty.
void DescribeError(PyObject* exception, const std::string& status, wire::CellDone& done) {
  CborWriter writer;
  PyObject* describe = PythonFunction("errors", "describe");
  PyRef answer;
  if (describe != nullptr) {
    answer = PyRef::Steal(PyObject_CallFunction(describe, "Oks", exception,
                                                static_cast<unsigned long>(done.cell), status.c_str()));
  }
  if (answer && EncodeObject(PyTuple_GET_ITEM(answer.get(), 1), writer, Fidelity::kShown)) {
    done.status = Utf8Of(PyTuple_GET_ITEM(answer.get(), 0));
    done.error = done.status == "ok" ? kNone : writer.Take();
    return;
  }
  PyErr_Clear();
  done.status = status.empty() ? "error" : status;
  writer.Clear();
  const std::string type = Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(exception))).get());
  WriteValue(writer, Value::Object({{"type", type},
                                    {"message", ""},
                                    {"line", 0},
                                    {"cell", static_cast<std::int64_t>(done.cell)},
                                    {"traceback", type + " (this exception cannot be shown)\n"}}));
  done.error = writer.Take();
}

// Fills in how the cell ended. `exception` is null where nothing escaped from it.
void Conclude(StopReason reason, PyObject* exception, wire::CellDone& done) {
  if (reason == StopReason::kNone && exception == nullptr && !FinalAnswerGiven()) return;
  done.value = kNone;
  done.repr.clear();
  done.type.clear();
  if (FinalAnswerGiven()) return;  // nothing that came after it counts
  if (reason == StopReason::kTimeout) {
    PyObject* stop = CellStop::exception();
    done.status = "timeout";
    if (stop != nullptr || exception != nullptr)
      DescribeError(stop != nullptr ? stop : exception, "timeout", done);
    return;
  }
  const bool interrupted =
      CellStop::interrupted() && PyErr_GivenExceptionMatches(exception, PyExc_KeyboardInterrupt);
  DescribeError(exception, interrupted ? "interrupted" : "", done);
}

}  // namespace

wire::CellDone RunCell(const wire::RunCell& cell) {
  wire::CellDone done{.cell = cell.cell, .status = "ok", .value = kNone, .error = kNone};
  State().cell = cell.cell;
  State().cell_approved = cell.approved;
  State().cell_running = true;
  ForgetFinalAnswer();
  EventLog::BeginCell();
  CellStop::Begin(cell.cell);
  PyRef value = OrMemoryError(PyRef(), [&] {
    PyRef result = Execute(cell);
    return result && DescribeValue(result.get(), done) ? std::move(result) : PyRef();
  });
  PyRef exception = value ? PyRef() : TakeException();
  ShowOpenFigures();
  const StopReason reason = CellStop::End();
  State().cell_running = false;
  // What the unwinder left behind must not become the context of later errors.
  PyErr_SetHandledException(nullptr);
  try {
    Conclude(reason, exception.get(), done);
  } catch (const std::bad_alloc&) {  // not even the error can be told
    PyErr_Clear();
    done = {.cell = cell.cell, .status = "memory", .value = kNone, .error = kNone};
  }
  exception = {};
  value = {};
  FinishStreams();
  EventLog::EndCell();
  return done;
}

}  // namespace gloveport::child
