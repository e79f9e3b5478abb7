// CellStop: how a running cell is brought to its end from outside (time limit, interrupt) and by
// final_answer.
//
// The host sends a signal whose value is the cell's number: SIGUSR1 for the time limit, SIGUSR2 for an
// interrupt. The C handler compares the number with that of the running cell, so that a late signal cannot
// hit the next cell (a request has a number too: wire::StopNumber), and goes on by CPython's own signal path,
// which also ends sleeps, lock waits and long computations that check for signals. There is no watchdog
// thread: it would spoil forks.
//
// A time-out and a final answer end the cell for good: see unwinder.h. An interrupt is one KeyboardInterrupt.
#ifndef GLOVEPORT_INTERP_CHILD_CELL_STOP_H_
#define GLOVEPORT_INTERP_CHILD_CELL_STOP_H_

#include <cstdint>

#include "gloveport/core/base/result.h"
#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

enum class StopReason : int { kNone, kTimeout, kFinalAnswer };

class CellStop {
 public:
  CellStop() = delete;

  // Makes the exception classes and installs the handlers, also Python's own for SIGINT, and ignores
  // SIGPIPE and SIGXFSZ.
  // Once, in the template, on the main thread.
  static Status Install();

  // Between these two, on the main thread, the cell can be stopped. End undoes all that a stop has set up in
  // the main thread and returns why the cell was stopped.
  static void Begin(std::uint32_t cell);
  static StopReason End();

  // The host interrupted the cell that ended last.
  static bool interrupted();

  // Whether the running cell (after End: no cell) is being stopped. Any thread, no GIL needed.
  static StopReason reason();

  // The host has asked for the end once more: no code is spared any longer, not even a finally body.
  static bool impatient();

  // Begins to stop the cell: the calling thread and the others. Returns null with the exception set, for a C
  // function to return. A stop that is under way keeps its reason.
  static PyObject* Raise(StopReason reason);

  // Sets the exception of the stop that is under way, once more.
  static void SetException();

  // The exception that first stopped the cell, with the traceback that it collected; borrowed, may be null.
  static PyObject* exception();

  static bool OnMainThread();

  // True for instances of the classes that stop a cell.
  static bool IsStop(PyObject* exception);
};

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CELL_STOP_H_
