#include "gloveport/interp/child/session_loop.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <variant>

#include "gloveport/core/wire/cbor.h"
#include "gloveport/interp/child/branch.h"
#include "gloveport/interp/child/cell_runner.h"
#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/host_link.h"
#include "gloveport/interp/child/import_guard.h"
#include "gloveport/interp/child/python_parts.h"
#include "gloveport/interp/child/repeatable.h"
#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/value_decoder.h"
#include "gloveport/interp/child/value_encoder.h"

namespace gloveport {
namespace child {
namespace {

const wire::Encoded kNone = "\xf6";

void FillFailure(wire::Reply& reply) {
  const PyRef exception = TakeException();
  reply.ok = false;
  reply.value = kNone;
  reply.error_type = Utf8Of(PyRef::Steal(PyType_GetName(Py_TYPE(exception.get()))).get());
  const PyRef text = PyRef::Steal(PyObject_Str(exception.get()));
  if (!text) PyErr_Clear();
  reply.error_message = Utf8Of(text.get());
}

wire::Reply AnswerNow(const wire::Request& request) {
  wire::Reply reply{.id = request.id, .ok = true};
  PyObject* handle = PythonFunction("requests", "handle");
  const PyRef op = PyText(request.op);
  const PyRef args = DecodeObject(request.args);
  PyRef answer;
  if (handle != nullptr && op && args) {
    answer = PyRef::Steal(PyObject_CallFunctionObjArgs(handle, op.get(), args.get(), nullptr));
  }
  CborWriter writer;
  if (answer && EncodeObject(answer.get(), writer, Fidelity::kShown)) {
    reply.value = writer.Take();
  } else {
    FillFailure(reply);
  }
  return reply;
}

// Code of cells may run for it: the host can stop it like a cell.
wire::Reply Answer(const wire::Request& request) {
  CellStop::Begin(wire::StopNumber(request));
  wire::Reply reply = AnswerNow(request);
  if (CellStop::End() == StopReason::kTimeout) {
    reply.ok = false;
    reply.value = kNone;
    reply.error_type = "TimeoutError";
    reply.error_message = "it was stopped: it took too long";
  }
  PyErr_SetHandledException(nullptr);
  return reply;
}

// Runs or answers one command. With the GIL, which is given up while anything is sent.
Status Serve(HostLink& link, const HostLink::Command& command) {
  if (const auto* cell = std::get_if<wire::RunCell>(&command)) {
    // A throw-away cell may have run under the number of the first.
    if (cell->clock && cell->cell == 0) SetWallClock(*cell->clock);
    if (cell->clock) AdvanceWallClock(*cell->clock);
    link.OpenCell(cell->cell);
    const wire::CellDone done = RunCell(*cell);
    const GilReleased released;
    return link.CloseCell(done);
  }
  const auto& request = std::get<wire::Request>(command);
  const wire::Reply reply = request.op == "branch" ? ForkSession(link, request) : Answer(request);
  const GilReleased released;
  return link.Send(reply);
}

Status OpenStreams() {
  PyObject* open = PythonFunction("streams", "open_streams");
  const PyRef done = open != nullptr ? PyRef::Steal(PyObject_CallNoArgs(open)) : PyRef();
  return done ? Status() : FailPython("cannot open the session's streams");
}

void EndSession() {
  PyObject* end = PythonFunction("namespace", "end_session");
  const PyRef done = end != nullptr ? PyRef::Steal(PyObject_CallNoArgs(end)) : PyRef();
  if (!done) PyErr_Clear();
}

// Where no MemoryError can be raised, as in the middle of a message, the process ends and says why.
[[noreturn]] void EndForWantOfMemory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    ::_exit(wire::kOutOfMemoryStatus);
  } catch (...) {
  }
  std::abort();
}

int Loop(HostLink& link) {
  while (true) {
    auto command = [&] {
      const GilReleased released;
      return link.NextCommand();
    }();
    if (!command) return command.error().code == ErrorCode::kClosed ? 0 : 1;
    const Status sent = Serve(link, *command);
    if (!sent) return sent.error().code == ErrorCode::kClosed ? 0 : 1;
  }
}

}  // namespace
}  // namespace child

Status PrepareSessions(const SessionConfig& config) {
  if (child::State().policy != nullptr) return {};
  child::State().policy = new Policy(config.policy);
  PyObject* prepare = config.inspector ? child::PythonFunction("imports", "close")
                                       : child::PythonFunction("namespace", "prepare_sessions");
  if (prepare == nullptr) return child::FailPython("cannot prepare for sessions");
  const auto done = child::PyRef::Steal(PyObject_CallNoArgs(prepare));
  if (!done) return child::FailPython("cannot prepare for sessions");
  return config.inspector ? Status() : child::InstallImportGuard();
}

int RunSession(Channel channel, const SessionConfig& config) {
  std::set_terminate(child::EndForWantOfMemory);
  auto link = child::HostLink::Create(std::move(channel));
  if (!link) return 1;
  child::State().link = link->release();  // threads of cells may use it until the process ends
  if (!PrepareSessions(config) || !child::OpenStreams()) return 1;
  const int status = child::Loop(*child::State().link);
  if (status == 0 && !config.inspector) child::EndSession();
  return status;
}

}  // namespace gloveport
