// Unwinder: takes the code of a cell down once it is being stopped, so that no `except`, `finally: return` or
// suppressing `with` brings it back to life, while finally bodies and __exit__ methods still run.
//
// It is a trace function of the C level. At each instruction of a frame that belongs to a cell it raises the
// exception of the stop anew, unless the frame, or one that called it, is in a clean-up (a finally body or
// the exit of a with statement) that was entered because of the stop. Library frames are left alone: they
// come to an end when the cell's functions that they call do. A time-out spares clean-ups only for a while.
#ifndef GLOVEPORT_INTERP_CHILD_UNWINDER_H_
#define GLOVEPORT_INTERP_CHILD_UNWINDER_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

class Unwinder {
 public:
  Unwinder() = delete;

  // For the calling thread, with the GIL. Arm is idempotent.
  static void Arm();
  static void Disarm();

  // Whether the calling thread, which is armed, is between two instructions of a cell of which the next is
  // the better place to raise at.
  static bool RaisesSoon();

  // Takes another thread down for good; it stays so after the cell has ended.
  static void Doom(PyThreadState* thread);

  // Whether the calling thread has been doomed.
  static bool IsDoomed();

  // Whether the code was made from the text of a cell (or from a text that a cell compiled).
  static bool IsCellCode(PyCodeObject* code);

  // Whether such code called the C function that asks.
  static bool CellIsCalling();
};

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_UNWINDER_H_
