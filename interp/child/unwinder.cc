#include "gloveport/interp/child/unwinder.h"

#include <frameobject.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "gloveport/interp/child/cell_stop.h"
#include "gloveport/interp/child/clean_up_range.h"

namespace gloveport::child {
namespace {

constexpr int kPatience =
    200'000;  // instructions that clean-ups may run after a time-out: some hundredths of a second

// A frame whose clean-up was entered because of the stop.
struct Spared {
  PyRef frame;
  CleanUpRange range;
};

struct ThreadUnwinding {
  bool armed = false;
  int spared_steps = 0;
  std::vector<Spared> spared;
  PyFrameObject* below_spared = nullptr;  // the last frame that was found to be called by a spared one
};

ThreadUnwinding& Mine() {
  thread_local ThreadUnwinding mine;
  return mine;
}

// The threads that are taken down, by the numbers that CPython gives but once; guarded by the GIL. Those that
// are gone stay: few bytes, for threads that did not end with their cell.
std::vector<std::uint64_t>& Doomed() {
  static auto* ids = new std::vector<std::uint64_t>();
  return *ids;
}

PyRef CodeOf(PyFrameObject* frame) {
  return PyRef::Steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
}

#if PY_VERSION_HEX >= 0x030d0000
PyObject* IgnoreEvent(PyObject*, PyObject*) { Py_RETURN_NONE; }
PyMethodDef kIgnoreEvent = {"ignore_event", IgnoreEvent, METH_VARARGS, nullptr};

// From 3.13 on only a frame that has a trace function of its own reports single instructions. Ours is called
// instead of that one.
void GiveTraceFunction(PyObject* frame) {
  static PyObject* ignore = PyCFunction_New(&kIgnoreEvent, nullptr);
  if (ignore == nullptr || PyObject_SetAttrString(frame, "f_trace", ignore) != 0) PyErr_Clear();
}
#else
void GiveTraceFunction(PyObject*) {}
#endif

void WantOpcodes(PyFrameObject* frame) {
  auto* object = reinterpret_cast<PyObject*>(frame);
  if (PyObject_SetAttrString(object, "f_trace_opcodes", Py_True) != 0) PyErr_Clear();
  GiveTraceFunction(object);
}

// The frames that are already there report single instructions only if told so.
void WantOpcodesOf(PyThreadState* thread) {
  for (PyRef frame = PyRef::Steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(thread))); frame;
       frame = PyRef::Steal(
           reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.get()))))) {
    WantOpcodes(reinterpret_cast<PyFrameObject*>(frame.get()));
  }
}

bool CalledBySpared(ThreadUnwinding& mine, PyFrameObject* frame) {
  if (mine.below_spared == frame) return true;
  for (PyRef back = PyRef::Steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame))); back;
       back = PyRef::Steal(
           reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(back.get()))))) {
    for (const Spared& spared : mine.spared) {
      if (spared.frame.get() == back.get()) {
        mine.below_spared = frame;
        return true;
      }
    }
  }
  return false;
}

// Whether the frame may go on with the instruction at `offset`.
bool MayGoOn(ThreadUnwinding& mine, PyFrameObject* frame, PyCodeObject* code, int offset) {
  const bool no_mercy = CellStop::impatient() ||
                        (CellStop::reason() == StopReason::kTimeout && ++mine.spared_steps > kPatience);
  if (!no_mercy) {
    for (auto spared = mine.spared.begin(); spared != mine.spared.end(); ++spared) {
      if (spared->frame.get() != reinterpret_cast<PyObject*>(frame)) continue;
      if (spared->range.Contains(offset)) return true;
      mine.spared.erase(spared);  // it has left the clean-up, for example by `finally: return`
      mine.below_spared = nullptr;
      break;
    }
    if (!mine.spared.empty() && CalledBySpared(mine, frame)) return true;
  }
  if (!no_mercy) {
    const CleanUpRange range = CleanUpAt(code, offset);
    if (range.end > range.begin) {
      mine.spared.push_back({PyRef::Borrow(reinterpret_cast<PyObject*>(frame)), range});
    }
  }
  return IsHandlerBookkeeping(code, offset);
}

void ForgetFrame(ThreadUnwinding& mine, PyFrameObject* frame, PyCodeObject* code) {
  mine.below_spared = nullptr;
  // A coroutine that awaits in its clean-up has not left it.
  if (IsYield(code, PyFrame_GetLasti(frame))) return;
  std::erase_if(mine.spared, [&](const Spared& spared) {
    return spared.frame.get() == reinterpret_cast<PyObject*>(frame);
  });
}

int Trace(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  ThreadUnwinding& mine = Mine();
  const bool doomed = Unwinder::IsDoomed();
  if (!doomed && !mine.armed) return PyEval_SetTrace(nullptr, nullptr), 0;  // another thread was meant
  // The main thread is stopped for one cell only.
  if (what == PyTrace_EXCEPTION || what == PyTrace_C_CALL || what == PyTrace_C_EXCEPTION ||
      what == PyTrace_C_RETURN || (!doomed && CellStop::reason() == StopReason::kNone)) {
    return 0;
  }
  const PyRef owner = CodeOf(frame);
  auto* code = reinterpret_cast<PyCodeObject*>(owner.get());
  if (what == PyTrace_CALL) {
    mine.below_spared = nullptr;
    if (Unwinder::IsCellCode(code)) WantOpcodes(frame);
  }
  if (what == PyTrace_RETURN) return ForgetFrame(mine, frame, code), 0;
  if (!Unwinder::IsCellCode(code) || MayGoOn(mine, frame, code, PyFrame_GetLasti(frame))) return 0;
  CellStop::SetException();
  return -1;
}

}  // namespace

bool Unwinder::IsCellCode(PyCodeObject* code) {
  PyObject* name = code->co_filename;
  if (!PyUnicode_IS_COMPACT_ASCII(name)) return false;
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(name, &size);
  const std::string_view text(data, static_cast<std::size_t>(size));
  return text.starts_with('<') && !text.starts_with("<frozen ") && !text.starts_with("<gloveport/");
}

bool Unwinder::CellIsCalling() {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return false;
  const PyRef code = CodeOf(frame);
  return IsCellCode(reinterpret_cast<PyCodeObject*>(code.get()));
}

void Unwinder::Arm() {
  ThreadUnwinding& mine = Mine();
  if (mine.armed) return;
  mine = {};
  mine.armed = true;
  WantOpcodesOf(PyThreadState_Get());
  PyEval_SetTrace(Trace, nullptr);
}

bool Unwinder::RaisesSoon() {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (frame == nullptr || !Mine().armed) return false;
  const PyRef owner = CodeOf(frame);
  auto* code = reinterpret_cast<PyCodeObject*>(owner.get());
  return IsCellCode(code) && IsUnguardedJump(code, PyFrame_GetLasti(frame));
}

void Unwinder::Doom(PyThreadState* thread) {
  const std::uint64_t id = PyThreadState_GetID(thread);
  if (std::find(Doomed().begin(), Doomed().end(), id) == Doomed().end()) Doomed().push_back(id);
  WantOpcodesOf(thread);
#if PY_VERSION_HEX >= 0x030c0000
  PyEval_SetTraceAllThreads(Trace, nullptr);  // those that are not meant take it off again
#else
  if (_PyEval_SetTrace(thread, Trace, nullptr) != 0) PyErr_Clear();
#endif
}

bool Unwinder::IsDoomed() {
  if (Doomed().empty()) return false;
  const std::uint64_t id = PyThreadState_GetID(PyThreadState_Get());
  return std::find(Doomed().begin(), Doomed().end(), id) != Doomed().end();
}

void Unwinder::Disarm() {
  ThreadUnwinding& mine = Mine();
  if (!mine.armed) return;
  PyEval_SetTrace(nullptr, nullptr);
  mine = {};
}

}  // namespace gloveport::child
