// final_answer(answer, explanation=""): ends the run with an answer.
#ifndef GLOVEPORT_INTERP_CHILD_FINAL_ANSWER_H_
#define GLOVEPORT_INTERP_CHILD_FINAL_ANSWER_H_

#include "gloveport/interp/child/python_ref.h"

namespace gloveport::child {

// Sends the answer to the host, where it counts from the moment it arrives, and stops the cell. A second call
// in the same cell is ignored. Whatever keeps the answer from being sent (wrong arguments, a value that
// cannot cross) raises in the cell instead, and the cell goes on. Any thread with the GIL.
PyObject* FinalAnswer(PyObject* self, PyObject* args, PyObject* kwargs);

extern const char kFinalAnswerDoc[];

// True once the running cell has given its answer; false again with the next cell.
bool FinalAnswerGiven();
void ForgetFinalAnswer();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_FINAL_ANSWER_H_
