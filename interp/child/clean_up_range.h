// Where in the bytecode a clean-up begins and ends. Knows the bytecode of CPython 3.11 to 3.13. Of another
// version it knows no instruction: then every clean-up looks like code that must not go on, and a stopped
// cell ends without its finally bodies.
#ifndef GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_
#define GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

struct CleanUpRange {
  int begin = 0;  // offsets in bytes: [begin, end)
  int end = 0;
  bool Contains(int offset) const { return begin <= offset && offset < end; }
};

// The handler of exceptions that begins at `offset`: its range where it is a finally body or the exit of a
// with statement, an empty range where it is an except clause, or where no handler begins.
CleanUpRange CleanUpAt(PyCodeObject* code, int offset);

// Whether the instruction at `offset` is the compiler's own book-keeping around handlers: raising there would
// leave the state of handled exceptions wrong, or a variable that a comprehension has hidden.
bool IsHandlerBookkeeping(PyCodeObject* code, int offset);

// Whether the instruction at `offset` jumps back, and no handler guards it though it may stand in a try
// statement: from Python 3.12 on the compiler forgets some. What is raised there passes the finally body by.
bool IsUnguardedJump(PyCodeObject* code, int offset);

// Whether the instruction at `offset` suspends a generator or a coroutine.
bool IsYield(PyCodeObject* code, int offset);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_
