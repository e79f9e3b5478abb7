#include "gloveport/interp/child/native_module.h"

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/final_answer.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/tool_call.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

// call_tool(name, arguments)
PyObject* CallToolEntry(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) return PyErr_SetString(PyExc_TypeError, "call_tool(name, arguments)"), nullptr;
  return CallTool(args[0], args[1]).release();
}

// show(bundle): sends a Display; bundle maps MIME types to text or bytes.
PyObject* Show(PyObject*, PyObject* bundle) {
  HostLink* link = State().link;
  CborWriter writer;
  if (!EncodeObject(bundle, writer, Fidelity::kShown)) return nullptr;
  if (link == nullptr) Py_RETURN_NONE;
  const Status sent = [&] {
    const GilReleased released;
    return link->Send(wire::Display{State().cell, writer.Take()});
  }();
  if (!sent) return PyErr_SetString(PyExc_OSError, sent.error().message.c_str()), nullptr;
  Py_RETURN_NONE;
}

PyMethodDef kMethods[] = {
    {"call_tool", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(CallToolEntry)), METH_FASTCALL,
     nullptr},
    {"final_answer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(FinalAnswer)),
     METH_VARARGS | METH_KEYWORDS, kFinalAnswerDoc},
    {"show", Show, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "_gloveport_native", nullptr, -1, kMethods, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyObject* MakeNativeModule() { return PyModule_Create(&kModule); }

}  // namespace gloveport::child
