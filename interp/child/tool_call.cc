#include "gloveport/interp/child/tool_call.h"

#include <fmt/core.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/schema_check.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/unwinder.h"
#include "gloveport/interp/child/value_decoder.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport::child {
namespace {

constexpr const char* kCapsule = "gloveport.Caller";

struct Parameter {
  std::string name;
  std::unique_ptr<SchemaCheck> check;
};

struct Caller {
  std::string tool;
  std::vector<Parameter> parameters;
};

PyRef RaiseHostGone(const Error& error) {
  PyErr_Format(PyExc_ConnectionError, "the host does not answer any more: %s", error.message.c_str());
  return {};
}

// error_type names a built-in exception class, or the tool's own failure: ToolError.
PyRef ToolFailure(const wire::ToolReply& reply) {
  PyObject* make = PythonFunction("tools", "make_error");
  if (make == nullptr) return {};
  const PyRef type = PyText(reply.error_type);
  const PyRef message = PyText(reply.error_message);
  if (!type || !message) return {};
  return PyRef::Steal(PyObject_CallFunctionObjArgs(make, type.get(), message.get(), nullptr));
}

PyRef RaiseToolFailure(const wire::ToolReply& reply) {
  const PyRef error = ToolFailure(reply);
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  return {};
}

// Between two waits: what has come in that ends the call. False with an error set.
bool MayWait() {
  if (PyErr_CheckSignals() != 0) return false;
  if (!Unwinder::IsDoomed()) return true;
  CellStop::SetException();
  return false;
}

// The id of the call, or nothing with an error set. Threads of earlier cells wait here until a cell runs.
std::optional<std::uint64_t> Start(HostLink& link, const Caller& caller, wire::Encoded& args,
                                   HostLink::Delivery delivery) {
  while (true) {
    const std::uint64_t wakes = link.wakes();
    if (!MayWait()) return std::nullopt;
    if (!State().cell_running.load() && CellStop::OnMainThread()) {
      PyErr_Format(PyExc_RuntimeError, "%s() can only be called while a cell runs", caller.tool.c_str());
      return std::nullopt;
    }
    auto call = [&] {
      const GilReleased released;
      return link.StartCall(caller.tool, args, wakes, delivery);
    }();
    if (call && *call) return **call;
    if (call) continue;
    if (call.error().code == ErrorCode::kResourceExhausted) {
      PyErr_Format(PyExc_OverflowError, "the arguments of %s() are too large to send: %s",
                   caller.tool.c_str(), call.error().message.c_str());
    } else {
      RaiseHostGone(call.error());
    }
    return std::nullopt;
  }
}

// Waits without the GIL. Nothing, with an error set, where the wait was broken off by a signal or by the
// host.
std::optional<wire::ToolReply> Await(HostLink& link, std::uint64_t call) {
  while (true) {
    // What came before `wakes` was read has not been waited for: it is handled now, not when the reply comes.
    const std::uint64_t wakes = link.wakes();
    if (!MayWait()) break;
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

// The encoder does not know which argument it is at.
void NameArgument(const Caller& caller, const Parameter& parameter) {
  for (PyObject* type : {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError}) {
    if (!PyErr_ExceptionMatches(type)) continue;
    const PyRef error = TakeException();
    const PyRef text = PyRef::Steal(PyObject_Str(error.get()));
    if (!text) PyErr_Clear();
    const std::string message =
        fmt::format("{}() argument '{}': {}", caller.tool, parameter.name, Utf8Of(text.get()));
    PyErr_SetString(type, message.c_str());
    return;
  }
}

// The arguments as one map, within the limits of one value; nothing with an error set where one of them
// cannot be passed.
std::optional<wire::Encoded> EncodeArguments(const Caller& caller, PyObject* const* args) {
  CborWriter writer(State().link->outgoing());
  EncodeBudget budget;
  writer.MapHead(caller.parameters.size());
  budget.items = 1;
  for (std::size_t i = 0; i < caller.parameters.size(); ++i) {
    const Parameter& parameter = caller.parameters[i];
    const std::string complaint = parameter.check->Complaint(args[i]);
    if (PyErr_Occurred()) return std::nullopt;
    if (!complaint.empty()) {
      PyErr_Format(PyExc_TypeError, "%s() argument '%s'%s%s", caller.tool.c_str(), parameter.name.c_str(),
                   complaint.front() == '[' ? "" : " ", complaint.c_str());
      return std::nullopt;
    }
    writer.Text(parameter.name);
    ++budget.items;
    if (!EncodeObject(args[i], writer, Fidelity::kExact, budget))
      return NameArgument(caller, parameter), std::nullopt;
  }
  return writer.Take();
}

HostLink* Link() {
  HostLink* link = State().link;
  if (link == nullptr) PyErr_SetString(PyExc_RuntimeError, "there is no host to call a tool of");
  return link;
}

// Null with an error set where the callable was not given exactly one value for each parameter.
const Caller* CallerOf(PyObject* capsule, Py_ssize_t count) {
  const auto* caller = static_cast<Caller*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (caller == nullptr || count == static_cast<Py_ssize_t>(caller->parameters.size())) return caller;
  PyErr_SetString(PyExc_TypeError, "every parameter of a tool must be given");
  return nullptr;
}

// The id of the call that was sent, or nothing with an error set.
std::optional<std::uint64_t> Send(HostLink& link, const Caller& caller, PyObject* const* args,
                                  HostLink::Delivery delivery) {
  std::optional<wire::Encoded> encoded = EncodeArguments(caller, args);
  if (!encoded) return std::nullopt;
  auto call = Start(link, caller, *encoded, delivery);
  if (!call) link.Withdraw(*encoded);
  return call;
}

// Memory of C++'s that is refused is a MemoryError, too.
template <typename Body>
PyObject* Guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* CallTool(const Caller& caller, HostLink& link, PyObject* const* args) {
  const std::optional<std::uint64_t> call = Send(link, caller, args, HostLink::Delivery::kAwaited);
  if (!call) return nullptr;
  const std::optional<wire::ToolReply> reply = Await(link, *call);
  if (!reply) return nullptr;
  return (reply->ok ? DecodeObject(reply->value, link.incoming()) : RaiseToolFailure(*reply)).release();
}

PyObject* CallEntry(PyObject* capsule, PyObject* const* args, Py_ssize_t count) {
  const Caller* caller = CallerOf(capsule, count);
  HostLink* link = caller != nullptr ? Link() : nullptr;
  if (link == nullptr) return nullptr;
  return Guarded([&] { return CallTool(*caller, *link, args); });
}

PyObject* StartEntry(PyObject* capsule, PyObject* const* args, Py_ssize_t count) {
  const Caller* caller = CallerOf(capsule, count);
  HostLink* link = caller != nullptr ? Link() : nullptr;
  if (link == nullptr) return nullptr;
  return Guarded([&]() -> PyObject* {
    const std::optional<std::uint64_t> call = Send(*link, *caller, args, HostLink::Delivery::kCollected);
    return call ? PyLong_FromUnsignedLongLong(*call) : nullptr;
  });
}

PyMethodDef kCall = {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(CallEntry)),
                     METH_FASTCALL, nullptr};
PyMethodDef kStart = {"start", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(StartEntry)),
                      METH_FASTCALL, nullptr};

// (call, value, None) or (call, None, exception).
PyRef DescribeReply(const wire::ToolReply& reply) {
  PyRef value = reply.ok ? DecodeObject(reply.value, State().link->incoming()) : PyRef::Borrow(Py_None);
  PyRef error = reply.ok ? PyRef::Borrow(Py_None) : ToolFailure(reply);
  if (!value) {
    value = PyRef::Borrow(Py_None);
    error = TakeException();
  }
  if (!error) return {};
  return PyRef::Steal(
      Py_BuildValue("KOO", static_cast<unsigned long long>(reply.call), value.get(), error.get()));
}

void DeleteCaller(PyObject* capsule) { delete static_cast<Caller*>(PyCapsule_GetPointer(capsule, kCapsule)); }

}  // namespace

PyObject* MakeCaller(PyObject*, PyObject* args) {
  PyObject* name = nullptr;
  PyObject* parameters = nullptr;
  int starts = 0;
  if (!PyArg_ParseTuple(args, "UO!|p", &name, &PyList_Type, &parameters, &starts)) return nullptr;
  auto caller = std::make_unique<Caller>();
  caller->tool = Utf8Of(name);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parameters); ++i) {
    PyObject* parameter_name = nullptr;
    PyObject* schema = nullptr;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(parameters, i), "UO", &parameter_name, &schema)) return nullptr;
    caller->parameters.push_back({Utf8Of(parameter_name), SchemaCheck::Compile(schema)});
  }
  const PyRef capsule = PyRef::Steal(PyCapsule_New(caller.get(), kCapsule, DeleteCaller));
  if (!capsule) return nullptr;
  (void)caller.release();  // the capsule owns it
  return PyCFunction_New(starts ? &kStart : &kCall, capsule.get());
}

PyObject* CollectReplies(PyObject*, PyObject*) {
  HostLink* link = Link();
  if (link == nullptr) return nullptr;
  const std::uint64_t wakes = link->wakes();
  if (!MayWait()) return nullptr;
  const auto replies = [&] {
    const GilReleased released;
    return link->AwaitCollected(wakes);
  }();
  if (!replies) return RaiseHostGone(replies.error()).release();
  PyRef list = PyRef::Steal(PyList_New(0));
  for (const wire::ToolReply& reply : *replies) {
    const PyRef described = list ? DescribeReply(reply) : PyRef();
    if (!described || PyList_Append(list.get(), described.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* AbandonCall(PyObject*, PyObject* call) {
  const unsigned long long id = PyLong_AsUnsignedLongLong(call);
  if (PyErr_Occurred()) return nullptr;
  HostLink* link = Link();
  if (link == nullptr) return nullptr;
  link->AbandonCall(id);
  link->Wake();
  Py_RETURN_NONE;
}

}  // namespace gloveport::child
