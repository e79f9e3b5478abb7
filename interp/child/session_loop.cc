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

// Copies the pages that a first cell changes, before anybody waits for that cell. Its number is that of the
// first, whose text takes the place of this one.
void Rehearse() { RunCell({0, "pass\n0\n"}); }

// All that is left to do when the process is confined.
Status BecomeSession(const SessionConfig& config, HostLink& link) {
  RETURN_IF_ERROR(PrepareSessions(config));
  RETURN_IF_ERROR(CallPart("streams", "keep_descriptors"));
  if (!config.inspector) Rehearse();
  State().link = &link;
  if (!config.ready_report) return {};
  const GilReleased released;
  return link.Send(wire::Ready{*config.ready_report});
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
  RETURN_IF_ERROR(child::CallPart("streams", "make_streams"));
  if (child::PythonFunction("streams", "keep_descriptors") == nullptr)  // so that a session finds it at once
    return child::FailPython("cannot prepare for sessions");
  if (config.inspector) return child::CallPart("imports", "close");
  RETURN_IF_ERROR(child::CallPart("namespace", "prepare_sessions"));
  return child::InstallImportGuard();
}

int RunSession(Channel channel, const SessionConfig& config) {
  std::set_terminate(child::EndForWantOfMemory);
  auto link = child::HostLink::Create(std::move(channel));
  if (!link) return 1;
  child::HostLink& kept = *link->release();  // threads of cells may use it until the process ends
  if (const Status ready = child::BecomeSession(config, kept); !ready) {
    (void)kept.Send(wire::SetupFailed{"preparation", ready.error().message});
    return 1;
  }
  const int status = child::Loop(kept);
  if (status == 0 && !config.inspector) (void)child::CallPart("namespace", "end_session");
  return status;
}

}  // namespace gloveport
