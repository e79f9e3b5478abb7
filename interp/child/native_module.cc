#include "gloveport/interp/child/native_module.h"

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/final_answer.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/tool_call.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

// show(bundle): sends a Display; bundle maps MIME types to text or bytes.
PyObject* Show(PyObject*, PyObject* bundle) {
  HostLink* link = State().link;
  const auto sent = OrMemoryError(Result<bool>(false), [&]() -> Result<bool> {
    CborWriter writer;
    if (!EncodeObject(bundle, writer, Fidelity::kShown) || link == nullptr) return false;
    const GilReleased released;
    return link->SendInCell(wire::Display{State().cell, writer.Take()});
  });
  if (PyErr_Occurred()) return nullptr;
  if (link == nullptr) Py_RETURN_NONE;
  if (!sent) return PyErr_SetString(PyExc_OSError, sent.error().message.c_str()), nullptr;
  if (!*sent) return PyErr_SetString(PyExc_RuntimeError, "nothing can be shown while no cell runs"), nullptr;
  Py_RETURN_NONE;
}

// shown_repr(value): its repr as CellDone has it: cut, and never raising for a repr that does.
PyObject* ShownReprEntry(PyObject*, PyObject* value) {
  const std::string text = ShownRepr(value, kMaxReprBytes);
  return PyErr_Occurred() ? nullptr : PyText(text).release();
}

// import_rules(): {"allow": [...], "deny": [...], "ask": [...]} of the session's policy.
PyObject* ImportRulesEntry(PyObject*, PyObject*) {
  PyRef rules = PyRef::Steal(PyDict_New());
  const ImportRules none;
  const ImportRules& imports = State().policy != nullptr ? State().policy->imports : none;
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"allow", &imports.allow}, {"deny", &imports.deny}, {"ask", &imports.ask}};
  for (const auto& [key, names] : lists) {
    const PyRef list = PyRef::Steal(PyList_New(0));
    for (const std::string& name : *names) {
      if (!list || PyList_Append(list.get(), PyText(name).get()) != 0) return nullptr;
    }
    if (!rules || PyDict_SetItemString(rules.get(), key, list.get()) != 0) return nullptr;
  }
  return rules.release();
}

// input(): in C, so that no frame of ours stands between the cell and the error.
PyObject* NoInput(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(
      PyExc_EOFError,
      "input() cannot be answered: nobody is there to type. Put the value into the code, read it from a "
      "file, or ask for it in your answer");
  return nullptr;
}

template <typename Function>
PyCFunction AsMethod(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef kMethods[] = {
    {"abandon_call", AbandonCall, METH_O, nullptr},
    {"collect_replies", CollectReplies, METH_NOARGS, nullptr},
    {"final_answer", AsMethod(FinalAnswer), METH_VARARGS | METH_KEYWORDS, kFinalAnswerDoc},
    {"import_rules", ImportRulesEntry, METH_NOARGS, nullptr},
    {"make_caller", MakeCaller, METH_VARARGS, nullptr},
    {"no_input", AsMethod(NoInput), METH_VARARGS | METH_KEYWORDS,
     "input($module, prompt='', /)\n--\n\nAlways raises EOFError: nobody can answer in here."},
    {"show", Show, METH_O, nullptr},
    {"shown_repr", ShownReprEntry, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "_gloveport_native", nullptr, -1, kMethods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyObject* MakeNativeModule() { return PyModule_Create(&kModule); }

}  // namespace gloveport::child
