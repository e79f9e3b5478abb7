#include "gloveport/interp/child/cell_stop.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "gloveport/interp/child/session_state.h"
#include "gloveport/interp/child/unwinder.h"

namespace gloveport::child {
namespace {

constexpr std::int64_t kNoCell = -1;

// What the signal handler reads and writes: lock-free atomics only.
std::atomic<std::int64_t> g_running{kNoCell};
std::atomic<std::int64_t> g_early_timeout{
    kNoCell};  // signals that overtook the message that starts their cell
std::atomic<std::int64_t> g_early_interrupt{kNoCell};
std::atomic<StopReason> g_reason{StopReason::kNone};
std::atomic<bool> g_interrupted{false};
std::atomic<bool> g_interrupt_pending{false};
std::atomic<int> g_requests{0};
std::atomic<bool> g_main_told{false};  // that another thread wants the cell to end
pthread_t g_main_thread;

constexpr std::chrono::milliseconds kFirstPause(1);
constexpr std::chrono::milliseconds kLastPause(1000);

// Guarded by the GIL.
PyObject* g_base_class = nullptr;
PyObject* g_timeout_class = nullptr;
PyObject* g_final_class = nullptr;
PyObject* g_exception = nullptr;
std::uint64_t g_first_thread_of_cell = 0;

void RequestTimeout() {
  StopReason none = StopReason::kNone;
  g_reason.compare_exchange_strong(none, StopReason::kTimeout);
  g_requests.fetch_add(1);
  PyErr_SetInterruptEx(SIGUSR1);
}

void RequestInterrupt() {
  g_interrupted = true;
  g_interrupt_pending = true;
  PyErr_SetInterruptEx(SIGUSR2);
}

// Async-signal-safe. The signal of pthread_kill has another si_code: it only ends the main thread's system
// call.
void OnHostSignal(int number, siginfo_t* info, void*) {
  if (info->si_code != SI_QUEUE) return;
  const int saved = errno;
  const std::int64_t cell = static_cast<std::uint32_t>(info->si_value.sival_int);
  if (g_running.load() != cell) {
    (number == SIGUSR1 ? g_early_timeout : g_early_interrupt) = cell;
  } else {
    number == SIGUSR1 ? RequestTimeout() : RequestInterrupt();
    if (HostLink* link = State().link; link != nullptr) link->Wake();
    if (!pthread_equal(pthread_self(), g_main_thread)) pthread_kill(g_main_thread, number);
  }
  errno = saved;
}

// The handlers that CPython calls, on the main thread and between two instructions or in a blocking call.
PyObject* OnTimeout(PyObject*, PyObject*) {
  g_main_told = true;
  if (g_running.load() == kNoCell || g_reason.load() == StopReason::kNone) Py_RETURN_NONE;
  CellStop::Raise(g_reason.load());
  if (CellStop::impatient() || !Unwinder::RaisesSoon()) return nullptr;
  PyErr_Clear();
  Py_RETURN_NONE;
}

// An interrupt does what Ctrl-C does: it calls whatever handler the cell has set for SIGINT.
PyObject* OnInterrupt(PyObject*, PyObject* args) {
  if (!g_interrupt_pending.exchange(false) || g_running.load() == kNoCell) Py_RETURN_NONE;
  const PyRef signals = PyRef::Steal(PyImport_ImportModule("signal"));
  if (!signals) return nullptr;
  const PyRef handler = PyRef::Steal(PyObject_CallMethod(signals.get(), "getsignal", "i", SIGINT));
  if (!handler) return nullptr;
  if (!PyCallable_Check(handler.get())) Py_RETURN_NONE;  // ignored, or left to the system: the cell's choice
  return PyObject_CallFunction(handler.get(), "iO", SIGINT, PyTuple_GetItem(args, 1));
}

PyMethodDef kOnTimeout = {"on_timeout", OnTimeout, METH_VARARGS, nullptr};
PyMethodDef kOnInterrupt = {"on_interrupt", OnInterrupt, METH_VARARGS, nullptr};

Status InstallHandler(PyObject* signals, int number, PyMethodDef* method) {
  const PyRef handler = PyRef::Steal(PyCFunction_New(method, nullptr));
  const PyRef old = PyRef::Steal(PyObject_CallMethod(signals, "signal", "iO", number, handler.get()));
  if (!old) return FailPython("cannot install a signal handler");
  struct sigaction action {};
  action.sa_sigaction = OnHostSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;  // no SA_RESTART: blocking calls must return
  sigemptyset(&action.sa_mask);
  if (::sigaction(number, &action, nullptr) != 0) return FailErrno("sigaction", errno);
  return {};
}

// BaseException's subclass SystemExit is what libraries let pass: event loops end at once, threads stay
// silent.
Status MakeClasses() {
  g_base_class =
      PyErr_NewExceptionWithDoc("gloveport.CellStop", "Ends the running cell; it cannot be caught for long.",
                                PyExc_SystemExit, nullptr);
  if (g_base_class == nullptr) return FailPython("cannot make CellStop");
  g_timeout_class = PyErr_NewExceptionWithDoc(
      "gloveport.CellTimeout", "The time limit of the cell was reached.", g_base_class, nullptr);
  g_final_class = PyErr_NewExceptionWithDoc(
      "gloveport.CellFinished", "final_answer was called: the run is over.", g_base_class, nullptr);
  if (g_timeout_class == nullptr || g_final_class == nullptr) return FailPython("cannot make CellTimeout");
  return {};
}

std::uint64_t NewestThread() {
  std::uint64_t newest = 0;
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main()); thread != nullptr;
       thread = PyThreadState_Next(thread)) {
    newest = std::max(newest, PyThreadState_GetID(thread));
  }
  return newest;
}

// A final answer ends every thread; a time-out those that the cell has started: the others belong to earlier
// cells.
void StopOtherThreads(StopReason reason) {
  PyThreadState* self = PyThreadState_Get();
  for (PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main()); thread != nullptr;
       thread = PyThreadState_Next(thread)) {
    const bool main = pthread_equal(static_cast<pthread_t>(thread->thread_id), g_main_thread) != 0;
    if (thread == self || main) continue;
    if (reason == StopReason::kTimeout && PyThreadState_GetID(thread) <= g_first_thread_of_cell) continue;
    Unwinder::Doom(thread);
  }
}

// The main thread may sleep or wait: it is to find out at once. A signal that reaches it between its last
// look and its system call is lost, so that it is told again until it has heard.
void TripMainThread() {
  PyErr_SetInterruptEx(SIGUSR1);
  if (HostLink* link = State().link; link != nullptr) link->Wake();
  const GilReleased released;
  const std::int64_t cell = g_running.load();
  for (auto pause = kFirstPause; pause < kLastPause; pause *= 2) {
    pthread_kill(g_main_thread, SIGUSR1);
    std::this_thread::sleep_for(pause);
    if (g_main_told.load() || g_running.load() != cell) return;
  }
}

}  // namespace

Status CellStop::Install() {
  g_main_thread = pthread_self();
  RETURN_IF_ERROR(MakeClasses());
  const PyRef signals = PyRef::Steal(PyImport_ImportModule("signal"));
  if (!signals) return FailPython("cannot import signal");
  RETURN_IF_ERROR(InstallHandler(signals.get(), SIGUSR1, &kOnTimeout));
  RETURN_IF_ERROR(InstallHandler(signals.get(), SIGUSR2, &kOnInterrupt));
  const PyRef default_handler = PyRef::Steal(PyObject_GetAttrString(signals.get(), "default_int_handler"));
  const PyRef old =
      PyRef::Steal(PyObject_CallMethod(signals.get(), "signal", "iO", SIGINT, default_handler.get()));
  if (!old) return FailPython("cannot install the handler of SIGINT");
  // A reader that has gone, and a file at its limit, are errors of the write, as in every Python.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  return {};
}

void CellStop::Begin(std::uint32_t cell) {
  g_main_thread = pthread_self();
  g_reason = StopReason::kNone;
  g_main_told = false;
  g_interrupted = false;
  g_interrupt_pending = false;
  g_requests = 0;
  Py_CLEAR(g_exception);
  g_first_thread_of_cell = NewestThread();
  g_running = cell;
  if (g_early_timeout.exchange(kNoCell) == cell) RequestTimeout();
  if (g_early_interrupt.exchange(kNoCell) == cell) RequestInterrupt();
}

StopReason CellStop::End() {
  g_running = kNoCell;
  Unwinder::Disarm();
  if (PyErr_CheckSignals() != 0) PyErr_Clear();  // what was tripped for this cell must not reach the next
  return g_reason.exchange(StopReason::kNone);
}

bool CellStop::OnMainThread() { return pthread_equal(pthread_self(), g_main_thread) != 0; }
bool CellStop::interrupted() { return g_interrupted.load(); }
StopReason CellStop::reason() { return g_running.load() == kNoCell ? StopReason::kNone : g_reason.load(); }
bool CellStop::impatient() { return g_requests.load() > (g_reason.load() == StopReason::kTimeout ? 1 : 0); }
PyObject* CellStop::exception() { return g_exception; }
bool CellStop::IsStop(PyObject* exception) {
  return exception != nullptr && g_base_class != nullptr &&
         PyObject_TypeCheck(exception, reinterpret_cast<PyTypeObject*>(g_base_class));
}

PyObject* CellStop::Raise(StopReason reason) {
  StopReason none = StopReason::kNone;
  g_reason.compare_exchange_strong(none, reason);
  if (g_exception == nullptr) {
    PyObject* type = g_reason.load() == StopReason::kFinalAnswer ? g_final_class : g_timeout_class;
    g_exception = PyObject_CallFunction(type, "s",
                                        g_reason.load() == StopReason::kFinalAnswer
                                            ? "the run has ended with its final answer"
                                            : "the cell was stopped: its time limit was reached");
    if (g_exception == nullptr) return nullptr;
    StopOtherThreads(g_reason.load());
    if (HostLink* link = State().link; link != nullptr) {
      link->Wake();  // doomed threads may wait for a reply, or for a cell to open
      link->WakeWaiters();
    }
    if (!pthread_equal(pthread_self(), g_main_thread)) TripMainThread();
  }
  Unwinder::Arm();
  SetException();
  return nullptr;
}

void CellStop::SetException() {
  PyObject* exception = g_exception != nullptr ? g_exception : g_base_class;
  PyErr_SetObject(exception == g_exception ? reinterpret_cast<PyObject*>(Py_TYPE(exception)) : exception,
                  exception == g_exception ? exception : nullptr);
}

}  // namespace gloveport::child
