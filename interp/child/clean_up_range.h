// Where in the bytecode a clean-up begins and ends. Tied to CPython 3.11's bytecode.
#ifndef GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_
#define GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

struct CleanUpRange {
  int begin = 0;  // offsets in bytes: [begin, end)
  int end = 0;
  bool Contains(int offset) const { return begin <= offset && offset < end; }
};

// The instruction at `offset`, past an EXTENDED_ARG; -1 where there is none.
int OpcodeAt(PyCodeObject* code, int offset);

// The handler of exceptions that begins at `offset` (a PUSH_EXC_INFO): its range where it is a finally body
// or the exit of a with statement, an empty range where it is an except clause.
CleanUpRange CleanUpAt(PyCodeObject* code, int offset);

// Instructions of the compiler's own book-keeping around handlers: raising there would leave the state of
// handled exceptions wrong.
bool IsHandlerBookkeeping(int opcode);

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CLEAN_UP_RANGE_H_
