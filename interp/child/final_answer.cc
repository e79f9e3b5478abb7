#include "gloveport/interp/child/final_answer.h"

#include <atomic>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

std::atomic<bool> g_given{false};

struct Arguments {
  PyObject* answer = nullptr;       // borrowed
  PyObject* explanation = nullptr;  // borrowed; may be null
};

bool Parse(PyObject* args, PyObject* kwargs, Arguments& out) {
  static const char* by_answer[] = {"answer", "explanation", nullptr};
  static const char* by_value[] = {"value", "explanation", nullptr};
  const bool value = kwargs != nullptr && PyDict_GetItemString(kwargs, "value") != nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:final_answer",
                                   const_cast<char**>(value ? by_value : by_answer), &out.answer,
                                   &out.explanation)) {
    return false;
  }
  if (out.explanation == Py_None) out.explanation = nullptr;
  if (out.explanation != nullptr && !PyUnicode_Check(out.explanation)) {
    PyErr_Format(
        PyExc_TypeError,
        "final_answer() takes one answer, and an explanation that must be text, not %.200s; pass several "
        "results as one list or dict",
        Py_TYPE(out.explanation)->tp_name);
    return false;
  }
  return true;
}

// Makes the message; false with an error set.
bool Fill(const Arguments& arguments, wire::FinalAnswer& message) {
  CborWriter writer;
  if (!EncodeObject(arguments.answer, writer, Fidelity::kShown)) return false;
  message.cell = State().cell;
  message.value = writer.Take();
  message.repr = ShownRepr(arguments.answer, kMaxReprBytes);
  message.explanation = Utf8Of(arguments.explanation);
  return PyErr_Occurred() == nullptr;
}

}  // namespace

const char kFinalAnswerDoc[] =
    "final_answer($module, answer, explanation='')\n--\n\n"
    "End the run with this answer. Nothing after the call is executed.\n\n"
    "explanation: how the answer was found, for the person who asked.";

PyObject* FinalAnswer(PyObject*, PyObject* args, PyObject* kwargs) {
  Arguments arguments;
  if (!Parse(args, kwargs, arguments)) return nullptr;
  if (g_given.load()) Py_RETURN_NONE;
  HostLink* link = State().link;
  if (link == nullptr || !State().cell_running.load()) {
    return PyErr_SetString(PyExc_RuntimeError, "final_answer() can only be called while a cell runs"),
           nullptr;
  }
  wire::FinalAnswer message;
  if (!OrMemoryError(false, [&] { return Fill(arguments, message); })) return nullptr;
  if (g_given.exchange(true)) Py_RETURN_NONE;  // another thread was quicker while the value was encoded
  const auto sent = OrMemoryError(Result<bool>(Fail(ErrorCode::kResourceExhausted, "out of memory")), [&] {
    const GilReleased released;
    return link->SendInCell(std::move(message));
  });
  if (sent && !*sent) {
    g_given = false;
    return PyErr_SetString(PyExc_RuntimeError, "final_answer() can only be called while a cell runs"),
           nullptr;
  }
  if (!sent) {
    g_given = false;
    if (PyErr_Occurred()) return nullptr;
    PyErr_Format(PyExc_OverflowError, "the answer could not be sent: %s", sent.error().message.c_str());
    return nullptr;
  }
  return CellStop::Raise(StopReason::kFinalAnswer);
}

bool FinalAnswerGiven() { return g_given.load(); }
void ForgetFinalAnswer() { g_given = false; }

}  // namespace gloveport::child
