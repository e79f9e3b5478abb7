// What a template does to its heap so that its forks copy fewer pages.
#ifndef GLOVEPORT_INTERP_CHILD_HEAP_HOLES_H_
#define GLOVEPORT_INTERP_CHILD_HEAP_HOLES_H_

namespace gloveport::child {

// Takes the free places between what lives on the C library's heap and in CPython's pools, and keeps them for
// ever. What a fork then allocates stands side by side on fresh pages; otherwise it is strewn over pages that
// the fork shares, each of which must be copied for it. Takes memory of the template once. With the GIL,
// while there is no other thread.
void FillHeapHoles();

}  // namespace gloveport::child

#endif  // GLOVEPORT_INTERP_CHILD_HEAP_HOLES_H_
