// What is due at the end of every cell: figures are shown, output is flushed, streams are restored. The usual
// case, in which there is little to do, is handled without entering Python code.
#ifndef GLOVEPORT_INTERP_CHILD_CELL_END_H_
#define GLOVEPORT_INTERP_CHILD_CELL_END_H_

namespace gloveport::child {

// Both need the GIL and leave no Python error set. The figures may run code of the cell; the streams do not.
void ShowOpenFigures();
void FinishStreams();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_CELL_END_H_
