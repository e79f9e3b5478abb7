#include "gloveport/interp/child/tool_call.h"

#include <optional>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/value_decoder.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

PyRef RaiseHostGone(const Error& error) {
  PyErr_Format(PyExc_ConnectionError, "the host does not answer any more: %s", error.message.c_str());
  return {};
}

// error_type names a built-in exception class, or the tool's own failure: ToolError.
PyRef RaiseToolFailure(const wire::ToolReply& reply) {
  PyObject* make = PythonFunction("tools", "make_error");
  if (make == nullptr) return {};
  const PyRef type = PyText(reply.error_type);
  const PyRef message = PyText(reply.error_message);
  if (!type || !message) return {};
  const PyRef error = PyRef::Steal(PyObject_CallFunctionObjArgs(make, type.get(), message.get(), nullptr));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  return {};
}

// Waits without the GIL. Nothing, with an error set, where the wait was broken off by a signal or by the
// host.
std::optional<wire::ToolReply> Await(HostLink& link, std::uint64_t call) {
  while (true) {
    const std::uint64_t wakes = link.wakes();
    // A signal that came before `wakes` was read has not been waited for: handle it now, not when the reply
    // comes.
    if (PyErr_CheckSignals() != 0) break;
    auto reply = [&] {
      const GilReleased released;
      return link.AwaitReply(call, wakes);
    }();
    if (!reply) {
      RaiseHostGone(reply.error());
      break;
    }
    if (*reply) return std::move(**reply);
  }
  link.AbandonCall(call);
  return std::nullopt;
}

}  // namespace

PyRef CallTool(PyObject* name, PyObject* arguments) {
  HostLink* link = State().link;
  if (link == nullptr)
    return PyErr_SetString(PyExc_RuntimeError, "there is no host to call a tool of"), PyRef();
  CborWriter writer;
  if (!EncodeObject(arguments, writer, Fidelity::kExact)) return {};
  auto call = [&] {
    const std::string tool = Utf8Of(name);
    const GilReleased released;
    return link->StartCall(State().cell, tool, writer.Take());
  }();
  if (!call) {
    if (call.error().code != ErrorCode::kResourceExhausted) return RaiseHostGone(call.error());
    PyErr_Format(PyExc_OverflowError, "the arguments are too large to send: %s",
                 call.error().message.c_str());
    return {};
  }
  const std::optional<wire::ToolReply> reply = Await(*link, *call);
  if (!reply) return {};
  return reply->ok ? DecodeObject(reply->value) : RaiseToolFailure(*reply);
}

}  // namespace gloveport::child
